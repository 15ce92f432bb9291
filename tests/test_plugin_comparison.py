"""The diff of two tool states: what was added, removed and changed, and the class of each change."""

import copy
import json
from typing import Any

import pytest

from plugin.comparison import Class, compare_states
from protocol.mcp.inventories import KINDS, record
from protocol.values.document import encode, parse
from protocol.wire.params import InvalidParams

SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for."},
        "limit": {"type": "integer", "minimum": 1},
        "tags": {"type": ["array", "null"], "items": {"type": "string"}},
    },
    "required": ["query"],
}
TOOL = {
    "name": "search",
    "title": "Search",
    "description": "Searches tickets.",
    "inputSchema": SCHEMA,
    "annotations": {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False},
}


def state(*entries: Any, redacted: bool = False) -> dict[str, Any]:
    """The state of a `tools` step, as a host sends it back: encoded and read again."""
    tools = KINDS["tools"]
    records = [record(tools, parse(json.dumps(entry)).value, redacted) for entry in entries]
    made = {
        "inventory": "tools",
        "declared": True,
        "complete": True,
        "count": len(records),
        "entries": sorted(records, key=lambda kept: str(kept["name"])),
    }
    read: dict[str, Any] = parse(encode(made)).value
    return read


def altered(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in {**TOOL, **members}.items() if value is not ...}


def schema(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in {**copy.deepcopy(SCHEMA), **members}.items() if value is not ...}


def properties(**members: Any) -> dict[str, Any]:
    known: Any = copy.deepcopy(SCHEMA["properties"])
    merged = {**known, **members}
    return schema(properties={name: value for name, value in merged.items() if value is not ...})


def changes(before: Any, after: Any, **options: Any) -> list[tuple[str, str]]:
    diff = compare_states("tools", state(before), state(after), **options)
    assert (diff["added"], diff["removed"]) == ([], [])
    return [(change["field"], change["class"]) for entry in diff["changed"] for change in entry["changes"]]


def test_equal_states_have_an_empty_diff() -> None:
    assert compare_states("tools", state(TOOL), state(TOOL)) == {
        "format": "assay-diff/1",
        "inventory": "tools",
        "added": [],
        "removed": [],
        "changed": [],
        "summary": {"breaking": 0, "unclassified": 0, "risk": 0, "routing": 0, "additive": 0},
    }


@pytest.mark.requirement("inspection.drift", "diff.tools")
def test_added_removed_and_changed_tools_are_named_and_counted() -> None:
    before = state(altered(name="b"), altered(name="gone"), altered(name="a"))
    after = state(altered(name="new"), altered(name="a"), altered(name="b", title="Other", description=...))
    assert compare_states("tools", before, after) == {
        "format": "assay-diff/1",
        "inventory": "tools",
        "added": [{"name": "new", "class": "additive"}],
        "removed": [{"name": "gone", "class": "breaking"}],
        "changed": [
            {
                "name": "b",
                "fields": ["title", "description"],
                "changes": [
                    {"field": "title", "class": "routing", "detail": "the text changed"},
                    {"field": "description", "class": "routing", "detail": "the text changed"},
                ],
            }
        ],
        "summary": {"breaking": 1, "unclassified": 0, "risk": 0, "routing": 2, "additive": 1},
    }


@pytest.mark.requirement("diff.tools")
@pytest.mark.parametrize(
    ("hint", "before", "after", "grade"),
    [
        ("readOnlyHint", True, False, "risk"),
        ("readOnlyHint", True, ..., "risk"),
        ("readOnlyHint", False, True, "routing"),
        ("readOnlyHint", ..., True, "routing"),
        ("readOnlyHint", ..., False, "routing"),
        ("destructiveHint", False, True, "risk"),
        ("destructiveHint", False, ..., "risk"),
        ("destructiveHint", True, False, "routing"),
        ("destructiveHint", ..., True, "routing"),
        ("openWorldHint", False, True, "risk"),
        ("openWorldHint", False, ..., "risk"),
        ("openWorldHint", True, ..., "routing"),
        ("idempotentHint", True, False, "routing"),
        ("idempotentHint", ..., True, "routing"),
    ],
)
def test_a_lost_promise_is_a_risk_and_another_hint_is_routing(hint: str, before: Any, after: Any, grade: str) -> None:
    old = altered(annotations={hint: before} if before is not ... else {})
    new = altered(annotations={hint: after} if after is not ... else {})
    assert changes(old, new) == [(f"annotations.{hint.removesuffix('Hint')}", grade)]


