"""One bash command under way: its process group, its output, its deadline, and a certain end of all of it."""

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from protocol.failures import Code, Failed

__all__ = ["KEPT_LIMIT", "Captured", "Ended", "Execution"]

#: Bytes of each output stream that are kept for redaction and hashing; the rest is counted and dropped.
KEPT_LIMIT: Final = 8 * 1024 * 1024
#: Seconds that what a command leaves running gets to finish by itself (the far end of a pipe), and then after SIGTERM.
LEFTOVER_SECONDS: Final = 0.5
#: Seconds between SIGTERM and SIGKILL at a deadline or a cancel. A host waits five.
TERM_SECONDS: Final = 1.0
READ_SIZE: Final = 65_536
#: Leads the group and kills it once the plugin is gone, however that ended: its input is a pipe that ends then.
_GUARD: Final = 'trap "" TERM INT HUP; read -r; kill -KILL 0'
_PLAIN: Final = ("--noprofile", "--norc", "-c")

Cut = Literal["timeout", "cancelled"]


class Captured(NamedTuple):
    """One output stream: its first bytes, and how many there were."""

    data: bytes
    size: int


class Ended(NamedTuple):
    """How a command ended: its exit status, or the signal's name; and why it was ended, if it was."""

    status: int | None
    signal: str | None
    cut: Cut | None
    stdout: Captured
    stderr: Captured


class Execution:
    """A command that was started. ``run`` waits for it, on one thread; ``cancel`` may be called from any other.

    Its standard input is empty. It has a process group of its own, led by a guard: while the guard lives the group's id
    can mean no other. Raises Failed when bash cannot be started: nothing of the command has happened then.
    """

    def __init__(self, command: str, cwd: str, environment: Mapping[str, str]) -> None:
        bash = shutil.which("bash", path=environment.get("PATH"))
        if bash is None:
            raise Failed(Code.PROVIDER_MISSING, "There is no `bash` on PATH. Install bash.")
        self._streams: dict[int, bytearray] = {}
        self._sizes: dict[int, int] = {}
        self._waker, self._wake = os.pipe()
        self._waking = threading.Lock()
        self._over = False
        # Inherited by all that the command starts: its end comes when nothing of that is left.
        self._presence, presence_end = os.pipe()
        self._guard = _guard(bash)
        try:
            self._process = _start(bash, command, cwd, environment, self._guard.pid, presence_end)
        except (OSError, ValueError) as error:
            self._kill()
            self._close()
            reason = getattr(error, "strerror", None) or "the system refused"
            told = f"The command could not be started: {reason}. Look at its length, and at the binding's `cwd`."
            raise Failed(Code.INVALID_ARGUMENTS, told) from None
        finally:
            os.close(presence_end)
        self._awaiting = threading.Thread(target=self._await, daemon=True)
        self._awaiting.start()

    def run(self, seconds: float) -> Ended:
        """Wait for the command's end, ``seconds`` at most, and leave nothing of its group."""
        stdout, stderr = self._process.stdout, self._process.stderr
        assert stdout is not None
        assert stderr is not None
        self._sizes = {stdout.fileno(): 0, stderr.fileno(): 0}
        self._streams = {number: bytearray() for number in self._sizes}
        with selectors.DefaultSelector() as selector:
            for number in (*self._sizes, self._presence, self._waker):
                selector.register(number, selectors.EVENT_READ)
            cut = self._follow(selector, time.monotonic() + seconds)
            if cut is not None:
                self._signal(signal.SIGTERM)
                self._drain(selector, TERM_SECONDS)
            elif not self._drain(selector, LEFTOVER_SECONDS):
                self._signal(signal.SIGTERM)
                self._drain(selector, LEFTOVER_SECONDS)
            self._kill()
            self._drain(selector, LEFTOVER_SECONDS)
        status = self._process.wait()
        self._awaiting.join()
        captured = [Captured(bytes(self._streams[number]), self._sizes[number]) for number in self._sizes]
        self._close()
        stdout.close()
        stderr.close()
        name = _signal_name(-status) if status < 0 else None
        return Ended(None if name else status, name, cut, *captured)

    def cancel(self) -> None:
        """End the command and all of its group. Never waits; harmless when it has ended."""
        self._tell(b"c")

    def _await(self) -> None:
        self._process.wait()
        self._tell(b"e")

    def _tell(self, what: bytes) -> None:
        with self._waking:
            if not self._over:
                os.write(self._wake, what)

    def _follow(self, selector: selectors.BaseSelector, deadline: float) -> Cut | None:
        """Read output until the command has ended or has to be; return why it has to be."""
        while (left := deadline - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                if key.fd != self._waker:
                    self._read(selector, key.fd)
                elif b"c" in os.read(self._waker, READ_SIZE):
                    return "cancelled"
                else:
                    return None
        return "timeout"

    def _drain(self, selector: selectors.BaseSelector, seconds: float) -> bool:
        """Read output until nothing is left that could write any, ``seconds`` at most; return whether nothing is."""
        deadline = time.monotonic() + seconds
        while waiting := [key for key in selector.get_map().values() if key.fd != self._waker]:
            left = deadline - time.monotonic()
            if left <= 0:
                return not waiting
            for key, _ in selector.select(left):
                if key.fd == self._waker:
                    os.read(self._waker, READ_SIZE)
                else:
                    self._read(selector, key.fd)
        return True

    def _read(self, selector: selectors.BaseSelector, number: int) -> None:
        data = os.read(number, READ_SIZE)
        if not data:
            selector.unregister(number)
        elif number in self._streams:
            self._sizes[number] += len(data)
            kept = self._streams[number]
            kept += data[: KEPT_LIMIT - len(kept)]

    def _signal(self, number: int) -> None:
        # macOS answers EPERM for a group of zombies.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._guard.pid, number)

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)
        self._guard.wait()
        assert self._guard.stdin is not None
        self._guard.stdin.close()

    def _close(self) -> None:
        with self._waking:
            self._over = True
            for number in (self._presence, self._waker, self._wake):
                os.close(number)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _guard(bash: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [bash, *_PLAIN, _GUARD],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={},
        cwd="/",
        process_group=0,
    )


def _start(
    bash: str, command: str, cwd: str, environment: Mapping[str, str], group: int, presence: int
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [bash, *_PLAIN, command, "bash"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(environment),
        cwd=cwd,
        process_group=group,
        pass_fds=(presence,),
        bufsize=0,
    )
