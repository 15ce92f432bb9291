"""Answers to the server's own requests, sent one after another by a thread, so that no reading waits for them."""

import queue
import threading
from collections.abc import Callable
from typing import Any, Final

from protocol.mcp.messages import METHOD_NOT_FOUND, Request, answer_body, refusal_body

__all__ = ["Answerer", "answer"]

#: Answers that may wait to be sent. A server that asks faster than it takes answers gets no more of them.
_PENDING_LIMIT: Final = 64


def answer(request: Request) -> bytes:
    """Return the message that answers a request of the server: `ping` with an empty result, all else with -32601.

    This client declares no capabilities, so a server may ask for nothing else (2025-11-25, basic/lifecycle).
    """
    if request.method == "ping":
        return answer_body(request.id, {})
    return refusal_body(request.id, METHOD_NOT_FOUND, "This client answers ping and no other request")


class Answerer:
    """Sends answers by ``send``, which must not raise. The thread starts with the first request."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        self._send = send
        self._queue: queue.Queue[bytes | None] = queue.Queue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._counts = {"ping": 0, "refused": 0, "dropped": 0}

    def take(self, request: Request) -> None:
        """Have a request answered. Never waits."""
        with self._lock:
            if self._closed or self._queue.qsize() >= _PENDING_LIMIT:
                self._counts["dropped"] += 1
                return
            self._counts["ping" if request.method == "ping" else "refused"] += 1
            self._queue.put(answer(request))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="mcp-answers", daemon=True)
                self._thread.start()

    def facts(self) -> dict[str, Any]:
        """Return how many requests were answered, refused and dropped so far."""
        with self._lock:
            return dict(self._counts)

    def close(self, timeout: float) -> bool:
        """Take no more and wait for the thread, at most ``timeout`` seconds; interrupt ``send`` first.

        Tells whether it ended.
        """
        with self._lock:
            self._closed = True
            self._queue.put(None)
            thread = self._thread
        if thread is not None:
            thread.join(timeout)
        return thread is None or not thread.is_alive()

    def _run(self) -> None:
        while (body := self._queue.get()) is not None and not self._closed:
            self._send(body)
