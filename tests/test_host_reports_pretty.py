"""JSON laid out for reading."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from host.reports.pretty import Excerpt, compact, pretty
from protocol.values.document import Members, canonical, parse

NUMBERS = some.from_regex(r"\A-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,9})?([eE][+-]?[0-9]{1,4})?\Z").map(
    lambda text: msgspec.Raw(text.encode())
)
VALUES = some.recursive(
    some.none() | some.booleans() | some.text() | NUMBERS,
    lambda inner: some.lists(inner) | some.dictionaries(some.text(), inner),
    max_leaves=20,
)


def test_a_value_is_indented_and_short_lists_stay_on_one_line() -> None:
    value = {
        "name": "x",
        "empty": {},
        "none": [],
        "tags": ["a", None, True],
        "": {"deep": [{"b": 1}]},
    }
    assert pretty(value, 1000) == Excerpt(
        """{
  "name": "x",
  "empty": {},
  "none": [],
  "tags": ["a", null, true],
  "": {
    "deep": [
      {
        "b": 1
      }
    ]
  }
}""",
        whole=True,
    )


def test_numbers_keep_their_spelling() -> None:
    spelled = ["9007199254740993", "1.10", "1e-400", "-0", "1E+2", "7" * 400]
    value = [msgspec.Raw(text.encode()) for text in spelled]
    assert pretty(value, 1000).text == "[\n  " + ",\n  ".join(spelled) + "\n]"
    assert compact(value, 1000) == "[" + ",".join(spelled) + "]"


def test_members_of_one_name_stand_side_by_side() -> None:
    assert pretty(Members([("[redacted]", 1), ("[redacted]", 2)]), 100).text == (
        '{\n  "[redacted]": 1,\n  "[redacted]": 2\n}'
    )


def test_a_value_is_cut_between_lines_at_the_limit() -> None:
    value = {"a": 1, "b": 2}
    whole = '{\n  "a": 1,\n  "b": 2\n}'
    assert pretty(value, len(whole) + 1) == Excerpt(whole, whole=True)
    assert pretty(value, len(whole)) == Excerpt('{\n  "a": 1,\n  "b": 2', whole=False)
    assert pretty(value, 0) == Excerpt("", whole=False)


def test_a_long_string_is_cut_and_is_not_whole() -> None:
    found = pretty({"a": "x" * 30_000}, 100_000)
    assert (len(found.text), found.text[-3:], found.whole) == (20_013, "…\n}", False)


def test_a_huge_value_is_laid_out_no_further_than_the_limit() -> None:
    taken = []

    class Counted(list[Any]):
        def __iter__(self) -> Any:
            for item in super().__iter__():
                taken.append(item)
                yield item

    pretty([Counted([{"n": 1}]) for _ in range(10_000)], 200)
    assert len(taken) < 100


@given(VALUES)
@settings(deadline=None)
def test_a_whole_layout_is_the_same_json(value: Any) -> None:
    found = pretty(value, 10**6)
    assert found.whole
    assert canonical(parse(found.text).value) == canonical(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as \u202eit is", "as \\u202eit is"),
        (None, "null"),
        ({"a": [1, "b"]}, '{"a":[1,"b"]}'),
        ("x" * 8, "xxxxx… (3 more characters)"),
    ],
)
def test_a_compact_value_is_one_line(value: Any, text: str) -> None:
    assert compact(value, 20 if len(str(value)) != 8 else 5) == text
