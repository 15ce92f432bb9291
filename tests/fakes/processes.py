"""Looks at processes that are not children of the test: whether they have ended, and what a process has started."""

import os
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["children", "command_line", "descendants", "gone", "until"]

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


def children(pid: int) -> set[int]:
    """Return every process that another one has started and that has not ended."""
    return {child for child, parent in _parents().items() if parent == pid and not gone(child)}


def descendants(pid: int) -> set[int]:
    """Return every process that descends from another one."""
    parents = _parents()
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def command_line(pid: int) -> str:
    """Return what a process was started with, its words apart by spaces; "" when it has ended."""
    if not Path("/proc").is_dir():
        return subprocess.run(["ps", "-o", "command=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def _parents() -> dict[int, int]:
    if not Path("/proc").is_dir():
        told = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
        return {int(pid): int(parent) for pid, parent in map(str.split, told.splitlines())}
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
    return parents
