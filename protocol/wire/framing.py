"""Bytes to lines and back: bounded, resynchronising, without I/O (in the manner of h11)."""

from typing import Final, NamedTuple

__all__ = ["HOST_LINE_LIMIT", "PLUGIN_LINE_LIMIT", "LineReader", "TooLong"]

#: Longest line from host to plugin, in bytes: bindings of at most 1 MiB, arguments of a step, room for escapes.
HOST_LINE_LIMIT: Final = 16 * 1024 * 1024
#: Longest line from plugin to host, in bytes: a step result is at most 31 MiB, and its envelope is small.
PLUGIN_LINE_LIMIT: Final = 32 * 1024 * 1024


class TooLong(NamedTuple):
    """Stands for a line that passed the limit; ``size`` counts its bytes without the newline."""

    size: int


class LineReader:
    """Collects bytes and gives whole lines, without their newline.

    A line longer than ``limit`` bytes is dropped as it arrives, never held, and reported once as :class:`TooLong`
    when its newline comes: the reader is then in step again.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes | TooLong]:
        """Take what arrived and return the lines that it completes, in order."""
        *ended, rest = data.split(b"\n")
        lines = []
        for piece in ended:
            self._hold(piece)
            lines.append(self._take())
        self._hold(rest)
        return lines

    def finish(self) -> list[bytes | TooLong]:
        """Return what the end of input leaves: an unterminated last line counts as a line, nothing does not."""
        return [self._take()] if self._size else []

    def _hold(self, piece: bytes) -> None:
        if not piece:
            return
        self._size += len(piece)
        if self._size > self._limit:
            self._parts.clear()
        else:
            self._parts.append(piece)

    def _take(self) -> bytes | TooLong:
        line = TooLong(self._size) if self._size > self._limit else b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        return line
