"""The two subsets of JSON Schema: each rule at its edge, in both where both have it."""

from collections.abc import Callable
from typing import Any

import pytest

from contract.core.admitted_schema import ADMITTED as ADMITTED_SUBSET
from contract.core.admitted_schema import read_admitted
from contract.core.refusal import Refusal
from contract.core.schema import Schema
from contract.core.upstream_schema import UPSTREAM as UPSTREAM_SUBSET
from contract.core.upstream_schema import read_upstream
from protocol.values.document import canonical
from tests.contract_documents import ADMITTED, DELETED, UPSTREAM, many, number, parsed, refusal

Read = Callable[[Any], Schema]
#: Subset -> its reader and an admitted and finite string, so that one table serves both.
READERS: dict[str, Read] = {"admitted": read_admitted, "upstream": read_upstream}
BOTH = pytest.mark.parametrize("subset", READERS)
TEXT = {"type": "string", "maxLength": 8}
INTEGER = {"type": "integer", "minimum": 0, "maximum": 9}


def refused(subset: str, value: Any) -> Refusal | None:
    return refusal(READERS[subset], parsed(value))


def of(*parts: Any, **members: Any) -> dict[str, Any]:
    """A closed object with a property for each part."""
    properties = {f"p{index}": part for index, part in enumerate(parts)}
    value = {"type": "object", "properties": properties, "additionalProperties": False} | members
    return {name: member for name, member in value.items() if member is not DELETED}


def parts(schema: Schema) -> dict[str, Schema]:
    """The parts of a schema as it says them; what a value is compared with is made of those."""
    return {name: part._replace(choices=None) for name, part in schema.properties.items()}


def rule(subset: str, name: str) -> Refusal:
    return Refusal(f"{subset}_{name}")


def test_each_subset_refuses_by_sentences_of_its_own() -> None:
    named = [set(ADMITTED_SUBSET.refusals), set(UPSTREAM_SUBSET.refusals) | {Refusal.UPSTREAM_ANNOTATION}]
    assert named == [{each for each in Refusal if each.startswith(name)} for name in ("admitted_", "upstream_")]


def test_an_admitted_schema_is_read_part_by_part() -> None:
    read = read_admitted(parsed(ADMITTED))
    assert (read.type, read.required, read.closed) == ("object", ("ticket", "body"), True)
    assert parts(read) == {
        "ticket": Schema("integer", minimum=number("1"), maximum=number("999")),
        "body": Schema("string", shortest=1, longest=80),
        "kind": Schema("string", longest=8, enum=("note", "reply")),
        "urgent": Schema("boolean", enum=(True, False)),
        "tags": Schema("array", longest=3, items=Schema("string", longest=9)),
        "rank": Schema(
            "integer", minimum=number("-3"), maximum=number("3"), enum=(number("-3"), number("0"), number("3"))
        ),
    }


def test_an_upstream_schema_is_read_part_by_part() -> None:
    read = read_upstream(parsed(UPSTREAM))
    assert (read.type, read.required, read.closed) == ("object", ("body",), False)
    assert parts(read) == {
        "ticket": Schema("number", minimum=number("0.5")),
        "body": Schema("string"),
        "kind": Schema("string", enum=("note", "reply", "private")),
        "urgent": Schema("boolean"),
        "tags": Schema("array", items=Schema("string", shortest=1)),
        "rank": Schema("integer", maximum=number("1000.0")),
        "more": Schema("object"),
    }


@BOTH
def test_the_root_is_an_object_and_each_part_has_one_type(subset: str) -> None:
    assert refused(subset, of()) is None
    for root in many(None, True, [], "object", TEXT, {}, {"type": ["object"]}, {"type": "Object"}):
        assert refused(subset, root) is rule(subset, "root")
    for part in many(None, True, [], {}, {"type": "null"}, {"type": ["string"]}, {"type": None}, {"type": {}}):
        assert refused(subset, of(part)) is rule(subset, "type")


