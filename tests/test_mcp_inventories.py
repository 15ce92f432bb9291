"""Reading an inventory page by page, what is malformed in one, and what the record of a tool keeps."""

from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from protocol.failures import Code
from protocol.mcp.inventories import KINDS, record
from protocol.mcp.messages import read
from protocol.mcp.paging import Inventory, Limits, read_inventory
from protocol.mcp.replies import Asked, Outcome, Reply, judge
from protocol.values.document import Members, encode
from protocol.values.hashes import digest, text_digest

TOOLS = KINDS["tools"]
LIMITS = Limits()


def tool(name: str, **members: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **members}


def answer(text: bytes) -> Outcome:
    """Judge a reply as the connection would."""
    reply = Reply(200, "application/json", read(text).messages, False, "", None, None, {"status": 200})
    return judge(Asked(1, "tools/list", "http://h/", None, True), reply)


def page(entries: Any, cursor: Any = None) -> Outcome:
    result = {"tools": entries} if cursor is None else {"tools": entries, "nextCursor": cursor}
    return answer(encode({"jsonrpc": "2.0", "id": 1, "result": result}))


def refusal(code: int) -> Outcome:
    return answer(encode({"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no"}}))


def drive(
    outcomes: Iterable[Outcome], *, limits: Limits = LIMITS, declared: bool = True
) -> tuple[Inventory, list[dict[str, Any]]]:
    """Send the outcomes in turn and return the inventory with the params that were asked for."""
    reading = read_inventory(TOOLS, limits, declared=declared)
    asked = [next(reading)]
    for outcome in outcomes:
        try:
            asked.append(reading.send(outcome))
        except StopIteration as stop:
            inventory: Inventory = stop.value
            return inventory, asked
    raise AssertionError("the reading asks for more pages than there are")


def brief(inventory: Inventory) -> tuple[bool, Code | None, bool]:
    return inventory.complete, inventory.code, inventory.closes


COMPLETE = (True, None, False)
INCOMPLETE = (False, Code.INVENTORY_INCOMPLETE, False)
INVALID = (False, Code.INVENTORY_INVALID, True)


def test_pages_are_asked_for_by_cursor_until_there_is_none() -> None:
    pages = [page([tool("b")], "x"), page([], "y"), page([tool("a")])]
    inventory, asked = drive(pages)
    assert brief(inventory) == COMPLETE
    assert asked == [{}, {"cursor": "x"}, {"cursor": "y"}]
    assert [entry["name"] for entry in inventory.entries] == ["b", "a"]
    assert [(part.raw, len(part.entries)) for part in inventory.pages] == [
        (outcome.raw, count) for outcome, count in zip(pages, (1, 0, 1), strict=True)
    ]
    assert inventory.outcome == pages[-1]


def test_an_empty_cursor_is_a_cursor_like_any_other() -> None:
    inventory, asked = drive([page([tool("a")], ""), page([tool("b")])])
    assert brief(inventory) == COMPLETE
    assert asked == [{}, {"cursor": ""}]


@pytest.mark.parametrize("cursors", [["x", "x"], ["", ""], ["x", "y", "x"]])
def test_a_cursor_that_repeats_ends_the_reading_and_closes(cursors: list[str]) -> None:
    inventory, _ = drive([page([tool(str(index))], cursor) for index, cursor in enumerate(cursors)])
    assert brief(inventory) == (False, Code.INVENTORY_INCOMPLETE, True)
    assert "repeats a `nextCursor`" in inventory.message


def test_the_pages_of_the_limit_are_read_and_no_page_more_is_asked_for() -> None:
    limits = Limits(pages=2)
    inventory, _ = drive([page([tool("a")], "x"), page([tool("b")])], limits=limits)
    assert brief(inventory) == COMPLETE
    inventory, asked = drive([page([tool("a")], "x"), page([tool("b")], "y")], limits=limits)
    assert brief(inventory) == INCOMPLETE
    assert len(asked) == 2
    assert inventory.message == "The inventory of tools passes `maxPages` (2)."


