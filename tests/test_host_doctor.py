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
from tests.fakes.http_server import HttpServer, McpScript, Peer, Refusal, Request
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
    assert rows[-2] == "1 warning, 15 ok, 2 skipped"
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


@pytest.mark.parametrize(
    ("status", "kind", "advice"),
    [
        (200, "text/html; charset=utf-8", "This address gives web pages."),
        (404, "text/html", "This address gives web pages."),
        (404, "text/plain", "Check the path."),
        (502, "text/plain", "A gateway answers"),
        (400, "application/json", "It may want headers"),
    ],
)
def test_what_answers_and_is_no_mcp_is_a_problem(assay: Command, status: int, kind: str, advice: str) -> None:
    def answer(_request: Request, peer: Peer) -> None:
        peer.reply(status, b"<!doctype html><title>Hello</title>", kind=kind)

    found = of_script(assay, McpScript({"initialize": answer}))
    assert (found.exit, found.bad) == (1, {"answer": "problem"})
    assert found["answer"]["help"].startswith(advice)
    assert (found["answer"]["facts"]["status"], found["answer"]["facts"]["contentType"]) == (status, kind)


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
    assert (found.exit, found.bad) == (0, {"challenge": "warning"})
    assert found["challenge"]["facts"]["status"] == 401
    assert found["oauth"]["status"] == "skipped"
    assert set(found.status("answer", *SESSION, "tools")) == {"skipped"}
    assert assay("doctor", protected_server).out.splitlines()[-1].startswith("next: run `assay doctor` again with")
    monkeypatch.setenv("DESK_TOKEN", token)
    found = examine(assay, protected_server, "--bearer-env", "DESK_TOKEN")
    assert (found.exit, found.bad) == (0, {})
    assert found["challenge"]["message"] == "The credentials are accepted."
    monkeypatch.setenv("DESK_TOKEN", "another-token-altogether")
    found = examine(assay, protected_server, "--bearer-env", "DESK_TOKEN")
    assert (found.exit, found.bad) == (1, {"challenge": "problem"})


METADATA = "https://desk.example.com/.well-known/oauth-protected-resource"


@pytest.mark.parametrize(
    ("challenge", "status", "told", "oauth"),
    [
        (f'Bearer resource_metadata="{METADATA}", scope="a b"', "ok", "says where to get one", "warning"),
        ("Bearer", "warning", "`resource_metadata` is missing", "skipped"),
        ('Basic realm="desk"', "warning", "the scheme Basic", "skipped"),
        (None, "warning", "`WWW-Authenticate` is missing", "skipped"),
        ('Bearer scope="a", scope="b"', "warning", "malformed", "skipped"),
    ],
)
def test_a_challenge_is_as_good_as_what_it_says_about_credentials(
    assay: Command, challenge: str | None, status: str, told: str, oauth: str
) -> None:
    def refuse(_request: Request, peer: Peer) -> None:
        peer.reply(401, b"", *([("WWW-Authenticate", challenge)] if challenge else []))

    found = of_script(assay, McpScript({"initialize": refuse, "GET": lambda _, peer: peer.reply(404)}))
    assert (found.exit, found["challenge"]["status"]) == (0, status)
    assert told in found["challenge"]["message"]
    assert found["oauth"]["status"] == oauth
    assert found["oauth"]["facts"]["signIn"][0]["document"] == "challenge"


# Signing in


def test_a_way_to_sign_in_is_found_document_by_document_without_consent(assay: Command) -> None:
    with AuthorizationServer() as server:
        found = examine(assay, server.url)
        assert (found.exit, found.bad, found["oauth"]["status"]) == (0, {}, "ok")
        assert found["oauth"]["message"] == f"A sign-in can begin at the issuer {server.origin}."
        assert found["oauth"]["facts"]["demand"]["scopes"] == ["tools.read"]
        assert found["oauth"]["facts"]["found"]["registration"] is True
        assert [entry["taken"] for entry in found["oauth"]["facts"]["signIn"]] == [True, True, True]
        assert {request.method for request in server.requests} == {"POST", "GET"}
        shown = assay("doctor", server.url).out
        assert "POST /register" not in server.asked
    assert f"+ authorization server metadata: {server.origin}/.well-known/oauth-authorization-server\n" in shown


def test_a_way_to_sign_in_that_ends_is_a_problem_and_shows_where(assay: Command) -> None:
    with AuthorizationServer() as server:
        del server.metadata["code_challenge_methods_supported"]
        found = examine(assay, server.url)
        assert (found.exit, found.bad) == (1, {"oauth": "problem"})
        assert "`code_challenge_methods_supported` is missing" in found["oauth"]["message"]
        assert found["oauth"]["facts"]["signIn"][-1]["taken"] is False


def test_an_authorization_server_elsewhere_is_a_warning_that_says_what_to_admit(assay: Command) -> None:
    with AuthorizationServer() as server, HttpServer(lambda _, peer: peer.json({})) as elsewhere:
        server.resource["authorization_servers"] = [elsewhere.origin]
        found = examine(assay, server.url)
        assert (found.exit, found.bad) == (0, {"oauth": "warning"})
        assert f"--allow-origin {elsewhere.origin}" in found["oauth"]["message"]
        assert elsewhere.accepted == 0


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
        (McpScript(session=None), "ok", "no session id"),
        (McpScript({"DELETE": lambda _, peer: peer.reply(405)}), "ok", "ends sessions itself"),
        (McpScript({"DELETE": lambda _, peer: peer.reply(500)}), "warning", "HTTP 500"),
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
        (lambda peer: peer.stream().finish(), "ok", "the server ends it"),
        (lambda peer: peer.stream().event(b"\xff"), "warning", "broke off"),
        (lambda peer: peer.reply(404, kind="text/plain"), "warning", "HTTP 404"),
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


def test_an_older_revision_is_a_warning_where_it_knows_no_streamable_http(assay: Command) -> None:
    assert of_script(assay, McpScript(revision="2025-03-26"))["revision"]["status"] == "ok"
    found = of_script(assay, McpScript(revision="2024-11-05"))
    assert (found.exit, found["revision"]["status"]) == (0, "warning")


def test_capabilities_and_names_of_the_server_are_looked_at(assay: Command) -> None:
    found = of_script(assay, McpScript(capabilities={}))
    assert found["capabilities"]["status"] == "warning"
    assert (found["tools"]["status"], found["tools"]["facts"]["declared"]) == ("warning", False)
    found = of_script(assay, McpScript(capabilities={"tools": True}))
    assert (found.exit, found["capabilities"]["status"]) == (1, "problem")
    result = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "x", "version": ""},
    }
    found = of_script(assay, McpScript({"initialize": result}))
    assert (found["server"]["status"], found["server"]["message"]) == ("warning", "x does not say its version.")


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
        assert len(server.seen("DELETE")) == 1
    assert (found.exit, found.bad) == (1, {"tools": "problem"})
    assert found["tools"]["help"] == "Each `nextCursor` leads on to another page, and the last page has none."
    assert found["tools"]["facts"]["pages"] == 3
    assert found["session"]["status"] == "ok"


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
