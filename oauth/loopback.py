"""The loopback listener: waits on 127.0.0.1 for one callback of a browser, and is gone once that is settled."""

import contextlib
import os
import selectors
import socket
import threading
import time
from collections.abc import Callable
from typing import Final

from oauth.visit import HEAD_LIMIT, Answer, answer, door, read_visit
from protocol.failures import Code, Failed

__all__ = ["Listener"]

#: Seconds until :meth:`Listener.expire` is called, at most: a registration and a host that opens a page have 60 each.
OPENING: Final = 180.0
#: Seconds that one connection may take for its request. Browsers open some that they never use.
_VISIT: Final = 10.0
#: Connections at once. A browser opens two or three.
_VISITS: Final = 32
_END: Final = b"\r\n\r\n"


class Listener:
    """Listens from its construction on, in a thread of its own, until :meth:`expire` says; at most OPENING without it.

    One path and one use: the first visit that :func:`oauth.visit.answer` takes for the callback is kept for
    :meth:`wait`. Methods may be called from any thread. Raises Failed (`invalid_binding`) when the port is taken.
    ``clock`` tells the seconds.
    """

    def __init__(self, host: str, port: int, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends = clock() + OPENING
        self._socket = _bind(port)
        self.port: int = self._socket.getsockname()[1]
        self._door = door(host, self.port, path)
        self._query: str | None = None
        self._settled = threading.Event()
        self._closing: float | None = None
        self._ended = False
        self._done = False
        self._visits: dict[socket.socket, _Visit] = {}
        self._wake_reader, self._wake_writer = os.pipe()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._selector.register(self._wake_reader, selectors.EVENT_READ)
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="oauth callback", daemon=True)
        self._thread.start()

    def expire(self, seconds: float) -> None:
        """Let it be gone by itself that many seconds from now. The last call counts."""
        with self._lock:
            self._ends = self._clock() + seconds
            self._wake()

    def wait(self) -> str | None:
        """Wait for the callback and return its query; None when the time is over, or it was closed meanwhile."""
        self._settled.wait()
        return self._query

    def close(self, grace: float) -> None:
        """Stop listening and wait until nothing is left.

        After a callback whose last page was not fetched yet, the browser has ``grace`` seconds to do so.
        """
        with self._lock:
            if self._closing is None or self._clock() + grace < self._closing:
                self._closing = self._clock() + grace
                self._wake()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _wake(self) -> None:
        """Have the thread look at the clock again. The lock is held."""
        if not self._ended:
            os.write(self._wake_writer, b"!")

    def _run(self) -> None:
        try:
            while (left := self._left()) > 0:
                for key, _ in self._selector.select(left):
                    self._ready(key.fileobj)
                self._drop_late()
        finally:
            self._settled.set()
            self._release()

    def _left(self) -> float:
        """Return the seconds until there is something to do by the clock alone; 0 when it is time to go."""
        now = self._clock()
        with self._lock:
            closing, ends = self._closing, self._ends
        if closing is not None:
            if self._query is None or self._done:
                return 0
            ends = min(ends, closing)
        if not self._visits:
            return ends - now
        return min(ends - now, max(min(visit.ends for visit in self._visits.values()) - now, 0.001))

    def _ready(self, source: object) -> None:
        if source is self._socket:
            self._accept()
        elif isinstance(source, socket.socket):
            self._read(source)
        else:
            os.read(self._wake_reader, 64)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the browser went away before it was let in
            visitor, _ = self._socket.accept()
            if len(self._visits) >= _VISITS:
                visitor.close()
                return
            visitor.setblocking(False)
            self._visits[visitor] = _Visit(self._clock() + _VISIT)
            self._selector.register(visitor, selectors.EVENT_READ)

    def _read(self, visitor: socket.socket) -> None:
        visit = self._visits[visitor]
        try:
            data = visitor.recv(HEAD_LIMIT)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        visit.head += data
        end = visit.head.find(_END)
        if end >= 0:
            self._answer(visitor, bytes(visit.head[:end]))
        elif not data or len(visit.head) > HEAD_LIMIT:
            self._drop(visitor)

    def _answer(self, visitor: socket.socket, head: bytes) -> None:
        given: Answer = answer(read_visit(head), self._door, used=self._query is not None)
        if given.query is not None:
            self._query = given.query
        # A fresh socket's buffer takes the few hundred bytes at once; a visitor who will not read gets no second try.
        with contextlib.suppress(OSError):
            visitor.send(given.response)
            visitor.shutdown(socket.SHUT_WR)
        self._drop(visitor)
        self._done = self._done or given.done
        if self._query is not None:
            self._settled.set()

    def _drop_late(self) -> None:
        now = self._clock()
        for visitor in [visitor for visitor, visit in self._visits.items() if visit.ends <= now]:
            self._drop(visitor)

    def _drop(self, visitor: socket.socket) -> None:
        del self._visits[visitor]
        self._selector.unregister(visitor)
        visitor.close()

    def _release(self) -> None:
        for visitor in list(self._visits):
            self._drop(visitor)
        self._selector.close()
        self._socket.close()
        with self._lock:
            os.close(self._wake_reader)
            os.close(self._wake_writer)
            self._ended = True


class _Visit:
    """A connection whose request has not come in whole yet."""

    def __init__(self, ends: float) -> None:
        self.head = bytearray()
        self.ends = ends


def _bind(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        # Lets a second sign-in have the port while connections of the first one fade; it takes it from nobody.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(64)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        reason = error.strerror or "it cannot be had"
        text = f"The callback's port {port} on 127.0.0.1 is not to be had: {reason}. Choose another `callbackPort`."
        raise Failed(Code.INVALID_BINDING, text) from None
    return listening
