"""What a plugin says: lines in on the reading thread, events out for the one thread that asks and waits."""

from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple, TypeAlias

from protocol.values.document import integer
from protocol.wire.framing import TooLong
from protocol.wire.messages import Malformed, Notification, Request, Response, decode

__all__ = ["ENDED", "Event", "Gone", "Inbox", "Progress", "Wake"]

#: The reason of :class:`Gone` when nothing more can come.
ENDED: Final = "closed its output"


class Progress(NamedTuple):
    """How far a running step is, in ``unit`` (pages, items, bytes); ``total`` is None when unknown."""

    done: int
    total: int | None
    unit: str


class Gone(NamedTuple):
    """The plugin can no longer be talked to; ``reason`` continues a sentence about it."""

    reason: str


class Wake(NamedTuple):
    """Something outside of the wire happened; whoever waits looks again."""


Event: TypeAlias = Response | Request | Gone | Wake


class Inbox:
    """Sorts messages: responses and requests are for who waits; notifications go to the callbacks, at once.

    So what a plugin learnt is known before a reply that follows can be looked at. ``on_gone`` is called when a browser
    says that its consent page is gone, and when nothing more can come. Callbacks are called on the reading thread.
    """

    def __init__(
        self,
        on_learnt: Callable[[list[str]], None],
        on_progress: Callable[[Progress], None],
        on_gone: Callable[[], None] = lambda: None,
    ) -> None:
        self._on_learnt = on_learnt
        self._on_progress = on_progress
        self._on_gone = on_gone
        self._events: SimpleQueue[Event] = SimpleQueue()

    def get(self, seconds: float) -> Event | None:
        """Return the next event, or None when none came within ``seconds``."""
        try:
            return self._events.get(timeout=seconds) if seconds > 0 else self._events.get_nowait()
        except Empty:
            return None

    def wake(self) -> None:
        """Wake whoever waits. Safe in a signal handler."""
        self._events.put(Wake())

    def receive(self, line: bytes | TooLong | None) -> None:
        """Take one line, or None at the end of the output."""
        if line is None:
            self._events.put(Gone(ENDED))
            self._on_gone()
        elif isinstance(line, TooLong):
            self._events.put(Gone(f"wrote a line of {line.size} bytes, which passes the limit"))
        else:
            self._sort(decode(line))

    def _sort(self, message: Request | Notification | Response | Malformed) -> None:
        match message:
            case Response() | Request():
                self._events.put(message)
            case Notification(method="secrets/learnt", params={"values": list(values)}) if _texts(values):
                self._on_learnt(values)
            case Notification(method="secrets/learnt"):
                self._events.put(Gone("announced learnt secrets outside the protocol"))
            case Notification(method="progress", params=params):
                self._on_progress(_progress(params))
            case Notification(method="consent/gone"):
                self._on_gone()
            case Malformed():
                self._events.put(Gone(f"wrote a line that is no message ({message.message})"))


def _texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _progress(params: dict[str, Any]) -> Progress:
    unit = params.get("unit")
    done, total = integer(params.get("done")), integer(params.get("total"))
    return Progress(done or 0, total, unit if isinstance(unit, str) else "")
