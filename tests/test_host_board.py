"""The lines at the foot of a terminal: what they say, that nothing of them stays, and where there are none."""

import io
import re
import threading

import pytest

from host.board import Board
from host.inbox import Progress


class Screen(io.StringIO):
    """A terminal that records what is written to it."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    def clear(self) -> None:
        self.seek(0)
        self.truncate()


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TERM", "xterm"), ("COLUMNS", "100"), ("LINES", "24")):
        monkeypatch.setenv(name, value)
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def test_a_row_says_what_runs_how_far_it_is_and_for_how_long() -> None:
    screen = Screen()
    with Board(screen) as board:
        row = board.add(name="A flow")
        row.doing("look/list")
        for done, unit in ((1, "pages"), (100, "items"), (2, "pages")):
            row.progress(Progress(done, 3 if unit == "pages" else None, unit))
        with board.aside():
            pass
    assert re.search(r"A flow  look/list  2 of 3 pages, 100 items +0\.\d s", plain(screen.getvalue()))


def test_what_runs_next_forgets_how_far_the_last_one_was() -> None:
    with Board(io.StringIO()) as board:
        row = board.add()
        row.doing("one")
        row.progress(Progress(1, None, "pages"))
        row.doing("two")
        assert row.text == "two"


def test_a_unit_is_shown_as_text_and_only_a_few_of_them() -> None:
    with Board(io.StringIO()) as board:
        row = board.add()
        for number in range(100):
            row.progress(Progress(number, None, f"\x1b[{number}"))
        assert row.text == ", ".join(f"{number} \\x1b[{number}" for number in (97, 98, 99))


def test_nothing_is_left_of_it_and_the_cursor_is_back() -> None:
    screen = Screen()
    with Board(screen) as board:
        board.add("gone").doing("x")
    written = screen.getvalue()
    assert written.rindex("\x1b[?25h") > written.rindex("\x1b[?25l")
    assert written.endswith("\x1b[2K")


def test_what_is_printed_meanwhile_stands_above() -> None:
    screen = Screen()
    with Board(screen) as board:
        board.add("running")
        with board.aside():
            screen.write("printed\n")
    before, after = screen.getvalue().split("printed\n")
    assert before.endswith("\x1b[2K")
    assert "running" in plain(after)


def test_rows_that_end_are_gone_and_a_note_says_the_rest() -> None:
    screen = Screen()
    with Board(screen) as board:
        first, second = board.add("first"), board.add("second")
        board.note = "1 of 2 flows have ended"
        first.end()
        with board.aside():
            screen.clear()
        shown = plain(screen.getvalue())
        assert "first" not in shown
        assert "second" in shown
        assert "1 of 2 flows have ended" in shown
        second.end()
        with board.aside():
            screen.clear()
        assert plain(screen.getvalue()) == ""


def test_more_rows_than_the_terminal_has_lines_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINES", "10")
    screen = Screen()
    with Board(screen) as board:
        for number in range(20):
            board.add(f"row {number:02}")
        with board.aside():
            screen.clear()
    shown = plain(screen.getvalue())
    assert "row 05" in shown
    assert "row 06" not in shown
    assert "and 14 more" in shown


@pytest.mark.parametrize(
    ("screen", "environment", "quiet"),
    [(io.StringIO(), {}, False), (Screen(), {}, True), (Screen(), {"TERM": "dumb"}, False)],
)
def test_there_is_none_where_nobody_looks(
    monkeypatch: pytest.MonkeyPatch, screen: io.StringIO, environment: dict[str, str], quiet: bool
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with Board(screen, quiet=quiet) as board:
        board.add("x").doing("y")
        with board.aside():
            pass
    assert screen.getvalue() == ""


def test_no_color_takes_the_colours_and_leaves_the_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    screen = Screen()
    with Board(screen) as board:
        board.add("x")
    assert "x" in screen.getvalue()
    assert "\x1b[36m" not in screen.getvalue()


def test_a_terminal_that_is_gone_stops_nothing() -> None:
    class Gone(Screen):
        def write(self, text: str, /) -> int:
            raise OSError(5, "Input/output error")

    with Board(Gone()) as board:
        board.add("x").doing("y")
        with board.aside():
            pass


def test_it_moves_by_itself_and_stops_with_the_block() -> None:
    class Counting(Screen):
        moved = threading.Event()

        def write(self, text: str, /) -> int:
            if "0.2 s" in text:
                self.moved.set()
            return super().write(text)

    screen = Counting()
    with Board(screen) as board:
        board.add("x")
        assert screen.moved.wait(30)
    assert "board" not in [thread.name for thread in threading.enumerate()]
