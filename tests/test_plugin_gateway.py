"""The gateway helpers: which tool they call, which names they read, and when names cannot be relied on."""

import json
from typing import Any

import pytest

from plugin.checks.names import Names, read_names
from plugin.checks.observation import observe
from protocol.mcp.replies import Outcome
from protocol.values.document import parse
from protocol.values.redaction import Redactor
from tests.fakes.http_server import HttpServer, McpScript, Peer, Refusal, Request
from tests.fakes.plugin_bench import bench

HELPERS = [
    ("servers", "list_servers"),
    ("describe_server", "describe_server"),
    ("describe_tools", "describe_tools"),
]


def structured(value: Any) -> dict[str, Any]:
    return {"content": [], "structuredContent": value}


def text(*blocks: str, **members: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": block} for block in blocks], **members}


def names(result: Any) -> Names:
    raw = json.dumps(result)
    return read_names(observe(Outcome("result", None, "", parse(raw).value, raw.encode(), {}, False), Redactor()))


@pytest.mark.requirement(
    "command.servers", "command.describe-server", "command.describe-tools", "gateway.tool", "gateway.member"
)
@pytest.mark.parametrize(("command", "tool"), HELPERS)
def test_a_helper_calls_its_tool_once_or_the_one_that_is_named(command: str, tool: str) -> None:
    with HttpServer(McpScript(on={"tools/call": structured(["a"])})) as server, bench(server) as plugin:
        seen = plugin.run(command, arguments={"server": "billing", "n": 1})
        plugin.run(command, tool="other_name")
        assert [request.json["params"] for request in server.seen("tools/call")] == [
            {"name": tool, "arguments": {"server": "billing", "n": 1}},
            {"name": "other_name", "arguments": {}},
        ]
        assert (seen["status"], seen["code"], seen["effect"]) == ("succeeded", None, "mutate")
        assert seen["facts"]["tool"] == tool
        assert (seen["state"]["kind"], seen["state"]["names"]) == ("result", ["a"])


@pytest.mark.requirement("gateway.source")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([], []),
        (["b", "a"], ["b", "a"]),
        ([{"slug": "s", "name": "n"}, {"name": "n2"}, {"slug": 5, "name": "n3"}], ["s", "n2", "n3"]),
        (["a", {"name": "b"}], ["a", "b"]),
        ({"servers": ["a"]}, ["a"]),
        ({"tools": [{"name": "a"}], "server": "billing"}, ["a"]),
        ({"result": ["a"], "tools": 5}, ["a"]),
        ({"servers": ["a"], "other": ["x"]}, ["a"]),
        ([{"name": "a", "error": None}, {"name": "b", "error": False}, {"name": "c", "status": "ok"}], ["a", "b", "c"]),
        ([{"name": "a", "status": 500}], ["a"]),
        (["a", "a"], ["a", "a"]),
    ],
)
def test_names_are_read_from_structured_content_and_from_the_only_text_block(value: Any, expected: list[str]) -> None:
    # 2025-11-25 lets structured content be an object only; servers send arrays all the same.
    assert names(structured(value)) == Names(expected, None)
    assert names(text(json.dumps(value))) == Names(expected, None)


@pytest.mark.requirement("gateway.complete", "gateway.unavailable", "gateway.repeated")
@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (text("no json"), "source-unavailable"),
        (text(), "source-unavailable"),
        (text('["a"]', '["b"]'), "source-unavailable"),
        (text('{"servers":["a"],"servers":["b"]}'), "source-unavailable"),
        (text('[{"name":"a","name":"b"}]'), "source-unavailable"),
        (text("[NaN]"), "source-unavailable"),
        (text("[" * 200 + "]" * 200), "source-unavailable"),
        (structured({}), "no-list"),
        (structured("a"), "no-list"),
        (structured(5), "no-list"),
        (structured({"servers": {"a": {}}}), "no-list"),
        (structured({"items": ["a"]}), "no-list"),
        (structured({"servers": ["a"], "tools": ["b"]}), "several-lists"),
        (structured([["a"]]), "entry-without-a-name"),
        (structured(["a", None]), "entry-without-a-name"),
        (structured(["a", 5]), "entry-without-a-name"),
        (structured([{"slug": 5}]), "entry-without-a-name"),
        (structured([{"id": "a"}]), "entry-without-a-name"),
        (structured(["a", {"name": "b", "error": "timed out"}]), "member-failed"),
        (structured([{"name": "b", "error": {}}]), "member-failed"),
        (structured([{"name": "b", "error": ""}]), "member-failed"),
        (structured([{"slug": "b", "status": "error"}]), "member-failed"),
        (structured([{"slug": "b", "status": "failed"}]), "member-failed"),
        (structured([{"slug": "b", "status": "FAILED"}]), "member-failed"),
        (text('["a"]', isError=True), "tool-error"),
    ],
)
def test_names_that_may_not_be_all_are_not_read(result: Any, reason: str) -> None:
    assert names(result) == Names(None, reason)


Outcomes = tuple[str, str | None]
SUCCEEDED: Outcomes = ("succeeded", None)
FAILED: Outcomes = ("failed", "expectation_failed")
UNAVAILABLE: Outcomes = ("failed", "gateway_names_unavailable")
LISTED = structured({"servers": [{"slug": "billing"}, {"slug": "support"}]})


