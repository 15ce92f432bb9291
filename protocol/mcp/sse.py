"""Server-sent events from bytes, as the WHATWG HTML standard reads them (section 9.2.6), bounded and in linear time."""

from typing import Final, NamedTuple

__all__ = ["Event", "SseDecoder", "SseError"]

_BOM: Final = b"\xef\xbb\xbf"
#: Digits of a `retry` field that are taken: more than a day in milliseconds, and far from any limit of int().
_RETRY_DIGITS: Final = 9


class SseError(ValueError):
    """The stream cannot be read on. ``reason`` quotes nothing of it; ``too_large`` when an event passed the limit."""

    def __init__(self, reason: str, *, too_large: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.too_large = too_large


class Event(NamedTuple):
    """A dispatched event. ``name`` is ``message`` unless the stream named it; ``data`` is valid UTF-8.

    ``id`` is the stream's last event id so far, which earlier events may have set; ``retry`` (milliseconds) is what
    this event's own block said, None when it said nothing.
    """

    name: str
    data: bytes
    id: str
    retry: int | None


class SseDecoder:
    """Takes the bytes of one event stream in any pieces and gives its events.

    ``limit`` bounds the bytes of one event (the line being read included). Unlike the standard, which decodes with
    replacement characters, invalid UTF-8 in a field that is used ends the reading: data is about to be parsed strictly.
    Blocks without a data field (``id:`` or ``retry:`` alone) are not dispatched; what they set stays in ``last_id`` and
    ``retry``. A block that the stream leaves unfinished is discarded, so there is nothing to do at its end.
    """

    def __init__(self, limit: int) -> None:
        self.last_id = ""
        self.retry: int | None = None
        self._limit = limit
        self._start: bytes | None = b""  # up to three bytes, until it is known whether a BOM begins the stream
        self._after_cr = False
        self._pending: list[bytes] = []
        self._held = 0
        self._name = b""
        self._data: list[bytes] = []
        self._own_retry: int | None = None

    def feed(self, chunk: bytes) -> list[Event]:
        """Take bytes and return the events that they complete. Raises SseError; nothing may be fed after that."""
        if self._start is not None:
            chunk = self._skip_bom(chunk)
        if self._after_cr and chunk:
            # The line ended at the CR already, and a CRLF is one line end.
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        lines = chunk.splitlines()
        rest = b"" if chunk[-1] in b"\r\n" else lines.pop()
        events: list[Event] = []
        for line in lines:
            if self._pending:
                line = b"".join((*self._pending, line))
                self._held -= sum(map(len, self._pending))
                self._pending.clear()
            if line:
                self._field(line)
            elif (event := self._dispatch()) is not None:
                events.append(event)
        if rest:
            self._hold(len(rest))
            self._pending.append(rest)
        return events

    def _skip_bom(self, chunk: bytes) -> bytes:
        start = (self._start or b"") + chunk
        if len(start) < len(_BOM) and _BOM.startswith(start):
            self._start = start
            return b""
        self._start = None
        return start.removeprefix(_BOM)

    def _hold(self, size: int) -> None:
        self._held += size
        if self._held > self._limit:
            raise SseError(f"an event passes {self._limit} bytes", too_large=True)

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._hold(len(value) + 1)
            self._data.append(value)
        elif name == b"event":
            self._name = value
        elif name == b"id":
            if b"\0" not in value:
                self.last_id = _text(value)
        elif name == b"retry" and value.isdigit():
            self.retry = self._own_retry = int(value[:_RETRY_DIGITS])

    def _dispatch(self) -> Event | None:
        name, lines, retry = self._name, self._data, self._own_retry
        self._name, self._data, self._own_retry, self._held = b"", [], None, 0
        if not lines:
            return None
        data = lines[0] if len(lines) == 1 else b"\n".join(lines)
        if not data.isascii():
            _text(data)
        return Event(_text(name) if name else "message", data, self.last_id, retry)


def _text(value: bytes) -> str:
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError:
        raise SseError("the event stream is not UTF-8") from None
