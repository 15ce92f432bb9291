"""One comparison, and whether it is within its bar."""

from typing import NamedTuple

from benchmarks.clock import Timings

__all__ = ["Row", "timed"]


class Row(NamedTuple):
    """``work`` takes ``ours``, and ``against`` takes ``theirs``, both in ``unit``; ``ratio`` is at most ``bar``.

    A ``bar`` of None is a comparison for the reader's information. ``theirs`` of None could not be had: ``note`` says
    why. Otherwise ``note`` says what else was seen.
    """

    work: str
    ours: float
    against: str
    theirs: float | None
    ratio: float | None
    bar: float | None
    unit: str = "ms"
    note: str = ""

    @property
    def within(self) -> bool | None:
        """Whether the bar holds; None where there is none, or nothing to compare with."""
        return None if self.bar is None or self.ratio is None else self.ratio <= self.bar


def timed(work: str, ours: str, against: str, theirs: str, bar: float | None, timings: Timings) -> Row:
    """Make a row of two alternatives that were measured side by side."""
    return Row(
        work,
        timings.median(ours) * 1000,
        against,
        timings.median(theirs) * 1000,
        timings.ratio(ours, theirs),
        bar,
    )