def test_the_entries_of_the_limit_are_read_and_one_more_ends_it() -> None:
    limits = Limits(items=2)
    inventory, _ = drive([page([tool("a"), tool("b")], "x"), page([])], limits=limits)
    assert brief(inventory) == COMPLETE
    inventory, _ = drive([page([tool("a"), tool("b")], "x"), page([tool("c")])], limits=limits)
    assert brief(inventory) == INCOMPLETE
    assert inventory.message == "The inventory of tools passes `maxItems` (2)."


def test_the_bytes_of_all_pages_together_may_have_the_limit_and_not_one_more() -> None:
    pages = [page([tool("a")], "x"), page([tool("b")])]
    size = sum(len(outcome.raw) for outcome in pages)
    assert brief(drive(pages, limits=Limits(bytes=size))[0]) == COMPLETE
    inventory, _ = drive(pages, limits=Limits(bytes=size - 1))
    assert brief(inventory) == INCOMPLETE
    assert inventory.message == f"The inventory of tools passes `maxResponseBytes` ({size - 1})."


def test_a_refusal_of_a_declared_inventory_is_recorded_and_leaves_the_connection_open() -> None:
    for code in (-32601, -32000):
        inventory, _ = drive([refusal(code)])
        assert brief(inventory) == INCOMPLETE
        assert inventory.refusal == {"code": msgspec.Raw(str(code).encode()), "message": "no"}
        assert "refused page 1 of tools" in inventory.message


def test_an_inventory_that_is_not_declared_is_asked_for_and_may_be_empty_by_refusal() -> None:
    inventory, asked = drive([refusal(-32601)], declared=False)
    assert asked == [{}]
    assert brief(inventory) == COMPLETE
    assert (inventory.declared, inventory.entries, inventory.refusal) == (False, [], None)


def test_an_undeclared_inventory_that_answers_is_listed() -> None:
    inventory, _ = drive([page([tool("a")])], declared=False)
    assert (brief(inventory), inventory.declared, len(inventory.entries)) == (COMPLETE, False, 1)


def test_only_method_not_found_on_the_first_page_means_an_empty_inventory() -> None:
    assert brief(drive([refusal(-32602)], declared=False)[0]) == INCOMPLETE
    assert brief(drive([page([], "x"), refusal(-32601)], declared=False)[0]) == INCOMPLETE


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([5], "Entry 0 of tools (page 1) is malformed: entry-not-an-object."),
        ([tool("a"), None], "Entry 1 of tools (page 1) is malformed: entry-not-an-object."),
        ([{"inputSchema": {"type": "object"}}], "Entry 0 of tools (page 1) is malformed: name-not-a-string."),
        ([tool(5)], "Entry 0 of tools (page 1) is malformed: name-not-a-string."),  # type: ignore[arg-type]
        ([{"name": "a"}], "Entry 0 of tools (page 1) is malformed: input-schema-not-an-object."),
        ([tool("a", inputSchema=[])], "Entry 0 of tools (page 1) is malformed: input-schema-not-an-object."),
        ([tool("a", inputSchema={})], "Entry 0 of tools (page 1) is malformed: input-schema-not-of-type-object."),
        (
            [tool("a", inputSchema={"type": ["object"]})],
            "Entry 0 of tools (page 1) is malformed: input-schema-not-of-type-object.",
        ),
        ([tool("a"), tool("b"), tool("a")], "Entry 2 of tools (page 1) repeats a name: a."),
    ],
)
def test_a_malformed_or_repeated_entry_is_named_and_closes(entries: list[Any], said: str) -> None:
    inventory, _ = drive([page(entries)])
    assert brief(inventory) == INVALID
    assert inventory.message == said


