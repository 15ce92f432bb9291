"""An inspector in this process, for tests of what steps do to a server and make of its replies."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from plugin.inspector import Inspector
from protocol.values.document import encode, parse
from protocol.wire.params import read_params

__all__ = ["Bench", "bench"]


class Bench:
    """Runs commands; ``notifications`` collects what the host would be told meanwhile."""

    def __init__(self, origins: list[str], bindings: dict[str, Any]) -> None:
        self.notifications: list[tuple[str, dict[str, Any]]] = []
        self.cancelled = threading.Event()
        self.inspector = Inspector(lambda method, params: self.notifications.append((method, params)))
        params = {"protocol": 1, "host": {"name": "bench", "version": "1"}, "origins": origins, "bindings": bindings}
        self.inspector.initialize(read_params("initialize", parse(encode(params)).value))

    def raw(self, alias: str, command: str, **arguments: Any) -> bytes:
        """Run a command and return the bytes of its result; arguments that are no strings are written as JSON."""
        texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}
        params = {"alias": alias, "command": command, "arguments": texts}
        return bytes(self.inspector.run(params, 1, self.cancelled.is_set))

    def run(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Run a command of the alias `api`."""
        result: dict[str, Any] = json.loads(self.raw("api", command, **arguments), parse_float=str)
        return result

    def outcome(self, command: str, **arguments: Any) -> tuple[str, str | None, str]:
        """Run a command and return status, code, and how the connection stands."""
        result = self.run(command, **arguments)
        return result["status"], result["code"], result["facts"]["connection"]

    @property
    def learnt(self) -> list[str]:
        return [
            value for method, params in self.notifications if method == "secrets/learnt" for value in params["values"]
        ]


@contextmanager
def bench(server: Any, *, origins: list[str] | None = None, **configuration: Any) -> Iterator[Bench]:
    """An inspector with the alias `api` bound to a server; sessions are ended on the way out."""
    made = Bench([server.origin] if origins is None else origins, {"api": {"endpoint": server.url, **configuration}})
    try:
        yield made
    finally:
        for connection in made.inspector.live():
            connection.rearm()
            connection.end()
