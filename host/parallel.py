"""Does several pieces of work at once, each on a thread; their results come in the order of the pieces."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["run_all"]

_Result = TypeVar("_Result")


def run_all(work: Sequence[Callable[[], _Result]], threads: int) -> list[_Result]:
    """Return the results of all pieces, at most ``threads`` of them under way at once. Raises what one of them raises.

    One at a time, they are done on the caller's own thread.
    """
    if threads == 1 or len(work) < 2:
        return [piece() for piece in work]
    with ThreadPoolExecutor(min(threads, len(work)), "flow") as pool:
        return [future.result() for future in [pool.submit(piece) for piece in work]]
