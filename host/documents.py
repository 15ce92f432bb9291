"""Writes the files that a user asks for: JSON documents, whole or not at all, and first files, never over others."""

import contextlib
import os
import secrets
from pathlib import Path
from typing import Any, Final

from host.evidence import pretty
from host.terminal import Terminal
from protocol.failures import Code, Failed

__all__ = ["STANDARD_OUTPUT", "check_place", "write_document", "write_new"]

#: In place of a file name: standard output.
STANDARD_OUTPUT: Final = "-"


def check_place(name: str | None) -> None:
    """Find out before anything is contacted that a document could not be written. Raises Failed."""
    if name is None or name == STANDARD_OUTPUT:
        return
    path = Path(name)
    if path.is_dir():
        raise _refused(name, "it is a folder")
    if not path.parent.is_dir():
        raise _refused(name, "its folder does not exist")
    if not os.access(path.parent, os.W_OK):
        raise _refused(name, "its folder may not be written to")


def write_document(name: str, document: Any, terminal: Terminal) -> None:
    """Write a document, indented. Raises Failed (``invalid_arguments``) when the file cannot be written."""
    content = pretty(document)
    if name == STANDARD_OUTPUT:
        terminal.document(content)
        return
    path = Path(name)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise _refused(name, error.strerror or "the system refused") from None


def write_new(name: str, text: str, mode: int) -> bool:
    """Write a new file, its folder too, and tell whether it was new; one that exists stays as it is. Raises Failed."""
    path = Path(name)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(path, flags, mode), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return False
    except OSError as error:
        raise _refused(name, error.strerror or "the system refused") from None
    return True


def _refused(name: str, reason: str) -> Failed:
    return Failed(Code.INVALID_ARGUMENTS, f"{name} cannot be written: {reason}.")
