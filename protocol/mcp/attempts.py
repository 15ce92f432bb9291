"""One request on its way: an absolute deadline, a flag that interrupts it from another thread, and how far it came."""

import os
import select
import threading
import time
from typing import Any, Final, Literal, TypeAlias

__all__ = ["Attempt", "Interrupt", "Late", "Stage"]

Stage: TypeAlias = Literal["connect", "tls", "sent"]

#: Longest single wait of poll(), in milliseconds: it takes a C int, and a deadline is at most ten minutes.
_POLL_LIMIT: Final = 3_600_000


class Late(Exception):
    """The deadline has passed, or the attempt was interrupted. Its own class: an OSError may be a kernel's timeout."""


class Interrupt:
    """A flag that other threads may set, and that every wait on the network looks at. Close it when done."""

    def __init__(self) -> None:
        self.is_set = False
        self._lock = threading.Lock()
        self._closed = False
        self._reader, self._writer = os.pipe()

    def set(self) -> None:
        """End all waits, now and later, until :meth:`clear`."""
        with self._lock:
            if not self.is_set:
                os.write(self._writer, b"!")
            self.is_set = True

    def clear(self) -> None:
        """Let later attempts wait again. Without effect once closed."""
        with self._lock:
            if self.is_set and not self._closed:
                os.read(self._reader, 1)
                self.is_set = False

    def close(self) -> None:
        """Set it for good and give its descriptors back. No thread may be waiting with it any more."""
        with self._lock:
            if not self._closed:
                os.close(self._reader)
                os.close(self._writer)
            self._closed = self.is_set = True

    def fileno(self) -> int:
        return self._reader


class Attempt:
    """One request on its way. httpx hands it through to the sockets as the request's timeout.

    ``ends`` is in seconds of ``time.monotonic``, None without a deadline; ``allowed`` says the timeout in words.
    ``sent``: a byte of the request may have left. ``ended``: the server closed its side. ``stage``: how far it came.
    ``network`` says how the connection was made, if this attempt made one: see :mod:`protocol.mcp.network`.
    """

    __slots__ = ("allowed", "ended", "ends", "interrupt", "network", "sent", "stage", "started")

    def __init__(self, interrupt: Interrupt, timeout: float | None) -> None:
        self.started = time.monotonic()
        self.ends = None if timeout is None else self.started + timeout
        self.allowed = "no limit" if timeout is None else f"{timeout:g} s"
        self.interrupt = interrupt
        self.stage: Stage = "connect"
        self.sent = False
        self.ended = False
        self.network: dict[str, Any] = {}

    def shorten(self, timeout: float) -> None:
        """Let the deadline be at most ``timeout`` seconds from now."""
        ends = time.monotonic() + timeout
        self.ends = ends if self.ends is None else min(self.ends, ends)

    def left(self) -> float | None:
        """Return the seconds left, None without a deadline. Raises Late when none are left, or when interrupted."""
        if self.interrupt.is_set:
            raise Late("it was cancelled")
        if self.ends is None:
            return None
        left = self.ends - time.monotonic()
        if left <= 0:
            raise Late("the deadline has passed")
        return left

    def wait(self, descriptor: int, event: int, share: float | None = None) -> bool:
        """Wait until the descriptor is ready for the poll event, at most ``share`` seconds. Raises Late.

        Returns whether it is ready; without a share, it is.
        """
        poll = select.poll()
        poll.register(self.interrupt.fileno(), select.POLLIN)
        poll.register(descriptor, event)
        until = None if share is None else time.monotonic() + share
        while True:
            left = self.left()
            if until is not None:
                left = max(until - time.monotonic(), 0)
            # One millisecond more, for poll() rounds down and would be asked again at once.
            ready = poll.poll(_POLL_LIMIT if left is None else min(int(left * 1000) + 1, _POLL_LIMIT))
            if any(found == descriptor for found, _ in ready):
                return True
            if left == 0:
                return False

    def pause(self, seconds: float) -> None:
        """Let time pass. Raises Late: at once when the deadline comes first, as soon as it is interrupted else."""
        left = self.left()
        if left is not None and left < seconds:
            raise Late("the deadline comes first")
        until = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self.interrupt.fileno(), select.POLLIN)
        while (rest := until - time.monotonic()) > 0:
            poll.poll(min(int(rest * 1000) + 1, _POLL_LIMIT))
            self.left()

    def milliseconds(self) -> int:
        """Return the milliseconds since the attempt began."""
        return round((time.monotonic() - self.started) * 1000)
