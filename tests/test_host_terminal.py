"""Text for people: what acts on a terminal, or hides in it, is spelled out; streams and colours are the right ones."""

import io
import json
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.terminal import LiveLine, Terminal, block, line


class Screen(io.StringIO):
    """A terminal that records what is written to it."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, ünïcode 日本 and 😀", "plain text, ünïcode 日本 and 😀"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\r\nb\tc\x00\x7f\x9b", "a\\r\\nb\\tc\\x00\\x7f\\x9b"),
        ("left\u202eright\u2066\u200f", "left\\u202eright\\u2066\\u200f"),
        ("zero\u200bwidth\ufeff\u200d", "zero\\u200bwidth\\ufeff\\u200d"),
        ("line\u2028para\u2029", "line\\u2028para\\u2029"),
        ("tag\U000e0041\ufe0f\u115f\u3164", "tag\\U000e0041\\ufe0f\\u115f\\u3164"),
        ("lone \ud800 half", "lone \\ud800 half"),
        ("private \ue000", "private \\ue000"),
    ],
)
def test_a_line_shows_every_character_that_acts_or_hides(text: str, shown: str) -> None:
    assert line(text) == shown


def test_a_block_keeps_line_ends_and_tabs_only() -> None:
    assert block("a\n\tb\r\x1b") == "a\n\tb\\r\\x1b"


@given(st.text())
@settings(deadline=None, max_examples=200)
def test_no_text_leaves_anything_invisible(text: str) -> None:
    shown = line(text)
    assert shown.isprintable()
    assert not {unicodedata.category(character) for character in shown} & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert line(shown) == shown


def test_results_and_problems_go_to_their_own_streams() -> None:
    out, error = io.StringIO(), io.StringIO()
    terminal = Terminal(out, error)
    terminal.result("result")
    terminal.progress("progress")
    terminal.problem("problem")
    assert (out.getvalue(), error.getvalue()) == ("result\n", "progress\nproblem\n")


class Device(io.TextIOWrapper):
    """A terminal that takes bytes."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("kind", [Device, io.TextIOWrapper])
def test_a_document_on_a_terminal_shows_all_that_is_in_its_strings(kind: type[io.TextIOWrapper]) -> None:
    raw = io.BytesIO()
    value = {"name": "left\u202eright", "tag": "\U000e0041", "text": "née 😀\x9b\n\x7f"}
    content = json.dumps(value, ensure_ascii=False, indent=2).encode()
    stream = kind(raw, encoding="utf-8")
    Terminal(stream, io.StringIO()).document(content)
    assert json.loads(raw.getvalue()) == value
    if kind is Device:
        shown = raw.getvalue().decode()
        assert "née 😀" in shown
        assert [character for character in shown if not character.isprintable() and character != "\n"] == []
    else:
        assert raw.getvalue() == content


def test_a_quiet_terminal_tells_problems_only() -> None:
    error = io.StringIO()
    terminal = Terminal(io.StringIO(), error, quiet=True)
    terminal.progress("progress")
    terminal.problem("problem")
    assert error.getvalue() == "problem\n"


def test_colour_is_for_terminals_without_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert Terminal(Screen(), io.StringIO()).paint("ok", "succeeded") == "\x1b[32mok\x1b[0m"
    assert Terminal(io.StringIO(), Screen()).paint("ok", "succeeded") == "ok"
    assert Terminal(io.StringIO(), Screen()).paint("ok", "succeeded", error=True) == "\x1b[32mok\x1b[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert Terminal(Screen(), io.StringIO()).paint("ok", "succeeded") == "ok"
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    assert Terminal(Screen(), io.StringIO()).paint("ok", "succeeded") == "ok"


def test_a_character_that_the_stream_cannot_write_is_escaped() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Terminal(stream, io.StringIO()).result("née")
    assert raw.getvalue() == b"n\\xe9e\n"


def test_the_live_line_is_replaced_in_place_and_cleared_before_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    screen = Screen()
    live = LiveLine(screen)
    live.clear()
    live.show("x" * 500)
    live.show("second")
    live.clear()
    live.clear()
    first, second, cleared = screen.getvalue().split("\r\x1b[2K")[1:]
    assert first.rstrip("x") == ""
    assert len(first) < 500
    assert (second, cleared) == ("second", "")


def test_there_is_no_live_line_where_nobody_looks() -> None:
    stream, screen = io.StringIO(), Screen()
    LiveLine(stream).show("x")
    LiveLine(screen, quiet=True).show("x")
    assert stream.getvalue() + screen.getvalue() == ""
