"""How soon the plugin says its version and describes itself, and how large it is."""

import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.clock import measure
from benchmarks.programs import BUILT, ROOT, Plugin
from benchmarks.row import Row, timed

__all__ = ["rows"]

ROUNDS = 21
#: Largest executable, in MB.
SIZE_LIMIT = 25.0


def first_byte(*command: str | Path) -> float:
    """Seconds until a program writes its first byte, or ends without one."""
    started = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, bufsize=0) as child:
        assert child.stdout is not None
        child.stdout.read(1)
        taken = time.perf_counter() - started
        child.stdout.read()
    return taken


def rows(plugin: Plugin) -> Iterator[Row]:
    bare = partial(first_byte, sys.executable, "-I", "-c", "pass")
    options = ("--version", "--describe")
    taken = measure({"bare": bare} | {option: partial(first_byte, *plugin, option) for option in options}, ROUNDS)
    for option in options:
        yield timed(f"`plugin {option}`, first byte", option, "`python -I -c pass`", "bare", 4.0, taken)
    if BUILT.exists():
        size = BUILT.stat().st_size / 1e6
        yield Row("size of the executable", size, "the limit", SIZE_LIMIT, size / SIZE_LIMIT, 1.0, "MB")