@pytest.mark.parametrize(
    ("after", "found"),
    [
        (properties(limit=...), [("inputSchema", "breaking")]),
        (schema(required=["query", "limit"]), [("inputSchema", "breaking")]),
        (schema(required=[]), [("inputSchema", "additive")]),
        (properties(limit={"type": "string", "minimum": 1}), [("inputSchema", "breaking")]),
        (properties(limit={"type": "number", "minimum": 1}), [("inputSchema", "additive")]),
        (properties(limit={"type": ["integer", "null"], "minimum": 1}), [("inputSchema", "additive")]),
        (properties(tags={"type": "array", "items": {"type": "string"}}), [("inputSchema", "breaking")]),
        (properties(page={"type": "integer"}), [("inputSchema", "additive")]),
        (
            schema(properties={**properties(page={})["properties"]}, required=["query", "page"]),
            [("inputSchema", "breaking")],
        ),
        (properties(limit={"type": "integer", "minimum": 2}), [("inputSchema", "unclassified")]),
        (schema(additionalProperties=False), [("inputSchema", "breaking")]),
        (schema(additionalProperties=True), [("inputSchema", "additive")]),
        (properties(query=False), [("inputSchema", "breaking")]),
        (properties(page=True), [("inputSchema", "additive")]),
        (
            schema(properties={**properties(page=True)["properties"]}, required=["query", "page"]),
            [("inputSchema", "breaking")],
        ),
        (properties(query={"type": "string", "description": "Other words."}), [("inputSchema", "routing")]),
    ],
)
def test_a_change_of_the_input_schema_is_classed_by_its_shape(after: Any, found: list[tuple[str, str]]) -> None:
    assert changes(TOOL, altered(inputSchema=after)) == found


def test_a_location_that_refuses_every_value_no_longer_is_additive() -> None:
    strict = altered(inputSchema=schema(additionalProperties=False))
    assert changes(strict, TOOL) == [("inputSchema", "additive")]
    assert changes(strict, altered(inputSchema=schema(additionalProperties={"type": "string"}))) == [
        ("inputSchema", "additive")
    ]
    assert changes(altered(inputSchema=schema(additionalProperties=True)), TOOL) == [("inputSchema", "additive")]


def test_an_output_schema_that_appears_is_additive_and_one_that_goes_is_breaking() -> None:
    with_output = altered(outputSchema={"type": "object"})
    assert changes(TOOL, with_output) == [("outputSchema", "additive")]
    assert changes(with_output, TOOL) == [("outputSchema", "breaking")]


def test_changes_of_both_schemas_are_not_attributed_to_one() -> None:
    before = altered(outputSchema={"type": "object"})
    after = altered(inputSchema=properties(page={}), outputSchema={"type": ["object", "null"]})
    assert sorted(changes(before, after)) == [("schemas", "additive"), ("schemas", "additive")]


def test_a_schema_too_large_for_a_shape_is_unclassified() -> None:
    many: dict[str, Any] = {f"p{number}": {} for number in range(600)}
    before, after = altered(inputSchema=properties(**many)), altered(inputSchema=properties(**many, x={}))
    assert changes(before, after) == [("inputSchema", "unclassified")]
    assert changes(TOOL, after) == [("inputSchema", "unclassified")]


def test_a_hash_that_no_location_explains_is_unclassified() -> None:
    before, after = state(TOOL), state(TOOL)
    after["entries"][0]["sha256"]["inputSchema"] = "0" * 64
    diff = compare_states("tools", before, after)
    assert [change["class"] for change in diff["changed"][0]["changes"]] == ["unclassified"]
    assert "location" not in diff["changed"][0]["changes"][0]


def test_changed_metadata_is_unclassified() -> None:
    assert changes(TOOL, altered(_meta={"a": 1})) == [("_meta", "unclassified")]


@pytest.mark.requirement("diff.tools")
@pytest.mark.parametrize(("before", "after", "grade"), [(False, True, "risk"), (True, False, "routing")])
def test_whether_private_values_were_redacted_is_compared(before: bool, after: bool, grade: str) -> None:
    diff = compare_states("tools", state(TOOL, redacted=before), state(TOOL, redacted=after))
    assert diff["changed"][0]["fields"] == ["redacted"]
    assert diff["changed"][0]["changes"][0]["class"] == grade


