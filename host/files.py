"""Opens the small files that a person wrote: flows, settings, bindings. The rim of reading."""

import errno
import os
import stat
from pathlib import Path
from typing import Final, NamedTuple

from host.settings import SETTINGS_FILE, SETTINGS_LIMIT
from host.visible import line
from protocol.failures import Code, Failed
from protocol.files import read_regular

__all__ = ["PrivateFile", "absolute", "find_settings", "read_file", "read_private_file"]

#: Group and others: what a private file's mode may hold none of.
_NOT_MINE: Final = stat.S_IRWXG | stat.S_IRWXO


class PrivateFile(NamedTuple):
    """What was read, and whether the file is the user's with mode 0600 or stricter. Its repr shows nothing."""

    data: bytes
    trusted: bool

    def __repr__(self) -> str:
        return f"<PrivateFile of {len(self.data)} bytes>"


def read_file(path: str, limit: int) -> bytes:
    """Return the bytes of a regular file: at most ``limit`` + 1, so that a longer one can be told.

    Links are followed. Raises Failed (`invalid_arguments`) naming the path.
    """
    try:
        return read_regular(path, limit, follow=True).data
    except (OSError, ValueError) as error:
        raise Failed(
            Code.INVALID_ARGUMENTS,
            f"The file `{line(path)}` cannot be read: {_reason(error)}. Check its name, and that you may read it.",
            where=path,
        ) from None


def read_private_file(path: str, limit: int) -> PrivateFile | None:
    """Return a bindings file of at most ``limit`` + 1 bytes, or None when there is none.

    The file itself may be no link (its folders may). Raises Failed (`invalid_binding`), which does not name the path.
    """
    try:
        content = read_regular(path, limit)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        # Opening a link without following it fails with an error that speaks of loops.
        reason = "it is a link" if getattr(error, "errno", 0) == errno.ELOOP else _reason(error)
        raise Failed(
            Code.INVALID_BINDING,
            f"The bindings file cannot be read: {reason}. Name a regular file that you may read, and no link to one.",
        ) from None
    owner, mode = content.status.st_uid, stat.S_IMODE(content.status.st_mode)
    return PrivateFile(content.data, owner == os.geteuid() and not mode & _NOT_MINE)


def _reason(error: OSError | ValueError) -> str:
    """Say why a file cannot be read; a name with a NUL in it is a ValueError."""
    told = getattr(error, "strerror", None) or "its name cannot be a file's"
    return str(told[:1].lower() + told[1:])


def absolute(path: str) -> Path:
    """Return a path from the root on. Raises Failed (`invalid_arguments`) where the current folder was removed."""
    try:
        return Path(path).absolute()
    except FileNotFoundError:
        told = "The current folder does not exist any more. Change into one that does."
        raise Failed(Code.INVALID_ARGUMENTS, told) from None


def find_settings(folder: str) -> tuple[str, bytes | None]:
    """Return the folder of the nearest assay.toml and its bytes: looked for in ``folder`` and then its parents.

    The search ends at a folder that holds `.git`, at the user's home, at the root, and before a folder that others may
    write to, such as /tmp: what stands there is not the user's. Without any, ``folder`` and None.
    Raises Failed (`invalid_arguments`) when the file is there and cannot be read.
    """
    start = absolute(folder)
    home = Path(os.path.expanduser("~"))  # Path.home() raises where there is no home
    for place in (start, *start.parents):
        if place != start and _writable_by_others(place):
            break
        if os.path.exists(place / SETTINGS_FILE):
            return str(place), read_file(str(place / SETTINGS_FILE), SETTINGS_LIMIT)
        if os.path.exists(place / ".git") or place == home:
            break
    return folder, None


def _writable_by_others(place: Path) -> bool:
    try:
        return bool(place.stat().st_mode & stat.S_IWOTH)
    except OSError:
        return True
