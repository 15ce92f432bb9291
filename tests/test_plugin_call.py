"""`call`: a call is sent once, and each of its outcomes stays what it is."""

from typing import Any

import pytest

from tests.fakes.http_server import HttpServer, McpScript, Refusal
from tests.fakes.plugin_bench import bench
from tests.fakes.scripted_replies import SUCCEEDED_OPEN, TOOL_ERROR, answer, cut, result


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


def test_a_call_that_never_left_is_failed_and_has_no_state() -> None:
    with HttpServer(McpScript(session=None)) as server, bench(server) as plugin:
        assert plugin.outcome("connect") == SUCCEEDED_OPEN
        server.__exit__()
        seen = plugin.run("call", tool="t")
        assert (seen["status"], seen["code"], seen["state"]) == ("failed", "unreachable", None)
        assert seen["facts"]["connection"] == "open"
