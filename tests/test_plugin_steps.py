"""The commands against a scripted server: what they send, what they report, and how the alias stands afterwards."""

import json
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trustme

from protocol.failures import Failed
from protocol.values.document import parse
from tests.fakes.http_server import HttpServer, McpScript, Peer, Refusal, Request
from tests.fakes.plugin_bench import Bench, bench

SUCCEEDED_OPEN = ("succeeded", None, "open")


def answer(status: int, body: bytes = b"", *headers: tuple[str, str], kind: str | None = None) -> Any:
    return lambda request, peer: peer.reply(status, body, *headers, kind=kind)


def cut(request: Request, peer: Peer) -> None:
    peer.head(200, ("Content-Type", "application/json"), ("Content-Length", "100"))
    peer.close()


def result(value: Any) -> Callable[[Request, Peer], None]:
    """Answer with a result whose JSON is given as text, so that numbers keep their spelling."""

    def reply(request: Request, peer: Peer) -> None:
        peer.json(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (request.json["id"], value.encode()))

    return reply


def structured(text: str) -> Callable[[Request, Peer], None]:
    return result('{"content":[],"structuredContent":%s}' % text)  # noqa: UP031 - braces of JSON


TOOLS = [
    {"name": "b_tool", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    {"name": "a_tool", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": True}},
]


# connect


@pytest.mark.requirement("command.connect")
def test_connect_reports_what_was_negotiated() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        seen = plugin.run("connect")
        assert (seen["status"], seen["code"], seen["message"]) == (
            "succeeded",
            None,
            "Connected with protocol 2025-11-25.",
        )
        assert seen["state"] == {
            "kind": "initialized",
            "protocol": "2025-11-25",
            "server": {"name": "scripted", "version": "1"},
            "capabilities": {"tools": {}},
            "headers": [],
        }
        assert seen["facts"]["session"]["protocol"] == "2025-11-25"
        assert seen["facts"]["http"]["status"] == 200
        assert plugin.learnt == ["session-0123456789"]
        assert server.seen("initialize")[0].json["params"]["clientInfo"]["name"] == "assay-mcp"


@pytest.mark.requirement("limits.revisions")
@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"])
def test_connect_accepts_every_revision_of_the_seed(revision: str) -> None:
    with HttpServer(McpScript(revision=revision)) as server, bench(server) as plugin:
        assert plugin.run("connect")["state"]["protocol"] == revision


@pytest.mark.requirement("limits.revisions")
def test_another_revision_is_not_supported_and_refuses_the_alias() -> None:
    with HttpServer(McpScript(revision="2030-01-01")) as server, bench(server) as plugin:
        assert plugin.outcome("connect") == ("failed", "version_unsupported", "refused")
        assert plugin.outcome("tools") == ("failed", "not_connected", "refused")
        assert len(server.seen("initialize")) == 1


@pytest.mark.requirement(
    "identity.kinds", "public-headers.object", "public-headers.every-request", "public-headers.evidence"
)
def test_public_headers_go_on_every_request_and_their_sorted_names_are_recorded() -> None:
    with HttpServer(McpScript()) as server, bench(server, headers={"X-Key": "key-12345"}) as plugin:
        seen = plugin.run("connect", headers={"x_tenant": "test-tenant", "X-Region": "eu"})
        plugin.run("tools")
        plugin.run("disconnect")
        assert seen["state"]["headers"] == ["X-Region", "X_tenant"]
        assert "test-tenant" not in json.dumps(seen)
        server.wait_for(lambda server: bool(server.seen("GET")))
        for request in server.requests:
            assert (request.headers["x_tenant"], request.headers["x-region"]) == ("test-tenant", "eu")
            assert request.headers["x-key"] == "key-12345"


@pytest.mark.requirement("identity.kinds", "field.bearer-token")
def test_a_bearer_token_goes_on_every_request() -> None:
    with HttpServer(McpScript()) as server, bench(server, bearerToken="token-12345") as plugin:
        plugin.run("connect")
        plugin.run("disconnect")
        assert {request.headers.get("authorization") for request in server.requests} == {"Bearer token-12345"}


@pytest.mark.requirement(
    "anonymous.refused", "refused.later-commands", "command.connect", "expect.status", "limits.no-old-transport"
)
@pytest.mark.parametrize("status", [301, 401, 403, 404, 405, 408, 429, 500, 503])
def test_an_expected_status_of_a_refused_initialization_succeeds(status: int) -> None:
    script = McpScript(on={"initialize": answer(status, b"no", kind="text/plain")})
    with HttpServer(script) as server, bench(server) as plugin:
        seen = plugin.run("connect", expect={"status": status})
        assert (seen["status"], seen["code"], seen["facts"]["connection"]) == ("succeeded", None, "refused")
        assert seen["state"] == {"kind": "refused", "status": status, "headers": []}
        assert plugin.outcome("tools") == ("failed", "not_connected", "refused")
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [200, 400])
def test_a_json_rpc_refusal_of_initialize_has_its_http_status(status: int) -> None:
    script = McpScript(on={"initialize": Refusal(-32000, "no", {"why": "x"}, status=status)})
    with HttpServer(script) as server, bench(server) as plugin:
        seen = plugin.run("connect", expect={"status": status})
        assert seen["status"] == "succeeded"
        assert seen["facts"]["refusal"] == {"code": -32000, "message": "no", "data": {"why": "x"}}


@pytest.mark.parametrize(("status", "code"), [(200, "unexpected_refusal"), (400, "http_status"), (500, "http_status")])
def test_without_expect_a_json_rpc_refusal_of_initialize_fails_by_its_status(status: int, code: str) -> None:
    script = McpScript(on={"initialize": Refusal(-32000, "no", status=status)})
    with HttpServer(script) as server, bench(server) as plugin:
        assert plugin.outcome("connect") == ("failed", code, "refused")


@pytest.mark.requirement("expect.status")
def test_another_status_than_expected_fails() -> None:
    with HttpServer(McpScript(on={"initialize": answer(403)})) as server, bench(server) as plugin:
        seen = plugin.run("connect", expect={"status": 401})
        assert (seen["status"], seen["code"]) == ("failed", "expectation_failed")
        assert seen["message"] == "Expected HTTP 401 to refuse the session; it was refused with HTTP 403."


@pytest.mark.requirement("command.connect")
def test_an_expected_status_fails_on_a_session_that_is_initialized() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        assert plugin.outcome("connect", expect={"status": 401}) == ("failed", "expectation_failed", "open")


def test_an_expected_status_does_not_stand_in_for_a_lost_reply() -> None:
    with HttpServer(McpScript(on={"initialize": cut})) as server, bench(server) as plugin:
        assert plugin.outcome("connect", expect={"status": 200}) == ("failed", "reply_lost", "refused")


def test_a_refusal_keeps_its_challenge_and_512_characters_of_its_body() -> None:
    token = "token-12345"
    body = ("x" * 500 + token + "y" * 600).encode()
    challenge = ("WWW-Authenticate", 'Bearer realm="mcp", error="invalid_token"')
    script = McpScript(on={"initialize": answer(401, body, challenge, kind="text/plain")})
    with HttpServer(script) as server, bench(server, bearerToken=token) as plugin:
        seen = plugin.run("connect")
        assert (seen["status"], seen["code"]) == ("failed", "http_status")
        assert seen["facts"]["http"]["body"] == "x" * 500 + "[redacted]" + "yy"
        assert seen["facts"]["http"]["challenge"][0]["scheme"].lower() == "bearer"


@pytest.mark.requirement("public-headers.first")
def test_connecting_again_is_refused() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        plugin.run("tools")
        again = plugin.run("connect")
        assert (again["status"], again["code"], again["facts"]["connection"]) == ("failed", "binding_fixed", "open")
        assert again["message"].endswith(
            "it is connected already, and an alias is one session. Take this `connect` out."
        )
        assert len(server.seen("initialize")) == 1


def test_nothing_listens_there() -> None:
    with HttpServer(McpScript()) as server:
        pass
    with bench(server) as plugin:
        assert plugin.outcome("connect") == ("failed", "unreachable", "refused")
        assert plugin.outcome("disconnect") == ("succeeded", None, "disconnected")


@pytest.mark.requirement("origins.admitted")
def test_an_origin_that_is_not_admitted_is_not_contacted() -> None:
    with HttpServer(McpScript()) as server, bench(server, origins=["http://127.0.0.1:1"]) as plugin:
        seen = plugin.run("connect")
        assert (seen["code"], seen["facts"]["connection"]) == ("origin_not_admitted", "refused")
        assert f"http://127.0.0.1:{server.port}" in seen["message"]
        assert server.requests == []


def test_a_missing_certificate_file_is_a_wrong_binding_and_nothing_is_contacted(tmp_path: Path) -> None:
    with HttpServer(McpScript()) as server, bench(server, caFile=str(tmp_path / "ca.pem")) as plugin:
        seen = plugin.run("connect")
        assert (seen["code"], seen["facts"]["connection"]) == ("invalid_binding", "refused")
        assert str(tmp_path) not in json.dumps(seen)
        assert server.requests == []


@pytest.mark.requirement("transport.streamable-http", "field.ca-file")
def test_the_authorities_of_a_binding_are_added_to_the_system_s(tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    file = tmp_path / "ca.pem"
    file.write_bytes(authority.cert_pem.bytes())
    with HttpServer(McpScript(), tls=context) as server:
        with bench(server) as plugin:
            assert plugin.outcome("connect") == ("failed", "tls_failed", "refused")
        with bench(server, caFile=str(file)) as plugin:
            assert plugin.outcome("connect") == SUCCEEDED_OPEN


# path and token file


@pytest.mark.requirement("path.joined", "path.fixed", "path.evidence")
def test_a_path_is_appended_and_fixed_and_evidence_does_not_depend_on_it() -> None:
    states = []
    for path in ("support", "billing"):
        with HttpServer(McpScript()) as server, bench(server) as plugin:
            states.append([plugin.run("connect", path=path)["state"], plugin.run("tools", path=path)["state"]])
            assert {request.path for request in server.requests} == {f"/mcp/{path}"}
            assert plugin.learnt[0] == f"{server.url}/{path}"
            assert plugin.outcome("tools", path="other") == ("failed", "binding_fixed", "open")
            assert plugin.outcome("tools") == SUCCEEDED_OPEN
    assert states[0] == states[1]


def test_a_long_path_is_private_without_its_origin_too() -> None:
    text = {"content": [{"type": "text", "text": "you asked /mcp/tenant-0123456789"}]}
    with HttpServer(McpScript(on={"tools/call": text})) as server, bench(server) as plugin:
        seen = plugin.run("call", tool="t", path="tenant-0123456789")
        assert seen["state"]["text"] == "you asked [redacted]"
        assert plugin.learnt[:2] == [f"{server.url}/tenant-0123456789", "/mcp/tenant-0123456789"]


@pytest.mark.requirement("token.fixed", "path.fixed")
@pytest.mark.parametrize("argument", ["path", "tokenFile"])
def test_naming_one_only_later_is_refused_and_changes_nothing(argument: str) -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        plugin.run("connect")
        requests = len(server.seen("tools/list"))
        for command in ("tools", "disconnect"):
            assert plugin.outcome(command, **{argument: "x"}) == ("failed", "binding_fixed", "open")
        assert len(server.seen("tools/list")) == requests
        assert server.seen("DELETE") == []


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    folder = tmp_path / "tokens"
    folder.mkdir(mode=0o700)
    file = folder / "agent-key"
    file.write_text("run-token-0123\n")
    file.chmod(0o600)
    return folder


@pytest.mark.requirement("field.token-directory", "token.read-once", "token.precedence", "token.fixed")
@pytest.mark.parametrize(
    "credential", [{}, {"bearerToken": "bound-token"}, {"headers": {"Authorization": "Bearer bound-token"}}]
)
def test_a_token_file_takes_precedence_and_is_read_once(tokens: Path, credential: dict[str, Any]) -> None:
    with (
        HttpServer(McpScript()) as server,
        bench(server, tokenDirectory=str(tokens), **credential) as plugin,
    ):
        assert plugin.outcome("connect", tokenFile="agent-key") == SUCCEEDED_OPEN
        (tokens / "agent-key").unlink()
        assert plugin.outcome("tools", tokenFile="agent-key") == SUCCEEDED_OPEN
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer run-token-0123"}
        assert plugin.learnt[0] == "run-token-0123"


def test_a_token_file_that_is_not_safe_is_refused_before_contact(tokens: Path) -> None:
    (tokens / "agent-key").chmod(0o644)
    with HttpServer(McpScript()) as server, bench(server, tokenDirectory=str(tokens)) as plugin:
        seen = plugin.run("connect", tokenFile="agent-key")
        assert (seen["status"], seen["code"], seen["facts"]["connection"]) == (
            "failed",
            "token_file_refused",
            "refused",
        )
        assert str(tokens) not in json.dumps(seen)
        assert plugin.outcome("tools") == ("failed", "not_connected", "refused")
        assert server.requests == []


def test_a_token_file_needs_a_token_directory() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        seen = plugin.run("connect", tokenFile="agent-key")
        assert seen["code"] == "token_file_refused"
        assert "`tokenDirectory`" in seen["message"]
        assert server.requests == []


# tools


@pytest.mark.requirement("command.tools", "evidence.sorted", "evidence.hints")
def test_tools_are_sorted_and_their_missing_hints_are_null() -> None:
    with HttpServer(McpScript(tools=TOOLS)) as server, bench(server) as plugin:
        seen = plugin.run("tools")
        assert (seen["status"], seen["message"]) == ("succeeded", "2 tools listed.")
        state = seen["state"]
        assert {key: state[key] for key in ("inventory", "declared", "complete", "count")} == {
            "inventory": "tools",
            "declared": True,
            "complete": True,
            "count": 2,
        }
        assert [entry["name"] for entry in state["entries"]] == ["a_tool", "b_tool"]
        assert state["entries"][0]["annotations"] == {
            "readOnly": None,
            "destructive": True,
            "idempotent": None,
            "openWorld": None,
        }
        assert seen["display"] == {"entries": TOOLS}
        assert seen["artifacts"] == []
        assert seen["facts"]["pages"] == 1
        assert seen["facts"]["session"]["protocol"] == "2025-11-25"


def test_with_keep_text_the_redacted_entries_are_an_artifact() -> None:
    tools = [{**TOOLS[0], "description": "uses token-12345"}, TOOLS[1]]
    with (
        HttpServer(McpScript(tools=tools)) as server,
        bench(server, bearerToken="token-12345", keepText="true") as plugin,
    ):
        seen = plugin.run("tools")
        assert seen["artifacts"] == [
            {
                "name": "catalog.json",
                "json": {"inventory": "tools", "entries": [TOOLS[1], {**TOOLS[0], "description": "uses [redacted]"}]},
            }
        ]
        assert [entry["redacted"] for entry in seen["state"]["entries"]] == [False, True]


def paged(*pages: Any) -> Callable[[Request, Peer], None]:
    def reply(request: Request, peer: Peer) -> None:
        place = int(request.json["params"].get("cursor") or 0)
        page: dict[str, Any] = {"tools": pages[place]}
        if place + 1 < len(pages):
            page["nextCursor"] = str(place + 1)
        peer.json({"jsonrpc": "2.0", "id": request.json["id"], "result": page})

    return reply


def test_pages_are_read_to_the_end_and_progress_is_told() -> None:
    with HttpServer(McpScript(on={"tools/list": paged(TOOLS[:1], [], TOOLS[1:])})) as server, bench(server) as plugin:
        seen = plugin.run("tools", expect={"only": ["a_tool", "b_tool"], "count": 2})
        assert (seen["status"], seen["facts"]["pages"]) == ("succeeded", 3)
        told = [params for method, params in plugin.notifications if method == "progress"]
        assert told[:2] == [{"id": 1, "done": 1, "unit": "pages"}, {"id": 1, "done": 1, "unit": "items"}]


def test_a_failed_expectation_keeps_the_whole_state() -> None:
    with HttpServer(McpScript(tools=TOOLS)) as server, bench(server) as plugin:
        seen = plugin.run("tools", expect={"present": ["a_tool", "c_tool"], "noTrueAnnotations": ["destructive"]})
        assert (seen["status"], seen["code"], seen["facts"]["connection"]) == ("failed", "expectation_failed", "open")
        assert seen["message"] == (
            '2 expectations failed: present (not-listed: "c_tool"); noTrueAnnotations (destructive-is-true: "a_tool").'
        )
        assert seen["facts"]["failedExpectations"] == [
            {"expectation": "present", "reason": "not-listed", "names": ["c_tool"], "more": 0},
            {"expectation": "noTrueAnnotations", "reason": "destructive-is-true", "names": ["a_tool"], "more": 0},
        ]
        assert seen["state"]["complete"] is True


@pytest.mark.requirement("expect.incomplete")
@pytest.mark.parametrize(
    ("reply", "limits", "code", "connection"),
    [
        (paged(TOOLS[:1], TOOLS[1:]), {"maxPages": 1}, "inventory_incomplete", "open"),
        (paged(TOOLS), {"maxItems": 1}, "inventory_incomplete", "open"),
        (Refusal(-32603, "broken"), {}, "inventory_incomplete", "open"),
        (result('{"tools":[],"nextCursor":"again"}'), {}, "inventory_incomplete", "closed"),
        (paged([TOOLS[0], TOOLS[0]]), {}, "inventory_invalid", "closed"),
        (paged([{"name": "x"}]), {}, "inventory_invalid", "closed"),
        (
            result('{"tools":[{"name":"a","name":"b","inputSchema":{"type":"object"}}]}'),
            {},
            "inventory_invalid",
            "closed",
        ),
        (answer(500), {}, "http_status", "closed"),
        (answer(404), {}, "session_lost", "closed"),
        (answer(403), {}, "http_status", "open"),
        (cut, {}, "reply_lost", "closed"),
    ],
)
def test_an_inventory_that_was_not_read_to_its_end_satisfies_nothing(
    reply: Any, limits: dict[str, Any], code: str, connection: str
) -> None:
    with HttpServer(McpScript(on={"tools/list": reply})) as server, bench(server, **limits) as plugin:
        seen = plugin.run("tools", expect={"absent": ["z"]})
        assert (seen["status"], seen["code"], seen["facts"]["connection"]) == ("failed", code, connection)
        assert seen["state"]["complete"] is False
        assert "entries" not in seen["state"]


def test_a_capability_that_is_not_declared_may_be_an_empty_inventory() -> None:
    script = McpScript(capabilities={}, on={"tools/list": Refusal(-32601, "no tools here")})
    with HttpServer(script) as server, bench(server) as plugin:
        seen = plugin.run("tools", expect={"count": 0})
        assert seen["status"] == "succeeded"
        assert (seen["state"]["declared"], seen["state"]["complete"], seen["state"]["entries"]) == (False, True, [])


# call


@pytest.mark.requirement("command.call")
def test_a_call_is_sent_once_with_its_arguments_verbatim() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        seen = plugin.run("call", tool="echo", arguments='{"a": 1.10, "b":-0,"c":9007199254740993 }')
        assert (seen["status"], seen["code"], seen["message"]) == ("succeeded", None, "The tool answered.")
        assert seen["state"] == {
            "kind": "result",
            "isError": False,
            "contentTypes": ["text"],
            "text": "hello",
            "truncated": False,
            "structuredContent": None,
            "redacted": False,
            "failedExpectations": [],
        }
        assert seen["display"] == {"result": {"content": [{"type": "text", "text": "hello"}], "isError": False}}
        (request,) = server.seen("tools/call")
        assert b'"params":{"name":"echo","arguments":{"a":1.10,"b":-0,"c":9007199254740993}}' in request.body


@pytest.mark.requirement("command.call")
def test_a_call_without_arguments_sends_an_empty_object() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        plugin.run("call", tool="not-listed")
        assert server.seen("tools/call")[0].json["params"] == {"name": "not-listed", "arguments": {}}


TOOL_ERROR = {"content": [{"type": "text", "text": "out of stock"}], "isError": True}


@pytest.mark.requirement("expect.none")
@pytest.mark.parametrize(
    ("reply", "expect", "code", "message"),
    [
        (TOOL_ERROR, None, "tool_error", "The tool answered with an error: out of stock"),
        (TOOL_ERROR, {"isError": True}, None, "The tool answered with an error, as expected."),
        (TOOL_ERROR, {"textIncludes": ["stock"]}, None, "The tool answered with an error, as expected."),
        (TOOL_ERROR, {"isError": False}, "expectation_failed", "1 expectation failed: isError (tool-error)."),
        (Refusal(-32602, "no tool"), None, "unexpected_refusal", "JSON-RPC error -32602: no tool"),
        (Refusal(-32602, "no tool"), {"rpcError": -32602}, None, "JSON-RPC error -32602, as expected."),
        (Refusal(-32602, "no tool", status=400), {"rpcError": -32602}, None, "as expected."),
        (Refusal(-32602, "no tool"), {"rpcError": -32601}, "expectation_failed", "rpcError (other-code)."),
        (Refusal(-32602, "no tool"), {"redacted": False}, None, "as expected."),
        ({"content": "x"}, None, "protocol_error", "content-not-an-array"),
        ({"content": "x"}, {"isError": False}, "expectation_failed", "isError (reply-unavailable)."),
        ({"content": "x"}, {"redacted": False}, "expectation_failed", "redacted (reply-unavailable)."),
    ],
)
def test_a_known_reply_to_a_call_keeps_the_connection_open(
    reply: Any, expect: Any, code: str | None, message: str
) -> None:
    with HttpServer(McpScript(on={"tools/call": reply})) as server, bench(server) as plugin:
        seen = plugin.run("call", tool="t", **({"expect": expect} if expect else {}))
        assert (seen["status"], seen["code"]) == ("failed" if code else "succeeded", code)
        assert message in seen["message"]
        assert seen["facts"]["connection"] == "open"
        assert plugin.outcome("tools") == SUCCEEDED_OPEN


@pytest.mark.requirement("evidence.call.rpc-error")
def test_a_refused_call_keeps_code_message_and_data() -> None:
    script = McpScript(on={"tools/call": Refusal(-32602, "no token-12345", {"t": "token-12345"})})
    with HttpServer(script) as server, bench(server, bearerToken="token-12345") as plugin:
        seen = plugin.run("call", tool="t")
        assert seen["state"] == {
            "kind": "rpc-error",
            "code": -32602,
            "message": "no [redacted]",
            "truncated": False,
            "redacted": True,
            "failedExpectations": [],
        }
        assert seen["facts"]["refusal"] == {"code": -32602, "message": "no [redacted]", "data": {"t": "[redacted]"}}
        assert "[redacted]" in seen["message"]


@pytest.mark.requirement("gateway.repeated", "evidence.call.unavailable", "json.source.unavailable")
@pytest.mark.parametrize("expect", [None, {"isError": False}, {"json": [{"pointer": "", "exists": True}]}])
def test_a_repeated_member_makes_a_reply_unavailable(expect: Any) -> None:
    reply = result('{"content":[],"content":[],"structuredContent":{}}')
    with HttpServer(McpScript(on={"tools/call": reply})) as server, bench(server) as plugin:
        seen = plugin.run("call", tool="t", **({"expect": expect} if expect else {}))
        assert seen["code"] == ("expectation_failed" if expect else "protocol_error")
        assert (seen["state"]["kind"], seen["state"]["reason"]) == ("unavailable", "repeated-member")
        assert seen["facts"]["connection"] == "open"
        if expect and "json" in expect:
            assert seen["state"]["assertions"][0]["reason"] == "source-unavailable"


@pytest.mark.requirement("evidence.call.unknown")
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (cut, "reply_lost"),
        (answer(202), "reply_lost"),
        (answer(500), "http_status"),
        (answer(408), "http_status"),
        (answer(302, b"", ("Location", "/mcp/")), "redirect_refused"),
        (answer(200, b"<html>", kind="text/html"), "protocol_error"),
        (answer(200, b"{]", kind="application/json"), "protocol_error"),
        (lambda request, peer: peer.json({"jsonrpc": "2.0", "id": 999, "result": {}}), "reply_ambiguous"),
        (lambda request, peer: peer.hold(), "timeout"),
        (answer(200, b"x" * 2000, kind="application/json"), "response_too_large"),
    ],
)
@pytest.mark.parametrize("expect", [None, {"isError": False}])
def test_a_lost_reply_to_a_call_is_unknown_and_closes_the_connection(reply: Any, code: str, expect: Any) -> None:
    script = McpScript(on={"tools/call": reply})
    with HttpServer(script) as server, bench(server, timeoutMs=400, maxResponseBytes=1000) as plugin:
        plugin.run("connect")
        seen = plugin.run("call", tool="t", **({"expect": expect} if expect else {}))
        assert (seen["status"], seen["code"], seen["facts"]["connection"]) == ("unknown", code, "closed")
        assert seen["state"] == {"kind": "unknown", "code": code}
        assert plugin.outcome("call", tool="t") == ("failed", "not_connected", "closed")
        assert plugin.outcome("disconnect") == ("succeeded", None, "disconnected")
        assert (len(server.seen("tools/call")), len(server.seen("DELETE"))) == (1, 1)


