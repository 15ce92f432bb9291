"""Host names to addresses within a deadline: the system's resolver cannot be interrupted, so it waits on a thread."""

import contextlib
import os
import select
import socket
import threading
from collections.abc import Sequence
from typing import Any, TypeAlias

from protocol.mcp.attempts import Attempt

__all__ = ["resolve"]

_Address: TypeAlias = tuple[socket.AddressFamily, socket.SocketKind, int, str, Any]


def resolve(host: str, port: int, attempt: Attempt) -> Sequence[_Address]:
    """Return the TCP addresses of a host. Raises OSError, ValueError for a malformed name, and Late.

    A name that is still being looked up when the attempt ends leaves its thread behind until the resolver gives up.
    """
    with contextlib.suppress(socket.gaierror):
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    if host == "localhost":
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    lookup = _Lookup(host, port)
    try:
        attempt.wait(lookup.reader, select.POLLIN)
    finally:
        os.close(lookup.reader)
    return lookup.addresses()


class _Lookup:
    """One call of the resolver on a thread of its own; ``reader`` is readable once it has returned."""

    def __init__(self, host: str, port: int) -> None:
        self.reader, self._writer = os.pipe()
        self._host = host
        self._port = port
        self._found: Sequence[_Address] = ()
        self._failure: Exception | None = None
        threading.Thread(target=self._run, name="resolver", daemon=True).start()

    def _run(self) -> None:
        try:
            self._found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
        except (OSError, ValueError) as error:
            self._failure = error
        finally:
            os.close(self._writer)

    def addresses(self) -> Sequence[_Address]:
        if self._failure is not None:
            raise self._failure
        return self._found
