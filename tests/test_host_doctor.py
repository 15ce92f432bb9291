"""`assay doctor` with the real plugin against servers of every kind: what each check says, and the exit status."""

import json
import ssl
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import trustme

from tests.fakes.authorization_server import AuthorizationServer
from tests.fakes.http_server import HttpServer, McpScript, Peer, Refusal, Request, refuse_get
from tests.host_command import Command, Done
from tests.peers.process import free_port

DOCS = Path(__file__).resolve().parents[1] / "docs"
WAY = ["address", "port", "tls", "redirect", "answer", "challenge", "oauth"]
SESSION = ["revision", "server", "capabilities", "session", "stream"]
TOOLS = ["tools", "tools.entries", "tools.names", "tools.descriptions", "tools.schemas", "tools.hints"]
TOOL = {"name": "echo", "description": "Says it again.", "inputSchema": {"type": "object"}}
SECRET = "a-token-that-is-never-shown"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA(organization_name="Desk Authority")


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path, monkeypatch, capsys)


class Findings(dict[str, dict[str, Any]]):
    """The checks of one document by their id."""

    def __init__(self, done: Done) -> None:
        self.exit = done.exit
        document = done.document
        schema = json.loads((DOCS / "doctor.schema.json").read_text(encoding="utf-8"))
        jsonschema_rs.Draft202012Validator(schema).validate(document)
        super().__init__({check["id"]: check for check in document["checks"]})
        assert len(self) == len(document["checks"])

    @property
    def bad(self) -> dict[str, str]:
        """The status of everything that is neither ok nor skipped."""
        return {name: check["status"] for name, check in self.items() if check["status"] in ("warning", "problem")}

    def status(self, *names: str) -> list[str]:
        return [self[name]["status"] for name in names]


def examine(assay: Command, url: str, *words: str) -> Findings:
    return Findings(assay("doctor", url, "--json", *words))


def of_script(assay: Command, script: McpScript, *words: str) -> Findings:
    with HttpServer(script) as server:
        return examine(assay, server.url, *words)


def listing(*pages: list[Any]) -> Callable[[Request, Peer], None]:
    """Answer `tools/list` page by page; the last one leads on to the second, if there are several."""

    def answer(request: Request, peer: Peer) -> None:
        at = int(request.json.get("params", {}).get("cursor", "0"))
        following = {"nextCursor": str(at + 1 if at + 1 < len(pages) else 1)} if len(pages) > 1 else {}
        result = {"tools": pages[at], **following}
        peer.json({"jsonrpc": "2.0", "id": request.json["id"], "result": result})

    return answer


# Servers that are well


def test_a_server_that_is_well_has_no_finding(assay: Command, example_server: str) -> None:
    found = examine(assay, example_server)
    assert (found.exit, found.bad) == (0, {})
    assert list(found)[:18] == [*WAY, *SESSION, *TOOLS]
    assert {name for name, check in found.items() if check["status"] == "skipped"} >= {"tls", "oauth"}
    assert found["revision"]["facts"] == {"revision": "2025-11-25"}
    assert found["server"]["facts"]["server"]["name"] == "support-desk"
    assert found["tools"]["facts"] == {"count": 11, "declared": True, "pages": 1}
    assert found["session"]["facts"] == {"cleanup": "confirmed", "status": 200}
    assert found["stream"]["facts"]["status"] == 200
    assert found["address"]["facts"] == {"host": "127.0.0.1", "addresses": ["127.0.0.1"]}


def test_people_see_groups_help_a_summary_and_what_to_do_next(assay: Command) -> None:
    with HttpServer(McpScript(tools=[{**TOOL, "description": ""}])) as server:
        done = assay("doctor", server.url)
    assert (done.exit, done.err) == (0, "")
    rows = done.out.splitlines()
    assert rows[0] == server.origin
    assert [row for row in rows if row.startswith("  ") and not row.startswith("   ")] == [
        "  The way there",
        "  The session",
        "  What it lists",
    ]
    at = next(number for number, row in enumerate(rows) if "tools.descriptions" in row)
    assert " ".join(rows[at].split()) == "warning tools.descriptions 1 of 1 tool without a description: `echo`."
    assert rows[at + 1].strip() == "Say what it is for: models choose by it."
    assert rows[-2] == "1 warning, 15 ok, 5 skipped"
    assert rows[-1] == "next: `assay inspect URL` shows what it lists; `assay init URL` writes a first flow"


