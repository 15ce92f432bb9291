"""Text for people: what acts on a terminal, or hides in it, is spelled out; streams and colours are the right ones."""

import io
import json
import re
import threading
import unicodedata
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.inert import Form, inert_document, inert_text
from host.terminal import Terminal, block, line


class Slow(io.StringIO):
    """A stream that takes one character at a time, so that writers could get in between."""

    def write(self, text: str, /) -> int:
        return sum(super(Slow, self).write(character) for character in text)


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a :: b", "a :: b"),
        ("::error::x", "\\x3a:error::x"),
        (" \t ::add-mask::x", " \t \\x3a:add-mask::x"),
        ("first\n::set-output name=a::b\nlast", "first\n\\x3a:set-output name=a::b\nlast"),
        ("text ##[add-path]/tmp", "text ##\\x5badd-path]/tmp"),
        ("###[error]", "###\\x5berror]"),
        (":::", "\\x3a::"),
    ],
)
def test_on_github_no_line_is_a_workflow_command(monkeypatch: pytest.MonkeyPatch, text: str, shown: str) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    plain, out, error = io.StringIO(), io.StringIO(), io.StringIO()
    Terminal(plain, io.StringIO()).result(text)
    assert plain.getvalue() == f"{text}\n"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    terminal = Terminal(out, error)
    terminal.result(text)
    terminal.problem(text)
    terminal.progress(text)
    assert (out.getvalue(), error.getvalue()) == (f"{shown}\n", f"{shown}\n" * 2)


#: What GitHub's runner trims before it looks for a command, of the characters that Python calls white space.
COMMAND = re.compile(r"(?m)^\s*::|##\[")


@given(st.text(st.sampled_from(":#[ \t\n\u00a0\u3000x")), st.sampled_from(["json", "markup"]))
@settings(deadline=None, max_examples=300)
def test_no_text_and_no_document_of_any_characters_holds_a_workflow_command(text: str, form: Form) -> None:
    assert not COMMAND.search(inert_text(text))
    assert not COMMAND.search(inert_document(text.encode(), form).decode())


def test_documents_mean_the_same_when_they_are_inert() -> None:
    value = {"##[error]a": "##[b", "c": ["::error::d", "\n::e"]}
    encoded = json.dumps(value, indent=1, ensure_ascii=False).encode()
    assert json.loads(inert_document(encoded, "json")) == value
    markup = b"<a b='##[c'>\n ::error::d\n::e</a>"
    parsed, shown = (ElementTree.fromstring(text) for text in (markup, inert_document(markup, "markup")))
    assert (shown.text, shown.attrib) == (parsed.text, parsed.attrib)


def test_commands_of_our_own_pass_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    out, error = io.StringIO(), io.StringIO()
    terminal = Terminal(out, error)
    terminal.commands(["::error::a", "::warning::b"])
    terminal.commands(["::error::c"], to_error=True)
    terminal.commands([])
    assert (out.getvalue(), error.getvalue()) == ("::error::a\n::warning::b\n", "::error::c\n")


def test_lines_of_several_threads_do_not_mix() -> None:
    out = Slow()
    terminal = Terminal(out, io.StringIO())
    threads = [threading.Thread(target=terminal.result, args=(letter * 20,)) for letter in "abcdef"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(out.getvalue().splitlines()) == [letter * 20 for letter in "abcdef"]