def test_a_lost_reply_to_an_observation_is_failed() -> None:
    with HttpServer(McpScript(on={"tools/list": cut})) as server, bench(server) as plugin:
        assert plugin.outcome("tools") == ("failed", "reply_lost", "closed")


@pytest.mark.parametrize(
    ("status", "code", "connection"), [(403, "http_status", "open"), (404, "session_lost", "closed")]
)
def test_an_http_refusal_of_a_call_is_failed(status: int, code: str, connection: str) -> None:
    with HttpServer(McpScript(on={"tools/call": answer(status)})) as server, bench(server) as plugin:
        seen = plugin.run("call", tool="t", expect={"redacted": False})
        assert (seen["status"], seen["code"], seen["facts"]["connection"]) == ("failed", code, connection)
        assert seen["state"] == {"kind": "refused", "status": status}


def test_a_call_whose_session_cannot_be_initialized_is_failed_and_not_sent() -> None:
    with HttpServer(McpScript(on={"initialize": cut})) as server, bench(server) as plugin:
        seen = plugin.run("call", tool="t")
        assert (seen["status"], seen["code"], seen["state"]) == ("failed", "reply_lost", None)
        assert seen["message"].startswith("The session could not be initialized.")
        assert server.seen("tools/call") == []


# call_value


@pytest.mark.requirement("command.call-value", "capture.spelling")
@pytest.mark.parametrize("spelling", ["9007199254740993", "1.10", "1e-400", "-0", "1234567890" * 40, "true", '"a\\"b"'])
def test_a_value_is_captured_as_it_is_spelled(spelling: str) -> None:
    with (
        HttpServer(McpScript(on={"tools/call": structured(f'{{"id":{spelling}}}')})) as server,
        bench(server) as plugin,
    ):
        seen = plugin.run("call_value", tool="t", select="/id")
        assert (seen["status"], seen["code"]) == ("succeeded", None)
        assert seen["capture"] == ('a"b' if spelling.startswith('"') else spelling)
        assert seen["state"]["selection"] == {"captured": True, "reason": None}


