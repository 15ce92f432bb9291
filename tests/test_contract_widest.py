"""The widest admitted schema of an upstream one: what it admits, and which changes a person is told of."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.core.admitted_schema import read_admitted
from contract.core.call import check_arguments
from contract.core.refusal import Refusal
from contract.core.registry import read_registry
from contract.core.route import Route
from contract.core.upstream_schema import read_upstream
from contract.core.validation import is_valid
from contract.core.widest import CHANGES, Bound, Change, Widest, widest
from tests.contract_chance import Chance
from tests.contract_documents import UPSTREAM, data, number, parsed, plain, refusal, registry

LARGEST = {"minimum": -(2**63), "maximum": 2**63 - 1}
LONG = "x" * 4097


def of(part: Any, **members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"p": part}, "additionalProperties": False, **members}


def made(part: Any) -> tuple[Any, list[tuple[str, Change]]]:
    """The admitted part of an upstream one, and the changes at it or below it."""
    found = widest(parsed(of(part)))
    read_admitted(parsed(found.schema))
    changes = [(bound.pointer.removeprefix("/properties/p"), bound.change) for bound in found.bounds]
    return found.schema["properties"].get("p"), changes


@pytest.mark.requirement("pin.widest")
def test_a_whole_schema_is_narrowed_part_by_part() -> None:
    assert widest(parsed(UPSTREAM)) == Widest(
        {
            "type": "object",
            "properties": {
                "ticket": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
                "body": {"type": "string", "maxLength": 4096},
                "kind": {"type": "string", "maxLength": 7, "enum": ["note", "reply", "private"]},
                "urgent": {"type": "boolean"},
                "tags": {
                    "type": "array",
                    "maxItems": 256,
                    "items": {"type": "string", "minLength": 1, "maxLength": 4096},
                },
                "rank": {"type": "integer", "minimum": -(2**63), "maximum": 1000},
                "more": {"type": "object", "properties": {}, "additionalProperties": False},
            },
            "required": ["body"],
            "additionalProperties": False,
        },
        (
            Bound("", Change.CLOSED),
            Bound("/properties/ticket", Change.INTEGER),
            Bound("/properties/ticket", Change.RANGE),
            Bound("/properties/body", Change.LENGTH),
            Bound("/properties/tags/items", Change.LENGTH),
            Bound("/properties/tags", Change.ITEMS),
            Bound("/properties/rank", Change.RANGE),
            Bound("/properties/more", Change.CLOSED),
        ),
    )


NOTHING: list[tuple[str, Change]] = []


@pytest.mark.parametrize(
    ("part", "admitted", "changes"),
    [
        ({"type": "string", "maxLength": 4096}, {"type": "string", "maxLength": 4096}, NOTHING),
        ({"type": "string", "maxLength": 4097}, {"type": "string", "maxLength": 4096}, [("", Change.LENGTH)]),
        (
            {"type": "string", "minLength": 4096},
            {"type": "string", "minLength": 4096, "maxLength": 4096},
            [("", Change.LENGTH)],
        ),
        (
            {"type": "string", "enum": ["a", "bcd", 1, "a"]},
            {"type": "string", "maxLength": 3, "enum": ["a", "bcd"]},
            NOTHING,
        ),
        (
            {"type": "string", "minLength": 2, "maxLength": 3, "enum": ["a", "bc", "defg"]},
            {"type": "string", "maxLength": 2, "enum": ["bc"]},
            NOTHING,
        ),
        (
            {"type": "string", "enum": ["a", LONG]},
            {"type": "string", "maxLength": 1, "enum": ["a"]},
            [("", Change.FEWER)],
        ),
        (
            {"type": "string", "enum": [f"v{index}" for index in range(64)]},
            {"type": "string", "maxLength": 3, "enum": [f"v{index}" for index in range(64)]},
            NOTHING,
        ),
        (
            {"type": "string", "enum": [f"v{index}" for index in range(65)]},
            {"type": "string", "maxLength": 3},
            [("", Change.CHOICES)],
        ),
        ({"type": "integer", **LARGEST}, {"type": "integer", **LARGEST}, NOTHING),
        ({"type": "integer"}, {"type": "integer", **LARGEST}, [("", Change.RANGE)]),
        (
            {"type": "integer", "minimum": 0},
            {"type": "integer", "minimum": 0, "maximum": 2**63 - 1},
            [("", Change.RANGE)],
        ),
        (
            {"type": "integer", "minimum": number("-1e19"), "maximum": 2**63},
            {"type": "integer", **LARGEST},
            [("", Change.RANGE)],
        ),
        (
            {"type": "integer", "minimum": number("0.1"), "maximum": number("2.9")},
            {"type": "integer", "minimum": 1, "maximum": 2},
            NOTHING,
        ),
        (
            {"type": "integer", "minimum": number("-2.9"), "maximum": number("-1.1")},
            {"type": "integer", "minimum": -2, "maximum": -2},
            NOTHING,
        ),
        (
            {"type": "integer", "minimum": number("1e-999999"), "maximum": number("1e1")},
            {"type": "integer", "minimum": 1, "maximum": 10},
            NOTHING,
        ),
        (
            {"type": "integer", "minimum": number("-1e999999"), "maximum": number("1e999999")},
            {"type": "integer", **LARGEST},
            [("", Change.RANGE)],
        ),
        (
            {"type": "number", "minimum": 0, "maximum": 9},
            {"type": "integer", "minimum": 0, "maximum": 9},
            [("", Change.INTEGER)],
        ),
        (
            {"type": "number", "enum": [3, number("1.0"), number("2e1"), 3, "x"]},
            {"type": "integer", "minimum": 1, "maximum": 20, "enum": [3, 1, 20]},
            NOTHING,
        ),
        (
            {"type": "number", "enum": [0.5, 2]},
            {"type": "integer", "minimum": 2, "maximum": 2, "enum": [2]},
            [("", Change.FEWER)],
        ),
        (
            {"type": "integer", "enum": list(range(65))},
            {"type": "integer", "minimum": 0, "maximum": 64},
            [("", Change.CHOICES)],
        ),
        ({"type": "boolean"}, {"type": "boolean"}, NOTHING),
        ({"type": "boolean", "enum": [True, 1, "x"]}, {"type": "boolean", "enum": [True]}, NOTHING),
        (
            {"type": "array", "minItems": 2, "maxItems": 256, "items": {"type": "boolean"}},
            {"type": "array", "minItems": 2, "maxItems": 256, "items": {"type": "boolean"}},
            NOTHING,
        ),
        (
            {"type": "array", "maxItems": 257, "items": {"type": "boolean"}},
            {"type": "array", "maxItems": 256, "items": {"type": "boolean"}},
            [("", Change.ITEMS)],
        ),
        (
            {"type": "array", "items": {"type": "boolean", "enum": ["x"]}},
            {"type": "array", "maxItems": 0, "items": {"type": "boolean"}},
            [("/items", Change.DROPPED)],
        ),
        (
            of({"type": "string", "minLength": 4097}),
            {"type": "object", "properties": {}, "additionalProperties": False},
            [("/properties/p", Change.DROPPED)],
        ),
    ],
)
def test_a_part_is_as_wide_as_it_can_be(part: Any, admitted: Any, changes: list[tuple[str, Change]]) -> None:
    assert made(part) == (admitted, changes)


#: Parts that no value which could be admitted passes.
HOPELESS = [
    {"type": "string", "minLength": 4097},
    {"type": "string", "minLength": 3, "maxLength": 2},
    {"type": "string", "enum": [1, True]},
    {"type": "string", "enum": [LONG]},
    {"type": "integer", "minimum": 2**63},
    {"type": "integer", "maximum": -(2**63) - 1},
    {"type": "integer", "minimum": 2, "maximum": 1},
    {"type": "number", "minimum": 0.1, "maximum": 0.9},
    {"type": "number", "enum": [0.5]},
    {"type": "integer", "enum": [2**63]},
    {"type": "boolean", "enum": ["true"]},
    {"type": "array", "minItems": 257, "items": {"type": "boolean"}},
    {"type": "array", "minItems": 1, "items": {"type": "boolean", "enum": [0]}},
    of({"type": "integer", "enum": ["x"]}, required=["p"]),
]


@pytest.mark.parametrize("part", HOPELESS)
def test_what_has_no_admitted_value_is_left_out_or_refuses_the_whole(part: Any) -> None:
    assert made(part) == (None, [("", Change.DROPPED)])
    assert refusal(widest, parsed(of(part, required=["p"]))) is Refusal.PIN_IMPOSSIBLE


def test_what_lies_outside_of_the_upstream_subset_is_refused_by_its_rule() -> None:
    assert refusal(widest, parsed(of({"$ref": "#/x"}))) is Refusal.UPSTREAM_TYPE
    assert refusal(widest, parsed(of({"type": "string", "pattern": "x"}))) is Refusal.UPSTREAM_KEYWORD
    assert refusal(widest, None) is Refusal.UPSTREAM_ROOT


def test_a_schema_whose_bounds_make_it_too_large_is_refused_by_whoever_reads_it() -> None:
    parts = {f"{'x' * 57}{index:03}": {"type": "integer"} for index in range(60)}
    nested = {f"{'y' * 60}{index}": {"type": "object", "properties": parts} for index in range(8)}
    upstream = parsed({"type": "object", "properties": nested})
    read_upstream(upstream)
    assert refusal(read_admitted, parsed(widest(upstream).schema)) is Refusal.ADMITTED_SIZE


def test_every_change_has_a_sentence() -> None:
    assert list(CHANGES) == list(Change)
    assert all(told.endswith(".") for told in CHANGES.values())


def pinned(upstream: Any, admitted: Any) -> Route:
    members = {"upstream_input_schema": upstream, "input_schema": admitted}
    return read_registry(data(registry(**members))).routes["desk.comment"]


@given(st.integers(0, 2**64))
@settings(deadline=None, max_examples=1000)
def test_a_call_that_the_tool_accepts_and_that_is_finite_is_admitted(seed: int) -> None:
    chance = Chance(seed)
    upstream = chance.schema()
    if refusal(widest, parsed(upstream)) is not None:
        return
    found = widest(parsed(upstream))
    route = pinned(upstream, found.schema)
    value = chance.value(upstream)
    named = jsonschema_rs.Draft202012Validator(plain(closed(upstream))).is_valid(plain(value))
    if isinstance(value, dict) and named and is_valid(read_upstream(parsed(upstream)), parsed(value)):
        assert check_arguments(route, parsed(value)) in (None, Refusal.ARGUMENTS_NUMBER), (upstream, value)


def closed(schema: Any) -> Any:
    """A schema whose objects take nothing that they do not name."""
    made = dict(schema)
    if made["type"] == "object":
        properties = {name: closed(child) for name, child in made["properties"].items()}
        return made | {"properties": properties, "additionalProperties": False}
    return made | ({"items": closed(made["items"])} if made["type"] == "array" else {})
