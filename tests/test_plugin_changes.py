"""The diff of two states of resources, templates and prompts: what changed of an entry, and how grave that is."""

import json
from typing import Any

import pytest

from plugin.comparison import compare_states
from protocol.mcp.inventories import KINDS, record
from protocol.values.document import encode, parse
from protocol.wire.params import InvalidParams

RESOURCE = {"uri": "file:///a", "name": "a", "title": "A", "description": "The first.", "mimeType": "text/plain"}
TEMPLATE = {"uriTemplate": "file:///{a}", "name": "a", "description": "Files.", "mimeType": "text/plain"}
PROMPT: dict[str, Any] = {
    "name": "summarize",
    "description": "Summarizes.",
    "arguments": [{"name": "ticket", "description": "Its id.", "required": True}, {"name": "length"}],
}
ENTRIES: dict[str, dict[str, Any]] = {"resources": RESOURCE, "resource_templates": TEMPLATE, "prompts": PROMPT}


def state(inventory: str, *entries: Any, redacted: bool = False) -> dict[str, Any]:
    """The state of a step, as a host sends it back: encoded and read again."""
    kind = KINDS[inventory]
    records = [record(kind, parse(json.dumps(entry)).value, redacted) for entry in entries]
    made = {"inventory": inventory, "declared": True, "complete": True, "count": len(records), "entries": records}
    read: dict[str, Any] = parse(encode(made)).value
    return read


def catalog(inventory: str, *entries: Any) -> dict[str, Any]:
    return {"inventory": inventory, "entries": list(entries)}


def changes(inventory: str, before: Any, after: Any, catalogs: Any = None) -> list[tuple[str, str]]:
    diff = compare_states(inventory, state(inventory, before), state(inventory, after), catalogs)
    assert (diff["inventory"], diff["added"], diff["removed"]) == (inventory, [], [])
    return [(change["field"], change["class"]) for entry in diff["changed"] for change in entry["changes"]]


@pytest.mark.parametrize("inventory", ENTRIES)
def test_equal_states_have_an_empty_diff(inventory: str) -> None:
    entry = ENTRIES[inventory]
    diff = compare_states(inventory, state(inventory, entry), state(inventory, entry))
    assert (diff["added"], diff["removed"], diff["changed"]) == ([], [], [])
    assert set(diff["summary"].values()) == {0}


@pytest.mark.parametrize("inventory", ENTRIES)
def test_added_and_removed_entries_go_by_what_names_them(inventory: str) -> None:
    key, entry = KINDS[inventory].key, ENTRIES[inventory]
    before = state(inventory, entry, {**entry, key: "gone"})
    after = state(inventory, {**entry, key: "new"}, entry)
    diff = compare_states(inventory, before, after)
    assert diff["added"] == [{"name": "new", "class": "additive"}]
    assert diff["removed"] == [{"name": "gone", "class": "breaking"}]
    assert diff["changed"] == []


@pytest.mark.parametrize("inventory", ["resources", "resource_templates"])
@pytest.mark.parametrize(
    ("member", "value", "found"),
    [
        ("mimeType", "text/html", ("mimeType", "breaking")),
        ("name", "b", ("name", "routing")),
        ("title", "B", ("title", "routing")),
        ("description", "Other.", ("description", "routing")),
        ("annotations", {"priority": 1}, ("annotations", "routing")),
        ("_meta", {"a": 1}, ("_meta", "unclassified")),
    ],
)
def test_a_change_of_a_resource_is_classed_by_its_member(
    inventory: str, member: str, value: Any, found: tuple[str, str]
) -> None:
    entry = ENTRIES[inventory]
    assert changes(inventory, entry, {**entry, member: value}) == [found]


def test_the_size_and_the_time_of_a_resource_are_no_change() -> None:
    later = {**RESOURCE, "size": 7, "annotations": {"lastModified": "2026-02-02T00:00:00Z"}}
    assert changes("resources", RESOURCE, later) == []


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ([{"name": "ticket", "description": "Its id.", "required": True}], [("arguments.length", "breaking")]),
        ([*PROMPT["arguments"], {"name": "new"}], [("arguments.new", "additive")]),
        ([*PROMPT["arguments"], {"name": "new", "required": True}], [("arguments.new", "breaking")]),
        ([PROMPT["arguments"][0], {"name": "length", "required": True}], [("arguments.length", "breaking")]),
        ([{"name": "ticket", "description": "Its id."}, {"name": "length"}], [("arguments.ticket", "additive")]),
        (
            [{"name": "ticket", "description": "Other.", "required": True}, {"name": "length", "title": "Length"}],
            [("arguments.length.title", "routing"), ("arguments.ticket.description", "routing")],
        ),
        (list(reversed(PROMPT["arguments"])), []),
    ],
)
def test_a_change_of_a_prompts_arguments_is_classed(arguments: Any, found: list[tuple[str, str]]) -> None:
    assert changes("prompts", PROMPT, {**PROMPT, "arguments": arguments}) == found


