"""`assay contract pin`: what a server lists of a tool becomes a route; nothing is called, and nothing overwritten."""

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from contract.core.refusal import SENTENCES, Refusal
from contract.core.registry import read_registry
from contract.core.widest import CHANGES, Change
from contract.files import find_file
from host.documents import alone
from host.main import main
from tests.command_line import SCRIPT
from tests.contract_documents import UPSTREAM, data, number, registry, route
from tests.fakes.http_server import HttpServer, McpScript, Peer, Request
from tests.fakes.processes import until
from tests.host_command import Command, Done

PINNED = {"name": "add_comment", "inputSchema": UPSTREAM}
OTHER = {"name": "other", "inputSchema": {"type": "object"}}
ENDPOINT = ("--endpoint", "https://mcp.desk.example/mcp")
TOKEN = "tok-4Kq-private-31"
FILE = Path("registry.json")


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path, monkeypatch, capsys)


def listing(*tools: Any) -> McpScript:
    def reply(request: Request, peer: Peer) -> None:
        peer.json(
            data({"jsonrpc": "2.0", "id": request.json["id"], "result": {"tools": list(tools or (OTHER, PINNED))}})
        )

    return McpScript(on={"tools/list": reply})


def pin(assay: Command, server: HttpServer, *words: str, tool: str = "add_comment") -> Done:
    done = assay("contract", "pin", server.url, tool, *words)
    assert server.seen("tools/call") == []
    return done


def refused(done: Done, refusal: Refusal) -> None:
    sentence = SENTENCES[refusal]
    if refusal.startswith("upstream_"):
        sentence = f"The schema that the tool advertises cannot be pinned. {sentence}"
    assert done == Done(2, "", f"error: {sentence} [{refusal}]\n")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.requirement("pin.made")
def test_a_registry_of_the_route_is_written_to_standard_output(assay: Command) -> None:
    with HttpServer(listing()) as server:
        done = pin(assay, server, *ENDPOINT)
    assert done.exit == 0
    (found,) = read_registry(done.out.encode()).routes.values()
    assert found.pin == read_registry(data(registry())).routes["desk.comment"].pin
    written = done.document["routes"][0]
    assert {name: written[name] for name in written if not name.endswith("schema")} == {
        "alias": "add_comment",
        "server_id": "mcp.desk.example",
        "endpoint": {"host": "mcp.desk.example", "path": "/mcp"},
        "tool": "add_comment",
        "credential_binding": "mcp.desk.example",
        "output_policy": "withhold",
        "max_request_bytes": 65536,
        "max_response_bytes": 262144,
        "timeout_ms": 120000,
    }
    assert written["input_schema"]["properties"]["body"] == {"type": "string", "maxLength": 4096}
    assert done.err.splitlines()[:3] == [
        "look at these places of `input_schema`, and bound them:",
        f"  (the whole): {CHANGES[Change.CLOSED]}",
        f"  /properties/ticket: {CHANGES[Change.INTEGER]}",
    ]
    assert list(assay.folder.glob("*.json")) == []


def test_a_new_file_is_the_owners_and_the_list_is_the_result(assay: Command) -> None:
    before = os.umask(0)
    try:
        with HttpServer(listing()) as server:
            done = pin(assay, server, *ENDPOINT, "--registry", "registry.json", "--alias", "desk.comment")
    finally:
        os.umask(before)
    assert (done.exit, done.err) == (0, "")
    assert done.out.splitlines()[:3] == [
        "pinned  add_comment, route desk.comment of registry.json",
        "look at these places of `input_schema`, and bound them:",
        f"  (the whole): {CHANGES[Change.CLOSED]}",
    ]
    assert mode(FILE) == 0o600
    assert list(read_registry(FILE.read_bytes()).routes) == ["desk.comment"]
    assert sorted(path.name for path in assay.folder.iterdir()) == ["plugins", "registry.json"]


def test_a_bounded_schema_leaves_nothing_to_look_at(assay: Command) -> None:
    bounded = {"type": "object", "properties": {}, "additionalProperties": False}
    with HttpServer(listing({"name": "plain", "inputSchema": bounded})) as server:
        done = pin(assay, server, *ENDPOINT, "--registry", "registry.json", tool="plain")
    assert (done.exit, done.out, done.err) == (0, "pinned  plain, route plain of registry.json\n", "")


