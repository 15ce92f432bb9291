"""The programs of a run: the plugin that is measured, the servers that it talks to, and how its replies are timed."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from protocol.wire.messages import encode_request
from tests.driven_plugin import SOURCE, DrivenPlugin

__all__ = ["BUILT", "ROOT", "Plugin", "TimedPlugin", "measured", "opened", "served"]

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "dist" / "plugin"

Plugin = tuple[str | Path, ...]


def measured() -> Plugin:
    """The built plugin; the source tree where it is not there."""
    return (BUILT,) if BUILT.exists() else SOURCE


@contextmanager
def served(*words: str) -> Iterator[str]:
    """Run a server, `python -m words`, that prints its URL first; the URL."""
    command = [sys.executable, "-m", *words]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


class TimedPlugin(DrivenPlugin):
    """A plugin whose steps are timed from the request to the last byte of the reply; reading that is its host's."""

    def step(self, command: str, **arguments: str) -> float:
        """Run one command and return the seconds that it took. Raises RuntimeError when it does not succeed."""
        self._asked += 1
        params = {"alias": "api", "command": command, "arguments": arguments}
        line = encode_request(self._asked, "run", params)
        wanted = b'{"jsonrpc":"2.0","id":%d,' % self._asked
        started = time.perf_counter()
        self._write(line)
        reply = next(line for line in self.process.stdout or () if line.startswith(wanted))
        taken = time.perf_counter() - started
        if b'"status":"succeeded"' not in reply[:120]:
            raise RuntimeError(f"{command}: {reply[:500]!r}")
        return taken


@contextmanager
def opened(plugin: Plugin, url: str) -> Iterator[TimedPlugin]:
    """A plugin that is connected to ``url``, until the end of the block."""
    with TimedPlugin(plugin) as driven:
        driven.bind(url)
        driven.step("connect")
        yield driven
        driven.step("disconnect")
