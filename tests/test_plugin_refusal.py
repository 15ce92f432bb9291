"""The `http` expectation: how it is read, and which HTTP refusals of a call, a reading or a prompt satisfy it."""

import json
from typing import Any

import pytest

from plugin.checks.refusal import Refusal, compare_refusal, read_refusal
from plugin.commands import COMMANDS
from protocol.failures import Failed
from protocol.values.document import parse
from tests.fakes.http_server import HttpServer, McpScript, Peer, Request
from tests.fakes.http_server import Refusal as JsonRefusal
from tests.fakes.plugin_bench import bench


def read(text: str) -> Refusal:
    return read_refusal(parse(text).value)


def test_status_scope_and_error_are_read() -> None:
    assert read('{"status":403}') == Refusal(403)
    assert read('{"status":401,"scope":"a b","error":"invalid_token"}') == Refusal(401, "a b", "invalid_token")
    assert [read(f'{{"status":{status}}}').status for status in (400, 407, 409, 499)] == [400, 407, 409, 499]


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{}",
        '{"scope":"a"}',
        '{"status":399}',
        '{"status":500}',
        '{"status":408}',
        '{"status":403.0}',
        '{"status":"403"}',
        '{"status":null}',
        '{"status":403,"realm":"x"}',
        '{"status":403,"scope":""}',
        '{"status":403,"scope":" "}',
        '{"status":403,"error":5}',
        '{"status":403,"error":"a\\u001b"}',
    ],
)
def test_what_cannot_be_an_http_refusal_is_refused(text: str) -> None:
    with pytest.raises(Failed) as caught:
        read(text)
    assert caught.value.code == "invalid_expectation"
    assert "http" in (caught.value.failure.where or "")


def challenge(**parameters: str) -> dict[str, Any]:
    return {"scheme": "Bearer", "parameters": parameters}


@pytest.mark.parametrize(
    ("wanted", "challenges", "reason"),
    [
        (Refusal(403), [], None),
        (Refusal(401), [], "other-status"),
        (Refusal(403, scope="mcp:write"), [], "no-challenge"),
        (Refusal(403, scope="mcp:write"), [challenge(scope="mcp:write")], None),
        (Refusal(403, scope="b a"), [challenge(scope="a  b")], None),
        (Refusal(403, scope="a"), [challenge(scope="a b")], "other-scope"),
        (Refusal(403, scope="A"), [challenge(scope="a")], "other-scope"),
        (Refusal(403, scope="a"), [challenge(error="a")], "other-scope"),
        (Refusal(403, error="insufficient_scope"), [challenge(error="insufficient_scope")], None),
        (Refusal(403, error="insufficient_scope"), [challenge(error="invalid_token")], "other-error"),
        (Refusal(403, error="insufficient_scope"), [challenge()], "other-error"),
        (Refusal(403, "a", "e"), [challenge(scope="a"), challenge(error="e")], "other-scope"),
        (Refusal(403, "a", "e"), [challenge(), challenge(scope="a", error="e")], None),
        (Refusal(403, "a"), [challenge(scope="a") | {"fault": "repeated-parameter"}], "no-challenge"),
    ],
)
def test_one_challenge_has_to_hold_all_that_is_named(
    wanted: Refusal, challenges: list[dict[str, Any]], reason: str | None
) -> None:
    assert compare_refusal(wanted, {"status": 403, "challenge": challenges}) == reason


REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("call", "tools/call", {"tool": "t"}),
    ("read_resource", "resources/read", {"uri": "file:///a"}),
    ("get_prompt", "prompts/get", {"name": "p"}),
]
CHALLENGE = ("WWW-Authenticate", 'Bearer error="insufficient_scope", scope="mcp:write"')


def refusing(status: int) -> Any:
    return lambda request, peer: peer.reply(status, b"no", CHALLENGE, kind="text/plain")


