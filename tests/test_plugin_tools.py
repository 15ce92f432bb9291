"""`tools`: records, paging, expectations, and inventories that were not read to their end."""

from typing import Any

import pytest

from tests.fakes.http_server import HttpServer, McpScript, Refusal
from tests.fakes.plugin_bench import bench
from tests.fakes.scripted_replies import TOOLS, answer, cut, paged, result


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