def test_a_number_is_upstream_only() -> None:
    assert refused("upstream", of({"type": "number"})) is None
    assert refused("admitted", of({"type": "number", "minimum": 0, "maximum": 1})) is Refusal.ADMITTED_TYPE


@BOTH
@pytest.mark.parametrize(
    "keyword",
    [
        *(
            "$ref",
            "$schema",
            "$id",
            "$defs",
            "$comment",
            "definitions",
            "allOf",
            "anyOf",
            "oneOf",
            "not",
            "if",
            "const",
        ),
        *(
            "default",
            "examples",
            "pattern",
            "format",
            "patternProperties",
            "propertyNames",
            "minProperties",
            "nullable",
        ),
        *(
            "exclusiveMinimum",
            "multipleOf",
            "uniqueItems",
            "prefixItems",
            "contains",
            "readOnly",
            "deprecated",
            "x",
            "",
        ),
    ],
)
def test_every_other_keyword_is_refused_on_every_type(subset: str, keyword: str) -> None:
    array = {"type": "array", "items": TEXT, "maxItems": 1}
    for part in (of(), TEXT, INTEGER, {"type": "boolean"}, array):
        assert refused(subset, of(part)) is None
        assert refused(subset, of(part | {keyword: {}})) is rule(subset, "keyword")
    assert refused(subset, of(**{keyword: {}})) is rule(subset, "keyword")


@BOTH
def test_a_keyword_of_another_type_is_refused(subset: str) -> None:
    for part in (
        of(maxLength=1),
        of(enum=[{}]),
        TEXT | {"minimum": 0},
        TEXT | {"items": TEXT},
        INTEGER | {"maxLength": 1},
        {"type": "boolean", "maximum": 1},
        {"type": "array", "items": TEXT, "maxItems": 1, "enum": [[]]},
        {"type": "array", "items": TEXT, "maxItems": 1, "properties": {}},
    ):
        assert refused(subset, of(part)) is rule(subset, "keyword")


def test_titles_and_descriptions_are_upstream_only_and_have_at_most_4_kib() -> None:
    for name in ("title", "description"):
        assert refused("admitted", of(**{name: "x"})) is Refusal.ADMITTED_KEYWORD
        for part in (
            *(of(), TEXT, INTEGER, {"type": "number"}, {"type": "boolean"}),
            {"type": "array", "items": TEXT},
        ):
            assert refused("upstream", of(part | {name: "é" * 2048})) is None
            for bad in ("é" * 2048 + "x", None, 1, ["x"]):
                assert refused("upstream", of(part | {name: bad})) is Refusal.UPSTREAM_ANNOTATION


MANDATORY = {
    "admitted": [
        *(of(properties=DELETED), of(additionalProperties=DELETED), {"type": "string"}, {"type": "integer"}),
        *({"type": "integer", "minimum": 0}, {"type": "integer", "maximum": 0}, {"type": "array", "items": TEXT}),
        {"type": "array", "maxItems": 1},
    ],
    "upstream": [of(properties=DELETED), {"type": "array"}, {"type": "array", "maxItems": 1}],
}


@BOTH
def test_what_is_mandatory_cannot_be_left_out(subset: str) -> None:
    for part in MANDATORY[subset]:
        assert refused(subset, of(part)) is rule(subset, "missing")


def test_upstream_the_bounds_and_the_closure_can_be_left_out() -> None:
    for part in ({"type": "string"}, {"type": "integer"}, {"type": "array", "items": TEXT}):
        assert refused("upstream", of(part)) is None
    assert refused("upstream", of(additionalProperties=DELETED)) is None
    assert refused("upstream", of(additionalProperties=True)) is None


