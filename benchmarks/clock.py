"""Measures alternatives in turn within one run, so that a noisy machine is as unkind to each of them."""

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["Rounds", "Timings", "measure"]

Rounds = Mapping[str, Callable[[], Any]]


class Timings:
    """The seconds that each alternative took, round by round."""

    def __init__(self, seconds: Mapping[str, list[float]]) -> None:
        self._seconds = seconds

    def median(self, name: str) -> float:
        return statistics.median(self._seconds[name])

    def ratio(self, ours: str, theirs: str) -> float:
        """The median of the rounds' ratios: what one round was slowed by, it was slowed by on both sides."""
        return statistics.median(
            one / other for one, other in zip(self._seconds[ours], self._seconds[theirs], strict=True)
        )


def measure(alternatives: Rounds, rounds: int, *, per: int = 1) -> Timings:
    """Run each alternative once per round, in turn, after one round to warm up; each does its work ``per`` times.

    An alternative that returns a float has measured itself, in seconds.
    """
    # What was imported and made before is nobody's work, and would be looked through again and again.
    gc.collect()
    gc.freeze()
    seconds: dict[str, list[float]] = {name: [] for name in alternatives}
    for number in range(rounds + 1):
        for name, work in alternatives.items():
            gc.collect()
            started = time.perf_counter()
            measured = work()
            taken = measured if isinstance(measured, float) else time.perf_counter() - started
            del measured
            if number:
                seconds[name].append(taken / per)
    return Timings(seconds)
