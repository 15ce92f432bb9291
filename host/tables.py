"""Tables for people: with rules and wrapped cells on a terminal, with plain columns elsewhere."""

from collections.abc import Sequence
from typing import Final

from host.terminal import Terminal, line

__all__ = ["table"]

#: Characters of a cell outside of a terminal, where nothing wraps.
_CELL_LIMIT: Final = 500
#: Between two plain columns.
_GAP: Final = "  "


def table(terminal: Terminal, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write a table; every cell is escaped here. Without rows nothing is written."""
    if not rows:
        return
    escaped = [[line(cell) for cell in row] for row in rows]
    if terminal.wide:
        terminal.result(_ruled(terminal.width, headings, escaped))
        return
    shown = [[cell if len(cell) <= _CELL_LIMIT else f"{cell[:_CELL_LIMIT]}…" for cell in row] for row in escaped]
    widths = [max(len(row[index]) for row in [headings, *shown]) for index in range(len(headings) - 1)]
    for row in [[heading.upper() for heading in headings], *shown]:
        cells = [f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)]
        terminal.result(_GAP.join([*cells, row[-1]]).rstrip())


def _ruled(width: int, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    # rich takes a tenth of a second to import: only where its tables are looked at.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(show_edge=False, pad_edge=False, header_style="")
    for index, heading in enumerate(headings):
        drawn.add_column(heading, overflow="fold", no_wrap=index == 0 and width > 80)
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    console = Console(width=width, color_system=None, highlight=False, markup=False, emoji=False)
    with console.capture() as captured:
        console.print(drawn)
    return "\n".join(row.rstrip() for row in captured.get().rstrip("\n").split("\n"))