def test_a_route_is_added_to_those_that_are_there_and_they_stay_as_they_are(assay: Command) -> None:
    first = route(timeout_ms=number("77"))
    FILE.write_bytes(data({"version": 2, "routes": [first]}))
    FILE.chmod(0o644)
    with HttpServer(listing()) as server:
        words = ("--server-id", "desk", "--credential", "reader", "--max-request-bytes", "9", "--timeout-ms", "10")
        done = pin(assay, server, *ENDPOINT, "--registry", "registry.json", *words, "--max-response-bytes", "11")
    assert done.exit == 0
    routes = json.loads(FILE.read_bytes())["routes"]
    assert routes[0] == json.loads(data(first))
    assert [routes[1][name] for name in ("alias", "server_id", "credential_binding")] == [
        "add_comment",
        "desk",
        "reader",
    ]
    assert [routes[1][name] for name in ("max_request_bytes", "timeout_ms", "max_response_bytes")] == [9, 10, 11]
    assert mode(FILE) == 0o600


@pytest.mark.requirement("pin.made")
def test_what_was_pinned_lets_the_tool_be_called_until_it_drifts(assay: Command, tmp_path: Path) -> None:
    from tests.fakes.plugin_bench import bench

    script = listing()
    with HttpServer(script) as server:
        assert pin(assay, server, *ENDPOINT, "--registry", "registry.json").exit == 0
        contract = {"registry": str(tmp_path / "registry.json"), "route": "add_comment"}
        with bench(server, contract=contract) as plugin:
            called = {"tool": "add_comment", "arguments": {"body": "x"}}
            assert plugin.run("call", **called)["status"] == "succeeded"
            script.on = listing({**PINNED, "inputSchema": {**UPSTREAM, "title": "x"}}).on
            assert plugin.outcome("call", **called) == ("failed", "schema_drift", "open")


@pytest.mark.parametrize(
    ("content", "words", "refusal"),
    [
        (registry(alias="add_comment"), [], Refusal.PIN_TAKEN),
        (registry(), ["--alias", "desk.comment"], Refusal.PIN_TAKEN),
        (registry(1), [], Refusal.PIN_VERSION),
        ({"version": 2, "routes": []}, [], Refusal.REGISTRY_ROUTES),
        ({"version": 2, "routes": [route(alias=f"r{index}") for index in range(128)]}, [], Refusal.REGISTRY_ROUTES),
        (None, ["--alias", "no alias"], Refusal.ROUTE_IDENTIFIER),
        (None, ["--server-id", "x" * 65], Refusal.ROUTE_IDENTIFIER),
        (None, ["--credential", "a/b"], Refusal.ROUTE_IDENTIFIER),
        (registry(), ["--renew"], Refusal.ROUTE_UNKNOWN),
        (registry(alias="add_comment", tool="other"), ["--renew"], Refusal.PIN_OTHER),
        (registry(1, alias="add_comment"), ["--renew"], Refusal.PIN_VERSION),
        (None, ["--renew"], Refusal.REGISTRY_UNREADABLE),
    ],
)
def test_a_route_that_could_not_be_written_is_refused_before_contact(
    assay: Command, content: Any, words: list[str], refusal: Refusal
) -> None:
    if content is not None:
        FILE.write_bytes(data(content))
    with HttpServer(listing()) as server:
        place = [] if "--renew" in words else ENDPOINT
        refused(pin(assay, server, *place, "--registry", "registry.json", *words), refusal)
        assert server.requests == []
    assert find_file(_registry(), "registry.json") == (None if content is None else data(content))


def _registry() -> Any:
    from contract.core.document import REGISTRY

    return REGISTRY


@pytest.mark.parametrize("make", [lambda: FILE.symlink_to("elsewhere"), lambda: os.mkfifo(FILE)])
def test_what_is_no_file_is_refused_before_contact_and_without_waiting(assay: Command, make: Any) -> None:
    make()
    with HttpServer(listing()) as server:
        done = pin(assay, server, *ENDPOINT, "--registry", "registry.json")
        assert (done.exit, done.out, server.requests) == (2, "", [])
    assert not FILE.is_file()