@pytest.mark.requirement("expect.call-value", "capture.once", "capture.refused", "capture.positive")
@pytest.mark.parametrize(
    ("reply", "expect", "code", "reason"),
    [
        (structured("{}"), None, "selection_failed", "missing"),
        (structured('{"id":null}'), None, "selection_failed", "not-a-scalar"),
        (structured('{"id":"token-12345"}'), None, "selection_failed", "private-value"),
        (structured("{}"), {"redacted": False}, "selection_failed", "missing"),
        (structured('{"id":1}'), {"redacted": True}, "expectation_failed", None),
        ({"content": "x"}, None, "selection_failed", "no-result"),
        ({"content": "x"}, {"redacted": False}, "expectation_failed", "no-result"),
        (TOOL_ERROR, None, "tool_error", "tool-error"),
        (TOOL_ERROR, {"textIncludes": ["stock"]}, "expectation_failed", "tool-error"),
        (Refusal(-32602, "no"), None, "unexpected_refusal", "no-result"),
        (Refusal(-32602, "no"), {"textIncludes": ["no"]}, "expectation_failed", "no-result"),
    ],
)
def test_a_value_that_is_not_captured_fails_and_is_not_asked_for_again(
    reply: Any, expect: Any, code: str, reason: str | None
) -> None:
    script = McpScript(on={"tools/call": reply})
    with HttpServer(script) as server, bench(server, bearerToken="token-12345") as plugin:
        seen = plugin.run("call_value", tool="t", select="/id", **({"expect": expect} if expect else {}))
        assert (seen["status"], seen["code"], seen["capture"]) == ("failed", code, None)
        assert seen["state"]["selection"] == {"captured": False, "reason": reason}
        assert len(server.seen("tools/call")) == 1
        assert "token-12345" not in json.dumps(seen)


