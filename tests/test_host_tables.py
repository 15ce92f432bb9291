"""Tables: plain columns for pipes, ruled and wrapped ones for terminals, and nothing in a cell that acts."""

import io

import pytest

from host.tables import table
from host.terminal import Terminal

HEADINGS = ["name", "what it does"]
ROWS = [["first", "[bold]not bold[/bold] :smile: \x1b[31m"], ["a longer name", "x\ny"]]


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_columns_are_aligned_where_nothing_wraps() -> None:
    out = io.StringIO()
    table(Terminal(out), HEADINGS, ROWS)
    assert out.getvalue().splitlines() == [
        "NAME           WHAT IT DOES",
        "first          [bold]not bold[/bold] :smile: \\x1b[31m",
        "a longer name  x\\ny",
    ]


def test_a_very_long_cell_is_cut_in_plain_columns() -> None:
    out = io.StringIO()
    table(Terminal(out), ["a", "b"], [["x" * 600, "end"]])
    assert out.getvalue().splitlines()[1] == f"{'x' * 500}…  end"


def test_a_table_without_rows_is_nothing() -> None:
    out = io.StringIO()
    table(Terminal(out), HEADINGS, [])
    assert out.getvalue() == ""


def test_a_terminal_gets_a_table_of_its_width_without_markup_or_controls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    screen = Screen()
    table(Terminal(screen), HEADINGS, [*ROWS, ["long", "word " * 40]])
    rows = screen.getvalue().splitlines()
    assert max(map(len, rows)) <= 60
    assert len(rows) > 8
    text = screen.getvalue()
    assert "[bold]not bold[/bold] :smile: \\x1b[31m" in " ".join(text.split())
    assert "\x1b" not in text
