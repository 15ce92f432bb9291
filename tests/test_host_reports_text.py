"""Foreign text made safe to show."""

import unicodedata
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from host.reports.text import defused, duration, line, plural, shortened, spans, visible
from tests.fakes.runs import HOSTILE

ANY_TEXT = some.text(some.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nof two lines", "plain\ttext\nof two lines"),
        ("a\r\nb\rc", "a\nb\\u000dc"),
        ("\x1b[31mred\x07", "\\u001b[31mred\\u0007"),
        ("\u202egnp.exe\u202c", "\\u202egnp.exe\\u202c"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("tag\U000e0041\U000e01ef", "tag\\udb40\\udc41\\udb40\\uddef"),
        ("blank\u3164\u2800\uffa0\ufe00", "blank\\u3164\\u2800\\uffa0\\ufe00"),
        ("half \ud800 pair", "half \\ud800 pair"),
        ("\u2028\u2029\x85\x7f", "\\u2028\\u2029\\u0085\\u007f"),
        ("नमस्ते क्‍ष 👩‍🚀 ❤️ שלום", "नमस्ते क्‍ष 👩‍🚀 ❤️ שלום"),
    ],
)
def test_what_hides_reorders_or_drives_is_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(ANY_TEXT)
@settings(deadline=None)
def test_no_control_and_no_bidirectional_control_is_left(text: str) -> None:
    shown = visible(text)
    assert {char for char in shown if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")} <= {"\t", "\n"}
    assert not {char for char in shown if unicodedata.bidirectional(char) in _REORDERING}
    assert visible(shown) == shown


_REORDERING = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}


@given(ANY_TEXT)
@settings(deadline=None)
def test_any_text_can_stand_in_xml(text: str) -> None:
    element = ElementTree.Element("x", {"y": line(defused(text))})
    element.text = defused(text)
    again = ElementTree.fromstring(ElementTree.tostring(element, encoding="utf-8"))
    assert (again.text or "", again.get("y")) == (element.text, element.get("y"))


def test_what_xml_forbids_is_dropped_and_the_rest_is_spelled_out() -> None:
    assert defused("a\x00b\x1b[0mc\ufffed\ud800e\x9bf") == "ab[0mcde\\u009bf"


@pytest.mark.parametrize(
    "text", ["[[ATTACHMENT|/etc/passwd]]", "[[attachment|x]]", "[\x00[ATTACHMENT|x]]", "[[\n ATTACHMENT|x]]"]
)
def test_an_order_to_attach_a_file_is_broken_up(text: str) -> None:
    assert "[[" not in line(defused(text))
    assert "[[" not in defused(text)


def test_other_brackets_stay() -> None:
    assert defused("[[1, 2]] [[ATTACHMENTS]]") == "[[1, 2]] [[ATTACHMENTS]]"


def test_a_line_is_one_line_of_bounded_length() -> None:
    assert line(" a \n\n b\t c ") == "a b c"
    assert line("x" * 12, 10) == "xxxxxxxxxx… (2 more characters)"
    assert "\n" not in line(HOSTILE)


def test_a_text_within_the_limit_is_not_shortened() -> None:
    assert shortened("x" * 10, 10) == "x" * 10


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("plain", [("plain", False)]),
        ("use `a` or `b`", [("use ", False), ("a", True), (" or ", False), ("b", True)]),
        ("one ` only", [("one ` only", False)]),
        ("`a` and ` more", [("a", True), (" and ` more", False)]),
    ],
)
def test_backticks_mark_code_in_pairs(text: str, parts: list[tuple[str, bool]]) -> None:
    assert list(spans(text)) == parts


@pytest.mark.parametrize(
    ("milliseconds", "spelled"),
    [
        (0, "0 ms"),
        (7.5, "8 ms"),
        (999.4, "999 ms"),
        (999.5, "1.0 s"),
        (1240, "1.2 s"),
        (59_949, "59.9 s"),
        (59_950, "1 min 0 s"),
        (200_000, "3 min 20 s"),
    ],
)
def test_a_duration_is_spelled_as_people_read_it(milliseconds: float, spelled: str) -> None:
    assert duration(milliseconds) == spelled


def test_one_is_not_many() -> None:
    assert [plural(count, "step") for count in (0, 1, 2)] == ["0 steps", "1 step", "2 steps"]