@pytest.mark.parametrize(("command", "method", "arguments"), REQUESTS)
def test_an_http_refusal_of_the_request_is_asserted_and_leaves_the_connection_open(
    command: str, method: str, arguments: dict[str, Any]
) -> None:
    with HttpServer(McpScript(on={method: refusing(403)})) as server, bench(server) as plugin:
        wanted = {"status": 403, "scope": "mcp:write", "error": "insufficient_scope"}
        seen = plugin.run(command, **arguments, http=wanted)
        assert (seen["status"], seen["code"], seen["facts"]["connection"]) == ("succeeded", None, "open")
        assert seen["state"] == {"kind": "refused", "status": 403, "failedExpectations": []}
        assert seen["message"] == "The server refused the request with HTTP 403, as expected."
        other = plugin.run(command, **arguments, http={"status": 403, "scope": "mcp:read"})
        assert (other["status"], other["code"], other["facts"]["connection"]) == (
            "failed",
            "expectation_failed",
            "open",
        )
        assert other["state"]["failedExpectations"] == [{"expectation": "http", "reason": "other-scope"}]
        assert plugin.outcome(command, **arguments, http={"status": 401})[:2] == ("failed", "expectation_failed")
        without = plugin.run(command, **arguments)
        assert (without["status"], without["code"], without["state"]) == (
            "failed",
            "http_status",
            {"kind": "refused", "status": 403},
        )
        assert len(server.seen(method)) == 4


def json_at(status: int) -> Any:
    def reply(request: Request, peer: Peer) -> None:
        error = {"code": -32000, "message": "no"}
        peer.json({"jsonrpc": "2.0", "id": request.json["id"], "error": error}, CHALLENGE, status=status)

    return reply


@pytest.mark.parametrize(
    ("answer", "status", "code", "connection"),
    [
        ({"content": []}, "failed", "expectation_failed", "open"),
        ({"content": [], "isError": True}, "failed", "expectation_failed", "open"),
        ({"content": 1}, "failed", "expectation_failed", "open"),
        (JsonRefusal(-32000, "no"), "failed", "expectation_failed", "open"),
        (json_at(403), "failed", "expectation_failed", "open"),
        (refusing(404), "failed", "session_lost", "closed"),
        (refusing(408), "unknown", "http_status", "closed"),
        (refusing(500), "unknown", "http_status", "closed"),
        (refusing(302), "unknown", "redirect_refused", "closed"),
        (lambda request, peer: peer.close(), "unknown", "reply_lost", "closed"),
    ],
)
def test_nothing_else_stands_in_for_an_http_refusal(answer: Any, status: str, code: str, connection: str) -> None:
    with HttpServer(McpScript(on={"tools/call": answer})) as server, bench(server) as plugin:
        assert plugin.outcome("call", tool="t", http={"status": 403}) == (status, code, connection)


def test_http_stands_in_place_of_expect_and_belongs_to_three_commands() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        for arguments in ({"expect": {"isError": False}}, {"expect": {"redacted": False}}):
            with pytest.raises(Failed) as caught:
                plugin.run("call", tool="t", http={"status": 403}, **arguments)
            assert caught.value.code == "invalid_expectation"
        assert [name for name, each in COMMANDS.items() if "http" in [one.name for one in each.arguments]] == [
            "read_resource",
            "get_prompt",
            "call",
        ]
        assert server.requests == []


def test_a_challenge_that_echoes_a_private_value_is_redacted() -> None:
    def reply(request: Request, peer: Peer) -> None:
        peer.reply(403, b"", ("WWW-Authenticate", 'Bearer error="token-12345", scope="x"'))

    with HttpServer(McpScript(on={"tools/call": reply})) as server, bench(server, bearerToken="token-12345") as plugin:
        seen = plugin.run("call", tool="t", http={"status": 403, "scope": "x"})
        assert seen["status"] == "succeeded"
        assert "token-12345" not in json.dumps(seen)