@pytest.mark.requirement("capture.lost")
def test_a_lost_reply_captures_nothing_and_is_unknown() -> None:
    with HttpServer(McpScript(on={"tools/call": cut})) as server, bench(server) as plugin:
        seen = plugin.run("call_value", tool="t", select="/id")
        assert (seen["status"], seen["code"], seen["capture"]) == ("unknown", "reply_lost", None)


def test_a_call_that_never_left_is_failed_and_has_no_state() -> None:
    with HttpServer(McpScript(session=None)) as server, bench(server) as plugin:
        assert plugin.outcome("connect") == SUCCEEDED_OPEN
        server.__exit__()
        seen = plugin.run("call", tool="t")
        assert (seen["status"], seen["code"], seen["state"]) == ("failed", "unreachable", None)
        assert seen["facts"]["connection"] == "open"


# disconnect


@pytest.mark.requirement(
    "field.session-cleanup",
    "command.disconnect",
    "cleanup.one-delete",
    "cleanup.confirmed",
    "cleanup.after",
    "cleanup.server-managed",
)
@pytest.mark.parametrize(
    ("script", "configuration", "status", "code", "cleanup", "deletes"),
    [
        (McpScript(), {}, "succeeded", None, "confirmed", 1),
        (McpScript(on={"DELETE": answer(204)}), {}, "succeeded", None, "confirmed", 1),
        (McpScript(session=None), {}, "succeeded", None, "not-needed", 0),
        (McpScript(on={"DELETE": answer(405)}), {}, "failed", "cleanup_unconfirmed", "refused", 1),
        (
            McpScript(on={"DELETE": answer(405)}),
            {"sessionCleanup": "server-managed"},
            "succeeded",
            None,
            "server-managed",
            1,
        ),
        (
            McpScript(on={"DELETE": answer(404)}),
            {"sessionCleanup": "server-managed"},
            "failed",
            "cleanup_unconfirmed",
            "refused",
            1,
        ),
        (McpScript(on={"DELETE": answer(500)}), {}, "failed", "cleanup_unconfirmed", "refused", 1),
        (McpScript(on={"DELETE": lambda request, peer: peer.close()}), {}, "unknown", "cleanup_unconfirmed", "lost", 1),
    ],
)
def test_disconnect_ends_the_session_once_and_reports_the_same_again(
    script: McpScript, configuration: Any, status: str, code: str | None, cleanup: str, deletes: int
) -> None:
    with HttpServer(script) as server, bench(server, **configuration) as plugin:
        plugin.run("connect")
        first, second = plugin.run("disconnect"), plugin.run("disconnect")
        for seen in (first, second):
            assert (seen["status"], seen["code"]) == (status, code)
            assert seen["state"] == {"kind": "disconnected", "cleanup": cleanup}
            assert seen["facts"]["connection"] == "disconnected"
        assert (first["message"], first["facts"]["http"]) == (second["message"], second["facts"]["http"])
        assert "recorded" not in first["facts"]
        assert second["facts"]["recorded"] is True
        assert len(server.seen("DELETE")) == deletes
        assert plugin.outcome("tools") == ("failed", "disconnected", "disconnected")
        assert plugin.outcome("connect") == ("failed", "disconnected", "disconnected")