@pytest.mark.parametrize("words", [["--registry", "none/registry.json"], ["--registry", "."]])
def test_a_file_that_cannot_be_written_is_refused_before_contact(assay: Command, words: list[str]) -> None:
    with HttpServer(listing()) as server:
        done = pin(assay, server, *ENDPOINT, *words)
        assert (done.exit, server.requests) == (2, [])
    assert "cannot be written" in done.err


@pytest.mark.requirement("pin.endpoint")
@pytest.mark.parametrize(
    "url",
    [
        "http://mcp.desk.example/mcp",
        "https://mcp.desk.example:8443/mcp",
        "https://mcp.desk.example/mcp?key=s3cr3t",
        "https://mcp.desk.example/mcp#x",
        "https://user:s3cr3t@mcp.desk.example/mcp",
        "https://localhost/mcp",
        "https://127.0.0.1/mcp",
        "https://desk.internal/mcp",
        "https://mcp.desk.example/a/../mcp",
        "https://mcp.desk.example/%6dcp",
        "no url",
    ],
)
def test_an_endpoint_that_is_not_public_https_is_refused_before_contact(assay: Command, url: str) -> None:
    with HttpServer(listing()) as server:
        refused(pin(assay, server, "--endpoint", url), Refusal.PIN_ENDPOINT)
        refused(pin(assay, server), Refusal.PIN_ENDPOINT)
        assert server.requests == []


@pytest.mark.parametrize(
    ("url", "endpoint"),
    [
        ("https://MCP.desk.example:443/mcp", {"host": "mcp.desk.example", "path": "/mcp"}),
        ("https://mcp.desk.example", {"host": "mcp.desk.example", "path": "/"}),
        ("https://mcp.desk.example/a/b/", {"host": "mcp.desk.example", "path": "/a/b/"}),
    ],
)
def test_an_endpoint_is_written_in_its_one_form(assay: Command, url: str, endpoint: dict[str, str]) -> None:
    with HttpServer(listing()) as server:
        assert pin(assay, server, "--endpoint", url).document["routes"][0]["endpoint"] == endpoint


def test_a_public_url_is_the_endpoint_itself(assay: Command) -> None:
    assay.behave(commands={"connect": [[{"result": FAILED}]]})
    done = assay("contract", "pin", "https://mcp.desk.example/mcp", "add_comment", "--plugin", str(assay.plugin.path))
    assert (done.exit, done.out) == (4, "")
    assert done.err.startswith("failed: Down. [unreachable]\nhelp: ")
    assert assay.plugin.sent("initialize")[0]["bindings"]["server"]["keepText"] is True


FAILED = {"status": "failed", "code": "unreachable", "message": "Down.", "facts": {"connection": "refused"}}


@pytest.mark.requirement("pin.redacted")
@pytest.mark.parametrize(
    "entry",
    [
        {**PINNED, "inputSchema": {**UPSTREAM, "description": f"Use {TOKEN}."}},
        {**PINNED, "inputSchema": {**UPSTREAM, "title": "a\x1bb"}},
        {**PINNED, "inputSchema": {"type": "object", "properties": {TOKEN: {"type": "string"}}}},
        {**PINNED, "description": f"Use {TOKEN}."},
    ],
)
def test_a_tool_that_something_was_taken_out_of_is_not_pinned(
    assay: Command, monkeypatch: pytest.MonkeyPatch, entry: Any
) -> None:
    monkeypatch.setenv("DESK_TOKEN", TOKEN)
    with HttpServer(listing(OTHER, entry)) as server:
        done = pin(assay, server, *ENDPOINT, "--bearer-env", "DESK_TOKEN", "--registry", "registry.json")
        assert server.seen("tools/list")[0].headers["authorization"] == f"Bearer {TOKEN}"
    refused(done, Refusal.PIN_REDACTED)
    assert not FILE.exists()


