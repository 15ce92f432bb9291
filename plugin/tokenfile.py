"""Reads a per-run bearer token from a file that its owner alone can read. Touches the file system."""

import os
import re
import stat
from typing import Final

from protocol.failures import Code, Failed
from protocol.files import IrregularFile, read_regular

__all__ = ["SIZE_LIMIT", "TOKEN_MINIMUM", "read_token"]

#: Largest token file, in bytes, and shortest token, in characters (seed).
SIZE_LIMIT: Final = 16 * 1024
TOKEN_MINIMUM: Final = 8

_TOKEN: Final = re.compile(rb"[!-~]+\Z")
# No link is followed, and no child inherits the descriptor.
_DIRECTORY_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def read_token(directory: str, name: str) -> str:
    """Return the token in the file ``name`` of ``directory``, an absolute path without a trailing slash.

    Both must belong to this user; the directory has mode 0700 or stricter, the file 0600 or stricter, one link and at
    most 16 KiB, and it holds one printable ASCII token of 8 characters or more with white space around it at most.
    Everything is checked on the descriptors that are read. Raises Failed (`token_file_refused`) without quoting the
    directory or the content.
    """
    try:
        folder = os.open(directory, _DIRECTORY_FLAGS)
    except OSError as error:
        raise _refused(f"The token directory cannot be opened as a directory ({_errno(error)})") from None
    try:
        _check_directory(os.fstat(folder))
        return _read(folder, name)
    finally:
        os.close(folder)


def _read(folder: int, name: str) -> str:
    try:
        content, status, _ = read_regular(name, SIZE_LIMIT, folder=folder)
    except IrregularFile:
        raise _refused(f"The token file `{name}` is not a regular file") from None
    except OSError as error:
        raise _refused(f"The token file `{name}` cannot be read ({_errno(error)})") from None
    _check_file(status, name)
    if len(content) > SIZE_LIMIT:
        raise _refused(f"The token file `{name}` has more than {SIZE_LIMIT} bytes")
    token = content.strip(b" \t\r\n")
    if len(token) < TOKEN_MINIMUM or not _TOKEN.match(token):
        raise _refused(
            f"The token file `{name}` does not hold one printable token of {TOKEN_MINIMUM} or more characters"
        )
    return token.decode("ascii")


def _check_directory(status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise _refused("The token directory belongs to another user")
    if stat.S_IMODE(status.st_mode) & 0o077:
        raise _refused("The token directory can be used by others; give it mode 0700 (`chmod 700`)")


def _check_file(status: os.stat_result, name: str) -> None:
    if status.st_uid != os.geteuid():
        raise _refused(f"The token file `{name}` belongs to another user")
    if stat.S_IMODE(status.st_mode) & ~0o600:
        raise _refused(f"The token file `{name}` has a wider mode than 0600 (`chmod 600`)")
    if status.st_nlink != 1:
        raise _refused(f"The token file `{name}` has more than one link")


def _errno(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else "unknown error"


def _refused(message: str) -> Failed:
    return Failed(Code.TOKEN_FILE_REFUSED, f"{message}.", where="tokenFile")