@BOTH
def test_an_object_has_at_most_64_properties_named_by_identifiers(subset: str) -> None:
    assert refused(subset, of(*[TEXT] * 64)) is None
    assert refused(subset, of(properties={"a" * 64: TEXT, "A.b_c-9": TEXT})) is None
    for properties in many(
        *({f"p{index}": TEXT for index in range(65)}, {"": TEXT}, {"a" * 65: TEXT}, {"a b": TEXT}, {"$a": TEXT}),
        *({"é": TEXT}, None, [], "x"),
    ):
        assert refused(subset, of(properties=properties)) is rule(subset, "properties")


@BOTH
def test_required_are_different_properties(subset: str) -> None:
    for good in ([], ["p0"], ["p1", "p0"]):
        assert refused(subset, of(TEXT, TEXT, required=good)) is None
    for bad in many(None, "p0", {}, ["p2"], ["p0", "p0"], ["p0", 1], [None], [["p0"]], [{}]):
        assert refused(subset, of(TEXT, TEXT, required=bad)) is rule(subset, "required")


@BOTH
def test_additional_properties_are_a_truth_value(subset: str) -> None:
    assert refused(subset, of(additionalProperties=False)) is None
    for bad in many(None, 0, "false", {}, []):
        assert refused(subset, of(additionalProperties=bad)) is rule(subset, "open")


def test_an_admitted_object_is_closed() -> None:
    assert refused("admitted", of(additionalProperties=True)) is Refusal.ADMITTED_OPEN
    assert refused("admitted", of(of(additionalProperties=True))) is Refusal.ADMITTED_OPEN


#: Keywords of the size of a type, the largest that is admitted, and what else the type needs.
SIZES = [
    ("string", "minLength", "maxLength", 4096, "length", {}),
    ("array", "minItems", "maxItems", 256, "items", {"items": TEXT}),
]
NO_SIZES: list[Any] = [-1, None, "1", True, 1.0, [], number("1e1"), number("-0"), number("9" * 30)]


@pytest.mark.parametrize(("kind", "lower", "upper", "limit", "name", "rest"), SIZES)
def test_sizes_are_bounded_integers(
    kind: str, lower: str, upper: str, limit: int, name: str, rest: dict[str, Any]
) -> None:
    part: dict[str, Any] = {"type": kind, **rest}
    for good in many({upper: 0}, {upper: limit}, {lower: 0, upper: 0}, {lower: limit, upper: limit}):
        assert refused("admitted", of(part | good)) is None
    for bad in many({upper: limit + 1}, {lower: 2, upper: 1}, *({upper: each} for each in NO_SIZES)):
        assert refused("admitted", of(part | bad)) is rule("admitted", name)
    for good in many({}, {lower: 9}, {upper: 2**63 - 1}, {lower: 2**63 - 1}, {lower: 2, upper: 1}):
        assert refused("upstream", of(part | good)) is None
    for bad in many({upper: 2**63}, {lower: 2**63}, *({upper: each} for each in NO_SIZES)):
        assert refused("upstream", of(part | bad)) is rule("upstream", name)
    for each in NO_SIZES:
        for subset in READERS:
            assert refused(subset, of(part | {lower: each, upper: 1})) is rule(subset, name)


def test_the_bounds_of_an_admitted_integer_are_64_bit_integers_in_order() -> None:
    def bounded(minimum: Any, maximum: Any) -> Refusal | None:
        return refused("admitted", of({"type": "integer", "minimum": minimum, "maximum": maximum}))

    assert bounded(-(2**63), 2**63 - 1) is None
    assert bounded(5, 5) is None
    for bad in (
        -(2**63) - 1,
        2**63,
        None,
        "1",
        False,
        1.0,
        number("1e1"),
        number("-0"),
        number("1.5"),
        number("9" * 99),
    ):
        assert bounded(bad, 2**63 - 1) is Refusal.ADMITTED_RANGE
        assert bounded(-(2**63), bad) is Refusal.ADMITTED_RANGE
    assert bounded(6, 5) is Refusal.ADMITTED_RANGE


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_an_upstream_bound_is_any_number_that_can_be_compared(kind: str, name: str) -> None:
    for spelling in ("0", "-0", "0.5", "1e3", "-1.50E-7", "1e999999", "9" * 1000, str(2**70)):
        assert refused("upstream", of({"type": kind, name: number(spelling)})) is None
    for bad in many(number("1e1000000"), number("9" * 1001), None, "1", True, []):
        assert refused("upstream", of({"type": kind, name: bad})) is Refusal.UPSTREAM_RANGE


