"""Shapes of schemas: which locations there are, what each keeps, and what a comparison of two can say."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.mcp.shapes import LOCATION_LIMIT, Difference, differences, locations, shape
from protocol.values.document import Members


def places(schema: Any) -> list[str]:
    return [pointer for pointer, _ in locations(schema)]


def changes(before: Any, after: Any) -> list[str]:
    first, second = shape({"s": before}), shape({"s": after})
    assert first is not None
    assert second is not None
    return [difference.change for difference in differences(first, second)]


def with_property(schema: Any, *, required: bool = False) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": schema}, "required": ["a"] if required else []}


def test_locations_are_every_schema_inside_a_schema() -> None:
    schema = {
        "type": "object",
        "properties": {"a/b": {"items": {"type": "string"}}, "c": True},
        "patternProperties": {"^x": {}},
        "additionalProperties": False,
        "$defs": {"d": {"prefixItems": [{}, {"not": {}}]}},
        "allOf": [{"if": {}, "then": {}, "else": {}}],
        "items": [{}],
        "dependentSchemas": {"e": {"contains": {}}},
        "propertyNames": {"contentSchema": {}},
        "default": {"properties": {"no": {}}},
        "enum": [{"items": {}}],
    }
    assert places(schema) == [
        "",
        "/properties/a~1b",
        "/properties/a~1b/items",
        "/properties/c",
        "/patternProperties/^x",
        "/additionalProperties",
        "/$defs/d",
        "/$defs/d/prefixItems/0",
        "/$defs/d/prefixItems/1",
        "/$defs/d/prefixItems/1/not",
        "/allOf/0",
        "/allOf/0/if",
        "/allOf/0/then",
        "/allOf/0/else",
        "/items/0",
        "/dependentSchemas/e",
        "/dependentSchemas/e/contains",
        "/propertyNames",
        "/propertyNames/contentSchema",
    ]


def test_references_are_not_followed() -> None:
    assert places({"$ref": "#", "properties": {"a": {"$ref": "https://evil.example/schema"}}}) == ["", "/properties/a"]


def test_a_location_keeps_types_flag_and_hashes_where_there_is_something_to_say() -> None:
    found = dict(locations(with_property({"type": ["string", "null"], "title": "A", "minLength": 1}, required=True)))
    root, inner = found[""], found["/properties/a"]
    assert (root.types, root.required, root.rest, root.text) == (("object",), False, None, None)
    assert (inner.types, inner.required) == (("null", "string"), True)
    assert inner.rest is not None
    assert inner.text is not None
    assert inner.rest != inner.text


def test_a_shape_names_no_location_and_keeps_no_text() -> None:
    kept = shape(
        {"inputSchema": with_property({"type": "string", "description": "words", "enum": ["x"]}, required=True)}
    )
    assert kept is not None
    first, second = kept.values()
    assert first == {"types": ["object"]}
    assert (second["types"], second["required"]) == (["string"], True)
    assert all(len(key) == 16 for key in [*kept, second["rest"], second["text"]])


def test_input_and_output_schemas_have_locations_of_their_own() -> None:
    kept = shape({"inputSchema": {"type": "object"}, "outputSchema": {"type": "object"}})
    assert kept is not None
    assert len(kept) == 2


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"type": "string"}, {"type": "string"}, []),
        ({"type": ["string"]}, {"type": "string"}, []),
        ({"type": ["string", "null"]}, {"type": ["null", "string"]}, []),
        ({"type": "string"}, {"type": ["string", "null"]}, ["type-added"]),
        ({"type": "string"}, {}, ["type-added"]),
        ({"type": "integer"}, {"type": "number"}, ["type-added"]),
        ({"type": "number"}, {"type": "integer"}, ["type-lost"]),
        ({"type": ["string", "null"]}, {"type": "string"}, ["type-lost"]),
        ({"type": "string"}, {"type": "boolean"}, ["type-lost"]),
        ({}, {"type": "string"}, ["type-lost"]),
        ({"description": "a"}, {"description": "b"}, ["text"]),
        ({"title": "a", "examples": [1], "$comment": "c"}, {}, ["text"]),
        ({"enum": ["a"]}, {"enum": ["b"]}, ["rest"]),
        ({"minimum": 1}, {}, ["rest"]),
        ({"type": 5}, {"type": 6}, ["rest"]),
        ({"required": [["a"], 5]}, {}, ["rest"]),
        ({"type": ["a", 5]}, {"type": "a"}, ["type-lost", "rest"]),
        (True, False, ["rest"]),
        ({"description": "a", "enum": ["a"]}, {"type": "string"}, ["type-lost", "rest", "text"]),
        ({"items": {}}, {}, ["gone"]),
        ({}, {"items": {}}, ["added"]),
    ],
)
def test_a_change_of_one_location_is_told(before: Any, after: Any, expected: list[str]) -> None:
    assert changes(with_property(before), with_property(after)) == expected


def test_a_property_that_becomes_required_or_optional_is_told() -> None:
    loose, strict = with_property({}), with_property({}, required=True)
    assert changes(loose, strict) == ["required"]
    assert changes(strict, loose) == ["optional"]
    assert changes({"type": "object"}, strict) == ["added-required"]
    assert changes({"type": "object"}, loose) == ["added"]
    assert changes(strict, {"type": "object"}) == ["gone"]


def test_a_required_name_without_a_property_is_part_of_the_rest() -> None:
    assert changes({"required": []}, {}) == []
    assert changes({"required": ["b"]}, {}) == ["rest"]
    assert changes({"required": "b"}, {}) == ["rest"]
    assert changes({"required": ["b"], "properties": {"b": {}}}, {"properties": {"b": {}}}) == ["optional"]


def test_differences_are_sorted_by_location() -> None:
    before = {"b": {"types": ["string"]}, "c": {}, "a": {"rest": "1"}}
    after = {"a": {"rest": "2"}, "d": {"required": True}, "c": {}}
    assert differences(before, after) == [
        Difference("a", "rest"),
        Difference("b", "gone"),
        Difference("d", "added-required"),
    ]


def test_names_that_redact_alike_leave_their_object_one_location() -> None:
    properties = Members([("[redacted]", {"type": "string"}), ("[redacted]", {"type": "number"})])
    assert places({"properties": properties}) == [""]
    assert places(properties) == [""]
    assert changes({"properties": properties}, {}) == ["rest"]
    assert changes(Members([]), {}) == []


def test_a_tool_of_more_locations_than_the_limit_has_no_shape() -> None:
    assert shape({"s": {"properties": {str(index): {} for index in range(LOCATION_LIMIT - 1)}}}) is not None
    assert shape({"s": {"properties": {str(index): {} for index in range(LOCATION_LIMIT)}}}) is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["string", "object", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "items", "anyOf", "$defs", "not", "enum", "title", "a"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@settings(deadline=None, max_examples=60)
@given(_JSON, _JSON)
def test_any_schemas_compare_and_a_schema_equals_itself(before: Any, after: Any) -> None:
    assert changes(before, before) == []
    if changes(before, after) == []:
        assert changes(after, before) == []
