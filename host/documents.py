"""Writes the JSON documents that `--json` asks for: whole or not at all, to a file or to standard output."""

import contextlib
import os
import secrets
from pathlib import Path
from typing import Any, Final

from host.evidence import pretty
from host.terminal import Terminal
from protocol.failures import Code, Failed

__all__ = ["STANDARD_OUTPUT", "check_place", "write_document"]

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


def _refused(name: str, reason: str) -> Failed:
    return Failed(Code.INVALID_ARGUMENTS, f"The document {name} cannot be written: {reason}.")
