"""Ends sessions that no step has ended, side by side: each takes as long as its server does."""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imports the HTTP stack, which is there as soon as there is a connection
    from protocol.mcp.connection import Connection

__all__ = ["end_all"]


def end_all(connections: "Sequence[Connection]") -> None:
    """Send each connection's one DELETE, all at once, and wait for the outcomes: 1.5 seconds at most."""
    threads = [threading.Thread(target=_end, args=(connection,), daemon=True) for connection in connections]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _end(connection: "Connection") -> None:
    connection.end()
