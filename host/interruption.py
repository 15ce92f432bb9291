"""The user's wish to stop: once ends what runs and cleans up, twice ends everything at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["Interruption", "listening"]

#: Signals that mean "stop": Ctrl-C, what a CI runner sends to a job that it cancels, and a terminal that is closed.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interruption:
    """Counts how often the user asked to stop. Listeners are called with the count, in a signal handler.

    They are added and removed by any thread; the handler takes no lock, for it may interrupt who holds it.
    """

    def __init__(self) -> None:
        self.level = 0
        self._lock = threading.Lock()
        self._listeners: tuple[Callable[[int], None], ...] = ()

    def add(self, listener: Callable[[int], None]) -> None:
        """Have ``listener`` called at each further request. It must not block, lock or raise."""
        with self._lock:
            self._listeners = (*self._listeners, listener)

    def remove(self, listener: Callable[[int], None]) -> None:
        with self._lock:
            self._listeners = tuple(other for other in self._listeners if other != listener)

    def request(self) -> None:
        """Ask to stop once more."""
        self.level += 1
        for listener in self._listeners:
            listener(self.level)


@contextmanager
def listening(interruption: Interruption) -> Iterator[None]:
    """Turn Ctrl-C, SIGTERM and SIGHUP into requests. A third one raises KeyboardInterrupt wherever the program is.

    A SIGHUP that is ignored stays so: `nohup` asked for it.
    """

    def handle(_number: int, _frame: FrameType | None) -> None:
        interruption.request()
        if interruption.level > 2:
            raise KeyboardInterrupt

    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    numbers = [number for number in _SIGNALS if not (ignored and number is signal.SIGHUP)]
    before = [(number, signal.signal(number, handle)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
