"""The GET stream of a session: opened once on a thread of its own, read until it or the session ends."""

import threading
from typing import Any

from protocol.failures import Failed
from protocol.mcp.attempts import Attempt, Interrupt
from protocol.mcp.channel import Channel
from protocol.mcp.exchange import Heard
from protocol.mcp.http import Opened
from protocol.mcp.messages import Notification, Request, read
from protocol.mcp.replies import EVENT_STREAM
from protocol.mcp.sse import SseDecoder, SseError

__all__ = ["GetStream"]


class GetStream:
    """Listens for requests and notifications of the server outside of any reply.

    A server without such a stream answers 405 (or 404, 406, 400); that, an endless silence, and whatever else goes
    wrong here are recorded and never the failure of a command. It has no deadline; ``limit`` bounds its bytes, after
    which nobody listens any more. It is not opened again.
    """

    def __init__(self, channel: Channel, interrupt: Interrupt, limit: int, heard: Heard) -> None:
        self._channel = channel
        self._interrupt = interrupt
        self._limit = limit
        self._heard = heard
        self._lock = threading.Lock()
        self._facts: dict[str, Any] = {"state": "opening", "status": None, "contentType": None}
        self._counts = {"events": 0, "requests": 0, "notifications": 0, "malformed": 0}
        self._thread = threading.Thread(target=self._run, name="mcp-stream", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def join(self, timeout: float) -> bool:
        """Wait for the thread, at most ``timeout`` seconds; set the interrupt first. Tells whether it ended."""
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def facts(self) -> dict[str, Any]:
        """Return what the stream has come to so far.

        ``state`` is ``opening``, ``open``, ``refused`` (another status or type), ``ended`` (by the server), ``failed``
        (with its ``code``) or ``stopped`` (by us). Counted are events, requests, notifications and malformed messages.
        """
        with self._lock:
            return {**self._facts, **self._counts}

    def _note(self, **facts: Any) -> None:
        with self._lock:
            self._facts.update(facts)

    def _run(self) -> None:
        try:
            opened = self._channel.send("GET", None, Attempt(self._interrupt, None))
        except Failed as error:
            self._fail(error)
            return
        try:
            self._note(status=opened.status, contentType=opened.field(b"content-type"))
            if opened.status != 200 or opened.media_type != EVENT_STREAM:
                self._note(state="refused")
                return
            self._note(state="open")
            self._listen(opened)
            self._note(state="ended")
        except SseError:
            self._note(state="failed", code="protocol_error")
        except Failed as error:
            self._fail(error)
        finally:
            opened.close()

    def _fail(self, error: Failed) -> None:
        if self._interrupt.is_set:
            self._note(state="stopped")
        else:
            self._note(state="failed", code=str(error.code))

    def _listen(self, opened: Opened) -> None:
        decoder = SseDecoder(self._limit)
        for chunk in opened.chunks(self._limit):
            for event in decoder.feed(chunk):
                self._count("events")
                if event.name == "message" and event.data:
                    self._take(event.data)

    def _take(self, text: bytes) -> None:
        for message in read(text).messages:
            if isinstance(message, Request | Notification):
                self._count("requests" if isinstance(message, Request) else "notifications")
                self._heard(message)
            else:
                self._count("malformed")  # a response belongs here only when a stream is resumed, which is never done

    def _count(self, what: str) -> None:
        with self._lock:
            self._counts[what] += 1
