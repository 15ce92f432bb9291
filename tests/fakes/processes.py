"""Looks at processes that are not children of the test: whether they have ended, and what a process has started."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["descendants", "gone", "until"]

#: Seconds after which a test gives up.
PATIENCE = 15.0


def gone(pid: int) -> bool:
    """Tell whether a process has ended (a zombie that somebody else has to reap counts as ended)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + PATIENCE
    never = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, "it never came to hold"
        never.wait(0.02)


def descendants(pid: int) -> set[int]:
    """Return every process that descends from another one."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}
