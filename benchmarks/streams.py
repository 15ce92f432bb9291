"""The same 8 MiB as one event, as 1 KiB lines and as 50,000 small events; and whether time grows as bytes do."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

from benchmarks.clock import Timings, measure
from benchmarks.programs import Plugin, opened, served
from benchmarks.replies import EVENTS
from benchmarks.row import Row, timed

__all__ = ["rows"]

ROUNDS = 15
#: Twice the bytes may take twice the time; the rest is what two runs differ by.
LINEAR = 2.5
FORMS = {
    "json": "8 MiB as JSON",
    "sse": "8 MiB as one event",
    "lines": "8 MiB as one event of 1 KiB lines",
    "many": f"8 MiB as {EVENTS:,} small events",
}


def rows(plugin: Plugin) -> Iterator[Row]:
    taken = replies(plugin)
    for form in FORMS:
        if form != "json":
            yield timed(FORMS[form], form, FORMS["json"], "json", 2.0, taken)
    for form, work in FORMS.items():
        yield timed(work, form, "4 MiB of it", f"{form}, half", LINEAR, taken)


def replies(plugin: Plugin) -> Timings:
    """Time every form in both sizes, side by side: a machine that slows down halfway would look like a bend."""
    with ExitStack() as stack:
        work = {}
        for form in FORMS:
            for size, name in (("8", form), ("4", f"{form}, half")):
                url = stack.enter_context(served("benchmarks.canned", form, size))
                driven = stack.enter_context(opened(plugin, url))
                # The small reply of "many" comes after as many bytes as the others have.
                work[name] = partial(driven.step, "call", tool="small" if form == "many" else "large")
        return measure(work, ROUNDS)