def test_a_refused_delete_names_the_setting_that_helps() -> None:
    with HttpServer(McpScript(on={"DELETE": answer(405)})) as server, bench(server) as plugin:
        plugin.run("connect")
        assert '`sessionCleanup: "server-managed"`' in plugin.run("disconnect")["message"]


def test_an_alias_that_never_connected_has_nothing_to_end() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        seen = plugin.run("disconnect", path="support", tokenFile="none")
        assert (seen["status"], seen["state"]["cleanup"]) == ("succeeded", "not-needed")
        assert server.requests == []


# refusals, cancelling, privacy


@pytest.mark.requirement("expect.private-operands")
def test_what_check_refuses_run_refuses_and_nothing_is_sent() -> None:
    with HttpServer(McpScript()) as server, bench(server, bearerToken="token-12345") as plugin:
        for arguments in ({"tool": "t", "expect": {}}, {"tool": "token-12345"}, {}):
            with pytest.raises(Failed):
                plugin.run("call", **arguments)
        assert server.requests == []


def test_a_step_that_is_cancelled_before_it_sent_anything_failed() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        plugin.cancelled.set()
        for command in ("connect", "tools", "disconnect"):
            assert plugin.outcome(command) == ("failed", "cancelled", "none")
        assert server.requests == []
        plugin.cancelled.clear()
        assert plugin.outcome("tools") == SUCCEEDED_OPEN


