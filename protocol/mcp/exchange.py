"""One POST and what comes back: reads a JSON or SSE reply to its end and has it judged."""

from collections.abc import Callable
from typing import Any, Final

from protocol.failures import Code, Failed, Failure
from protocol.mcp import challenge
from protocol.mcp.attempts import Attempt
from protocol.mcp.channel import Channel
from protocol.mcp.http import Opened
from protocol.mcp.messages import Malformed, Message, Notification, Request, Response, is_idle_notification, read
from protocol.mcp.replies import EVENT_STREAM, JSON, Asked, Outcome, Reply, judge
from protocol.mcp.resuming import Resume, may_resume, take_up
from protocol.mcp.sse import SseDecoder, SseError
from protocol.values.document import integer

__all__ = ["LINGER", "ask", "drain", "notify", "unanswered"]

#: Seconds that a stream is read on after our response came, so that a second one is seen.
LINGER: Final = 0.25
#: Bytes of a reply that nobody reads, up to which its connection is kept rather than closed.
_DRAIN_LIMIT: Final = 64 * 1024

Heard = Callable[[Request | Notification], None]


def ask(
    channel: Channel,
    asked: Asked,
    body: bytes,
    attempt: Attempt,
    limit: int,
    heard: Heard,
    on_head: Callable[[Opened], None] | None = None,
    *,
    resume: bool = False,
) -> Outcome:
    """Send a request, once, and return its outcome.

    ``limit`` bounds the reply in bytes. ``heard`` is called with the requests and notifications of the server that come
    before the response, ``on_head`` once the head of the response is there. With ``resume`` an event stream that the
    server ended early is taken up once, where the revision has that. Raises nothing of the network's.
    """
    try:
        opened = channel.send("POST", body, attempt)
    except Failed as error:
        return unanswered(asked.method, error.failure, attempt)
    try:
        if on_head is not None:
            on_head(opened)
        reading = _Reading(asked, opened, attempt, limit, heard)
        if resume and asked.revision is not None and asked.revision.resumes:
            reading.resume = channel.resume
        return judge(asked, reading.reply())
    finally:
        opened.close()


def notify(channel: Channel, asked: Asked, body: bytes, attempt: Attempt, limit: int) -> Outcome | None:
    """Send a notification, once. Returns None when the server took it (2xx), else the outcome that says why not."""
    try:
        opened = channel.send("POST", body, attempt)
    except Failed as error:
        return unanswered(asked.method, error.failure, attempt)
    try:
        if opened.status < 300:
            drain(opened, attempt)
            return None
        return judge(asked, _Reading(asked, opened, attempt, limit, lambda _: None).reply())
    finally:
        opened.close()


def drain(opened: Opened, attempt: Attempt) -> None:
    """Read a reply that nobody needs, if that is quickly done, so that its connection can be used again."""
    if opened.media_type == EVENT_STREAM:
        return
    attempt.shorten(LINGER)
    try:
        for _ in opened.chunks(_DRAIN_LIMIT):
            pass
    except Failed:
        return


def unanswered(method: str, failure: Failure, attempt: Attempt) -> Outcome:
    """Return the outcome of a request that no response came to: lost when a byte of it may have left, else unsent."""
    http = {"status": None, "milliseconds": attempt.milliseconds()}
    text = f"No reply to {method}. {failure.message}"
    return Outcome("lost" if attempt.sent else "unsent", failure.code, text, None, b"", http, attempt.sent)


