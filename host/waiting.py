"""Waits until a server's TCP port takes connections: a server that has just been started is not a broken one."""

import contextlib
import socket
import time
from collections.abc import Callable
from typing import Final
from urllib.parse import urlsplit

from host.origins import origin
from protocol.failures import Code, Failure

__all__ = ["await_port"]

#: Seconds between two attempts, and the most that one of them waits for an answer.
PAUSE_SECONDS: Final = 0.1
ATTEMPT_SECONDS: Final = 2.0


def await_port(url: str, seconds: float, stopped: Callable[[], bool]) -> Failure | None:
    """Connect to the port of ``url``, and again, until it takes a connection; nothing is sent over it.

    Returns the failure (``unreachable``) when none is taken within ``seconds``, and None when ``stopped`` is true.
    """
    place = urlsplit(origin(url))
    until = time.monotonic() + seconds
    while not stopped():
        left = until - time.monotonic()
        if _listens(str(place.hostname), place.port or 0, min(ATTEMPT_SECONDS, max(left, PAUSE_SECONDS))):
            return None
        if time.monotonic() >= until:
            told = f"Nothing took a connection at {place.netloc} within the {seconds:g} seconds of `--wait`."
            return Failure(Code.UNREACHABLE, told)
        time.sleep(PAUSE_SECONDS)
    return None


def _listens(host: str, port: int, seconds: float) -> bool:
    with contextlib.suppress(OSError, ValueError), socket.create_connection((host, port), timeout=seconds):
        return True
    return False