def test_a_step_that_is_cancelled_just_before_it_connects_leaves_no_connection_behind() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        answers = iter([False, True])
        params = {"alias": "api", "command": "connect", "arguments": {}}
        cancelled = json.loads(plugin.inspector.run(params, 1, lambda: next(answers)))
        assert (cancelled["code"], cancelled["facts"]) == ("cancelled", {"connection": "none"})
        assert (plugin.inspector.live(), server.requests) == ([], [])
        assert plugin.outcome("tools") == SUCCEEDED_OPEN


def test_a_cancelled_call_is_unknown_and_the_server_is_told() -> None:
    with HttpServer(McpScript(on={"tools/call": lambda request, peer: peer.hold()})) as server, bench(server) as plugin:
        plugin.run("connect")

        def cancel() -> None:
            server.wait_for(lambda server: bool(server.seen("tools/call")))
            plugin.cancelled.set()
            plugin.inspector.interrupt({"alias": "api"})

        thread = threading.Thread(target=cancel)
        thread.start()
        assert plugin.outcome("call", tool="t") == ("unknown", "cancelled", "closed")
        thread.join()
        assert len(server.seen("notifications/cancelled")) == 1


SECRETS: dict[str, Any] = {
    "bearerToken": "bearer-secret-1",
    "headers": {"X-Key": "Token header-secret-2"},
}


