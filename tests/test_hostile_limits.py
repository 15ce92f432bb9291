"""Every limit of what a server may send, at it and one past it, through the real plugin."""

from typing import Any

import pytest

from plugin.handlers.inventory import STATE_ROOM
from protocol.wire.steps import ARTIFACT_LIMIT
from tests.fakes.hostile_server import Misbehaviour, hostile, inventory_pages, seen_at, sized_inventory, tool
from tests.fakes.http_server import Peer, Request
from tests.fakes.plugin_driver import PluginDriver

MIB = 1024 * 1024
LIMIT = 8 * MIB


def run(act: Any, command: str = "tools", on: str = "tools/list", **options: Any) -> dict[str, Any]:
    """Run a command at a server that answers its method so; ``options`` are arguments, or fields of the binding."""
    fields = {name: options.pop(name) for name in tuple(options) if name[:3] in ("max", "kee")}
    with hostile(it=Misbehaviour(on, act)) as server, PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": f"{server.origin}/it", **fields})
        seen = plugin.run("api", command, **options)
        seen["requests"] = list(seen_at(server, "it")).count(on)
        return seen


def outcome(seen: dict[str, Any]) -> tuple[str, str | None, str]:
    return seen["status"], seen["code"], seen["facts"]["connection"]


SUCCEEDED = ("succeeded", None, "open")
INCOMPLETE = ("failed", "inventory_incomplete", "open")
TOO_LARGE = ("failed", "response_too_large", "closed")


@pytest.mark.requirement("field.max-pages", "field.max-items")
def test_5000_tools_on_50_pages_are_read_and_compared() -> None:
    seen = run(inventory_pages(5_000, 50), expect={"count": 5_000, "present": ["tool_00000", "tool_04999"]})
    assert outcome(seen) == SUCCEEDED, seen["message"]
    assert (seen["state"]["count"], seen["facts"]["pages"], seen["requests"]) == (5_000, 50, 50)
    assert [entry["name"] for entry in seen["state"]["entries"]] == [f"tool_{index:05}" for index in range(5_000)]


@pytest.mark.requirement("field.max-items")
def test_one_tool_more_is_too_many() -> None:
    seen = run(inventory_pages(5_001, 50), expect={"present": ["tool_00000"]})
    assert outcome(seen) == INCOMPLETE
    assert "`maxItems` (5000)" in seen["message"]
    assert seen["state"] == {"inventory": "tools", "declared": True, "complete": False, "count": 5_001}


@pytest.mark.requirement("field.max-pages")
def test_one_page_more_is_not_asked_for() -> None:
    seen = run(inventory_pages(51, 51))
    assert outcome(seen) == INCOMPLETE
    assert "`maxPages` (50)" in seen["message"]
    assert seen["requests"] == 50


@pytest.mark.requirement("field.max-pages", "field.max-items")
@pytest.mark.parametrize(("pages", "items", "expected"), [(3, 30, SUCCEEDED), (2, 30, INCOMPLETE), (3, 29, INCOMPLETE)])
def test_the_limits_of_the_binding_are_the_ones_that_count(pages: int, items: int, expected: Any) -> None:
    assert outcome(run(inventory_pages(30, 3), maxPages=pages, maxItems=str(items))) == expected


@pytest.mark.requirement("field.max-response-bytes")
@pytest.mark.parametrize("sse", [False, True])
def test_a_reply_of_8_mib_with_5000_tools_is_read(sse: bool) -> None:
    seen = run(sized_inventory(5_000, LIMIT, sse=sse), expect={"count": 5_000})
    assert outcome(seen) == SUCCEEDED, seen["message"]
    assert seen["facts"]["http"]["bytes"] == LIMIT
    assert seen["state"]["entries"][0]["shape"]


@pytest.mark.requirement("field.max-response-bytes")
@pytest.mark.parametrize("sse", [False, True])
def test_a_reply_of_one_byte_more_is_stopped(sse: bool) -> None:
    seen = run(sized_inventory(5_000, LIMIT + 1, sse=sse))
    assert outcome(seen) == TOO_LARGE
    assert "`maxResponseBytes` (8388608)" in seen["message"]


@pytest.mark.requirement("field.max-response-bytes")
def test_8_mib_on_50_pages_are_read_and_one_byte_more_is_too_many() -> None:
    seen = run(inventory_pages(5_000, 50, LIMIT))
    assert (outcome(seen), seen["facts"]["pages"]) == (SUCCEEDED, 50), seen["message"]
    more = run(inventory_pages(5_000, 50, LIMIT + 1))
    assert (outcome(more), more["requests"]) == (INCOMPLETE, 50)
    assert "`maxResponseBytes` (8388608)" in more["message"]


def text_reply(size: int) -> Any:
    """Answer with a tool result of exactly so many bytes."""

    def act(request: Request, peer: Peer) -> None:
        start = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % request.json["id"]
        end = b'"}]}}'
        peer.json(start + b"x" * (size - len(start) - len(end)) + end)

    return act


def test_a_call_may_answer_8_mib_and_one_byte_more_is_unknown() -> None:
    seen = run(text_reply(LIMIT), "call", "tools/call", tool="t", expect={"textExcludes": ["zz"], "isError": False})
    assert outcome(seen) == SUCCEEDED
    assert (seen["state"]["truncated"], len(seen["state"]["text"])) == (True, 16_384)
    more = run(text_reply(LIMIT + 1), "call", "tools/call", tool="t")
    assert outcome(more) == ("unknown", "response_too_large", "closed")


def test_shapes_are_left_out_where_they_would_take_the_state_past_its_limit() -> None:
    """2,000 tools of 100 properties have 200,000 locations: hashes alone still tell that one of them changed."""
    many = {"type": "object", "properties": {f"p{index}": {"type": "string"} for index in range(100)}}
    tools = [tool(f"tool_{index:05}", inputSchema=many, title=str(index)) for index in range(2_000)]
    seen = run({"tools": tools})
    assert outcome(seen) == SUCCEEDED, seen["message"]
    assert {entry["shape"] is None for entry in seen["state"]["entries"]} == {True}
    few = run({"tools": tools[:500]})
    assert few["state"]["entries"][0]["shape"] is not None
    assert STATE_ROOM < ARTIFACT_LIMIT


@pytest.mark.requirement("limits.evidence")
def test_a_state_that_passes_7_mib_all_the_same_is_no_evidence() -> None:
    tools = [tool("n" * 1_500 + str(index)) for index in range(5_000)]
    seen = run({"tools": tools})
    assert outcome(seen) == ("failed", "evidence_too_large", "open")
    assert (seen["state"], seen["artifacts"]) == (None, [])


@pytest.mark.requirement("limits.evidence")
def test_a_catalogue_that_passes_7_mib_is_no_evidence() -> None:
    tools = [tool(f"tool_{index}", description="d" * 4_000) for index in range(2_000)]
    seen = run({"tools": tools}, keepText=True)
    assert outcome(seen) == ("failed", "evidence_too_large", "open")
    assert "catalog.json" in seen["message"]
    assert outcome(run({"tools": tools}, keepText=False)) == SUCCEEDED
