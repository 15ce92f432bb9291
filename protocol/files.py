"""Reads one regular file within a bound, from the descriptor that was looked at. Touches the file system."""

import os
import stat
from typing import Final, NamedTuple

__all__ = ["Content", "IrregularFile", "read_regular"]

# Opening a pipe or a device waits for nobody, makes no terminal this process's own, and no child inherits it.
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class IrregularFile(OSError):
    """What was opened is a directory, a pipe, a device or a socket."""


class Content(NamedTuple):
    """What was read, and what the system said of the descriptor before that. Its repr shows nothing of the data.

    ``changed``: the file grew, shrank or was written to meanwhile, or never said how long it is, as those of /proc.
    """

    data: bytes
    status: os.stat_result
    changed: bool

    def __repr__(self) -> str:
        return f"<Content of {len(self.data)} bytes>"


def read_regular(path: str, limit: int, *, follow: bool = False, folder: int | None = None) -> Content:
    """Return the content of a regular file: at most ``limit`` + 1 bytes, so that a longer one can be told.

    ``follow``: whether the file itself may be a link; its folders always may. ``folder``: the descriptor of a directory
    that the path starts from.

    Raises OSError when it cannot be opened (ELOOP for a link) or read, :class:`IrregularFile` before anything is read
    from what is no regular file, and ValueError for a name that cannot be a file's.
    """
    descriptor = os.open(path, _FLAGS if follow else _FLAGS | os.O_NOFOLLOW, dir_fd=folder)
    try:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise IrregularFile(0, "it is no regular file")
        data = _read(descriptor, limit + 1)
        after = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    sizes = {before.st_size, after.st_size}
    whole = len(data) > limit or len(data) == before.st_size
    return Content(data, before, not whole or len(sizes) > 1 or before.st_mtime_ns != after.st_mtime_ns)


def _read(descriptor: int, left: int) -> bytes:
    parts: list[bytes] = []
    while left and (part := os.read(descriptor, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
