"""What an 8 MiB reply adds to the largest memory that a plugin's process has had."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.programs import Plugin, opened, served
from benchmarks.replies import TOOLS, inventory
from benchmarks.row import Row

__all__ = ["rows"]

MIB = 1024 * 1024
#: Bytes in what the system counts memory by.
UNIT = 1 if sys.platform == "darwin" else 1024
#: Starts a program from a small process and writes down the most memory that it had: a system counts into that what the
#: process had that started it, and this one here is large.
LAUNCHER = """\
import os, sys
_, _, usage = os.wait4(os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ), 0)
with open(sys.argv[1], "w") as told:
    told.write(str(usage.ru_maxrss))
"""


def rows(plugin: Plugin) -> Iterator[Row]:
    size = len(inventory(TOOLS, alike=False)) / MIB
    with served("benchmarks.canned", "json") as server:
        idle = peak(plugin, server, "call", tool="small")
        for work, path, command, arguments in (
            ("memory that 8 MiB of tools take", "/different", "tools", {}),
            ("memory that 8 MiB of text take", "", "call", {"tool": "large"}),
        ):
            grown = peak(plugin, server + path, command, **arguments) - idle
            note = f"the idle process has {idle:.0f} MiB"
            yield Row(work, grown, "the reply", size, grown / size, 12.0, "MiB", note)


def peak(plugin: Plugin, url: str, command: str, **arguments: str) -> float:
    """Run a plugin for one command and return the most memory that it had, in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "peak"
        with opened((sys.executable, "-I", "-c", LAUNCHER, told, *plugin), url) as driven:
            driven.step(command, **arguments)
        return int(told.read_text()) * UNIT / MIB
