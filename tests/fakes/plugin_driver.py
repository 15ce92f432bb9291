"""Drives the real plugin executable over its wire, as a host would: one process, its replies, and what it tells."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from tests.fakes.processes import children
from tests.plugin_under_test import built, program

ROOT = Path(__file__).resolve().parents[2]
#: Seconds after which a test gives up on a reply.
PATIENCE = 20.0


class PluginDriver:
    """One plugin process. ``seen`` collects every byte it wrote, ``notifications`` what it told unasked.

    ``public`` collects its replies alone: all that a host may keep. ``module`` is what is run: the MCP plugin, or
    another one on the same wire. ``browser`` is given the URL of each consent page that it asks for.
    """

    def __init__(self, *arguments: str, environment: dict[str, str] | None = None, module: str = "plugin") -> None:
        self.process = subprocess.Popen(
            [*(program() if module == "plugin" else (sys.executable, "-m", module)), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
        )
        self.seen = bytearray()
        self.diagnostics = bytearray()
        self.public = bytearray()
        self.notifications: list[dict[str, Any]] = []
        self.browser: Callable[[str], Any] = lambda url: None
        self._replies: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._next_id = 0
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> "PluginDriver":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self._kill()
        self.end()

    def _kill(self) -> None:
        """Kill what is the plugin: of a built executable the second process, for the first one tidies up after it."""
        inner = children(self.process.pid) if built() else set()
        for pid in inner or {self.process.pid}:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.seen += line
            message = json.loads(line, parse_float=str)
            if "method" in message and "id" in message:
                self.browser(message["params"]["url"])
                self.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}).encode() + b"\n")
            elif "method" in message:
                self.notifications.append(message)
            else:
                self.public += line
                self._replies.put(message)
        self._replies.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.diagnostics += line

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Send one request and return its id, without waiting."""
        self._next_id += 1
        request = {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params or {}}
        self.write(json.dumps(request).encode() + b"\n")
        return self._next_id

    @property
    def last(self) -> int:
        """The id of the last request."""
        return self._next_id

    def notify(self, method: str, params: dict[str, Any]) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")

    def reply(self) -> dict[str, Any]:
        """Wait for the next reply, whichever it is."""
        try:
            reply = self._replies.get(timeout=PATIENCE)
        except Empty:
            raise AssertionError(f"no reply; stderr: {self.diagnostics.decode()}") from None
        assert reply is not None, f"the plugin ended; stderr: {self.diagnostics.decode()}"
        return reply

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send one request and return its reply, which has to be the next."""
        identity = self.send(method, params)
        reply = self.reply()
        assert reply["id"] == identity, reply
        return reply

    def initialize(self, origins: list[str], **bindings: Any) -> dict[str, Any]:
        params = {
            "protocol": 1,
            "host": {"name": "tests", "version": "1"},
            "origins": origins,
            "bindings": bindings,
        }
        return self.ask("initialize", params)

    def run(self, alias: str, command: str, /, **arguments: Any) -> dict[str, Any]:
        """Run a command and return its step result; arguments that are objects are written as JSON."""
        result: dict[str, Any] = self.ask("run", step(alias, command, **arguments))["result"]
        return result

    def refused(self, method: str, alias: str, command: str, /, **arguments: Any) -> tuple[str, str]:
        """Send what has to be refused and return the code and the message of the refusal."""
        error = self.ask(method, step(alias, command, **arguments))["error"]
        assert error["code"] == -32000, error
        return error["data"]["code"], error["message"]

    def end(self) -> int:
        """Close the plugin's input, wait for its end, and return its exit status."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        status = self.process.wait(timeout=PATIENCE)
        for thread in self._threads:
            thread.join(timeout=PATIENCE)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return status


def step(alias: str, command: str, /, **arguments: Any) -> dict[str, Any]:
    """The params of `run` or `check`; arguments that are no strings are written as JSON."""
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}
    return {"alias": alias, "command": command, "arguments": texts}