def test_what_a_server_echoes_is_in_no_byte_of_the_result(tmp_path: Path) -> None:
    session = "session-secret-3"
    secrets = ["bearer-secret-1", "header-secret-2", session]
    text = " ".join(secrets)
    echo = {
        "content": [{"type": "text", "text": text}, {"type": "text", "text": json.dumps({text: json.dumps([text])})}],
        "structuredContent": {text: [text]},
        "_meta": {text: text},
    }
    script = McpScript(session=session, on={"tools/call": echo}, capabilities={"tools": {text: text}})
    with HttpServer(script) as server, bench(server, **SECRETS) as plugin:
        seen = plugin.raw("api", "connect") + plugin.raw("api", "call", tool="t") + plugin.raw("api", "tools")
        seen += plugin.raw("api", "call", tool="t", expect={"redacted": False})
        assert [secret for secret in [*secrets, server.url] if secret.encode() in seen] == []
        assert b"[redacted]" in seen


def test_values_that_the_host_has_learnt_are_private_as_well() -> None:
    script = McpScript(on={"tools/call": {"content": [{"type": "text", "text": "other-secret"}]}})
    with HttpServer(script) as server, bench(server) as plugin:
        plugin.inspector.learn({"values": ["other-secret"]})
        assert plugin.run("call", tool="t")["state"]["text"] == "[redacted]"
        with pytest.raises(Failed) as caught:
            plugin.run("call", tool="other-secret")
        assert caught.value.code == "private_operand"


