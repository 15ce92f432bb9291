"""The results as Markdown, with what one has to know to doubt them."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version

from benchmarks.command_lines import versions
from benchmarks.misses import MISSES
from benchmarks.programs import BUILT
from benchmarks.row import Row

__all__ = ["figure", "line", "page"]

HEADINGS = ("work", "ours", "against", "theirs", "ratio", "bar", "within")
PACKAGES = ("mcp", "httpx", "httpcore", "h11", "msgspec", "ahocorasick-rs")


INTRODUCTION = """\
Only the ratios mean something: each is the median over rounds in which both sides ran one after the other. Rows without
a bar are there to compare with. [README.md](README.md) says how it is measured."""


def page(rows: list[Row]) -> str:
    known = {name: version(name) for name in PACKAGES} | versions()
    packages = ", ".join(f"{name} {number}" for name, number in known.items())
    measured = "the built executable" if BUILT.exists() else "the source tree (nothing was built)"
    missed = [row for row in rows if row.within is False]
    machine = f"{platform.platform()}, {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[1]:.1f}"
    parts = ["# Results", f"`python3 noxfile.py -s bench`, {datetime.now(UTC):%Y-%m-%d}: {measured} on {machine}, "]
    parts[-1] += f"Python {platform.python_version()}; {packages}."
    parts += [INTRODUCTION, "![Ratio to the bar of each row](results.svg)", _table(rows)]
    if missed:
        parts += ["## Over the bar", *(f"- **{row.work}** against {row.against}: {_why(row)}" for row in missed)]
    return "\n\n".join(parts) + "\n"


def line(row: Row) -> str:
    """One row of the table."""
    if row.ratio is None or row.theirs is None:
        return _cells([row.work, "", row.against, f"not measured: {row.note}", "", "", ""])
    verdict = {True: "yes", False: "**no**", None: ""}[row.within]
    bar = "" if row.bar is None else f"{row.bar:.2f}"
    against = f"{row.against} ({row.note})" if row.note else row.against
    ours, theirs = figure(row.ours, row.unit), figure(row.theirs, row.unit)
    return _cells([row.work, ours, against, theirs, f"{row.ratio:.2f}", bar, verdict])


def figure(value: float, unit: str) -> str:
    """A value in its unit, in three digits or so."""
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"


def _table(rows: list[Row]) -> str:
    return "\n".join([_cells(HEADINGS), _cells(["---"] * len(HEADINGS)), *map(line, rows)])


def _why(row: Row) -> str:
    return next((why for start, why in MISSES.items() if row.work.startswith(start)), "this run missed it.")


def _cells(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"