def test_what_is_taken_out_of_another_tool_does_not_matter(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_TOKEN", TOKEN)
    with HttpServer(listing({**OTHER, "description": TOKEN}, PINNED)) as server:
        assert pin(assay, server, *ENDPOINT, "--bearer-env", "DESK_TOKEN").exit == 0


@pytest.mark.requirement("pin.outside")
@pytest.mark.parametrize(
    ("schema", "refusal"),
    [
        ({"type": "object"}, Refusal.UPSTREAM_MISSING),
        ({"type": "object", "properties": {"a": {"$ref": "#/x"}}}, Refusal.UPSTREAM_TYPE),
        ({"type": "object", "properties": {"a": {"type": "string", "default": ""}}}, Refusal.UPSTREAM_KEYWORD),
        ({"type": "object", "properties": {"a b": {"type": "string"}}}, Refusal.UPSTREAM_PROPERTIES),
        ({**UPSTREAM, "$schema": "https://json-schema.org/draft/2020-12/schema"}, Refusal.UPSTREAM_KEYWORD),
        (
            {"type": "object", "properties": {"a": {"type": "string", "minLength": 5000}}, "required": ["a"]},
            Refusal.PIN_IMPOSSIBLE,
        ),
    ],
)
def test_a_schema_outside_of_the_subset_is_refused_by_its_rule(assay: Command, schema: Any, refusal: Refusal) -> None:
    with HttpServer(listing({"name": "add_comment", "inputSchema": schema})) as server:
        refused(pin(assay, server, *ENDPOINT, "--registry", "registry.json"), refusal)
    assert not FILE.exists()


def test_a_tool_that_is_not_listed_is_refused(assay: Command) -> None:
    with HttpServer(listing()) as server:
        refused(pin(assay, server, *ENDPOINT, tool="add_comments"), Refusal.PIN_MISSING)


def test_a_list_that_is_not_whole_pins_nothing(assay: Command) -> None:
    with HttpServer(listing(PINNED, PINNED)) as server:
        done = pin(assay, server, *ENDPOINT, "--json")
    assert (done.exit, done.out) == (1, "")
    assert "[inventory_invalid]" in done.err


def test_numbers_are_pinned_as_they_are_spelled(assay: Command) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "number", "maximum": number("1.10")}}}
    with HttpServer(listing({"name": "add_comment", "inputSchema": schema})) as server:
        done = pin(assay, server, *ENDPOINT)
    assert '"maximum": 1.10' in done.out


# --renew

ROUTE = "add_comment, route add_comment of registry.json"
RENEWED = f"renewed  {ROUTE}: the pin changed, for the server lists another schema\n"
UNCHANGED = f"unchanged  {ROUTE}: the server lists what is pinned\n"


def test_a_renewed_pin_changes_the_pin_and_nothing_else(assay: Command) -> None:
    first, other = route(alias="add_comment"), route(alias="other.comment")
    FILE.write_bytes(data({"version": 2, "routes": [first, other]}))
    upstream = {**UPSTREAM, "title": "Another title"}
    with HttpServer(listing({"name": "add_comment", "inputSchema": upstream})) as server:
        done = pin(assay, server, "--registry", "registry.json", "--renew")
        assert (done.exit, done.out, done.err) == (0, RENEWED, "")
        assert json.loads(FILE.read_bytes())["routes"] == json.loads(
            data([{**first, "upstream_input_schema": upstream}, other])
        )
        assert mode(FILE) == 0o600
        before = FILE.stat().st_ino
        done = pin(assay, server, "--registry", "registry.json", "--renew")
        assert (done.exit, done.out) == (0, UNCHANGED)
        assert FILE.stat().st_ino == before
        document = pin(assay, server, "--registry", "registry.json", "--renew", "--json").document
        assert (document["written"], document["bounds"]) == (False, [])


def test_a_pin_is_not_renewed_by_a_schema_outside_of_the_subset(assay: Command) -> None:
    FILE.write_bytes(data(registry(alias="add_comment")))
    with HttpServer(listing({**PINNED, "inputSchema": {**UPSTREAM, "$defs": {}}})) as server:
        refused(pin(assay, server, "--registry", "registry.json", "--renew"), Refusal.UPSTREAM_KEYWORD)
    assert FILE.read_bytes() == data(registry(alias="add_comment"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--renew"], "needs `--registry FILE`"),
        (["--renew", "--registry", "registry.json", *ENDPOINT], "changes the pin alone: take `--endpoint` out"),
        (
            ["--renew", "--registry", "registry.json", "--timeout-ms", "5"],
            "changes the pin alone: take `--timeout-ms` out",
        ),
        ([*ENDPOINT, "--timeout-ms", "0"], "1<=x<=120000"),
        ([*ENDPOINT, "--max-request-bytes", "65537"], "1<=x<=65536"),
        ([*ENDPOINT, "--bearer-env", "a value"], "never the value itself"),
    ],
)
def test_wrong_options_are_refused_before_contact(assay: Command, words: list[str], told: str) -> None:
    FILE.write_bytes(data(registry(alias="add_comment")))
    with HttpServer(listing()) as server:
        done = pin(assay, server, *words)
        assert (done.exit, done.out, server.requests) == (2, "", [])
    assert told in " ".join(done.err.split())


