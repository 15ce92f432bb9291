"""What people see, on the right stream: results, progress and problems."""

import os
import shutil
import sys
import threading
from collections.abc import Sequence
from typing import Any, ClassVar, Final, TextIO

from host.inert import Form, inert_document, inert_text
from host.visible import block, legible, line
from protocol.failures import Code, Failed

__all__ = ["Terminal", "block", "is_live", "line", "on_github", "open_streams", "standard_input"]

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
    Lines of several threads do not mix.

    ``github``: what is written is read by GitHub's runner, so nothing of it may be a workflow command but what
    :meth:`commands` writes. It is on by itself in a job of GitHub Actions.
    """

    #: Why standard output did not take something, whichever terminal wrote it.
    _untaken: ClassVar[str | None] = None

    def __init__(self, out: TextIO | None = None, error: TextIO | None = None, *, quiet: bool = False) -> None:
        self._out = out or sys.stdout
        self._error = error or sys.stderr
        self._lock = threading.RLock()
        self.quiet = quiet
        self.github = on_github()

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

    def document(self, content: bytes, form: Form = "json") -> None:
        """Write the bytes of a document to standard output, whatever its encoding is.

        On a terminal, what is not visible stands in JSON as JSON's own escapes: it is the same document.
        """
        if self.wide and form == "json":
            content = legible(content.decode()).encode()
        if self.github:
            content = inert_document(content, form)
        with self._lock:
            try:
                self._out.flush()
                self._out.buffer.write(content)
                self._out.buffer.flush()
            except BrokenPipeError:
                _give_up(self._out)
            except OSError as error:
                Terminal._untaken = _reason(error)
                _give_up(self._out)

    def commands(self, commands: Sequence[str], *, to_error: bool = False) -> None:
        """Write workflow commands for GitHub's runner, as they are. It reads both streams."""
        if commands:
            self._put(self._error if to_error else self._out, "\n".join(commands))

    def progress(self, text: str) -> None:
        """Write a line about what is going on; nothing when quiet."""
        if not self.quiet:
            self._write(self._error, text)

    def problem(self, text: str) -> None:
        """Write lines about what went wrong, quiet or not."""
        self._write(self._error, text)

    def last_words(self, diagnostics: Any) -> None:
        """Write what a plugin that died wrote last, redacted by now; nothing when it left nothing."""
        if diagnostics:
            self.problem("its last words:\n" + "\n".join(f"| {line(row)}" for row in str(diagnostics).splitlines()))

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
        self._put(stream, inert_text(text) if self.github else text)

    def _put(self, stream: TextIO, text: str) -> None:
        with self._lock:
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


def is_live(stream: TextIO) -> bool:
    """Tell whether what was written on a stream can be written over."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def on_github() -> bool:
    """Tell whether this is a job of GitHub Actions."""
    return os.environ.get("GITHUB_ACTIONS") == "true"
