"""Runs `assay` inside the test process, in a folder of its own, with a fake plugin: quick, and every line is seen."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from host.main import main
from tests.fakes.plugins import FakePlugin

__all__ = ["TARGET", "Command", "Done"]

TARGET = "http://127.0.0.1:9/mcp"


class Done(NamedTuple):
    """One finished command line."""

    exit: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


class Command:
    """`assay` in ``folder``; ``plugin`` is the fake that it runs unless another is named."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys
        self._count = 0
        monkeypatch.chdir(folder)
        for name in ("ASSAY_TARGET", "ASSAY_BINDINGS", "ASSAY_PLUGIN", "NO_COLOR"):
            monkeypatch.delenv(name, raising=False)
        self.behave()

    def behave(self, **behaviour: Any) -> FakePlugin:
        """Have a new fake plugin in place of the one so far."""
        self._count += 1
        self.plugin = FakePlugin(self.folder / "plugins" / str(self._count), **behaviour)
        return self.plugin

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def __call__(self, *words: str) -> Done:
        self._capsys.readouterr()
        status = main(words)
        return Done(status, *self._capsys.readouterr())

    def run(self, *words: str) -> Done:
        """`assay run` on a target, with the fake plugin."""
        return self("run", *words, "--target", TARGET, "--plugin", str(self.plugin.path))

    def document(self, *words: str) -> Any:
        """The document of `assay run`."""
        return self.run(*words, "--json", "-").document

    @property
    def runs(self) -> list[Path]:
        """The folders of all runs, the first one first."""
        root = self.folder / ".assay" / "runs"
        return sorted(root.iterdir()) if root.exists() else []

    def kept(self, run: int = -1) -> dict[str, Any]:
        """Every JSON file of a run, by its name in the run's folder."""
        folder = self.runs[run]
        return {
            path.relative_to(folder).as_posix(): json.loads(path.read_bytes())
            for path in sorted(folder.rglob("*.json"))
        }