@pytest.mark.requirement("expect.gateway", "expect.none", "gateway.complete", "gateway.unavailable")
@pytest.mark.parametrize(
    ("answer", "expect", "expected"),
    [
        (LISTED, None, SUCCEEDED),
        (LISTED, {"only": ["support", "billing"]}, SUCCEEDED),
        (LISTED, {"only": ["support"]}, FAILED),
        (LISTED, {"present": ["billing"], "absent": ["hr"]}, SUCCEEDED),
        (LISTED, {"present": ["hr"]}, FAILED),
        (LISTED, {"absent": ["billing"]}, FAILED),
        (LISTED, {"present": ["billing"], "isError": True}, FAILED),
        (LISTED, {"present": ["billing"], "json": [{"pointer": "/servers", "count": 2}], "redacted": False}, SUCCEEDED),
        (LISTED, {"textExcludes": ["support"]}, FAILED),
        (structured([]), {"only": []}, SUCCEEDED),
        # Without readable names nothing is absent.
        (text("down"), {"absent": ["hr"]}, UNAVAILABLE),
        (text("down"), {"only": []}, UNAVAILABLE),
        (text("down", isError=True), {"absent": ["hr"]}, UNAVAILABLE),
        (text("down", isError=True), {"absent": ["hr"], "isError": True}, UNAVAILABLE),
        (Refusal(-32602, "no"), {"absent": ["hr"]}, UNAVAILABLE),
        (Refusal(-32602, "no"), {"absent": ["hr"], "rpcError": -32602}, UNAVAILABLE),
        ({"content": 1}, {"absent": ["hr"]}, UNAVAILABLE),
        (structured([{"slug": "hr", "status": "failed"}]), {"absent": ["billing"]}, UNAVAILABLE),
        (text("down"), None, UNAVAILABLE),
        (text("down", isError=True), None, UNAVAILABLE),
        (Refusal(-32602, "no"), None, UNAVAILABLE),
        ({"content": 1}, None, UNAVAILABLE),
        # With call keys only, they decide alone.
        (text("down"), {"isError": False}, SUCCEEDED),
        (text("down", isError=True), {"isError": True, "textIncludes": ["down"]}, SUCCEEDED),
        (Refusal(-32602, "no"), {"rpcError": -32602}, SUCCEEDED),
        (Refusal(-32602, "no"), {"rpcError": -32601}, FAILED),
        ({"content": 1}, {"redacted": False}, FAILED),
    ],
)
def test_the_names_decide_unless_only_the_call_is_looked_at(answer: Any, expect: Any, expected: Outcomes) -> None:
    with HttpServer(McpScript(on={"tools/call": answer})) as server, bench(server) as plugin:
        seen = plugin.run("servers", **({"expect": expect} if expect else {}))
        assert (seen["status"], seen["code"], seen["facts"]["connection"]) == (*expected, "open")
        assert len(server.seen("tools/call")) == 1


@pytest.mark.requirement("gateway.repeated")
def test_a_repeated_member_of_the_message_fails_closed() -> None:
    def reply(request: Request, peer: Peer) -> None:
        body = '{"jsonrpc":"2.0","id":%d,"result":{"content":[],"structuredContent":{"servers":[],"servers":[]}}}'
        peer.json((body % request.json["id"]).encode())

    with HttpServer(McpScript(on={"tools/call": reply})) as server, bench(server) as plugin:
        seen = plugin.run("servers", expect={"absent": ["hr"]})
        assert (seen["status"], seen["code"]) == UNAVAILABLE
        assert seen["state"]["namesUnavailable"] == "reply-unavailable"


def test_a_failure_names_what_is_missing_and_what_is_too_many() -> None:
    with HttpServer(McpScript(on={"tools/call": LISTED})) as server, bench(server) as plugin:
        seen = plugin.run("servers", expect={"only": ["support", "hr"], "isError": True})
        assert seen["state"]["failedExpectations"] == [
            {"expectation": "only", "reason": "not-listed"},
            {"expectation": "only", "reason": "listed-too"},
            {"expectation": "isError", "reason": "no-tool-error"},
        ]
        assert [(failure["reason"], failure["names"]) for failure in seen["facts"]["failedExpectations"]] == [
            ("not-listed", ["hr"]),
            ("listed-too", ["billing"]),
        ]
        assert seen["message"].startswith("3 expectations failed: only (not-listed)")


def test_names_are_kept_sorted_and_without_private_values() -> None:
    answer = structured(["b", "x-token-12345", "a"])
    with HttpServer(McpScript(on={"tools/call": answer})) as server, bench(server, bearerToken="token-12345") as plugin:
        seen = plugin.run("servers", expect={"present": ["a"]})
        assert (seen["status"], seen["state"]["names"]) == ("succeeded", ["a", "b", "x-[redacted]"])
        failed = plugin.run("servers", expect={"only": ["a", "b"]})
        assert failed["facts"]["failedExpectations"][0]["names"] == ["x-[redacted]"]
        assert "token-12345" not in json.dumps([seen, failed])


def test_an_unreadable_reply_says_why() -> None:
    script = McpScript(on={"tools/call": text("the hub is down", isError=True)})
    with HttpServer(script) as server, bench(server) as plugin:
        seen = plugin.run("describe_tools", expect={"absent": ["x"]})
        assert seen["message"] == (
            "The gateway's reply lists no names that can be relied on (tool-error). It says: the hub is down"
        )
        assert (seen["state"]["names"], seen["state"]["namesUnavailable"]) == (None, "tool-error")
        assert seen["state"]["failedExpectations"] == [{"expectation": "absent", "reason": "names-unavailable"}]


@pytest.mark.requirement("calls.always-mutate")
def test_a_lost_reply_to_a_helper_is_unknown_and_never_asked_for_again() -> None:
    with HttpServer(McpScript(on={"tools/call": lambda request, peer: peer.close()})) as server:
        with bench(server) as plugin:
            assert plugin.outcome("servers") == ("unknown", "reply_lost", "closed")
            assert plugin.outcome("describe_server") == ("failed", "not_connected", "closed")
        assert len(server.seen("tools/call")) == 1
