"""An inspector in this process, for tests of what steps do to a server and make of its replies."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from plugin.inspector import Inspector
from protocol.values.document import encode, parse
from protocol.wire.params import read_params

__all__ = ["Bench", "bench"]


class Bench:
    """Runs commands; ``notifications`` collects what the host would be told meanwhile.

    ``browser`` is given the URL of each consent page, in place of a host.
    """

    def __init__(self, origins: list[str], bindings: dict[str, Any]) -> None:
        self.notifications: list[tuple[str, dict[str, Any]]] = []
        self.cancelled = threading.Event()
        #: The id of the last request.
        self.asked = 0
        self.browser: Callable[[str], Any] = lambda url: None
        self.inspector = Inspector(lambda method, params: self.notifications.append((method, params)))
        self.inspector.context.ask = self._ask
        params = {"protocol": 1, "host": {"name": "bench", "version": "1"}, "origins": origins, "bindings": bindings}
        self.inspector.initialize(read_params("initialize", parse(encode(params)).value))

    def _ask(self, method: str, params: dict[str, Any], stop: Callable[[], bool]) -> Any:
        assert (method, set(params)) == ("consent/open", {"alias", "url"})
        assert params["url"] in self.learnt, "the authorization URL has to be private before it goes anywhere"
        return self.browser(params["url"])

    def raw(self, alias: str, command: str, **arguments: Any) -> bytes:
        """Run a command and return the bytes of its result; arguments that are no strings are written as JSON."""
        texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}
        params = {"alias": alias, "command": command, "arguments": texts}
        self.asked += 1
        return bytes(self.inspector.run(params, self.asked, self.cancelled.is_set))

    def run(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Run a command of the alias `api`."""
        result: dict[str, Any] = json.loads(self.raw("api", command, **arguments), parse_float=str)
        return result

    def run_as(self, alias: str, command: str, **arguments: Any) -> dict[str, Any]:
        """Run a command of another alias."""
        result: dict[str, Any] = json.loads(self.raw(alias, command, **arguments), parse_float=str)
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
def bench(
    server: Any, *, origins: list[str] | None = None, others: dict[str, Any] | None = None, **configuration: Any
) -> Iterator[Bench]:
    """An inspector with the alias `api` bound to a server, beside others; sessions are ended on the way out."""
    bindings = {"api": {"endpoint": server.url, **configuration}, **(others or {})}
    made = Bench([server.origin] if origins is None else origins, bindings)
    try:
        yield made
    finally:
        made.inspector.end()
