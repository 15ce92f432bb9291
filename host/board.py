"""What is going on right now, at the foot of a terminal: a line for each running thing, with how long and how far."""

import contextlib
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Final, Self, TextIO

from host.inbox import Progress
from host.terminal import is_live, line

__all__ = ["Board", "Row"]

#: Seconds between two pictures.
TICK_SECONDS: Final = 0.1
#: Lines of the terminal that are left to what was printed above.
_SPARED: Final = 4
#: Units of progress that are shown of one thing: pages, items, bytes.
_UNITS: Final = 3
#: The turning sign, in characters that a terminal has, or in those that every terminal has.
_TURNING: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_TURNING_ASCII: Final = "-\\|/"


class Row:
    """One running thing. Its methods may be called from any thread, and do nothing where nobody looks."""

    def __init__(self, board: "Board", name: str) -> None:
        self.name = name
        self._board = board
        self._doing = ""
        self._reached: dict[str, str] = {}
        self._since = time.monotonic()

    def doing(self, what: str) -> None:
        """Say what it does from now on; ``what`` is escaped already."""
        self._doing, self._reached, self._since = what, {}, time.monotonic()

    def progress(self, progress: Progress) -> None:
        """Say how far that is."""
        total = "" if progress.total is None else f" of {progress.total}"
        reached = self._reached | {progress.unit: f"{progress.done}{total} {line(progress.unit)}"}
        self._reached = dict([*reached.items()][-_UNITS:])

    def end(self) -> None:
        """Take the line away."""
        self._board.remove(self)

    @property
    def text(self) -> str:
        words = [self.name, self._doing, ", ".join(self._reached.values())]
        return "  ".join(word for word in words if word)

    @property
    def seconds(self) -> float:
        """How long it has been doing that."""
        return time.monotonic() - self._since


class Board:
    """The lines of everything that runs, drawn on standard error while it is a terminal and nobody asked for quiet.

    What is printed meanwhile is printed inside of :meth:`aside`, and stands above. Use it as a context: nothing of it
    is left on the terminal afterwards.
    """

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self.note = ""
        self._stream = stream or sys.stderr
        self._wanted = not quiet and is_live(self._stream)
        self._lock = threading.RLock()
        self._rows: tuple[Row, ...] = ()
        self._picture: Any = None
        self._ended = threading.Event()
        self._ticker: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        with self._lock:
            self._wanted = False
            self._hide()
        if self._ticker is not None:
            self._ticker.join(TICK_SECONDS * 10)

    def add(self, doing: str = "", *, name: str = "") -> Row:
        """Show one more thing that runs, and what it does; both texts are escaped already."""
        row = Row(self, name)
        row.doing(doing)
        with self._lock:
            self._rows = (*self._rows, row)
            self._show()
            if self._wanted and self._ticker is None:
                self._ticker = threading.Thread(target=self._tick, name="board", daemon=True)
                self._ticker.start()
        return row

    def remove(self, row: Row) -> None:
        """Take a line away."""
        with self._lock:
            self._rows = tuple(other for other in self._rows if other is not row)
            if not self._rows:
                self._hide()

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Take the lines off the terminal while something else is written to it."""
        with self._lock:
            self._hide()
            yield
            self._show()

    def _tick(self) -> None:
        while not self._ended.wait(TICK_SECONDS):
            with self._lock:
                self._show()

    def _show(self) -> None:
        if not self._wanted or not self._rows:
            return
        # A terminal that is gone is no reason to stop what runs.
        with contextlib.suppress(OSError):
            if self._picture is None:
                self._picture = _picture(self._stream, self)
                self._picture.start()
            self._picture.refresh()

    def _hide(self) -> None:
        if self._picture is not None:
            picture, self._picture = self._picture, None
            with contextlib.suppress(OSError):
                picture.stop()

    def __rich__(self) -> Any:
        """Draw the lines, as many as the terminal has room for."""
        from rich.table import Table
        from rich.text import Text

        room = max(1, shutil.get_terminal_size().lines - _SPARED)
        rows, more = self._rows[:room], len(self._rows) - room
        grid = Table.grid(padding=(0, 1), expand=False)
        grid.add_column(no_wrap=True)
        grid.add_column(no_wrap=True, overflow="ellipsis")
        grid.add_column(no_wrap=True, justify="right")
        for row in rows:
            grid.add_row(Text(self._sign, style="cyan"), Text(row.text), Text(f"{row.seconds:.1f} s", style="dim"))
        notes = [f"and {more} more"] if more > 0 else []
        if notes or self.note:
            grid.add_row("", Text("; ".join(filter(None, (*notes, self.note))), style="dim"), "")
        return grid

    @property
    def _sign(self) -> str:
        able = (self._stream.encoding or "").lower().startswith("utf")
        signs = _TURNING if able else _TURNING_ASCII
        return signs[int(time.monotonic() / TICK_SECONDS) % len(signs)]


def _picture(stream: TextIO, board: Board) -> Any:
    # rich takes a tenth of a second to import: only where its picture is looked at.
    from rich.console import Console
    from rich.live import Live

    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    return Live(
        board,
        console=console,
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
