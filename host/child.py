"""One child process in a group of its own: bytes in, lines out, a bounded tail of its stderr, and a certain end."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from queue import SimpleQueue
from typing import IO, Final

from protocol.failures import Code, Failed
from protocol.wire.framing import PLUGIN_LINE_LIMIT, LineReader, TooLong

__all__ = ["DIAGNOSTICS_LIMIT", "Child", "ending"]

#: Bytes of a child's stderr that are kept, the last ones: a traceback or a page of messages.
DIAGNOSTICS_LIMIT: Final = 16 * 1024
#: Seconds between SIGTERM and SIGKILL.
TERM_SECONDS: Final = 2.0
#: Seconds that a group may outlive its leader after SIGTERM, and that a reading thread gets to see the end.
REST_SECONDS: Final = 0.5
#: Seconds that the end of a child's output is waited for as the sign of its own; what it started may hold that open.
OUTPUT_SECONDS: Final = 0.1
#: Pause between two looks at a process group, in seconds.
POLL_SECONDS: Final = 0.01
#: What one read takes at most; a pipe holds less.
READ_SIZE: Final = 1024 * 1024


class Child:
    """A running program. ``on_line`` is called on the reading thread with each line, and with None at the end.

    Writing never blocks the caller: a thread does it, so a child that does not read cannot stop a host's deadline.
    Raises Failed (``provider_missing``) when the program cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        on_line: Callable[[bytes | TooLong | None], None],
    ) -> None:
        try:
            self._process = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(environment),
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            reason = error.strerror or "the system refused"
            raise Failed(Code.PROVIDER_MISSING, f"{argv[0]} could not be started: {reason}.") from None
        self._on_line = on_line
        self._outbox: SimpleQueue[bytes | None] = SimpleQueue()
        self._tail = bytearray()
        self._cut = False
        self._tail_lock = threading.Lock()
        self._ended = False
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._read_lines, self._read_tail, self._write)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """The process id, which is the id of its group as well."""
        return self._process.pid

    def send(self, data: bytes) -> None:
        """Hand over bytes to be written in order. Safe in a signal handler; what a dead child misses is dropped."""
        self._outbox.put(data)

    def kill(self) -> None:
        """End the whole group at once. Safe in a signal handler and when nothing is left."""
        if not self._ended:
            self._signal(signal.SIGKILL)

    def wait(self, seconds: float) -> bool:
        """Tell whether the child ended within ``seconds``."""
        until = time.monotonic() + seconds
        # The standard library looks again and again, at last every 50 ms; the end of the output is seen at once.
        self._threads[0].join(max(min(seconds, OUTPUT_SECONDS), 0))
        try:
            self._process.wait(max(until - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self, patience: float) -> int:
        """Close its input, give it ``patience`` seconds, then SIGTERM and SIGKILL the group. Returns its exit status.

        Nothing of the group is left when this returns, whatever the child started and whether it ended by itself.
        """
        if self._ended:
            return self._process.wait()
        self._outbox.put(None)
        if not self.wait(patience):
            self._signal(signal.SIGTERM)
            self.wait(TERM_SECONDS)
        self._end_group()
        status = self._process.wait()
        self._ended = True
        for thread in self._threads:
            thread.join(REST_SECONDS)
        for stream, thread in zip((self._stdout, self._stderr, self._stdin), self._threads, strict=True):
            if not thread.is_alive():
                with contextlib.suppress(OSError):
                    stream.close()
        return status

    def diagnostics(self) -> str:
        """Return the last of what the child wrote on stderr, undecodable bytes replaced. It is not redacted.

        When more was written than is kept, the first line is left out: it may begin in the middle of a private value.
        """
        with self._tail_lock:
            kept = bytes(self._tail).partition(b"\n")[2] if self._cut else bytes(self._tail)
        return kept.decode("utf-8", "replace")

    def _end_group(self) -> None:
        leader_ended = self.wait(0)
        if leader_ended and self._signal(signal.SIGTERM):
            until = time.monotonic() + REST_SECONDS
            while self._signal(0) and time.monotonic() < until:
                time.sleep(POLL_SECONDS)
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> bool:
        """Signal the group and tell whether there was one. macOS answers EPERM for a group of zombies."""
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def _stderr(self) -> IO[bytes]:
        assert self._process.stderr is not None
        return self._process.stderr

    def _read_lines(self) -> None:
        reader = LineReader(PLUGIN_LINE_LIMIT)
        try:
            while data := os.read(self._stdout.fileno(), READ_SIZE):
                for line in reader.feed(data):
                    self._on_line(line)
            for line in reader.finish():
                self._on_line(line)
        finally:
            # Whatever went wrong: nobody may wait for a line that cannot come.
            self._on_line(None)

    def _read_tail(self) -> None:
        while data := os.read(self._stderr.fileno(), READ_SIZE):
            with self._tail_lock:
                self._tail += data
                self._cut = self._cut or len(self._tail) > DIAGNOSTICS_LIMIT
                del self._tail[:-DIAGNOSTICS_LIMIT]

    def _write(self) -> None:
        with contextlib.suppress(OSError):
            while (data := self._outbox.get()) is not None:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._stdin.fileno(), view) :]
        with contextlib.suppress(OSError):
            self._stdin.close()


def ending(status: int) -> str:
    """Say how a program ended that has this exit status."""
    if status >= 0:
        return f"ended with exit status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"