class _Reading:
    """The reading of one response."""

    def __init__(self, asked: Asked, opened: Opened, attempt: Attempt, limit: int, heard: Heard) -> None:
        self._asked = asked
        self._opened = opened
        self._attempt = attempt
        self._limit = limit
        self._heard = heard
        self._type = opened.media_type
        self._messages: list[Message] = []
        self._batch = False
        self._answered = False
        self._over = False
        self._size = 0
        self._events = 0
        self._counts: dict[str, int] = {}
        self._kept: list[bytes] = []
        self._resumed: dict[str, Any] | None = None
        #: Takes up an event stream after the event of that id; None where it may not be taken up.
        self.resume: Resume | None = None

    def reply(self) -> Reply:
        """Read what the status and the type make worth reading."""
        trouble = None
        try:
            if self._type == EVENT_STREAM:
                self._read_stream()
            elif self._type == JSON or self._opened.status >= 400:
                self._read_body()
        except Failed as error:
            trouble = error.failure
        except SseError as error:
            code = Code.RESPONSE_TOO_LARGE if error.too_large else Code.PROTOCOL_ERROR
            trouble = Failure(code, f"The reply cannot be read: {error.reason}.")
        return Reply(
            status=self._opened.status,
            type=self._type,
            messages=tuple(self._messages),
            batch=self._batch,
            text=str(b"".join(self._kept), "utf-8", "replace") if self._opened.status >= 300 else "",
            location=self._opened.field(b"location"),
            trouble=trouble,
            http=self._facts(trouble),
        )

    def _read_body(self) -> None:
        for chunk in self._opened.chunks(self._limit):
            self._size += len(chunk)
            self._kept.append(chunk)
        if self._type == JSON:
            self._take(b"".join(self._kept))

    def _read_stream(self) -> None:
        decoder = self._read_events(self._opened)
        if self.resume is None or self._answered or self._over or not may_resume(decoder, self._opened.status):
            return
        assert decoder.retry is not None
        self._resumed = {"after": decoder.retry}
        opened = take_up(self.resume, decoder.last_id, decoder.retry / 1000, self._attempt)
        try:
            self._resumed |= {"status": opened.status, "contentType": opened.field(b"content-type")}
            if opened.status != 200 or opened.media_type != EVENT_STREAM:
                text = f"The event stream ended early, and the server answered HTTP {opened.status} to taking it up."
                raise Failed(Code.REPLY_LOST, text)
            self._read_events(opened)
        finally:
            opened.close()

    def _read_events(self, opened: Opened) -> SseDecoder:
        decoder = SseDecoder(self._limit)
        for chunk in opened.chunks(self._limit):
            self._size += len(chunk)
            if self._opened.status >= 300:
                self._kept.append(chunk)
            for event in decoder.feed(chunk):
                self._events += 1
                # Other names are not MCP's; an empty event opens a stream that can be resumed (2025-11-25).
                if event.name == "message" and event.data:
                    self._take_event(event.data)
            if self._over:
                break
            if self._answered:
                self._attempt.shorten(LINGER)
        return decoder

    def _take_event(self, text: bytes) -> None:
        if is_idle_notification(text):
            self._count("notifications")
        else:
            self._take(text)

    def _take(self, text: bytes) -> None:
        reading = read(text)
        self._batch = self._batch or reading.batch
        for message in reading.messages:
            if isinstance(message, Request | Notification):
                self._count("requests" if isinstance(message, Request) else "notifications")
                self._heard(message)
                continue
            if isinstance(message, Malformed):
                self._count("malformed")
                self._over = self._over or (message.anonymous and not self._answered)
            else:
                self._over = self._over or not self._is_first(message)
            # What came after the response and is no response changes nothing.
            if isinstance(message, Response) or not self._answered:
                self._messages.append(message)

    def _is_first(self, response: Response) -> bool:
        """Note a response. Tells whether it is ours and the only one; else nothing that follows could mend it."""
        ours = integer(response.id) == self._asked.id
        first = ours and not self._answered
        self._answered = self._answered or ours
        return first

    def _count(self, what: str) -> None:
        self._counts[what] = self._counts.get(what, 0) + 1

    def _facts(self, trouble: Failure | None) -> dict[str, Any]:
        opened = self._opened
        facts: dict[str, Any] = {
            "status": opened.status,
            "contentType": opened.field(b"content-type"),
            "reply": {JSON: "json", EVENT_STREAM: "sse"}.get(self._type),
            "bytes": self._size,
            "events": self._events,
            "challenge": challenge.facts(challenge.parse_challenges(opened.fields(b"www-authenticate"))),
            "location": opened.field(b"location"),
            "milliseconds": self._attempt.milliseconds(),
            **self._counts,
        }
        if self._resumed is not None:
            facts["resumed"] = self._resumed
        if trouble is not None:
            facts["ended"] = str(trouble.code)
        return facts
