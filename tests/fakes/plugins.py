"""Makes executables of the fake plugin: files that can be given to `--plugin`, each with its own behaviour."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from tests.fakes.plugin_process import description

__all__ = ["FakePlugin"]

SCRIPT = Path(__file__).with_name("plugin_process.py")


class FakePlugin:
    """An executable in ``folder`` that behaves as told. ``path`` is for `--plugin`."""

    def __init__(self, folder: Path, name: str = "fake-plugin", **behaviour: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / name
        self._log = folder / f"{name}.log"
        settings = folder / f"{name}.json"
        settings.write_text(json.dumps({"log": str(self._log), **behaviour}))
        words = [sys.executable, "-I", str(SCRIPT), str(settings)]
        words.insert(3, "--behaviour")
        described = folder / f"{name}.description.json"
        described.write_text(json.dumps(description(behaviour.get("provider", "MCP")) | behaviour.get("describe", {})))
        # What it says of itself needs no interpreter: hundreds of tests ask for it.
        script = f'[ "$1" = --describe ] && exec cat {shlex.quote(str(described))}\n'
        script += f'exec {" ".join(map(shlex.quote, words))} "$@"\n'
        self.path.write_text(f"#!/bin/sh\n{script}")
        self.path.chmod(0o755)

    @property
    def log(self) -> list[dict[str, Any]]:
        """Everything that its processes got and noted, in order."""
        if not self._log.exists():
            return []
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    @property
    def pids(self) -> list[int]:
        """Every process that it was, and every one that it started."""
        return [entry[key] for entry in self.log for key in ("pid", "spawned") if key in entry]

    def sent(self, method: str) -> list[dict[str, Any]]:
        """The params of each message of a method, in order."""
        return [entry["params"] for entry in self.log if entry.get("method") == method]

    @property
    def ran(self) -> list[str]:
        """`alias.command` of each `run`, in order."""
        return [f"{params['alias']}.{params['command']}" for params in self.sent("run")]