def test_names_that_redact_alike_are_compared_one_by_one() -> None:
    tools = KINDS["tools"]
    same = parse(json.dumps(altered(name="[redacted]"))).value
    entries = [record(tools, same, True), record(tools, same, True)]
    two = {"inventory": "tools", "complete": True, "entries": entries}
    one = {"inventory": "tools", "complete": True, "entries": entries[:1]}
    assert compare_states("tools", two, two)["summary"]["breaking"] == 0
    assert compare_states("tools", two, one)["removed"] == [{"name": "[redacted]", "class": "breaking"}]


def catalog(*entries: Any) -> dict[str, Any]:
    return {"inventory": "tools", "entries": parse(json.dumps(entries)).value}


def test_catalogs_name_locations_and_show_texts() -> None:
    after = altered(
        description="Finds tickets.",
        title=...,
        inputSchema=properties(limit={"type": "string", "minimum": 1}),
        outputSchema={"type": "object"},
    )
    catalogs = {"before": catalog(TOOL), "after": catalog(after)}
    diff = compare_states("tools", state(TOOL), state(after), catalogs)
    assert diff["changed"][0]["changes"] == [
        {
            "field": "inputSchema",
            "class": "breaking",
            "detail": "a location lost a type",
            "location": "/inputSchema/properties/limit",
        },
        {
            "field": "outputSchema",
            "class": "additive",
            "detail": "a location was added",
            "location": "/outputSchema",
        },
        {"field": "title", "class": "routing", "detail": 'from "Search" to nothing'},
        {"field": "description", "class": "routing", "detail": 'from "Searches tickets." to "Finds tickets."'},
    ]


def test_without_a_catalog_a_location_is_its_hash() -> None:
    diff = compare_states("tools", state(TOOL), state(altered(inputSchema=properties(page={}))))
    assert len(diff["changed"][0]["changes"][0]["location"]) == 16


@pytest.mark.requirement("diff.succeeded")
@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"inventory": "prompts", "complete": True, "entries": []},
        {"inventory": "tools", "complete": False, "count": 0},
        {"inventory": "tools", "complete": True},
        {"inventory": "tools", "complete": True, "entries": {}},
        {"inventory": "tools", "complete": True, "entries": [1]},
        {"inventory": "tools", "complete": True, "entries": [{"name": "a"}]},
        {
            "inventory": "tools",
            "complete": True,
            "entries": [{"name": 1, "annotations": {}, "sha256": {}, "shape": {}}],
        },
        {
            "inventory": "tools",
            "complete": True,
            "entries": [{"name": "a", "annotations": {"destructive": []}, "sha256": {}, "shape": {}}],
        },
        {
            "inventory": "tools",
            "complete": True,
            "entries": [{"name": "a", "annotations": {}, "sha256": {"inputSchema": {}}, "shape": {}}],
        },
        {
            "inventory": "tools",
            "complete": True,
            "entries": [{"name": "a", "annotations": {}, "sha256": {}, "shape": 1}],
        },
        {
            "inventory": "tools",
            "complete": True,
            "entries": [{"name": "a", "annotations": {}, "sha256": {}, "shape": {"x": {"types": "string"}}}],
        },
        {
            "inventory": "tools",
            "complete": True,
            "entries": [{"name": "a", "annotations": {}, "sha256": {}, "shape": {"x": []}}],
        },
    ],
)
def test_what_is_no_succeeded_state_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidParams, match="`before`"):
        compare_states("tools", wrong, state())
    with pytest.raises(InvalidParams, match="`after`"):
        compare_states("tools", state(), wrong)


@pytest.mark.parametrize("catalogs", [{}, {"before": []}, {"before": {"inventory": "prompts", "entries": []}}])
def test_what_is_no_catalog_is_refused(catalogs: Any) -> None:
    with pytest.raises(InvalidParams, match="catalog"):
        compare_states("tools", state(), state(), catalogs)


def test_only_inventories_that_exist_are_compared() -> None:
    with pytest.raises(InvalidParams, match="compares tools"):
        compare_states("roots", {}, {})


def test_the_classes_are_those_of_the_documentation() -> None:
    assert [str(grade) for grade in Class] == ["breaking", "unclassified", "risk", "routing", "additive"]
