"""How problems are shown: a place, the line, a caret below it, help; safe for any terminal."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.problems import Problem, closest, quoted, render, suggestion
from host.source import Located, Source
from host.visible import line


def shown(text: str, line: int, column: int, width: int) -> list[str]:
    return render("a.md", text, [Problem(line, column, width, "Wrong.", "")]).split("\n")[1:-1]


def test_a_problem_is_shown_with_its_line_a_caret_and_help() -> None:
    problems = [Problem(2, 5, 3, "Wrong here.", "Write this."), Problem(0, 0, 0, "Wrong as a whole.", "")]
    assert render("flows/a.md", "one\nabc.defg\n", problems) == (
        "flows/a.md:2:5: error: Wrong here.\n"
        "  2 | abc.defg\n"
        "    |     ^^^\n"
        "  help: Write this.\n"
        "flows/a.md: error: Wrong as a whole.\n"
    )


def test_a_warning_says_so() -> None:
    assert render("a.md", "x", [Problem(1, 1, 0, "Odd.", "")], severity="warning") == "a.md:1:1: warning: Odd.\n"


@pytest.mark.parametrize(
    ("line", "column", "width", "expected"),
    [
        ("abc", 1, 1, ["  1 | abc", "    | ^"]),
        ("abc", 4, 1, ["  1 | abc", "    |    ^"]),
        ("\ta\tb", 4, 1, ["  1 |     a    b", "    |          ^"]),
        ("\ta", 1, 1, ["  1 |     a", "    | ^^^^"]),
        ("日本x", 3, 1, ["  1 | 日本x", "    |     ^"]),
        ("日本x", 1, 2, ["  1 | 日本x", "    | ^^^^"]),
        ("e\u0301x", 3, 1, ["  1 | e\u0301x", "    |  ^"]),
        ("\x1b[31mx", 6, 1, ["  1 | \\x1b[31mx", "    |         ^"]),
        ("a\u202eb", 3, 1, ["  1 | a\\u202eb", "    |        ^"]),
        ("abc  ", 1, 5, ["  1 | abc", "    | ^^^^^"]),
        ("", 1, 1, []),
        ("   ", 2, 1, []),
        ("abc", 1, 0, []),
    ],
)
def test_the_caret_stands_below_what_is_wrong(line: str, column: int, width: int, expected: list[str]) -> None:
    assert shown(line, 1, column, width) == expected


def test_a_long_line_is_cut_around_its_caret() -> None:
    line = "a" * 500 + "X" + "b" * 500
    found = shown(line, 1, 501, 1)
    assert found == [
        "  1 | …" + "a" * 40 + "X" + "b" * 59 + "…",
        "    | " + " " * 41 + "^",
    ]
    assert shown(line, 1, 1, 1)[0] == "  1 | " + "a" * 100 + "…"
    assert shown(line, 1, 1, 1000)[1] == "    | " + "^" * 100


def test_line_numbers_of_any_length_keep_the_caret_in_place() -> None:
    assert shown("\n" * 999 + "abc", 1000, 2, 1) == ["  1000 | abc", "       |  ^"]


@pytest.mark.parametrize("text", ["a\r\nb", "a\rb", "a\nb"])
def test_lines_end_as_the_reader_ends_them(text: str) -> None:
    assert shown(text, 2, 1, 1) == ["  2 | b", "    | ^"]


def test_a_line_that_would_be_redacted_is_not_shown() -> None:
    problem = Problem(1, 1, 1, "Has hunter2.", "Not hunter2.")
    found = render("a.md", "x hunter2", [problem], redact=lambda text: text.replace("hunter2", "[redacted]"))
    assert found == "a.md:1:1: error: Has [redacted].\n  help: Not [redacted].\n"


def test_nothing_that_a_terminal_obeys_is_shown() -> None:
    problem = Problem(1, 1, 1, "\x1b[2J\x07", "\u202e\n")
    assert render("\x1b.md", "\x9b1m", [problem]) == (
        "\\x1b.md:1:1: error: \\x1b[2J\\x07\n  1 | \\x9b1m\n    | ^^^^\n  help: \\u202e\\n\n"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain é 日本", "plain é 日本"),
        ("a\tb", "a\\tb"),
        ("a\u3164", "a\\u3164"),
        ("\u200b", "\\u200b"),
        ("\U000e0001", "\\U000e0001"),
        ("\udcff", "\\udcff"),
    ],
)
def test_what_is_not_printable_is_escaped(text: str, expected: str) -> None:
    assert line(text) == expected


def test_a_quoted_name_is_cut_when_it_is_long() -> None:
    assert quoted("name") == "`name`"
    assert quoted("x" * 60) == f"`{'x' * 60}`"
    assert quoted("x" * 61) == f"`{'x' * 60}…`"
    assert quoted("a\nb") == "`a\\nb`"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("tolls", "tools"),
        ("TOOLS", "tools"),
        ("callvalue", "call_value"),
        ("zzz", None),
        ("", None),
        ("x" * 1000, None),
    ],
)
def test_the_name_that_was_meant_is_found(name: str, meant: str | None) -> None:
    assert closest(name, ["tools", "call_value", "call"]) == meant


def test_a_suggestion_lists_what_is_known() -> None:
    assert (
        suggestion("tolls", ["tools", "call"], "commands") == "Did you mean `tools`? Known commands: `call`, `tools`."
    )
    assert suggestion("zzz", [], "commands") == "Known commands: none."


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=200), st.integers(0, 4), st.integers(0, 250), st.integers(0, 250))
def test_any_problem_of_any_text_can_be_shown(text: str, line: int, column: int, width: int) -> None:
    found = render("a.md", text, [Problem(line, column, width, text, text)])
    assert all(part.isprintable() for part in found.split("\n"))


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet="a\r\n\u2028x", max_size=30))
def test_every_offset_has_a_line_and_column(text: str) -> None:
    source = Source("a.md", text)
    for offset, character in enumerate(text):
        line, column = source.place(offset)
        if character not in "\r\n":
            assert source.lines[line - 1][column - 1] == character
        assert source.start(line) + column - 1 == offset
    assert source.place(len(text))[0] == len(source.lines)
    assert source.start(len(source.lines) + 1) == len(text)


def test_a_slice_of_a_located_text_stands_where_it_stood() -> None:
    whole = Located("abcdef", (0, 2, 4), (10, 20, 30))
    assert [whole.offset(index) for index in range(7)] == [10, 11, 20, 21, 30, 31, 32]
    for start in range(6):
        for end in range(start, 7):
            part = whole.slice(start, end)
            assert part.text == "abcdef"[start:end]
            assert [part.offset(index) for index in range(end - start)] == [
                whole.offset(index) for index in range(start, end)
            ]
