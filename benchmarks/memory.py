"""What an 8 MiB reply adds to the largest memory that a plugin's process has had."""

import os
import sys
from collections.abc import Iterator

from benchmarks.programs import Plugin, TimedPlugin, served
from benchmarks.replies import TOOLS, inventory
from benchmarks.row import Row

__all__ = ["rows"]

MIB = 1024 * 1024
#: Bytes in what the system counts memory by.
UNIT = 1 if sys.platform == "darwin" else 1024


def rows(plugin: Plugin) -> Iterator[Row]:
    with served("benchmarks.canned", "json") as server:
        idle = peak(plugin, server, "call", tool="small")
        for work, path, command, arguments in (
            ("memory that 8 MiB of tools take", "/different", "tools", {}),
            ("memory that 8 MiB of text take", "/", "call", {"tool": "large"}),
        ):
            size = len(inventory(TOOLS, alike=False)) / MIB
            grown = (peak(plugin, server + path, command, **arguments) - idle) / MIB
            note = f"the idle process has {idle / MIB:.0f} MiB"
            yield Row(work, grown, "the reply", size, grown / size, 12.0, "MiB", note)


def peak(plugin: Plugin, url: str, command: str, **arguments: str) -> int:
    """Run a plugin for one command and return the most bytes of memory that it had."""
    driven = TimedPlugin(plugin)
    driven.bind(url)
    driven.step("connect")
    driven.step(command, **arguments)
    driven.step("disconnect")
    driven.ask("shutdown", {})
    _, status, usage = os.wait4(driven.process.pid, 0)
    driven.process.returncode = os.waitstatus_to_exitcode(status)
    with driven.process:
        return usage.ru_maxrss * UNIT
