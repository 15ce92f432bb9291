"""Decoded views of a text: what they say, and that every span finds its way back."""

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.values.encodings import (
    View,
    base64_forms,
    drop_controls,
    shows_controls,
    strip_controls,
    unescape,
    unpercent,
    views,
)

CONTROLS = "".join(chr(code) for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n\r")
SIMPLE = {'"': '"', "\\": "\\", "/": "/", "b": "", "f": "", "n": "\n", "r": "\r", "t": "\t"}


def scanned(text: str) -> str:
    """What `unescape` promises, one character after the other."""
    result, place = "", 0
    while place < len(text):
        size, character = escape_at(text, place)
        result += text[place : place + size] if character is None else character
        place += size
    return result


def escape_at(text: str, place: int) -> tuple[int, str | None]:
    if text[place] != "\\" or place + 1 == len(text):
        return 1, None
    if text[place + 1] in SIMPLE:
        return 2, SIMPLE[text[place + 1]]
    code = unit(text, place)
    if code is None:
        return 1, None
    second = unit(text, place + 6)
    if 0xD800 <= code < 0xDC00 and second is not None and 0xDC00 <= second < 0xE000:
        return 12, json.loads(f'"{text[place : place + 12]}"')
    if 0xD800 <= code < 0xE000:
        return 6, None
    return 6, strip_controls(chr(code))


def unit(text: str, place: int) -> int | None:
    digits = text[place + 2 : place + 6]
    if text[place : place + 2] != "\\u" or len(digits) < 4 or not set(digits) <= set("0123456789abcdefABCDEF"):
        return None
    return int(digits, 16)


tricky = st.lists(
    st.sampled_from(["\\", "\\\\", '"', '\\"', "u", "\\u0061", "\\u005c", "\\u0000", "\\ud83d", "\\ude00", "\\u00"])
    | st.sampled_from(
        ["0", "41", "a", "n", "b", "\\b", "\\f", "\\n", "/", "%", "%4", "%41", "%00", "+", "é", "\\u00e9"]
    )
    | st.text("\\u0d8c19bnE", max_size=8),
    max_size=12,
).map("".join)


@settings(deadline=None, max_examples=300)
@given(tricky)
def test_escapes_are_decoded_as_a_scan_from_the_left_does(text: str) -> None:
    assert unescape(text.encode()).decode() == scanned(text)


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=20), st.booleans())
def test_a_json_literal_anywhere_is_decoded_whatever_the_quotes_before_it(text: str, ascii_only: bool) -> None:
    for before in ("", '"', '\\"', 'odd " ', "\\\\"):
        literal = before + json.dumps(text, ensure_ascii=ascii_only)
        assert f'"{text}"'.encode() in unescape(literal.encode())


def test_layers_are_decoded_until_nothing_changes() -> None:
    text = '"a\\u005c\\u005cu0062" \\x'
    assert [view.text.decode() for view in views(text.encode())] == [
        text,
        '"a\\\\u0062" \\x',
        '"a\\u0062" \\x',
        '"ab" \\x',
    ]
    assert [view.text for view in views(b"\\\\\\\\u0061", 1)] == [b"\\\\\\\\u0061", b"\\\\u0061"]
    assert [view.text for view in views(b"plain")] == [b"plain"]


def test_no_more_than_four_layers_are_decoded() -> None:
    found = [view.text for view in views(b"\\" * 32 + b"u0061")]
    assert found == [b"\\" * count + b"u0061" for count in (32, 16, 8, 4, 2)]


def test_percent_encoding_is_decoded_once_in_either_case() -> None:
    assert unpercent(b"%41%4a%4A%c3%A9+%2B%25%34%31%zz%4") == b"AJJ\xc3\xa9  %41%zz%4"
    assert unpercent(b"a%00%1B%7f%09b") == b"a\tb"


@settings(deadline=None, max_examples=300)
@given(tricky)
def test_every_byte_of_a_view_comes_from_what_decodes_to_it(text: str) -> None:
    raw = text.encode()
    for depth, view in enumerate(views(raw)):
        for place in range(len(view.text)):
            start, end = view.origin(place, place + 1)
            decoded = raw[start:end]
            for _ in range(depth):
                decoded = unescape(decoded)
            assert view.text[place] in decoded
        if view.text:
            assert view.origin(0, len(view.text)) == (
                view.origin(0, 1)[0],
                view.origin(len(view.text) - 1, len(view.text))[1],
            )


def test_spans_are_widened_to_whole_escape_sequences() -> None:
    text = b"<%5Cu00e9\\u00e9\\u0000x>"
    inner = View(text).unescaped()
    assert inner.text == "<%5Cu00e9éx>".encode()
    assert inner.origin(10, 11) == (9, 15)
    assert inner.origin(9, 10) == (9, 15)
    assert inner.origin(10, 12) == (9, 22)
    percent = inner.unpercented()
    assert percent.text == "<\\u00e9éx>".encode()
    assert percent.origin(1, 2) == (1, 4)
    assert percent.origin(0, len(percent.text)) == (0, len(text))


@settings(deadline=None)
@given(st.binary(min_size=8, max_size=20), st.binary(max_size=7), st.binary(max_size=7))
def test_base64_of_longer_data_holds_a_form_of_the_value(value: bytes, before: bytes, after: bytes) -> None:
    forms = list(base64_forms(value))
    data = before + value + after
    for encoded in (base64.b64encode(data), base64.urlsafe_b64encode(data), base64.b64encode(data).rstrip(b"=")):
        assert any(form in encoded for form, _, _ in forms)


def test_base64_forms_say_how_many_characters_share_their_ends() -> None:
    assert list(base64_forms(b"secret12")) == [
        (b"c2VjcmV0MT", 0, 1),
        (b"NlY3JldDEy", 1, 0),
        (b"zZWNyZXQxM", 1, 1),
    ]
    assert list(base64_forms(b"\xff\xfe\xfd"))[:2] == [(b"//79", 0, 0), (b"__79", 0, 0)]


@pytest.mark.parametrize("control", CONTROLS)
def test_terminal_controls_are_the_category_but_for_three(control: str) -> None:
    assert strip_controls(f"a{control}\t\n\rb") == "a\t\n\rb"
    assert drop_controls(f"a{control}\t\n\rb\u00a0é".encode()) == "a\t\n\rb\u00a0é".encode()
    assert shows_controls(f'"{control}"'.encode()) is (control >= "\x7f")


def test_other_text_shows_no_controls() -> None:
    assert not shows_controls('["\u00a0é\u2028~", 1]\r\n\t'.encode())
