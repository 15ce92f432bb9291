"""An inspector for tests of what steps do to a server and make of its replies: in this process, or as it was built."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from plugin.inspector import Inspector
from protocol.failures import Code, Failed
from protocol.values.document import encode, parse
from protocol.wire.params import read_params
from tests.fakes.plugin_driver import PluginDriver, step
from tests.plugin_under_test import built

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
        self.asked += 1
        return bytes(self.inspector.run(step(alias, command, **arguments), self.asked, self.cancelled.is_set))

    def discover(self) -> Any:
        """Find the authorization server of the alias `api`, and return the result."""
        return json.loads(bytes(self.inspector.discover({"alias": "api"})))

    def learn(self, *values: str) -> None:
        """Tell the inspector what the host has learnt."""
        self.inspector.learn({"values": values})

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

    def end(self) -> None:
        """End the sessions."""
        self.inspector.end()


class DrivenBench(Bench):
    """The same with a built executable, over its wire. It has no ``inspector`` to look into."""

    def __init__(self, origins: list[str], bindings: dict[str, Any]) -> None:
        self.browser = lambda url: None
        self._driver = PluginDriver()
        self._driver.browser = lambda url: self._ask("consent/open", {"alias": "", "url": url}, lambda: False)
        assert "result" in self._driver.initialize(origins, **bindings)

    def raw(self, alias: str, command: str, **arguments: Any) -> bytes:
        """Run a command and return the bytes of its result. Raises Failed when it is refused."""
        reply = self._driver.ask("run", step(alias, command, **arguments))
        if "error" in reply:
            raise Failed(Code(reply["error"]["data"]["code"]), reply["error"]["message"])
        return bytes(self._driver.public).splitlines()[-1].partition(b'"result":')[2].removesuffix(b"}")

    def discover(self) -> Any:
        return self._driver.ask("discover", {"alias": "api"})["result"]

    def learn(self, *values: str) -> None:
        self._driver.notify("secrets/learnt", {"values": values})

    @property
    def learnt(self) -> list[str]:
        return [value for told in self._driver.notifications for value in told["params"].get("values", ())]

    def end(self) -> None:
        assert (self._driver.end(), bytes(self._driver.diagnostics)) == (0, b"")


@contextmanager
def bench(
    server: Any, *, origins: list[str] | None = None, others: dict[str, Any] | None = None, **configuration: Any
) -> Iterator[Bench]:
    """An inspector with the alias `api` bound to a server, beside others; sessions are ended on the way out."""
    bindings = {"api": {"endpoint": server.url, **configuration}, **(others or {})}
    made = (DrivenBench if built() else Bench)([server.origin] if origins is None else origins, bindings)
    try:
        yield made
    finally:
        made.end()
