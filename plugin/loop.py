"""The process: descriptors, threads, signals, and the order in which things end. Decides nothing about messages."""

import gc
import os
import signal
import sys
import threading
import warnings
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NoReturn

from plugin.asking import Asking
from plugin.commands import COMMANDS, resolve
from plugin.inspector import Inspector
from plugin.router import Job, Router
from protocol.wire.framing import HOST_LINE_LIMIT, LineReader, TooLong
from protocol.wire.messages import encode_notification

if TYPE_CHECKING:
    from protocol.mcp.connection import Connection

__all__ = ["serve"]

#: Bytes of one read: what a pipe holds on Linux and macOS.
READ_SIZE: Final = 65_536
#: Seconds after which the process ends whatever still hangs (a host that reads nothing, a name look-up). Long enough
#: for a cancelled request to give up and for the DELETEs, which take 1.5 s at most and run side by side.
ENDING_LIMIT: Final = 5.0
#: New objects between two collections. A large reply is half a million objects, none of which is garbage.
COLLECT_AFTER: Final = 200_000


def serve() -> NoReturn:
    """Speak the host wire on descriptors 0 and 1 until the input, a `shutdown` or SIGTERM ends it; exit 0."""
    _quieten()
    try:
        wire = os.dup(1)
        os.dup2(2, 1)
        os.set_blocking(0, True)
        os.set_blocking(wire, True)
    except OSError:
        sys.stderr.write("plugin: stdin, stdout and stderr must be open; a host starts this program.\n")
        sys.stderr.flush()
        os._exit(2)
    Loop(wire).run()
    sys.stderr.flush()
    # Tearing the interpreter down takes 30 ms and changes nothing.
    os._exit(0)


def _quieten() -> None:
    """Keep exception texts and warnings off stderr: they may quote what a server sent."""
    warnings.simplefilter("ignore")
    sys.excepthook = _report
    threading.excepthook = lambda details: _report(details.exc_type, details.exc_value, details.exc_traceback)
    gc.set_threshold(COLLECT_AFTER, 20, 100)


def _report(kind: type[BaseException], _error: BaseException | None, place: TracebackType | None) -> None:
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = f" in {place.tb_frame.f_code.co_name}, line {place.tb_lineno}" if place is not None else ""
    sys.stderr.write(f"plugin: a defect ({kind.__name__}{where}); report it.\n")


class Loop:
    """One reader thread answers what can be answered at once; the main thread carries out one job after another."""

    def __init__(self, wire: int) -> None:
        self._wire = wire
        self._writing = threading.Lock()
        #: Held while a chunk of input is taken apart, so that no line of it is left without its reply at the end.
        self._reading = threading.Lock()
        #: Guards which job runs: a cancel must not hit the next one.
        self._choosing = threading.Lock()
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._waiting: list[Job] = []
        self._running: Job | None = None
        self._warmed = False
        self._ending = False
        self._asking = Asking(self._write)
        self._inspector = Inspector(self._notify, self._asking.ask)
        self._router = Router(self._inspector, enqueue=self._enqueue, cancel=self._cancel, answered=self._asking.take)

    def run(self) -> None:
        """Carry out jobs until the end, then end every session and answer what came in between."""
        signals = {signal.SIGTERM, signal.SIGINT}
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        self._start(self._await_signal, signals)
        self._start(self._read)
        while (job := self._jobs.get()) is not None:
            self._carry_out(job)
        self._end_sessions()
        with self._reading:
            self._carry_out_rest()

    def _start(self, target: Any, *arguments: Any) -> threading.Thread:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        thread.start()
        return thread

    def _await_signal(self, signals: set[signal.Signals]) -> None:
        signal.sigwait(signals)
        self._stop()

    # Input

    def _read(self) -> None:
        reader = LineReader(HOST_LINE_LIMIT)
        while data := self._chunk():
            with self._reading:
                self._take(reader.feed(data))
        with self._reading:
            self._take(reader.finish())
        self._stop()

    def _chunk(self) -> bytes:
        try:
            return os.read(0, READ_SIZE)
        except OSError:
            return b""

    def _take(self, lines: list[bytes | TooLong]) -> None:
        for line in lines:
            reply = self._router.receive(line)
            if reply is not None:
                self._write(reply)
            if self._router.stopping:
                self._stop()
            if self._inspector.initialized and not self._warmed:
                self._warmed = True
                self._start(_warm)

    # Jobs

    def _enqueue(self, job: Job) -> None:
        with self._choosing:
            self._waiting.append(job)
        self._jobs.put(job)

    def _carry_out(self, job: Job) -> None:
        with self._choosing:
            self._running = job
        reply = self._router.carry_out(job, lambda: job.cancelled or self._router.stopping)
        with self._choosing:
            self._running = None
            self._waiting.remove(job)
        self._write(reply)

    def _carry_out_rest(self) -> None:
        while True:
            try:
                job = self._jobs.get_nowait()
            except Empty:
                return
            if job is not None:
                self._carry_out(job)

    def _cancel(self, identity: str | int) -> None:
        with self._choosing:
            for job in self._waiting:
                if job.id == identity:
                    job.cancelled = True
                    self._interrupt(job)
                    return
        # A request that was answered may have begun a sign-in, which waits for its other half.
        self._inspector.give_up(identity)

    def _interrupt(self, job: Job) -> None:
        """End the request under way. The flag is set before: whoever opens a connection meanwhile looks at it."""
        if job is self._running:
            self._inspector.interrupt(job.params.get("alias", ""))
            self._asking.abandon()

    # The end

    def _stop(self) -> None:
        """Cancel what runs and let the main thread finish. Never waits; may be called by any thread, and again."""
        with self._choosing:
            if self._ending:
                return
            self._ending = True
            self._router.stopping = True
            if self._running is not None:
                self._interrupt(self._running)
        deadline = threading.Timer(ENDING_LIMIT, os._exit, (1,))
        deadline.daemon = True
        deadline.start()
        self._jobs.put(None)

    def _end_sessions(self) -> None:
        for thread in [self._start(_end, connection) for connection in self._inspector.live()]:
            thread.join()

    # Output

    def _notify(self, method: str, params: dict[str, Any]) -> None:
        self._write(encode_notification(method, params))

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            with self._writing:
                while rest:
                    rest = rest[os.write(self._wire, rest) :]
        except OSError:
            self._stop()  # nobody reads any more


def _warm() -> None:
    """Import the HTTP stack while the host thinks about its first step."""
    for command in COMMANDS.values():
        try:
            resolve(command.handler)
        except (ImportError, AttributeError):
            return  # the step that needs it reports it
    gc.freeze()


def _end(connection: "Connection") -> None:
    connection.rearm()
    connection.end()
