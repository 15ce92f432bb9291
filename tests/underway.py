"""An `assay run` that is looked at while it runs, and the processes that it has started by then."""

import json
import os
import subprocess

from tests.command_line import SCRIPT, Assay, Ran
from tests.fakes.processes import command_line, descendants

__all__ = ["Underway", "browser_plugins", "chromiums"]


class Underway:
    """An `assay run` that is under way; ``finish`` waits for it."""

    def __init__(self, assay: Assay, *words: str, **environment: str) -> None:
        self._assay = assay
        self._document = assay.folder / "document.json"
        self.process = subprocess.Popen(
            [SCRIPT, "run", *words, "--json", self._document],
            cwd=assay.folder,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def finish(self) -> Ran:
        out, err = self.process.communicate(timeout=60)
        document = json.loads(self._document.read_text(encoding="utf-8"))
        return Ran(self.process.returncode, out, err, document, self._assay.folder)

    def underway(self, command: str) -> bool:
        """Tell whether a step of this command is being carried out, by what the evidence says so far."""
        written = list((self._assay.folder / ".assay" / "runs").glob("*/run.json"))
        steps = json.loads(written[0].read_bytes())["steps"] if written else []
        return any(step["status"] == "running" and step["command"] == command for step in steps)

    def __enter__(self) -> "Underway":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)


def chromiums(pid: int) -> set[int]:
    """The processes of Chromium below a process, the first one of each."""
    return {child for child in descendants(pid) if "--remote-debugging" in command_line(child)}


def browser_plugins(pid: int) -> set[int]:
    return {child for child in descendants(pid) if "host.providers.browser" in command_line(child)}
