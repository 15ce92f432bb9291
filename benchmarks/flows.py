"""200 flows on one server, eight at a time and one after another, and which plugins outlive them."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.programs import ROOT, Plugin, served
from benchmarks.row import Row

__all__ = ["rows"]

FLOWS = 200
JOBS = 8
#: The share of the time of one flow that its host may take: one process, which flows that run at once take turns in.
ALONE = 0.25
FLOW = """\
---
name: Flow {number}
providers: {{api: MCP}}
---

```rfl
api.connect
api.call tool="small"
api.disconnect
```
"""


def rows(plugin: Plugin) -> Iterator[Row]:
    with served("benchmarks.canned", "json") as url, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = own_program(plugin, folder)
        for number in range(FLOWS):
            (folder / "flows").mkdir(exist_ok=True)
            (folder / "flows" / f"flow_{number:03}.md").write_text(FLOW.format(number=number), encoding="utf-8")
        eight, one = run(program, folder, url, JOBS), run(program, folder, url, 1)
        left = running(program)
    cores = os.cpu_count() or 1
    bar = ALONE + (1 - ALONE) / min(cores, JOBS)
    work = f"{FLOWS} flows, `--jobs {JOBS}`, {left or 'no'} plugins left"
    yield Row(work, eight, "`--jobs 1`", one, eight / one, bar if left == 0 else 0.0, "s", f"{cores} cores")


def own_program(plugin: Plugin, folder: Path) -> Path:
    """Put the plugin where no other process has its program from, so that what is left of it can be told."""
    program = folder / "plugin"
    if len(plugin) == 1:
        shutil.copy(plugin[0], program)
    else:
        lines = (f"#!{sys.executable}", f"import sys; sys.path.insert(0, {str(ROOT)!r})")
        program.write_text("\n".join((*lines, "from plugin.__main__ import main; sys.exit(main())\n")))
        program.chmod(0o700)
    return program


def run(program: Path, folder: Path, url: str, jobs: int) -> float:
    evidence = folder / f"evidence-{time.monotonic_ns()}"
    words: list[str | Path] = [sys.executable, "-m", "host", "run", folder / "flows", "--target", url]
    words += ["--plugin", program, "--jobs", str(jobs), "--evidence", evidence]
    started = time.perf_counter()
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - started


def running(program: Path) -> int:
    """Count the processes of a program."""
    kept = Path("/proc")
    if kept.exists():
        lines = [_command(entry) for entry in kept.iterdir() if entry.name.isdigit()]
    else:
        lines = subprocess.run(["ps", "-axo", "args"], capture_output=True, check=True).stdout.splitlines()
    return sum(os.fsencode(program) in line for line in lines)


def _command(entry: Path) -> bytes:
    try:
        return (entry / "cmdline").read_bytes()
    except OSError:  # it has ended meanwhile
        return b""