def test_a_quiet_doctor_says_what_is_wrong_and_nothing_else(assay: Command) -> None:
    with HttpServer(McpScript(tools=[TOOL])) as server:
        assert assay("doctor", server.url, "-q") == (0, "", "")
    with HttpServer(McpScript(tools=[{**TOOL, "name": "no spaces please"}])) as server:
        done = assay("doctor", server.url, "-q")
    assert [row.split()[:2] for row in done.out.splitlines() if "tools." in row] == [["warning", "tools.names"]]
    assert len(done.out.splitlines()) == 2


def test_replies_as_event_streams_are_as_good_as_json(assay: Command) -> None:
    found = of_script(assay, McpScript(sse=True, tools=[TOOL]))
    assert (found.exit, found.bad) == (0, {})
    assert found["answer"]["message"] == "It answers MCP's `initialize`, as a stream of events."


# The way there


def test_a_closed_port_is_a_problem_and_nothing_after_it_can_be_looked_at(assay: Command) -> None:
    found = examine(assay, f"http://127.0.0.1:{free_port()}/mcp")
    assert (found.exit, found.bad) == (1, {"port": "problem"})
    assert list(found)[:13] == [*WAY, *SESSION, "tools"]
    assert set(found.status("redirect", "answer", "challenge", *SESSION, "tools")) == {"skipped"}
    assert "Connection refused" in found["port"]["message"]


def test_what_is_wrong_first_is_what_to_mend_next(assay: Command) -> None:
    done = assay("doctor", f"http://127.0.0.1:{free_port()}/mcp")
    assert done.exit == 1
    assert done.out.splitlines()[-1] == "next: mend `port`, then run `assay doctor` again"


def secured(authority: trustme.CA, name: str = "127.0.0.1", **issued: Any) -> HttpServer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name, **issued).configure_cert(context)
    return HttpServer(McpScript(tools=[TOOL]), tls=context)


def trusting(assay: Command, authority: trustme.CA) -> list[str]:
    path = assay.folder / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return ["--ca-file", str(path)]


def test_an_unknown_authority_is_a_problem_until_it_is_named(assay: Command, authority: trustme.CA) -> None:
    with secured(authority) as server:
        found = examine(assay, server.url)
        assert (found.exit, found.bad) == (1, {"tls": "problem"})
        assert "--ca-file FILE" in found["tls"]["help"]
        assert found.status("port", "redirect", "answer") == ["ok", "skipped", "skipped"]
        found = examine(assay, server.url, *trusting(assay, authority))
    assert (found.exit, found.bad) == (0, {})
    assert found["tls"]["facts"]["certificate"]["issuer"] == "Desk Authority"
    assert found["tls"]["facts"]["certificate"]["names"] == ["127.0.0.1"]


@pytest.mark.parametrize(
    ("name", "days", "status", "told", "advice"),
    [
        ("desk.example.com", 365, "problem", "is not trusted", "Use a name that the certificate is for"),
        ("127.0.0.1", -1, "problem", "expired", "Renew the certificate."),
        ("127.0.0.1", 10, "warning", "It ends in 9 days.", "Renew it before it ends"),
        ("127.0.0.1", 22, "ok", "the certificate is trusted, for `127.0.0.1`, until ", ""),
    ],
)
def test_a_certificate_is_looked_at_for_its_name_and_its_end(
    assay: Command, authority: trustme.CA, name: str, days: int, status: str, told: str, advice: str
) -> None:
    now = datetime.now(UTC)
    times = {"not_before": now - timedelta(days=400), "not_after": now + timedelta(days=days)}
    with secured(authority, name, **times) as server:
        found = examine(assay, server.url, *trusting(assay, authority))
    assert found["tls"]["status"] == status
    assert told in found["tls"]["message"]
    assert found["tls"]["help"].startswith(advice)
    assert found.exit == (1 if status == "problem" else 0)


