"""Answers to the server's own requests, sent one after another by a thread, so that no reading waits for them."""

import queue
import threading
from collections.abc import Callable
from typing import Any, Final

from protocol.mcp.elicitation import fill_in
from protocol.mcp.messages import INVALID_PARAMS, METHOD_NOT_FOUND, Request, answer_body, refusal_body

__all__ = ["Answerer", "answer"]

#: Answers that may wait to be sent. A server that asks faster than it takes answers gets no more of them.
_PENDING_LIMIT: Final = 64
ELICITATION: Final = "elicitation/create"


def answer(request: Request, *, elicitation: bool = False) -> bytes:
    """Return the message that answers a request of the server: `ping` with an empty result, all else with -32601.

    A server may ask for nothing else where no capability was declared (2025-11-25, basic/lifecycle). With
    ``elicitation`` that one was: a form is answered with its defaults, any other mode with -32602.
    """
    if request.method == "ping":
        return answer_body(request.id, {})
    if request.method != ELICITATION or not elicitation:
        answered = f"ping, {ELICITATION}" if elicitation else "ping"
        return refusal_body(request.id, METHOD_NOT_FOUND, f"This client answers {answered} and no other request")
    result = fill_in(request.params)
    if result is None:
        return refusal_body(request.id, INVALID_PARAMS, "This client answers form elicitations with a schema only")
    return answer_body(request.id, result)


class Answerer:
    """Sends answers by ``send``, which must not raise. The thread starts with the first request.

    ``elicitation``: that capability was declared, and forms are answered with their defaults.
    """

    def __init__(self, send: Callable[[bytes], None], *, elicitation: bool = False) -> None:
        self._send = send
        self._elicitation = elicitation
        self._queue: queue.Queue[bytes | None] = queue.Queue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._counts = {"ping": 0, "refused": 0, "dropped": 0} | ({"elicitation": 0} if elicitation else {})

    def take(self, request: Request) -> None:
        """Have a request answered. Never waits."""
        with self._lock:
            if self._closed or self._queue.qsize() >= _PENDING_LIMIT:
                self._counts["dropped"] += 1
                return
            kind = _KINDS.get(request.method, "refused")
            self._counts[kind if kind in self._counts else "refused"] += 1
            self._queue.put(answer(request, elicitation=self._elicitation))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="mcp-answers", daemon=True)
                self._thread.start()

    def facts(self) -> dict[str, Any]:
        """Return how many requests of each kind were answered, refused and dropped so far."""
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


_KINDS: Final = {"ping": "ping", ELICITATION: "elicitation"}
