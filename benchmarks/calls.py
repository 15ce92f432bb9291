"""One small call on an open connection, answered in JSON or as an event."""

from collections.abc import Iterator
from functools import partial

from benchmarks.clock import measure
from benchmarks.peers import H11, Sdk
from benchmarks.programs import Plugin, opened, served
from benchmarks.row import Row, timed

__all__ = ["rows"]

#: Calls per measurement, so that one of them is long against the clock and short against the machine's moods.
CALLS = 20
ROUNDS = 101


def rows(plugin: Plugin) -> Iterator[Row]:
    for form in ("json", "sse"):
        with served("benchmarks.canned", form) as url, opened(plugin, url) as driven, Sdk(url) as sdk:
            bare = H11(url)
            taken = measure(
                {
                    "ours": lambda: sum(driven.step("call", tool="small") for _ in range(CALLS)),
                    "sdk": sdk.calls("small", CALLS),
                    "h11": partial(bare.calls, CALLS),
                },
                ROUNDS,
                per=CALLS,
            )
            bare.close()
        work = f"one call, keep-alive, {form.upper()} reply"
        yield timed(work, "ours", "official SDK client", "sdk", 0.5, taken)
        yield timed(work, "ours", "bare h11 exchange", "h11", 4.0, taken)
