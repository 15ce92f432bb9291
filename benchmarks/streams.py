"""The same 8 MiB as one event, as 1 KiB lines and as 50,000 small events; and whether time grows as bytes do."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

from benchmarks.clock import Timings, measure
from benchmarks.programs import Plugin, opened, served
from benchmarks.replies import EVENTS
from benchmarks.row import Row, timed

__all__ = ["rows"]

ROUNDS = 9
#: Twice the bytes may take twice the time; the rest is what two runs differ by.
LINEAR = 2.5
FORMS = {
    "json": "8 MiB as JSON",
    "sse": "8 MiB as one event",
    "lines": "8 MiB as one event of 1 KiB lines",
    "many": f"8 MiB as {EVENTS:,} small events",
}


def rows(plugin: Plugin) -> Iterator[Row]:
    whole, part = replies(plugin, "8"), replies(plugin, "4")
    for form in FORMS:
        if form != "json":
            yield timed(FORMS[form], form, FORMS["json"], "json", 2.0, whole)
    for form, work in FORMS.items():
        ratio = whole.median(form) / part.median(form)
        yield Row(work, whole.median(form) * 1000, "4 MiB of it", part.median(form) * 1000, ratio, LINEAR)


def replies(plugin: Plugin, size: str) -> Timings:
    with ExitStack() as stack:
        work = {}
        for form in FORMS:
            driven = stack.enter_context(opened(plugin, stack.enter_context(served("benchmarks.canned", form, size))))
            # The small reply of "many" comes after as many bytes as the others have.
            work[form] = partial(driven.step, "call", tool="small" if form == "many" else "large")
        return measure(work, ROUNDS)