def test_a_redirect_is_a_problem_that_says_where_it_leads(assay: Command) -> None:
    def redirect(_request: Request, peer: Peer) -> None:
        peer.reply(308, b"", ("Location", "https://elsewhere.example/mcp"))

    found = of_script(assay, McpScript({"initialize": redirect}))
    assert (found.exit, found.bad) == (1, {"redirect": "problem"})
    assert found["redirect"]["facts"] == {"status": 308, "location": "https://elsewhere.example/mcp"}
    assert found["answer"]["status"] == "skipped"


@pytest.mark.parametrize("status", [200, 404])
def test_a_web_page_that_answers_is_a_problem(assay: Command, status: int) -> None:
    def answer(_request: Request, peer: Peer) -> None:
        peer.reply(status, b"<!doctype html><title>Hello</title>", kind="text/html; charset=utf-8")

    found = of_script(assay, McpScript({"initialize": answer}))
    assert (found.exit, found.bad) == (1, {"answer": "problem"})
    assert found["answer"]["help"].startswith("This address gives web pages.")
    facts = found["answer"]["facts"]
    assert (facts["status"], facts["contentType"]) == (status, "text/html; charset=utf-8")


def test_a_server_of_the_older_transport_is_told_from_its_address(assay: Command) -> None:
    def refuse(_request: Request, peer: Peer) -> None:
        peer.reply(405, b"Method Not Allowed", ("Allow", "GET"), kind="text/plain")

    with HttpServer(McpScript({"initialize": refuse})) as server:
        found = examine(assay, f"{server.origin}/sse")
    assert (found.exit, found.bad) == (1, {"answer": "problem"})
    assert found["answer"]["help"].startswith("This looks like the older HTTP+SSE transport")


def test_a_server_that_says_nothing_is_a_problem_after_the_time_that_is_given(assay: Command) -> None:
    def hold(_request: Request, peer: Peer) -> None:
        peer.hold()

    found = of_script(assay, McpScript({"initialize": hold}), "--timeout", "0.3")
    assert (found.exit, found.bad) == (1, {"answer": "problem"})
    assert "0.3 s" in found["answer"]["message"]


def test_a_revision_that_is_not_spoken_is_a_problem(assay: Command) -> None:
    found = of_script(assay, McpScript(revision="1999-12-31"))
    assert (found.exit, found.bad) == (1, {"revision": "problem"})
    assert "1999-12-31" in found["revision"]["message"]


# Credentials


