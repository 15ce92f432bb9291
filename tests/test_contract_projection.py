"""Projections: their rules at the edge, and what becomes of a result: every field, or none."""

from typing import Any

import pytest

from contract.core.projection import Disclosure, Field, Projected, Projection, project, read_projection
from contract.core.refusal import Refusal
from protocol.values.document import Document, encode, parse
from tests.contract_documents import PROJECTION, data, edge, many, number, parsed, refusal


def refused(value: Any) -> Refusal | None:
    return refusal(read_projection, parsed(value))


def field(**members: Any) -> dict[str, Any]:
    return PROJECTION["fields"][0] | members


def typed(**members: Any) -> dict[str, Any]:
    return {"fields": [field(value_type=members)]}


def fields(count: int) -> list[dict[str, Any]]:
    return [field(source=f"s{index}", name=f"n{index}") for index in range(count)]


def test_a_projection_is_read_field_by_field() -> None:
    assert read_projection(parsed(PROJECTION)) == Projection(
        (
            Field("id", "comment", 1000, frozenset()),
            Field("state", "state", 0, frozenset({"posted", "queued"})),
        )
    )


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        *edge(Refusal.PROJECTION_FIELDS, None, [], {}, {"fields": {}}, {"fields": []}, {"fields": fields(9)}),
        *edge(Refusal.PROJECTION_FIELDS, {"fields": fields(1), "more": 1}),
        *edge(Refusal.PROJECTION_MEMBERS, *({"fields": [each]} for each in many(None, [], {}, "x", field(more=1)))),
        *edge(Refusal.PROJECTION_MEMBERS, {"fields": [{"source": "a", "name": "b"}]}),
        *edge(
            Refusal.PROJECTION_IDENTIFIER,
            *(
                {"fields": [field(**{name: bad})]}
                for name in ("source", "name")
                for bad in ("", "a" * 65, "/id", 1, None)
            ),
        ),
        *edge(
            Refusal.PROJECTION_REPEATED,
            {"fields": [field(name="a"), field(name="b")]},
            {"fields": [field(source="a"), field(source="b")]},
        ),
        *edge(
            Refusal.PROJECTION_TYPE,
            *(typed(kind=kind) for kind in many("text", "", None, 1, ["status"], {})),
            *({"fields": [field(value_type=each)]} for each in many(None, "status", [], {})),
            *(typed(kind="integer_id"), typed(kind="integer_id", values=["a"]), typed(kind="status", maximum=1)),
            *(typed(kind="integer_id", maximum=1, more=1), typed(kind="status", values=["a"], maximum=1)),
        ),
        *edge(
            Refusal.PROJECTION_MAXIMUM,
            *(typed(kind="integer_id", maximum=each) for each in (0, -1, 2**53, "1", None, True, 1.0, number("-0"))),
        ),
        *edge(
            Refusal.PROJECTION_VALUES,
            *(
                typed(kind="status", values=each)
                for each in many([], None, "x", {}, [""], ["a" * 33], ["a b"], [1], [None], ["a", "a"], [["a"]])
            ),
            typed(kind="status", values=[f"v{index}" for index in range(17)]),
        ),
    ],
)
def test_a_projection_outside_of_its_rules_is_refused(value: Any, wanted: Refusal) -> None:
    assert refused(value) is wanted


@pytest.mark.parametrize(
    "value",
    [
        *({"fields": fields(1)}, {"fields": fields(8)}, {"fields": [field(source="a" * 64, name="b" * 64)]}),
        *(typed(kind="integer_id", maximum=1), typed(kind="integer_id", maximum=2**53 - 1)),
        *(typed(kind="status", values=["a" * 32]), typed(kind="status", values=[f"v{index}" for index in range(16)])),
    ],
)
def test_a_projection_at_its_limits_is_read(value: Any) -> None:
    assert refused(value) is None


READ = read_projection(parsed(PROJECTION))
GOOD = {"id": 7, "state": "posted"}


