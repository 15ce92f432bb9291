"""Arguments against schemas: each keyword at its edge, and the same verdict as jsonschema-rs on what both accept."""

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.core.admitted_schema import read_admitted
from contract.core.schema import Schema
from contract.core.upstream_schema import read_upstream
from contract.core.validation import Violation, is_valid, violations
from protocol.values.numbers import decimal
from tests.contract_chance import Chance
from tests.contract_documents import ADMITTED, ARGUMENTS, changed, many, number, parsed, places, plain


def upstream(part: dict[str, Any]) -> Schema:
    """A part of an upstream schema by itself."""
    return read_upstream(parsed({"type": "object", "properties": {"p": part}})).properties["p"]


def found(schema: Schema, value: Any) -> list[tuple[str, str]]:
    return [(violation.pointer, violation.keyword) for violation in violations(schema, parsed(value))]


def test_what_is_admitted_breaks_nothing() -> None:
    assert found(read_admitted(parsed(ADMITTED)), ARGUMENTS) == []


def test_every_violation_is_told_by_its_place_and_keyword() -> None:
    arguments = {"body": "", "kind": "other", "urgent": 1, "tags": ["a", 2, "x" * 10, "d"], "rank": 4, "more": 1}
    assert found(read_admitted(parsed(ADMITTED)), arguments) == [
        ("", "required"),
        ("", "additionalProperties"),
        ("/body", "minLength"),
        ("/kind", "enum"),
        ("/urgent", "type"),
        ("/tags", "maxItems"),
        ("/tags/1", "type"),
        ("/tags/2", "maxLength"),
        ("/rank", "enum"),
        ("/rank", "maximum"),
    ]


def test_no_more_is_looked_at_than_is_asked_for() -> None:
    each = violations(upstream({"type": "array", "items": {"type": "string"}}), [number("1")] * 10**6)
    assert next(each) == Violation("/0", "type")


#: Type -> what is of it. What stands beside no type is of none.
OF_TYPE: dict[str, list[Any]] = {
    "object": [{}],
    "array": [[]],
    "string": ["", "1", "true"],
    "boolean": [True, False],
    "integer": [0, -1, 2**63 - 1, -(2**63)],
    "number": [0, -1, 2**63 - 1, -(2**63), 2**63, 0.5, number("1e3"), number("-0")],
}


@pytest.mark.parametrize("kind", OF_TYPE)
def test_types_are_told_apart(kind: str) -> None:
    needed: Any = {"object": {"properties": {}}, "array": {"items": {"type": "string"}}}.get(kind, {})
    schema = upstream({"type": kind, **needed})
    for other, values in {**OF_TYPE, "null": [None]}.items():
        for value in values:
            fits = other == kind or (other == "number" and any(value is each for each in OF_TYPE[kind]))
            fits = fits or (kind == "number" and other == "integer")
            assert found(schema, value) == ([] if fits else [("", "type")]), (kind, value)


def test_an_integer_is_spelled_as_one_and_a_number_can_be_compared() -> None:
    for spelling in ("1.0", "1e0", "-0", "0.0", str(2**63), str(-(2**63) - 1)):
        assert found(upstream({"type": "integer"}), number(spelling)) == [("", "type")]
    assert found(upstream({"type": "number"}), number("1e1000000")) == [("", "type")]


def test_lengths_count_code_points() -> None:
    schema = upstream({"type": "string", "minLength": 2, "maxLength": 2})
    for text in ("ab", "é€", "\U0001f600\U0001f600", "e\u0301", "\0\0"):
        assert found(schema, text) == []
    assert found(schema, "\U0001f600") == [("", "minLength")]
    assert found(schema, "e\u0301x") == [("", "maxLength")]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4])
def test_sizes_are_inclusive(size: int) -> None:
    wanted = ["min"] if size < 1 else ["max"] if size > 3 else []
    text = upstream({"type": "string", "minLength": 1, "maxLength": 3})
    assert found(text, "x" * size) == [("", f"{each}Length") for each in wanted]
    items = upstream({"type": "array", "minItems": 1, "maxItems": 3, "items": {"type": "string"}})
    assert found(items, ["x"] * size) == [("", f"{each}Items") for each in wanted]


