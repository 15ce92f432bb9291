"""Reads a registry, a catalog or a call from a file that is nothing but a file."""

from contract.core.document import Document
from contract.core.refusal import Refused
from protocol.files import read_regular

__all__ = ["find_file", "read_file"]


def read_file(kind: Document, path: str) -> bytes:
    """Return the bytes of a regular file, within the bound of its kind, without following a link or waiting for anyone.

    The folders on the way may be links. Raises Refused for what cannot be opened or is no regular file, for one byte
    too many, and for a file that changes while it is read.
    """
    found = find_file(kind, path)
    if found is None:
        raise Refused(kind.unreadable)
    return found


def find_file(kind: Document, path: str) -> bytes | None:
    """Return what :func:`read_file` does, None when nothing is there."""
    try:
        content = read_regular(path, kind.limit)
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise Refused(kind.unreadable) from None
    if len(content.data) > kind.limit:
        raise Refused(kind.too_large)
    if content.changed:
        raise Refused(kind.changed)
    return content.data