def test_a_server_that_asks_for_credentials_is_well_and_the_rest_waits_for_them(
    assay: Command, protected_server: str, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = examine(assay, protected_server)
    assert (found.exit, found.bad) == (0, {"challenge": "warning", "oauth": "warning"})
    assert found["challenge"]["facts"]["status"] == 401
    assert found["oauth"]["facts"]["code"] == "oauth_discovery_failed"
    assert set(found.status("answer", *SESSION, "tools")) == {"skipped"}
    assert assay("doctor", protected_server).out.splitlines()[-1].startswith("next: run `assay doctor` again with")
    monkeypatch.setenv("DESK_TOKEN", token)
    found = examine(assay, protected_server, "--bearer-env", "DESK_TOKEN")
    assert (found.exit, found.bad) == (0, {})
    assert found["challenge"]["message"] == "The credentials are accepted."
    monkeypatch.setenv("DESK_TOKEN", "another-token-altogether")
    found = examine(assay, protected_server, "--bearer-env", "DESK_TOKEN")
    assert (found.exit, found.bad) == (1, {"challenge": "problem", "oauth": "warning"})


METADATA = "https://desk.example.com/.well-known/oauth-protected-resource"


@pytest.mark.requirement("oauth.look-first")
def test_a_server_that_one_can_sign_in_to_shows_the_whole_way(assay: Command) -> None:
    with AuthorizationServer() as server:
        found = examine(assay, server.url)
        done = assay("doctor", server.url)
        assert {request.path for request in server.requests}.isdisjoint({"/register", "/authorize", "/token"})
    assert (found.exit, found.bad, found.status("challenge", "oauth")) == (0, {}, ["ok", "ok"])
    assert found["oauth"]["message"] == f"A sign-in can begin at the issuer {server.origin}."
    assert [entry["taken"] for entry in found["oauth"]["facts"]["signIn"]] == [True, True, True]
    assert found["oauth"]["facts"]["demand"]["scopes"] == ["tools.read"]
    rows = [row.strip() for row in done.out.splitlines()]
    assert f"+ protected resource metadata: {server.origin}/.well-known/oauth-protected-resource/mcp" in rows
    assert "`assay login URL` tries it, in your browser." in rows
    assert "+ challenge: the endpoint" in rows


def test_a_way_to_a_token_that_is_promised_and_leads_nowhere_is_a_problem(assay: Command) -> None:
    with AuthorizationServer() as server:
        server.metadata["issuer"] = "https://another.example"
        found = examine(assay, server.url)
    assert (found.exit, found.bad) == (1, {"oauth": "problem"})
    assert found["oauth"]["facts"]["code"] == "oauth_issuer_mismatch"
    assert [entry["taken"] for entry in found["oauth"]["facts"]["signIn"]][:2] == [True, True]


def test_a_way_to_a_token_is_shown_where_nothing_asks_for_one_yet(assay: Command) -> None:
    with AuthorizationServer() as server:
        server.routes["POST /mcp"] = server.mcp
        found = examine(assay, server.url)
        assert (found.exit, found.status("challenge", "oauth", "tools")) == (0, ["ok"] * 3)
        server.resource["resource"] = "https://another.example/mcp"
        found = examine(assay, server.url)
    assert (found.exit, found["oauth"]["status"]) == (0, "warning")
    assert "`resource` is `https://another.example/mcp`" in found["oauth"]["message"]


def test_an_authorization_server_elsewhere_has_to_be_admitted(assay: Command) -> None:
    def refuse(_request: Request, peer: Peer) -> None:
        peer.reply(401, b"", ("WWW-Authenticate", f'Bearer resource_metadata="{METADATA}"'))

    found = of_script(assay, McpScript({"initialize": refuse}))
    assert (found.exit, found.bad, found.status("challenge", "oauth")) == (0, {}, ["ok", "skipped"])
    assert found["oauth"]["facts"]["code"] == "origin_not_admitted"
    assert "--allow-origin https://desk.example.com:443" in found["oauth"]["message"]


def test_a_403_is_a_problem_with_or_without_credentials(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_request: Request, peer: Peer) -> None:
        peer.reply(403, b"", ("WWW-Authenticate", 'Bearer error="insufficient_scope", scope="admin"'))

    monkeypatch.setenv("DESK_TOKEN", SECRET)
    for words in ([], ["--bearer-env", "DESK_TOKEN"]):
        found = of_script(assay, McpScript({"initialize": refuse}), *words)
        assert (found.exit, found.bad) == (1, {"challenge": "problem"})
        assert "insufficient_scope" in found["challenge"]["message"]


# The session


@pytest.mark.parametrize(
    ("script", "status", "told"),
    [
        (McpScript({"DELETE": lambda _, peer: peer.reply(405)}), "ok", "ends sessions itself"),
        (McpScript({"DELETE": lambda _, peer: peer.reset()}), "warning", "not confirmed"),
    ],
)
def test_the_end_of_a_session_is_looked_at(assay: Command, script: McpScript, status: str, told: str) -> None:
    found = of_script(assay, script)
    assert (found.exit, found["session"]["status"]) == (0, status)
    assert told in found["session"]["message"]


@pytest.mark.parametrize(
    ("answer", "status", "told"),
    [
        (lambda peer: peer.reply(405), "ok", "HTTP 405"),
        (lambda peer: peer.stream(), "ok", "opens a stream"),
        (lambda peer: peer.stream().event(b"\xff"), "warning", "broke off"),
        (lambda peer: peer.reply(200, b"<html>", kind="text/html"), "warning", "text/html"),
        (lambda peer: peer, "warning", "no answer so far"),
    ],
)
def test_the_stream_of_messages_out_of_turn_is_looked_at(
    assay: Command, answer: Callable[[Peer], Any], status: str, told: str
) -> None:
    answered = threading.Event()

    def get(_request: Request, peer: Peer) -> None:
        answer(peer)
        answered.set()
        if told in ("opens a stream", "no answer so far"):
            peer.hold()

    def tools(request: Request, peer: Peer) -> None:
        # How the stream stands is asked when this has been answered.
        assert answered.wait(10)
        peer.json({"jsonrpc": "2.0", "id": request.json["id"], "result": {"tools": [TOOL]}})

    found = of_script(assay, McpScript({"GET": get, "tools/list": tools}))
    assert (found.exit, found["stream"]["status"]) == (0, status)
    assert told in found["stream"]["message"]


def test_a_stream_that_opens_after_short_lists_were_read_is_waited_for(assay: Command) -> None:
    listed, deleted = threading.Event(), threading.Event()
    hurried: list[bool] = []

    def get(request: Request, peer: Peer) -> None:
        if request.path != "/mcp":
            refuse_get(request, peer)
            return
        assert listed.wait(10)
        # A session that does not wait is ended at once.
        hurried.append(deleted.wait(0.3))
        peer.stream()
        peer.hold()

    def prompts(request: Request, peer: Peer) -> None:
        peer.json({"jsonrpc": "2.0", "id": request.json["id"], "result": {"prompts": []}})
        listed.set()

    def delete(_request: Request, peer: Peer) -> None:
        deleted.set()
        peer.reply(200)

    found = of_script(assay, McpScript({"GET": get, "prompts/list": prompts, "DELETE": delete}))
    assert (found.exit, found["stream"]["status"], hurried) == (0, "ok", [False])


def test_an_older_revision_is_a_warning_where_it_knows_no_streamable_http(assay: Command) -> None:
    found = of_script(assay, McpScript(revision="2024-11-05"))
    assert (found.exit, found["revision"]["status"]) == (0, "warning")


def test_a_list_that_is_not_declared_is_a_warning(assay: Command) -> None:
    found = of_script(assay, McpScript(capabilities={}))
    assert (found.exit, found["capabilities"]["status"]) == (0, "warning")
    assert (found["tools"]["status"], found["tools"]["facts"]["declared"]) == ("warning", False)


# What it lists


def test_every_malformed_entry_is_named_and_the_other_checks_look_at_all_of_them(assay: Command) -> None:
    entries = [
        TOOL,
        "not an object",
        {"description": "nameless", "inputSchema": {"type": "object"}},
        {"name": "schemaless", "description": "x"},
        {"name": "array", "description": "x", "inputSchema": {"type": "array"}},
        TOOL,
        {"name": "", "inputSchema": {"type": "object"}},
        {"name": "fine", "inputSchema": {"type": "object"}},
    ]
    with HttpServer(McpScript(tools=entries)) as server:
        found = examine(assay, server.url)
        assert len(server.seen("tools/list")) == 1
    assert found.exit == 1
    assert found["tools"]["status"] == "problem"
    assert found["tools"]["facts"]["code"] == "inventory_invalid"
    assert found["tools.entries"]["facts"] == {
        "entries": [
            {"index": 1, "name": None, "reason": "entry-not-an-object"},
            {"index": 2, "name": None, "reason": "name-not-a-string"},
            {"index": 3, "name": "schemaless", "reason": "input-schema-not-an-object"},
            {"index": 4, "name": "array", "reason": "input-schema-not-of-type-object"},
            {"index": 5, "name": "echo", "reason": "repeated"},
            {"index": 6, "name": "", "reason": "name-empty"},
        ],
        "more": 0,
    }
    assert [each["index"] for each in found["tools.descriptions"]["facts"]["entries"]] == [6, 7]
    assert "`#1`" in found["tools.entries"]["message"]


def test_a_cursor_that_repeats_is_a_problem_and_the_session_is_ended_all_the_same(assay: Command) -> None:
    pages = [[{**TOOL, "name": f"tool-{number}"}] for number in range(3)]
    with HttpServer(McpScript({"tools/list": listing(*pages)})) as server:
        found = examine(assay, server.url)
        # What is listed beside tools is asked for in a session of its own; a last one shows whether a token is wanted.
        assert [len(server.seen(rpc)) for rpc in ("initialize", "prompts/list", "DELETE")] == [3, 1, 3]
    assert (found.exit, found.bad) == (1, {"tools": "problem"})
    assert found["tools"]["help"] == "Each `nextCursor` leads on to another page, and the last page has none."
    assert found["tools"]["facts"]["pages"] == 3
    assert found["session"]["status"] == "ok"


def test_every_list_is_looked_at_however_many_of_them_close_their_session(assay: Command) -> None:
    lists = {
        "tools/list": {"tools": ["x"]},
        "resources/list": {"resources": [{"uri": "a:b"}, {"uri": "a:b"}]},
        "resources/templates/list": {"resourceTemplates": [{"name": "x"}]},
        "prompts/list": {"prompts": [{"name": "p", "arguments": "x"}, {"name": "q"}]},
    }
    with HttpServer(McpScript(lists, capabilities={"tools": {}, "resources": {}, "prompts": {}})) as server:
        found = examine(assay, server.url)
        assert [len(server.seen(rpc)) for rpc in ("initialize", "DELETE")] == [5, 5]
        assert [len(server.seen(rpc)) for rpc in lists] == [1] * 4
    assert found.exit == 1
    names = ["tools", "resources", "resource_templates", "prompts"]
    assert found.status(*names) == ["problem"] * 4
    reasons = [[each["reason"] for each in found[f"{name}.entries"]["facts"]["entries"]] for name in names]
    assert reasons == [["entry-not-an-object"], ["repeated"], ["name-not-a-string"], ["arguments-malformed"]]
    assert found["prompts.descriptions"]["status"] == "warning"


def test_a_server_by_other_people_with_every_kind_of_list_is_looked_at_whole(
    assay: Command, everything_server: str
) -> None:
    found = examine(assay, everything_server)
    assert found.exit == 0
    assert found.status("tools", "resources", "resource_templates", "prompts", "session", "stream") == ["ok"] * 6
    assert found["resource_templates"]["message"].endswith("resource templates in 1 page.")


def test_a_list_that_passes_a_limit_is_told_from_one_that_loops(assay: Command) -> None:
    pages = [[{**TOOL, "name": f"tool-{number}"}] for number in range(51)]
    found = of_script(assay, McpScript({"tools/list": listing(*pages)}))
    assert (found.exit, found.bad) == (1, {"tools": "problem"})
    assert found["tools"]["help"].startswith("No client and no model makes use of a list that long")


def test_what_is_declared_and_refused_is_a_problem_with_the_refusal(assay: Command) -> None:
    found = of_script(assay, McpScript({"tools/list": Refusal(-32603, "Out of order")}))
    assert (found.exit, found.bad) == (1, {"tools": "problem"})
    assert found["tools"]["facts"]["refusal"] == {"code": -32603, "message": "Out of order"}
    assert found["tools"]["help"] == "A capability that is declared has to be answered."


def test_what_came_back_of_a_private_value_is_not_shown(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_TOKEN", SECRET)
    tools = [{**TOOL, "name": f"echo {SECRET}"}, {**TOOL, "name": SECRET}]
    with HttpServer(McpScript(tools=tools)) as server:
        for words in (["--json"], []):
            done = assay("doctor", server.url, "--bearer-env", "DESK_TOKEN", *words)
            assert done.exit == 0, done.err
            assert SECRET not in done.out + done.err


def test_hostile_texts_do_not_act_on_the_terminal(assay: Command) -> None:
    with HttpServer(McpScript(tools=[{**TOOL, "name": "\x1b[31m\u202eevil\n::error::x"}])) as server:
        done = assay("doctor", server.url)
    assert done.exit == 0
    assert "`[31m\\u202eevil\\n::error::x`" in done.out
    assert "\x1b" not in done.out


def test_wrong_options_are_refused_before_contact(assay: Command) -> None:
    with HttpServer(McpScript()) as server:
        for words in (["--bearer-env", "NOT_SET_ANYWHERE"], ["--ca-file", "none.pem"], ["--timeout", "0"]):
            assert assay("doctor", server.url, *words).exit == 2
    assert server.accepted == 0
