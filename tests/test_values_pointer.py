"""JSON Pointer: RFC 6901's own table, and the places where others are lenient."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.values.document import Members, parse
from protocol.values.pointer import MISSING, PointerError, format_pointer, parse_pointer, resolve

# RFC 6901, section 5.
EXAMPLE = parse(r'{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8}').value


@pytest.mark.requirement("capture.pointer")
@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", EXAMPLE),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", EXAMPLE[""]),
        ("/a~1b", EXAMPLE["a/b"]),
        ("/c%d", EXAMPLE["c%d"]),
        ("/e^f", EXAMPLE["e^f"]),
        ("/g|h", EXAMPLE["g|h"]),
        ("/i\\j", EXAMPLE["i\\j"]),
        ('/k"l', EXAMPLE['k"l']),
        ("/ ", EXAMPLE[" "]),
        ("/m~0n", EXAMPLE["m~n"]),
    ],
)
def test_the_examples_of_the_rfc_resolve(pointer: str, value: Any) -> None:
    assert resolve(EXAMPLE, parse_pointer(pointer)) == value


@pytest.mark.requirement("capture.pointer")
@pytest.mark.parametrize(
    ("pointer", "tokens"), [("", ()), ("/", ("",)), ("//", ("", "")), ("/a~01", ("a~1",)), ("/~1~0/é", ("/~", "é"))]
)
def test_tokens_are_decoded_once(pointer: str, tokens: tuple[str, ...]) -> None:
    assert parse_pointer(pointer) == tokens
    assert format_pointer(tokens) == pointer


@pytest.mark.parametrize("pointer", ["a", "a/b", "#/a", " /a", "0"])
def test_a_pointer_begins_with_a_slash(pointer: str) -> None:
    with pytest.raises(PointerError) as caught:
        parse_pointer(pointer)
    assert caught.value.reason == "a JSON Pointer is empty or begins with `/`"


@pytest.mark.parametrize("pointer", ["/~", "/a~", "/~2", "/~~0", "/a/~x", "/~\n0"])
def test_a_tilde_is_written_as_an_escape(pointer: str) -> None:
    with pytest.raises(PointerError) as caught:
        parse_pointer(pointer)
    assert caught.value.reason == "in a JSON Pointer `~` is written `~0` and `/` inside a name `~1`"


@pytest.mark.parametrize(
    "pointer",
    [
        "/foo/2",
        "/foo/-",
        "/foo/00",
        "/foo/01",
        "/foo/+1",
        "/foo/-1",
        "/foo/1e0",
        "/foo/ 1",
        "/foo/1\n",
        "/foo/",
        "/foo/\N{ARABIC-INDIC DIGIT ONE}",
        "/foo/" + "9" * 30,
        "/foo/" + "9" * 5000,
        "/foo/0/0",
        "/foo/0/length",
        "/a~1b/0",
        "/absent",
        "/absent/deeper",
    ],
)
def test_nothing_else_resolves(pointer: str) -> None:
    assert resolve(EXAMPLE, parse_pointer(pointer)) is MISSING


def test_a_present_null_is_not_missing() -> None:
    assert resolve({"a": [None]}, ("a", "0")) is None
    assert resolve({"a": [None]}, ("a", "0", "b")) is MISSING
    assert resolve(None, ()) is None


def test_a_name_held_twice_leads_nowhere() -> None:
    members = Members([("a", 1), ("b", 2), ("a", 3)])
    assert [resolve(members, (name,)) for name in "abc"] == [MISSING, 2, MISSING]


tokens = st.lists(st.text(max_size=5) | st.text("~/01", max_size=5), max_size=5).map(tuple)


@settings(deadline=None)
@given(tokens)
def test_what_is_formatted_parses_back(path: tuple[str, ...]) -> None:
    assert parse_pointer(format_pointer(path)) == path


@settings(deadline=None)
@given(tokens, st.integers(0, 5))
def test_every_place_is_found_by_its_path(path: tuple[str, ...], place: int) -> None:
    value: Any = "here"
    for token in reversed(path):
        value = {token: [*[None] * place, value]}
    steps = tuple(step for token in path for step in (token, str(place)))
    assert resolve(value, parse_pointer(format_pointer(steps))) == "here"
