"""The process: descriptors, threads, signals, and the order in which things end. Decides nothing about messages."""

import gc
import os
import signal
import sys
import threading
import warnings
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, Final, NoReturn

from protocol.wire.asking import Asking
from protocol.wire.framing import HOST_LINE_LIMIT, LineReader, TooLong
from protocol.wire.messages import encode_notification
from protocol.wire.routing import Job, Router
from protocol.wire.service import MakeService

__all__ = ["serve"]

#: Bytes of one read: what a pipe holds on Linux and macOS.
READ_SIZE: Final = 65_536
#: Seconds after which the process ends whatever still hangs (a host that reads nothing, a name look-up). Long enough
#: for a cancelled request to give up and for the DELETEs, which take 1.5 s at most and run side by side.
ENDING_LIMIT: Final = 5.0
#: New objects between two collections. A large reply is half a million objects, none of which is garbage.
COLLECT_AFTER: Final = 200_000


def serve(program: str, make: MakeService) -> NoReturn:
    """Speak the host wire on descriptors 0 and 1 until the input, a `shutdown` or SIGTERM ends it; exit 0.

    ``program`` is the name that diagnostics begin with.
    """
    _quieten(program)
    try:
        wire = os.dup(1)
        os.dup2(2, 1)
        os.set_blocking(0, True)
        os.set_blocking(wire, True)
    except OSError:
        sys.stderr.write(f"{program}: stdin, stdout and stderr must be open; a host starts this program.\n")
        sys.stderr.flush()
        os._exit(2)
    Loop(wire, make).run()
    sys.stderr.flush()
    # Tearing the interpreter down takes 30 ms and changes nothing.
    os._exit(0)


def _quieten(program: str) -> None:
    """Keep exception texts and warnings off stderr: they may quote what a server sent."""

    def report(kind: type[BaseException], _error: BaseException | None, place: TracebackType | None) -> None:
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f" in {place.tb_frame.f_code.co_name}, line {place.tb_lineno}" if place is not None else ""
        sys.stderr.write(f"{program}: a defect ({kind.__name__}{where}); report it.\n")

    warnings.simplefilter("ignore")
    sys.excepthook = report
    threading.excepthook = lambda details: report(details.exc_type, details.exc_value, details.exc_traceback)
    gc.set_threshold(COLLECT_AFTER, 20, 100)


class Loop:
    """One reader thread answers what can be answered at once; the main thread carries out one job after another."""

    def __init__(self, wire: int, make: MakeService) -> None:
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
        self._service = make(self._notify)
        self._service.context.ask = self._asking.ask
        self._router = Router(self._service, enqueue=self._enqueue, cancel=self._cancel, answered=self._asking.take)

    def run(self) -> None:
        """Carry out jobs until the end, then end the service and answer what came in between."""
        self._listen()
        self._start(self._read)
        while (job := self._jobs.get()) is not None:
            self._carry_out(job)
        self._service.end()
        with self._reading:
            self._carry_out_rest()

    def _start(self, target: Any, *arguments: Any) -> None:
        threading.Thread(target=target, args=arguments, daemon=True).start()

    def _listen(self) -> None:
        """Let SIGTERM and SIGINT end the process, whatever the main thread is in.

        They are caught, not blocked: a blocked signal stays blocked in what a service starts, and could not end it.
        """
        caught, wakeup = os.pipe()
        os.set_blocking(wakeup, False)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda _number, _frame: None)
        self._start(self._await_signal, caught)

    def _await_signal(self, caught: int) -> None:
        os.read(caught, 1)
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
            if self._service.initialized and not self._warmed:
                self._warmed = True
                self._start(self._service.warm)

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
        # What was answered may have begun something that waits for its other half.
        self._service.give_up(identity)

    def _interrupt(self, job: Job) -> None:
        """End the request under way. Its flag is set before: whoever opens a connection meanwhile looks at it."""
        if job is self._running:
            self._service.interrupt(job.params)
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