@pytest.mark.parametrize(
    ("member", "value", "grade"),
    [("description", "Other.", "routing"), ("title", "T", "routing"), ("_meta", {"a": 1}, "unclassified")],
)
def test_a_change_of_a_prompts_texts_is_classed(member: str, value: Any, grade: str) -> None:
    assert changes("prompts", PROMPT, {**PROMPT, member: value}) == [(member, grade)]


@pytest.mark.parametrize("inventory", ENTRIES)
@pytest.mark.parametrize(("before", "after", "grade"), [(False, True, "risk"), (True, False, "routing")])
def test_whether_private_values_stood_there_is_compared(inventory: str, before: bool, after: bool, grade: str) -> None:
    entry = ENTRIES[inventory]
    diff = compare_states(inventory, state(inventory, entry, redacted=before), state(inventory, entry, redacted=after))
    assert [change["class"] for changed in diff["changed"] for change in changed["changes"]] == [grade]


def test_arguments_whose_names_redact_alike_are_compared_one_by_one() -> None:
    twice = {**state("prompts", PROMPT)["entries"][0]}
    argument = twice["arguments"][0]
    twice["arguments"] = [{**argument, "name": "[redacted]"}, {**argument, "name": "[redacted]", "required": True}]
    before = {**state("prompts"), "entries": [twice]}
    once = {**twice, "arguments": twice["arguments"][:1]}
    diff = compare_states("prompts", before, {**before, "entries": [once]})
    assert [change["detail"] for change in diff["changed"][0]["changes"]] == ["the argument is gone"]


def test_catalogs_show_texts() -> None:
    old, new = RESOURCE, {**RESOURCE, "mimeType": "text/html", "title": None, "description": "x" * 5000}
    diff = compare_states(
        "resources",
        state("resources", old),
        state("resources", new),
        {"before": catalog("resources", old), "after": catalog("resources", new)},
    )
    assert [change["detail"] for change in diff["changed"][0]["changes"]] == [
        'from "text/plain" to "text/html"',
        'from "A" to null',
        f'from "The first." to "{"x" * 999}…',
    ]


def test_catalogs_show_the_texts_of_a_prompts_arguments() -> None:
    new = {**PROMPT, "arguments": [{**PROMPT["arguments"][0], "description": "The id."}, PROMPT["arguments"][1]]}
    diff = compare_states(
        "prompts",
        state("prompts", PROMPT),
        state("prompts", new),
        {"before": catalog("prompts", PROMPT), "after": catalog("prompts", new)},
    )
    (change,) = diff["changed"][0]["changes"]
    assert change["detail"] == 'from "Its id." to "The id."'


@pytest.mark.parametrize(
    ("inventory", "record"),
    [
        ("resources", {}),
        ("resources", {"uri": "a"}),
        ("resources", {"uri": 5, "sha256": {}}),
        ("resources", {"name": "a", "sha256": {}}),
        ("resource_templates", {"uri": "a", "sha256": {}}),
        ("prompts", {"name": "a", "sha256": {}}),
        ("prompts", {"name": "a", "sha256": {}, "arguments": [{}]}),
        ("prompts", {"name": "a", "sha256": {}, "arguments": [{"name": "a"}]}),
        ("prompts", {"name": "a", "sha256": {}, "arguments": [{"name": 5, "sha256": {}}]}),
        ("prompts", []),
    ],
)
def test_what_is_no_record_is_refused(inventory: str, record: Any) -> None:
    with pytest.raises(InvalidParams, match=f"records of `{inventory}`"):
        compare_states(inventory, {**state(inventory), "entries": [record]}, state(inventory))


def test_states_of_different_inventories_are_not_compared() -> None:
    with pytest.raises(InvalidParams, match="succeeded `prompts` step"):
        compare_states("prompts", state("resources"), state("prompts"))
