"""Starts a peer as a child process, waits until its TCP port answers, and ends it by its own process id."""

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["READY_SECONDS", "free_port", "running"]

#: How long a peer may take to listen, in seconds: Node and pydantic are slow on a busy machine with two cores.
READY_SECONDS = 60.0
#: How long a peer may take to end after SIGTERM, in seconds, before it is killed.
END_SECONDS = 5.0


def free_port() -> int:
    """A TCP port of 127.0.0.1 that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def running(command: Sequence[str | Path], port: int, environment: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Run ``command`` while the block runs. Raises RuntimeError with the peer's output if it never listens."""
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            await_port(child, port, output)
            yield
        finally:
            end(child)


def await_port(child: subprocess.Popen[bytes], port: int, output: IO[bytes]) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not listens(port):
        try:
            child.wait(0.05)
        except subprocess.TimeoutExpired:
            if time.monotonic() < deadline:
                continue
        output.seek(0)
        said = output.read().decode(errors="replace")
        raise RuntimeError(f"{child.args!r} does not listen on port {port}; exit {child.returncode}; it said:\n{said}")


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