def test_an_admitted_enum_has_1_to_64_values_of_its_type() -> None:
    choices: dict[str, tuple[dict[str, Any], list[Any], list[Any]]] = {
        "string": (TEXT, ["", "x" * 5000], [1, True, None, ["x"]]),
        "integer": (INTEGER, [0, -(2**63)], ["1", True, 2**63, 1.0, number("-0"), None]),
        "boolean": ({"type": "boolean"}, [True, False], ["true", 0, None]),
    }
    for part, good, bad in choices.values():
        assert refused("admitted", of(part | {"enum": good})) is None
        for values in many([], None, "x", {}, *([good[0], each] for each in bad)):
            assert refused("admitted", of(part | {"enum": values})) is Refusal.ADMITTED_ENUM
    for count, wanted in ((1, None), (64, None), (65, Refusal.ADMITTED_ENUM)):
        assert refused("admitted", of(TEXT | {"enum": [str(each) for each in range(count)]})) is wanted


def test_an_upstream_enum_has_1_to_128_strings_numbers_or_booleans() -> None:
    for kind in ("string", "integer", "number", "boolean"):
        assert refused("upstream", of({"type": kind, "enum": ["x", 1, 1.5, True]})) is None
        for bad in many([], None, "x", [None], [[]], [{}], [number("1e1000000")]):
            assert refused("upstream", of({"type": kind, "enum": bad})) is Refusal.UPSTREAM_ENUM
    for count, wanted in ((1, None), (128, None), (129, Refusal.UPSTREAM_ENUM)):
        assert refused("upstream", of({"type": "integer", "enum": list(range(count))})) is wanted


def nested(depth: int) -> dict[str, Any]:
    """A schema whose innermost part stands so many steps below the root."""
    part: dict[str, Any] = TEXT
    for level in range(depth - 1):
        part = of(part) if level % 2 else {"type": "array", "maxItems": 1, "items": part}
    return of(part)


@BOTH
def test_a_schema_is_at_most_8_deep(subset: str) -> None:
    assert refused(subset, nested(8)) is None
    assert refused(subset, nested(9)) is rule(subset, "depth")
    assert refused(subset, nested(60)) is rule(subset, "depth")


@BOTH
def test_a_schema_has_at_most_1024_parts(subset: str) -> None:
    def having(parts: int) -> dict[str, Any]:
        booleans = [{"type": "boolean"}] * (parts - 1 - 17)
        inner = [of(*booleans[start : start + 60]) for start in range(0, len(booleans), 60)]
        assert len(inner) == 17
        return of(*inner)

    assert refused(subset, having(1024)) is None
    assert refused(subset, having(1025)) is rule(subset, "nodes")


def sized(size: int) -> dict[str, Any]:
    """A schema of so many bytes in its canonical form."""
    value = of(TEXT | {"enum": ["x"]})
    value["properties"]["p0"]["enum"] = ["x" * (size - len(canonical(parsed(value))) + 1)]
    assert len(canonical(parsed(value))) == size
    return value


@BOTH
def test_a_schema_has_at_most_64_kib(subset: str) -> None:
    assert refused(subset, sized(65_536)) is None
    assert refused(subset, sized(65_537)) is rule(subset, "size")


def test_version_1_of_a_registry_holds_a_schema_to_no_size() -> None:
    assert refusal(read_admitted, parsed(sized(65_537)), sized=False) is None