def projected(result: Any) -> Projected:
    return project(READ, parse(data(result)))


def test_the_selected_fields_are_disclosed_under_their_names_and_nothing_else_is() -> None:
    result = {
        "content": [{"type": "text", "text": "private"}],
        "structuredContent": {"state": "queued", "url": "https://private.example/", "id": 1000, "nested": {"id": 1}},
        "isError": False,
        "_meta": {"private": 1},
    }
    assert projected(result) == Projected(Disclosure.PROJECTED, {"comment": number("1000"), "state": "queued"})
    assert projected({"structuredContent": GOOD}).disclosure is Disclosure.PROJECTED


@pytest.mark.parametrize("source", ["id", "state"])
def test_one_field_that_is_missing_withholds_all(source: str) -> None:
    content = {name: value for name, value in GOOD.items() if name != source}
    assert projected({"structuredContent": content}) == Projected(Disclosure.INVALID)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        *(("id", each) for each in (0, -1, 1001, 2**53, "7", None, True, 1.0, 7.5, [7], {"id": 7}, number("1e1"))),
        *(("state", each) for each in ("", "Posted", "posted ", "other", 1, None, True, ["posted"], {"posted": 1})),
    ],
)
def test_one_field_that_is_not_as_promised_withholds_all(source: str, value: Any) -> None:
    assert projected({"structuredContent": GOOD | {source: value}}) == Projected(Disclosure.INVALID)


@pytest.mark.parametrize(
    "result",
    [None, [], "x", {}, {"structuredContent": None}, {"structuredContent": [GOOD]}, {"content": [GOOD]}, GOOD],
)
def test_a_result_without_structured_content_discloses_nothing(result: Any) -> None:
    assert projected(result) == Projected(Disclosure.INVALID)


def test_the_error_of_a_tool_discloses_nothing() -> None:
    assert projected({"structuredContent": GOOD, "isError": True}) == Projected(Disclosure.TOOL_ERROR)
    for odd in many(None, 0, 1, "false", {}):
        assert projected({"structuredContent": GOOD, "isError": odd}) == Projected(Disclosure.INVALID)


def test_a_member_that_repeats_anywhere_in_the_result_withholds_all() -> None:
    result = b'{"structuredContent":{"id":7,"state":"posted"},"_meta":{"a":1,"a":1}}'
    assert project(READ, parse(result)) == Projected(Disclosure.INVALID)
    assert project(READ, Document(parse(result).value, ())).disclosure is Disclosure.PROJECTED


def test_a_maximum_is_inclusive() -> None:
    largest = read_projection(parsed(typed(kind="integer_id", maximum=2**53 - 1)))
    for value, wanted in ((1, Disclosure.PROJECTED), (2**53 - 1, Disclosure.PROJECTED), (2**53, Disclosure.INVALID)):
        assert project(largest, Document(parsed({"structuredContent": {"id": value}}), ())).disclosure is wanted


def test_no_more_than_1024_bytes_are_disclosed() -> None:
    def of(size: int) -> Projected:
        # No projection that is read can grow so large; one that is made can.
        name = "n" * (size - len(encode({"": "posted"})))
        made = Projection((Field("state", name, 0, frozenset({"posted"})),))
        return project(made, Document(parsed({"structuredContent": GOOD}), ()))

    assert of(1024).disclosure is Disclosure.PROJECTED
    assert len(encode(of(1024).output)) == 1024
    assert of(1025) == Projected(Disclosure.INVALID)


def test_the_largest_projection_that_can_be_read_fits() -> None:
    token = "t" * 32
    widest = [
        field(source=f"s{index}", name=f"{index}" * 64, value_type={"kind": "status", "values": [token]})
        for index in range(8)
    ]
    content = {f"s{index}": token for index in range(8)}
    found = project(read_projection(parsed({"fields": widest})), Document({"structuredContent": content}, ()))
    assert found.disclosure is Disclosure.PROJECTED
    assert len(encode(found.output)) < 1024
