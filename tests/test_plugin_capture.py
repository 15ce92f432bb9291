"""`call_value`: captures as they are spelled, and what is never captured."""

import json
from typing import Any

import pytest

from tests.fakes.http_server import HttpServer, McpScript, Refusal
from tests.fakes.plugin_bench import bench
from tests.fakes.scripted_replies import TOOL_ERROR, cut, structured


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
