"""The text of one file, and where each character of a piece that was taken out of it stands."""

from bisect import bisect_right
from typing import NamedTuple

from host.problems import LINE_END, Problem

__all__ = ["Located", "Source"]


class Source:
    """A file's text with its lines. Offsets count characters from 0; lines and columns count from 1."""

    __slots__ = ("_starts", "file", "text")

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self._starts = [0, *(found.end() for found in LINE_END.finditer(text))]

    @property
    def lines(self) -> list[str]:
        """The lines without their ends; a text that ends with a line end has an empty last one."""
        return LINE_END.split(self.text)

    def start(self, line: int) -> int:
        """Return the offset of the first character of ``line``; past the last line, the end of the text."""
        return self._starts[line - 1] if line <= len(self._starts) else len(self.text)

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def problem(self, start: int, end: int, message: str, advice: str) -> Problem:
        """Make a problem of the characters from ``start`` up to ``end``, on the line of the first one."""
        line, column = self.place(start)
        width = max(1, min(end, self.start(line + 1)) - start)
        return Problem(line, column, width, message, advice)


class Located(NamedTuple):
    """A text taken out of a file in runs: ``starts[i]`` is where run i begins in it, ``offsets[i]`` in the file.

    Both lists are ascending and begin with the first character; a text without runs is empty.
    """

    text: str
    starts: tuple[int, ...]
    offsets: tuple[int, ...]

    def offset(self, index: int) -> int:
        """Return where the character at ``index`` stands in the file; ``len(text)`` is the place after the last one."""
        run = bisect_right(self.starts, index) - 1
        return self.offsets[run] + index - self.starts[run]

    def slice(self, start: int, end: int) -> "Located":
        """Return the characters from ``start`` up to ``end``, which stand where they stood."""
        first, last = bisect_right(self.starts, start) - 1, bisect_right(self.starts, end)
        starts = (0, *(each - start for each in self.starts[first + 1 : last]))
        offsets = (self.offset(start), *self.offsets[first + 1 : last])
        return Located(self.text[start:end], starts, offsets)

    def decoded(self, value: str, anchors: list[tuple[int, int]]) -> "Located":
        """Return a value read out of this text; each anchor pairs an index in it with the index here."""
        return Located(value, tuple(index for index, _ in anchors), tuple(self.offset(here) for _, here in anchors))
