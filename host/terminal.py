"""What people see, on the right stream: results, progress and problems."""

import contextlib
import os
import shutil
import sys
import threading
from typing import ClassVar, Final, TextIO

from host.visible import block, legible, line
from protocol.failures import Code, Failed

__all__ = ["LiveLine", "Terminal", "block", "line", "open_streams", "standard_input"]

_COLOURS: Final = {
    "succeeded": "32",
    "failed": "31",
    "refused": "31",
    "error": "31",
    "unknown": "33",
    "interrupted": "33",
    "skipped": "2",
    "prose": "2",
    "heading": "1",
}


class Terminal:
    """Standard output for results and standard error for progress and problems, each written to by one method.

    Callers escape what is not theirs with :func:`line` or :func:`block`. Colour only where the stream is a terminal and
    NO_COLOR is unset. A reader that closes the stream early (`| head`) is no failure: the rest is dropped. So it is
    when a stream cannot be written to (a full disk), which stops nothing that is under way: :meth:`close` tells it.
    """

    #: Why standard output did not take something, whichever terminal wrote it.
    _untaken: ClassVar[str | None] = None

    def __init__(self, out: TextIO | None = None, error: TextIO | None = None, *, quiet: bool = False) -> None:
        self._out = out or sys.stdout
        self._error = error or sys.stderr
        self.quiet = quiet

    @property
    def wide(self) -> bool:
        """Whether standard output is a terminal, where tables are ruled and wrapped."""
        return self._out.isatty()

    @property
    def width(self) -> int:
        """The terminal's columns."""
        return shutil.get_terminal_size().columns

    def result(self, text: str) -> None:
        """Write lines that the user asked for."""
        self._write(self._out, text)

    def document(self, content: bytes) -> None:
        """Write the bytes of a JSON document to standard output, whatever its encoding is.

        On a terminal, what is not visible stands in it as JSON's own escapes: it is the same document.
        """
        if self.wide:
            content = legible(content.decode()).encode()
        try:
            self._out.flush()
            self._out.buffer.write(content)
            self._out.buffer.flush()
        except BrokenPipeError:
            _give_up(self._out)
        except OSError as error:
            Terminal._untaken = _reason(error)
            _give_up(self._out)

    def progress(self, text: str) -> None:
        """Write a line about what is going on; nothing when quiet."""
        if not self.quiet:
            self._write(self._error, text)

    def problem(self, text: str) -> None:
        """Write lines about what went wrong, quiet or not."""
        self._write(self._error, text)

    def paint(self, text: str, kind: str, *, error: bool = False) -> str:
        """Colour an escaped text where the stream shows colours."""
        stream = self._error if error else self._out
        if kind not in _COLOURS or not coloured(stream):
            return text
        return f"\x1b[{_COLOURS[kind]}m{text}\x1b[0m"

    def close(self) -> str | None:
        """Say once why standard output did not take all of what was written; None when it did, or its reader left."""
        reason, Terminal._untaken = Terminal._untaken, None
        return reason

    def _write(self, stream: TextIO, text: str) -> None:
        try:
            stream.write(text + "\n")
            stream.flush()
        except UnicodeEncodeError:
            encoding = stream.encoding or "ascii"
            stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
            stream.flush()
        except BrokenPipeError:
            _give_up(stream)
        except OSError as error:
            if stream is self._out:
                Terminal._untaken = _reason(error)
            _give_up(stream)


def _reason(error: OSError) -> str:
    return error.strerror or "the system refused"


def _give_up(stream: TextIO) -> None:
    """Drop what is still buffered: it would raise once more when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


class LiveLine:
    """One line on standard error that says what is going on, replaced in place; nothing where that is no terminal."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self._stream = stream or sys.stderr
        self._live = not quiet and coloured(self._stream)
        self._lock = threading.Lock()
        self._up = False

    def show(self, text: str) -> None:
        """Replace the line; ``text`` is escaped already. May be called from any thread."""
        if self._live:
            width = shutil.get_terminal_size().columns
            # A terminal that is gone is no reason to stop reading a plugin.
            with self._lock, contextlib.suppress(OSError):
                self._stream.write(f"\r\x1b[2K{text[: width - 1]}")
                self._stream.flush()
                self._up = True

    def clear(self) -> None:
        """Take the line away, before another one is written."""
        with self._lock, contextlib.suppress(OSError):
            if self._up:
                self._stream.write("\r\x1b[2K")
                self._stream.flush()
                self._up = False


def open_streams() -> None:
    """Open those of the three standard streams that the process was started without; nothing reads or writes them.

    Otherwise the next file that is opened takes their number, and what is printed ends up in it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    sys.stdin = sys.stdin or os.fdopen(0, "r", closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def standard_input(limit: int) -> bytes:
    """Read standard input to its end, or one byte past ``limit``. Raises Failed (``invalid_arguments``)."""
    try:
        return sys.stdin.buffer.read(limit + 1)
    except OSError as error:
        raise Failed(Code.INVALID_ARGUMENTS, f"Standard input cannot be read: {_reason(error)}.") from None


def coloured(stream: TextIO) -> bool:
    """Tell whether a stream shows colours (https://no-color.org: any value of NO_COLOR but an empty one says no)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
