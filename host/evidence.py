"""One run's folder: written atomically and step by step, scanned before each write and once more at the end."""

import contextlib
import fcntl
import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from protocol.failures import CODES, Code, Failed
from protocol.values.document import encode

__all__ = ["RUN_ID", "Evidence", "own_folder", "timestamp"]

FOLDER_MODE: Final = 0o700
FILE_MODE: Final = 0o600
#: Run ids: UTC time to the microsecond, so that they sort, and 32 random bits for runs that start together.
RUN_ID: Final = re.compile(r"[0-9]{8}T[0-9]{12}Z-[0-9a-f]{8}")
#: Relative names that may be written, so that nothing that a flow or plugin names leaves the folder.
_RELATIVE: Final = re.compile(r"(?:steps/[0-9]{2,6}-[A-Za-z0-9_.]{1,100}/)?[a-z0-9][a-z0-9_.-]{0,80}")
_TEMPORARY: Final = ".writing"
#: Stands in the list of what was withheld for a file whose name would have told it.
UNNAMEABLE: Final = "(a file whose name held a private value)"
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Evidence:
    """The folder of one run, made new with its id in ``root``, which is `runs` in the folder of evidence.

    A lock on it says that the run is still going.
    ``leaks`` tells whether bytes hold a private value; what would be leaked is replaced by a tombstone, and its name is
    in ``leaked``. Files are complete or absent at every moment: a killed process loses nothing that was written. They
    are not forced to disk step by step (a power cut may cost the last of them); what is written ``synchronous`` is.

    Raises Failed (``invalid_arguments``) for a folder that is a link or not ours, (``internal``) when writing fails.
    """

    def __init__(self, root: Path, leaks: Callable[[bytes], bool]) -> None:
        self._leaks = leaks
        self.leaked: list[str] = []
        with _telling(root, Code.INVALID_ARGUMENTS, "Name another folder with `--evidence DIR`."):
            own_folder(root.parent)
            own_folder(root)
            self.run = _make_run(root)
            self.folder = root / self.run
            self._fd = os.open(self.folder, _FOLDER)
            # A file system without locks costs no more than the difference between "running" and "interrupted".
            with contextlib.suppress(OSError):
                fcntl.flock(self._fd, fcntl.LOCK_EX)
            os.mkdir("steps", FOLDER_MODE, dir_fd=self._fd)

    def write_json(self, name: str, value: Any) -> bool:
        """Write a JSON value, indented for people, under a relative name; return whether it was clean."""
        return self.write(name, pretty(value))

    def write(self, name: str, content: bytes, *, synchronous: bool = False) -> bool:
        """Scan and write one file; return whether it was clean. A private value in it leaves a tombstone.

        A file whose very name holds a private value is not written at all. Raises ValueError for a name that could
        lead out of the folder.
        """
        if not _RELATIVE.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a file of evidence")
        if self._leaks(name.encode()):
            self.note(UNNAMEABLE)
            return False
        leak = self._leaks(content)
        if leak:
            self.note(name)
        with _telling(self.folder, Code.INTERNAL):
            self._put(name, tombstone(name) if leak else content, synchronous=synchronous)
        return not leak

    def rescan(self) -> bool:
        """Scan every byte that was kept, with all that is private by now; return whether nothing was ever found."""
        with _telling(self.folder, Code.INTERNAL):
            for name in sorted(self._files()):
                if self._leaks(name.encode()):
                    os.unlink(name, dir_fd=self._fd)
                    self.note(UNNAMEABLE)
                elif self._leaks(self._read(name)):
                    self._put(name, tombstone(name), synchronous=False)
                    self.note(name)
        return not self.leaked

    def close(self) -> None:
        """Give up the lock: the run is over."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def note(self, name: str) -> None:
        """Remember that something was withheld."""
        if name not in self.leaked:
            self.leaked.append(name)

    def _put(self, name: str, content: bytes, *, synchronous: bool) -> None:
        """Write beside the place and move there: readers see the old file or the new one."""
        folder = os.path.dirname(name)
        if folder:
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, FOLDER_MODE, dir_fd=self._fd)
        temporary = name + _TEMPORARY
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=self._fd)
        descriptor = os.open(temporary, _NEW_FILE, FILE_MODE, dir_fd=self._fd)
        with open(descriptor, "wb") as file:
            file.write(content)
            if synchronous:
                file.flush()
                os.fsync(file.fileno())
        os.rename(temporary, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)

    def _files(self) -> Iterator[str]:
        for path in list(self.folder.rglob("*")):
            if stat.S_ISREG(path.lstat().st_mode):
                yield path.relative_to(self.folder).as_posix()

    def _read(self, name: str) -> bytes:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self._fd)
        with open(descriptor, "rb") as file:
            return file.read()


def pretty(value: Any) -> bytes:
    """Return a JSON value as indented UTF-8 with a final newline; numbers as they are spelled."""
    return msgspec.json.format(encode(value), indent=2) + b"\n"


def tombstone(name: str) -> bytes:
    """Return what stands in place of a file that would have held a private value. It holds nothing of it."""
    message = CODES[Code.EVIDENCE_LEAK].meaning
    if not name.endswith(".json"):
        return f"{message} This file was not kept (code {Code.EVIDENCE_LEAK}).\n".encode()
    return pretty({"format": "assay-tombstone/1", "code": str(Code.EVIDENCE_LEAK), "message": message})


def own_folder(path: Path) -> None:
    """Make a folder, 0700, or accept one that is a real folder of this user and that no one else may write to.

    Raises Failed (``invalid_arguments``) otherwise.
    """
    path.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        reason = "is a link or a file, not a folder"
    elif found.st_uid != os.geteuid():
        reason = "belongs to another user"
    elif found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        reason = "may be written to by other users (`chmod go-w` mends it)"
    else:
        return
    raise Failed(Code.INVALID_ARGUMENTS, f"The evidence folder {path} {reason}. Name another with `--evidence DIR`.")


def timestamp(seconds: float) -> str:
    """Return a time (seconds since 1970) as RFC 3339 in UTC, to the millisecond."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _make_run(root: Path) -> str:
    while True:
        now = datetime.fromtimestamp(time.time(), UTC)
        run = f"{now:%Y%m%dT%H%M%S%f}Z-{secrets.token_hex(4)}"
        with contextlib.suppress(FileExistsError):
            (root / run).mkdir(mode=FOLDER_MODE)
            return run


@contextlib.contextmanager
def _telling(folder: Path, code: Code, remedy: str = "") -> Iterator[None]:
    """Turn a refusal of the system into a failure that says what could not be written."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or "the system refused"
        raise Failed(code, f"Evidence cannot be written to {folder}: {reason}. {remedy}".rstrip()) from None
