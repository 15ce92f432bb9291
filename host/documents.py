"""Writes the files that a user asks for: JSON documents, whole or not at all, and first files, never over others."""

import contextlib
import fcntl
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from host.evidence import pretty
from host.inert import Form
from host.terminal import Terminal
from protocol.failures import Code, Failed

__all__ = [
    "STANDARD_OUTPUT",
    "alone",
    "append",
    "check_place",
    "replace_file",
    "write_content",
    "write_document",
    "write_new",
    "write_private",
]

#: In place of a file name: standard output.
STANDARD_OUTPUT: Final = "-"
#: Characters of a file's name that its temporary one keeps: names have 255 bytes, and a character up to 4.
_NAME_LIMIT: Final = 50
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def check_place(name: str | None) -> None:
    """Find out before anything is contacted that a document could not be written. Raises Failed."""
    if name is None or name == STANDARD_OUTPUT:
        return
    path = Path(name)
    if os.path.isdir(path):
        raise _refused(name, "it is a folder")
    if _is_device(path):
        if not os.access(path, os.W_OK):
            raise _refused(name, "it may not be written to")
        return
    folder = _place(path).parent
    if not os.path.isdir(folder):
        raise _refused(name, "its folder does not exist")
    if not os.access(folder, os.W_OK):
        raise _refused(name, "its folder may not be written to")
    try:
        os.lstat(path)
    except FileNotFoundError:
        return
    except OSError as error:  # a name that is too long
        raise _refused(name, error.strerror or "the system refused") from None


def write_document(name: str, document: Any, terminal: Terminal) -> None:
    """Write a JSON document, indented. Raises Failed (``invalid_arguments``) when the file cannot be written."""
    write_content(name, pretty(document), "json", terminal)


@contextlib.contextmanager
def alone(name: str) -> Iterator[None]:
    """Keep other commands of ours from writing a file meanwhile. Raises Failed (``invalid_arguments``): no such folder.

    It is the folder that is locked: a lock on a file that is replaced would be that of the old one.
    """
    try:
        folder = os.open(Path(name).absolute().parent, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _refused(name, error.strerror or "the system refused") from None
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def write_private(name: str, content: bytes) -> None:
    """Write a file for its owner alone (0600), all of it or nothing. Raises Failed (``invalid_arguments``)."""
    try:
        replace_file(Path(name), content, 0o600)
    except OSError as error:
        raise _refused(name, error.strerror or "the system refused") from None


def write_content(name: str, content: bytes, form: Form, terminal: Terminal) -> None:
    """Write the bytes of a document, all of them or none. Raises Failed (``invalid_arguments``) when that fails."""
    if name == STANDARD_OUTPUT:
        terminal.document(content, form)
        return
    try:
        replace_file(Path(name), content)
    except OSError as error:
        raise _refused(name, error.strerror or "the system refused") from None


def replace_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Write a file, whole or not at all, and have it on the disk, with a mode less the umask. Raises OSError.

    A link stays, and what it leads to is replaced. A device or a pipe is written into: to replace `/dev/null` would
    take it from everyone.
    """
    if _is_device(path):
        with path.open("wb") as device:
            device.write(content)
        return
    path = _place(path)
    temporary = path.with_name(f".{path.name[:_NAME_LIMIT]}.{secrets.token_hex(4)}")
    try:
        with open(os.open(temporary, _NEW_FILE, mode), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _is_device(path: Path) -> bool:
    return os.path.exists(path) and not os.path.isfile(path)


def _place(path: Path) -> Path:
    """Return where the file is written: where the path leads when it is a link."""
    return Path(os.path.realpath(path)) if os.path.islink(path) else path


def append(name: str, content: bytes, limit: int) -> bool:
    """Append to a file that others write as well, unless it would then have more than ``limit`` bytes.

    Tells whether it was appended. Raises Failed (``invalid_arguments``) when the file cannot be written.
    """
    try:
        with open(name, "ab") as file:
            if file.tell() + len(content) > limit:
                return False
            file.write(content)
    except OSError as error:
        raise _refused(name, error.strerror or "the system refused") from None
    return True


def write_new(name: str, text: str, mode: int) -> bool:
    """Write a new file, its folder too, and tell whether it was new; one that exists stays as it is. Raises Failed."""
    path = Path(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(path, _NEW_FILE, mode), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return False
    except OSError as error:
        raise _refused(name, error.strerror or "the system refused") from None
    return True


def _refused(name: str, reason: str) -> Failed:
    return Failed(Code.INVALID_ARGUMENTS, f"{name} cannot be written: {reason}.")
