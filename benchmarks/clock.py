"""Measures alternatives in turn within one run, so that a noisy machine is as unkind to each of them."""

import gc
import statistics
import time
from collections.abc import Callable, Mapping

__all__ = ["Rounds", "medians"]

Rounds = Mapping[str, Callable[[], object]]


def medians(alternatives: Rounds, rounds: int) -> dict[str, float]:
    """Run each alternative once per round, in turn, after one round to warm up; median seconds by name.

    An alternative that returns a float has measured itself.
    """
    seconds: dict[str, list[float]] = {name: [] for name in alternatives}
    for number in range(rounds + 1):
        for name, work in alternatives.items():
            gc.collect()
            started = time.perf_counter()
            measured = work()
            taken = measured if isinstance(measured, float) else time.perf_counter() - started
            if number:
                seconds[name].append(taken)
    return {name: statistics.median(taken) for name, taken in seconds.items()}