def test_two_aliases_are_two_sessions() -> None:
    with HttpServer(McpScript(session=None)) as server:
        plugin = Bench([server.origin], {"one": {"endpoint": server.url}, "two": {"endpoint": server.url}})
        try:
            plugin.raw("one", "connect")
            plugin.raw("two", "connect")
            assert len(server.seen("initialize")) == 2
            assert json.loads(plugin.raw("one", "disconnect"))["facts"]["connection"] == "disconnected"
            assert json.loads(plugin.raw("two", "tools"))["status"] == "succeeded"
        finally:
            for connection in plugin.inspector.live():
                connection.end()


def test_no_result_repeats_a_name_whatever_names_of_a_server_redact_alike() -> None:
    token = "token-0123456789"
    twins = {token: 1, f"{token}\x07": 2, "[redacted]": 3}
    answers = {"tools/call": Refusal(-32000, "no", twins), "tools/list": {"tools": [{**TOOLS[0], "_meta": twins}]}}
    with HttpServer(McpScript(on=answers)) as server, bench(server, bearerToken=token, keepText=True) as plugin:
        documents = [parse(plugin.raw("api", "tools")), parse(plugin.raw("api", "call", tool="b_tool"))]
    assert [document.repeated for document in documents] == [(), ()]
    assert set(documents[1].value["facts"]["refusal"]["data"]) == {"[redacted]", "[redacted] (2)", "[redacted] (3)"}
