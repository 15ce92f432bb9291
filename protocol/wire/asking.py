"""The plugin's own requests to its host: each written once, then waited for until it is answered or given up."""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Final

from protocol.failures import Code, Failed
from protocol.values.document import integer
from protocol.wire.messages import METHOD_NOT_FOUND, Response, encode_request

__all__ = ["ASKING_SECONDS", "Asking"]

#: Seconds that a host may take for an answer: a browser has to start and a page has to come.
ASKING_SECONDS: Final = 60.0


class Asking:
    """Requests to the host, one at a time. ``write`` sends a line; :meth:`take` gets what the host answers."""

    def __init__(self, write: Callable[[bytes], None], seconds: float = ASKING_SECONDS) -> None:
        self._write = write
        self._seconds = seconds
        self._lock = threading.Lock()
        self._last = 0
        self._waiting: SimpleQueue[Response | None] | None = None

    def ask(self, method: str, params: dict[str, Any], stop: Callable[[], bool]) -> Any:
        """Send a request and return its result. ``stop`` is looked at once more before anything is sent.

        Raises Failed: the code that the host names, `browser_missing` when it does not know the method, `timeout`, or
        `cancelled` after :meth:`abandon`.
        """
        answer: SimpleQueue[Response | None] = SimpleQueue()
        with self._lock:
            self._last += 1
            identity = self._last
            self._waiting = answer
        try:
            if stop():
                raise Failed(Code.CANCELLED, f"It was cancelled before `{method}` was sent to the host.")
            self._write(encode_request(identity, method, params))
            response = answer.get(timeout=self._seconds)
        except Empty:
            raise Failed(Code.TIMEOUT, f"The host did not answer `{method}` within {self._seconds:g} s.") from None
        finally:
            with self._lock:
                self._waiting = None
        if response is None:
            raise Failed(Code.CANCELLED, f"It was cancelled while the host was asked for `{method}`.")
        if response.error is not None:
            raise _refused(method, response.error)
        return response.result

    def take(self, response: Response) -> bool:
        """Take a response of the host and tell whether it answers a request of ours; a late one is dropped."""
        with self._lock:
            ours = isinstance(response.id, int) and 0 < response.id <= self._last
            if self._waiting is not None and response.id == self._last:
                self._waiting.put(response)
        return ours

    def abandon(self) -> None:
        """From any thread: end the wait that is under way with `cancelled`."""
        with self._lock:
            if self._waiting is not None:
                self._waiting.put(None)


def _refused(method: str, error: dict[str, Any]) -> Failed:
    data, message = error.get("data"), error.get("message")
    named = data.get("code") if isinstance(data, dict) else None
    known = {str(code): code for code in Code}
    said = message if isinstance(message, str) else "it does not say why"
    if isinstance(named, str) and named in known:
        return Failed(known[named], said)
    if integer(error.get("code")) == METHOD_NOT_FOUND:
        return Failed(Code.BROWSER_MISSING, f"The host does not know `{method}`: it has no browser for a consent page.")
    return Failed(Code.INTERNAL, f"The host refused `{method}`: {said}")
