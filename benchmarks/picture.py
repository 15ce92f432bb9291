"""The results as one picture: how much of its bar each row takes, legible on a light and on a dark page."""

from pathlib import Path
from typing import Any

import jinja2

from benchmarks.page import figure
from benchmarks.row import Row

__all__ = ["picture"]

TEMPLATE = Path(__file__).parent / "results.svg.j2"
#: Left and right ends of the tracks; the bar leaves room to the right for what passes it.
LEFT, RIGHT = 420, 740
BAR = LEFT + (RIGHT - LEFT) * 3 // 4
#: The first row's baseline, and what is between two of them.
TOP, STEP = 100, 46


def picture(rows: list[Row]) -> str:
    """Draw every row that has a bar."""
    drawn = [row for row in rows if row.within is not None]
    within = sum(row.within is True for row in drawn)
    template = jinja2.Environment(autoescape=True, trim_blocks=True).from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(
        rows=[_place(row, TOP + STEP * place) for place, row in enumerate(drawn)],
        summary=f"{within} of {len(drawn)} measurements are within their bars",
        height=TOP + STEP * len(drawn),
        left=LEFT,
        right=RIGHT,
        bar=BAR,
        top=TOP,
    )


def _place(row: Row, y: int) -> dict[str, Any]:
    share = (row.ratio or 0.0) / row.bar if row.bar else 2.0  # of a bar of nothing, everything is over
    theirs = figure(row.theirs or 0.0, row.unit)
    return {
        "y": y,
        "work": row.work.replace("`", ""),
        "against": row.against.replace("`", ""),
        "colour": "within" if row.within else "over",
        "length": min(round((BAR - LEFT) * share), RIGHT - LEFT),
        "share": f"{row.ratio:.2f}x of {row.bar:.2g}x",
        "told": f"{figure(row.ours, row.unit)} next to {theirs}: {row.ratio:.2f}, and {row.bar:.2f} is allowed",
    }
