"""Drives a real plugin executable over the host wire, one request at a time; for tests, conformance and benchmarks."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from protocol.wire.messages import PROTOCOL, Request, Response, decode, encode_request, encode_result

__all__ = ["SOURCE", "DrivenPlugin"]

#: Bytes that are read ahead: more than a pipe holds.
_BUFFER = 1024 * 1024
#: The plugin as it lies in the source tree.
SOURCE = (sys.executable, "-m", "plugin")


class DrivenPlugin:
    """A plugin with one identity, `api`, on one server. Leaving the block shuts it down.

    ``consent`` stands in for the browser: it is given the URL of each consent page. ``options`` are more of Popen's.
    """

    def __init__(
        self,
        command: Sequence[str | Path] = SOURCE,
        consent: Callable[[str], Any] = lambda url: None,
        **options: Any,
    ) -> None:
        self.process = subprocess.Popen(command, _BUFFER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self._consent = consent
        self._asked = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self.process:
            if kind is None:
                self.ask("shutdown", {})
            else:
                self.process.terminate()  # of a built executable, the first process has to tidy up

    def bind(self, url: str, origins: Sequence[str] = (), **configuration: Any) -> None:
        """Initialize the plugin for ``url``, with further fields of its binding, and admit its origin and others."""
        parts = urlsplit(url)
        bindings = {"api": {"endpoint": url} | configuration}
        opening = {"origins": [f"{parts.scheme}://{parts.netloc}", *origins], "bindings": bindings}
        self.ask("initialize", {"protocol": PROTOCOL, "host": {"name": "tests", "version": "1"}} | opening)

    def run(self, command: str, **arguments: str) -> dict[str, Any]:
        """Run one command of `api` and return its step result."""
        result: dict[str, Any] = self.ask("run", {"alias": "api", "command": command, "arguments": arguments})
        return result

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """Send one request and return its result. Raises RuntimeError for an error, or when the plugin ends."""
        self._asked += 1
        self._write(encode_request(self._asked, method, params))
        for message in self._responses():
            if message.id == self._asked:
                if message.error is not None:
                    raise RuntimeError(f"{method}: {message.error}")
                return message.result
        raise RuntimeError(f"{method}: the plugin ended")

    def _responses(self) -> Iterator[Response]:
        for line in self.process.stdout or ():
            message = decode(line.rstrip(b"\n"))
            if isinstance(message, Response):
                yield message
            elif isinstance(message, Request):
                self._consent(message.params["url"])
                self._write(encode_result(message.id, {}))

    def _write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()