@pytest.mark.parametrize(
    ("minimum", "maximum", "value", "keywords"),
    [
        ("1", "3", "1", []),
        ("1", "3", "3", []),
        ("1", "3", "0", ["minimum"]),
        ("1", "3", "4", ["maximum"]),
        ("0.5", "1e0", "1", []),
        ("0.5", "0.9", "1", ["maximum"]),
        ("1.000000000000000000000001", "2", "1", ["minimum"]),
        ("-1e999999", "1e999999", str(2**63 - 1), []),
        (str(2**63), str(2**70), str(2**63 - 1), ["minimum"]),
        ("9007199254740993", "9007199254740993", "9007199254740993", []),
        ("9007199254740992", "9007199254740992", "9007199254740993", ["maximum"]),
        ("-3", "-2", "-3", []),
        ("-3", "-2", "-4", ["minimum"]),
        ("-3", "-2", "-1", ["maximum"]),
        ("0.001", "1", "0", ["minimum"]),
        ("-0.0", "-0", "0", []),
        ("-0.001", "0", "0", []),
        ("3", "1", "2", ["minimum", "maximum"]),
    ],
)
def test_bounds_are_inclusive_and_exact(minimum: str, maximum: str, value: str, keywords: list[str]) -> None:
    for kind in ("integer", "number"):
        schema = upstream({"type": kind, "minimum": number(minimum), "maximum": number(maximum)})
        assert found(schema, number(value)) == [("", keyword) for keyword in keywords]


def test_an_enum_compares_by_type_and_by_the_value_of_numbers() -> None:
    choices = ["1", 2, number("3.0"), True]
    assert found(upstream({"type": "string", "enum": choices}), "1") == []
    assert found(upstream({"type": "string", "enum": choices}), "2") == [("", "enum")]
    for spelling, wanted in (("2", []), ("3", []), ("1", [("", "enum")])):
        assert found(upstream({"type": "integer", "enum": choices}), number(spelling)) == wanted
    assert found(upstream({"type": "number", "enum": choices}), number("2.00")) == []
    assert found(upstream({"type": "boolean", "enum": choices}), True) == []
    assert found(upstream({"type": "boolean", "enum": choices}), False) == [("", "enum")]
    assert found(upstream({"type": "boolean", "enum": [1, "true"]}), True) == [("", "enum")]
    assert found(upstream({"type": "string", "enum": ["\u00e9"]}), "e\u0301") == [("", "enum")]


def test_an_open_object_takes_what_it_does_not_name() -> None:
    opened = upstream({"type": "object", "properties": {"a": {"type": "string"}}})
    assert found(opened, {"b": [1, {"c": None}]}) == []
    closed = upstream({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False})
    assert found(closed, {"b": 1}) == [("", "additionalProperties")]


@given(st.integers(0, 2**64))
@settings(deadline=None, max_examples=2000)
def test_the_verdict_is_that_of_json_schema(seed: int) -> None:
    chance = Chance(seed)
    schema = chance.schema()
    value = chance.value(schema)
    theirs = jsonschema_rs.Draft202012Validator(plain(schema)).is_valid(plain(value))
    assert is_valid(read_upstream(parsed(schema)), parsed(value)) == theirs, (schema, value)


@pytest.mark.parametrize("path", list(places(ARGUMENTS)))
def test_the_verdict_on_an_admitted_schema_is_that_of_json_schema_too(path: tuple[Any, ...]) -> None:
    judge = jsonschema_rs.Draft202012Validator(ADMITTED)
    for other in many(None, True, 0, 1, -3, 4, 1000, "", "note", "x" * 9, "x" * 80, "x" * 81, [], ["a"] * 4, {}):
        value = changed(ARGUMENTS, path, other)
        assert is_valid(read_admitted(parsed(ADMITTED)), parsed(value)) == judge.is_valid(value)


def test_numbers_are_brought_into_their_normal_form_once_however_many_there_are_to_choose_from(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schema = upstream({"type": "array", "items": {"type": "number", "enum": [number(f"{each}.50") for each in "123"]}})
    seen: list[bytes] = []

    def counted(spelling: bytes) -> Any:
        seen.append(spelling)
        return decimal(spelling)

    monkeypatch.setattr("contract.core.schema.decimal", counted)
    assert found(schema, [number("1.5"), number("30.5e-1"), number("350e-2"), number("3")]) == [
        ("/1", "enum"),
        ("/3", "enum"),
    ]
    assert seen == [b"1.5", b"30.5e-1", b"350e-2", b"3"]
