"""The connections of one transport: httpcore's own, each of which is kept for the next request while it is fresh."""

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import httpcore

from protocol.mcp.network import Network
from protocol.mcp.trust import tls_context

__all__ = ["Pool"]

#: Seconds that an idle connection is kept. Servers close theirs after 2 to 5 (gunicorn, Node, uvicorn), and a request
#: that crosses such a close is a lost reply, which is never sent again; a new connection costs far less than that.
KEEPALIVE: Final = 1.5


class Pool(httpcore.ConnectionPool):
    """Sends each request on a connection of its own, at once: none waits for another's. Threads may share it.

    httpcore's pool queues requests and looks at all of its connections before and after each; for one that sends one
    request at a time, that takes as long as the request itself. TLS is verified as :mod:`protocol.mcp.trust` says; its
    context is made for the first https connection.
    """

    def __init__(self, authority: bytes | None = None) -> None:
        super().__init__(max_connections=None, keepalive_expiry=KEEPALIVE, network_backend=Network())
        self._authority = authority
        self._lock = threading.Lock()
        self._idle: list[httpcore.ConnectionInterface] = []
        self._closed = False

    def handle_request(self, request: httpcore.Request) -> httpcore.Response:
        """Send one request, once, and return its response, which is to be closed. Raises httpcore's exceptions."""
        connection = self._take(request.url.origin)
        try:
            response = connection.handle_request(request)
        except BaseException:
            connection.close()
            raise
        response.stream = _Body(response.stream, partial(self._give_back, connection))
        return response

    def close(self) -> None:
        """Close what is idle, and let what is in use be closed rather than kept."""
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
        for connection in idle:
            connection.close()

    def create_connection(self, origin: httpcore.Origin) -> httpcore.ConnectionInterface:
        with self._lock:
            if origin.scheme == b"https" and self._ssl_context is None:
                self._ssl_context = tls_context(self._authority)
        return super().create_connection(origin)

    def _take(self, origin: httpcore.Origin) -> httpcore.ConnectionInterface:
        with self._lock:
            fresh = []
            for connection in self._idle:
                if connection.has_expired():
                    connection.close()
                else:
                    fresh.append(connection)
            # What was used last is the least likely to be closed by the server meanwhile.
            found = next((each for each in reversed(fresh) if each.can_handle_request(origin)), None)
            self._idle = [connection for connection in fresh if connection is not found]
        return found or self.create_connection(origin)

    def _give_back(self, connection: httpcore.ConnectionInterface) -> None:
        with self._lock:
            keep = connection.is_idle() and not self._closed
            if keep:
                self._idle.append(connection)
        if not keep:
            connection.close()


class _Body:
    """A response's body. Closing it gives the connection back; what was not read to its end cannot be used again."""

    def __init__(self, stream: Any, give_back: Callable[[], None]) -> None:
        self._stream = stream
        self._give_back = give_back
        self._open = True

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._stream)

    def close(self) -> None:
        if self._open:
            self._open = False
            self._stream.close()
            self._give_back()
