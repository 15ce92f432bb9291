"""Flows that listen on one fixed port of this machine for the callback of a sign-in: they take turns."""

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from protocol.values.document import JsonError, integer, parse

__all__ = ["Turns", "callback_ports"]


def callback_ports(configurations: Mapping[str, Mapping[str, Any]]) -> frozenset[int]:
    """Return the fixed ports of the sign-ins of one flow, given each alias's configuration as its plugin gets it.

    What is wrong with an `oauth` is its plugin's to say; here it has no port.
    """
    found = (_port(configuration.get("oauth")) for configuration in configurations.values())
    return frozenset(port for port in found if port)


def _port(oauth: Any) -> int | None:
    if isinstance(oauth, str):
        try:
            oauth = parse(oauth).value
        except JsonError:
            return None
    return integer(oauth.get("callbackPort")) if isinstance(oauth, dict) else None


class Turns:
    """Lets one piece of work at a time have a port. May be used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ports: dict[int, threading.Lock] = {}

    @contextmanager
    def take(self, ports: Iterable[int]) -> Iterator[None]:
        """Wait until nobody else has any of the ports, and keep them meanwhile."""
        with contextlib.ExitStack() as held:
            # Everybody takes them in one order, so that no two wait for each other.
            for port in sorted(ports):
                with self._lock:
                    lock = self._ports.setdefault(port, threading.Lock())
                held.enter_context(lock)
            yield
