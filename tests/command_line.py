"""Runs the real `assay` in a folder of its own, as a person or a CI job would, and reads what it leaves behind."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.plugin_under_test import built

__all__ = ["Assay", "Ran"]

#: The console script of the environment that runs the tests.
SCRIPT = Path(sys.executable).with_name("assay")
#: Seconds that one command may take.
PATIENCE = 90


class Ran(NamedTuple):
    """One finished command; ``document`` is what `--json` wrote, ``kept`` the files of evidence, newest run last."""

    exit: int
    out: str
    err: str
    document: dict[str, Any]
    folder: Path

    @property
    def steps(self) -> list[dict[str, Any]]:
        return [step for flow in self.document["flows"] for step in flow["steps"]]

    @property
    def statuses(self) -> list[str]:
        """`command status` of each step, with the code behind it when there is one."""
        return [" ".join(filter(None, (step["command"], step["status"], step["code"]))) for step in self.steps]

    @property
    def captures(self) -> list[str]:
        return [step["capture"] for step in self.steps if step["capture"] is not None]

    @property
    def runs(self) -> list[Path]:
        """The folders of evidence of this command's flows."""
        return [self.folder / ".assay" / "runs" / flow["run"] for flow in self.document["flows"]]

    @property
    def kept(self) -> list[Path]:
        return sorted(path for path in (self.folder / ".assay").rglob("*") if path.is_file())


class Assay:
    """`assay` in ``folder``. The environment holds nothing that would change what it does, but for what is given."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def __call__(self, *words: str | Path, **environment: str) -> Ran:
        """Run a command line and return what came of it, whatever its exit status."""
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "GITHUB_", "CI"))
        }
        if built():
            inherited["ASSAY_PLUGIN"] = built()
        document = self.folder / "document.json"
        document.unlink(missing_ok=True)
        done = subprocess.run(
            [SCRIPT, *words],
            cwd=self.folder,
            env=inherited | environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )
        written = json.loads(document.read_text(encoding="utf-8")) if document.exists() else {}
        return Ran(done.returncode, done.stdout, done.stderr, written, self.folder)

    def run(self, *words: str | Path, **environment: str) -> Ran:
        """`assay run` with ``words``, and its document."""
        return self("run", *words, "--json", self.folder / "document.json", **environment)