def test_indexes_and_names_count_over_all_pages() -> None:
    inventory, _ = drive([page([tool("a"), tool("b")], "x"), page([tool("c"), tool("a")])])
    assert brief(inventory) == INVALID
    assert inventory.message == "Entry 3 of tools (page 2) repeats a name: a."


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (b'{"tools":{}}', "Page 1 has no array `tools`."),
        (b"{}", "Page 1 has no array `tools`."),
        (b'{"tools":[],"nextCursor":5}', "`nextCursor` of page 1 is not a string."),
        (b'{"tools":[],"nextCursor":null}', "`nextCursor` of page 1 is not a string."),
        (b"[]", "Page 1 cannot be used: result-not-an-object."),
        (
            b'{"tools":[{"name":"a","inputSchema":{"type":"object","type":"object"}}]}',
            "Page 1 cannot be used: repeated-member.",
        ),
    ],
)
def test_a_page_of_a_wrong_form_is_invalid_and_closes(result: bytes, said: str) -> None:
    inventory, _ = drive([answer(b'{"jsonrpc":"2.0","id":1,"result":' + result + b"}")])
    assert brief(inventory) == INVALID
    assert inventory.message == said


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome("lost", Code.REPLY_LOST, "Lost.", None, b"", {}, True),
        Outcome("unsent", Code.UNREACHABLE, "No.", None, b"", {}, False),
        Outcome("refused", Code.HTTP_STATUS, "403.", None, b"", {"status": 403}, False),
        Outcome("refused", Code.SESSION_LOST, "404.", None, b"", {"status": 404}, True),
    ],
)
def test_an_outcome_that_is_no_answer_ends_the_reading_with_its_own_code(outcome: Outcome) -> None:
    inventory, _ = drive([page([tool("a")], "x"), outcome])
    assert (inventory.complete, inventory.code, inventory.message) == (False, outcome.code, outcome.message)
    assert (inventory.closes, inventory.outcome) == (outcome.closes, outcome)
    assert len(inventory.entries) == 1


@pytest.mark.requirement("command.tools", "evidence.tool-hashes")
def test_a_record_keeps_hints_and_hashes_and_no_text() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string", "description": "secret words"}}}
    entry = tool(
        "search",
        inputSchema=schema,
        outputSchema={"type": "object"},
        description="Finds things",
        title="Search",
        _meta={"a": 1},
        annotations={"readOnlyHint": True, "destructiveHint": False, "idempotentHint": "yes", "title": "Other"},
    )
    kept = record(TOOLS, entry, True)
    assert {name: value for name, value in kept.items() if name != "shape"} == {
        "name": "search",
        "annotations": {"readOnly": True, "destructive": False, "idempotent": None, "openWorld": None},
        "sha256": {
            "inputSchema": digest(schema),
            "outputSchema": digest({"type": "object"}),
            "description": text_digest("Finds things"),
            "title": text_digest("Search"),
            "_meta": digest({"a": 1}),
        },
        "redacted": True,
    }
    assert len(kept["shape"]) == 3
    assert b"words" not in encode(kept)


@pytest.mark.requirement("evidence.hints")
def test_what_a_tool_has_not_is_null() -> None:
    kept = record(TOOLS, tool("a", annotations="none", description=None, title=5), False)
    assert kept["annotations"] == {"readOnly": None, "destructive": None, "idempotent": None, "openWorld": None}
    assert kept["sha256"] == {
        "inputSchema": digest({"type": "object"}),
        "outputSchema": None,
        "description": None,
        "title": digest(5),
        "_meta": None,
    }
    assert kept["redacted"] is False


def test_a_title_among_the_annotations_is_the_title_of_an_older_server() -> None:
    assert record(TOOLS, tool("a", annotations={"title": "Old"}), False)["sha256"]["title"] == text_digest("Old")


def test_an_entry_whose_names_redact_alike_is_recorded_by_the_first_of_each() -> None:
    entry = Members(
        [("[redacted]", 1), ("name", "a"), ("inputSchema", {"type": "object"}), ("[redacted]", 2), ("name", "b")]
    )
    assert record(TOOLS, entry, True)["name"] == "a"