def test_the_document_says_what_was_pinned_and_what_to_bound(assay: Command) -> None:
    with HttpServer(listing()) as server:
        done = pin(assay, server, *ENDPOINT, "--registry", "registry.json", "--json")
    assert (done.exit, done.err) == (0, "")
    document = done.document
    found = read_registry(FILE.read_bytes()).routes["add_comment"]
    assert document["upstream_schema_digest"] == found.upstream_schema_digest
    assert (document["schema_digest"], document["written"]) == (found.schema_digest, True)
    assert document["route"]["input_schema"] == json.loads(FILE.read_bytes())["routes"][0]["input_schema"]
    assert document["bounds"][0] == {"pointer": "", "change": "closed", "meaning": CHANGES[Change.CLOSED]}


def test_a_file_that_changed_meanwhile_is_read_again(assay: Command) -> None:
    def meddle(request: Request, peer: Peer) -> None:
        FILE.write_bytes(data(registry(alias="add_comment")))
        listing().on["tools/list"](request, peer)

    with HttpServer(McpScript(on={"tools/list": meddle})) as server:
        refused(pin(assay, server, *ENDPOINT, "--registry", "registry.json"), Refusal.PIN_TAKEN)
    assert FILE.read_bytes() == data(registry(alias="add_comment"))


def test_help_lists_the_command_and_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["contract", "pin", "--help"]) == 0
    told = capsys.readouterr().out
    for option in ("--registry", "--alias", "--renew", "--endpoint", "--bearer-env", "--header-env", "--ca-file"):
        assert option in told
    assert main(["contract", "pin", "--no-such-option"]) == 2


def started_pin(server: HttpServer, alias: str) -> subprocess.Popen[bytes]:
    words: tuple[str | Path, ...] = ("contract", "pin", server.url, "add_comment", *ENDPOINT, "--registry", FILE)
    return subprocess.Popen([SCRIPT, *words, "--alias", alias], stdout=subprocess.DEVNULL)


def test_pins_that_are_made_at_once_are_all_kept(assay: Command) -> None:
    aliases = [f"a{index}" for index in range(4)]
    with HttpServer(listing()) as server:
        started = [started_pin(server, alias) for alias in aliases]
        assert [process.wait(60) for process in started] == [0] * 4
    assert sorted(read_registry((assay.folder / FILE).read_bytes()).routes) == aliases


def waits_for_a_lock(pid: int) -> bool:
    waiting = [line.split() for line in Path("/proc/locks").read_text().splitlines() if "->" in line]
    return any(str(pid) in words for words in waiting)


@pytest.mark.linux
def test_a_pin_waits_for_whoever_writes_the_registry_and_keeps_what_came_in(assay: Command) -> None:
    with HttpServer(listing()) as server:
        with alone(str(FILE)):
            process = started_pin(server, "mine")
            until(lambda: waits_for_a_lock(process.pid))
            FILE.write_bytes(data(registry()))
        assert process.wait(60) == 0
    assert sorted(read_registry(FILE.read_bytes()).routes) == ["desk.comment", "mine"]


@pytest.mark.parametrize(
    "words",
    [
        ["tool\udcff"],
        ["add_comment", "--alias", "a\udcff"],
        ["add_comment", "--alias", ""],
        ["add_comment", "--server-id", "\udcff"],
        ["add_comment", "--server-id", ""],
        ["add_comment", "--credential", "a b"],
    ],
    ids=ascii,
)
def test_a_name_that_no_route_may_have_is_refused_before_contact(assay: Command, words: list[str]) -> None:
    refused(assay("contract", "pin", "http://127.0.0.1:9/mcp", *words, *ENDPOINT), Refusal.ROUTE_IDENTIFIER)


def test_standard_output_is_no_registry_to_add_to(assay: Command) -> None:
    done = assay("contract", "pin", "http://127.0.0.1:9/mcp", "add_comment", *ENDPOINT, "--registry", "-")
    assert (done.exit, done.out, "Leave it out" in done.err) == (2, "", True)
    assert not Path("-").exists()
