"""Reads the certificate authorities that a binding adds to system trust. Touches the file system."""

import os
import stat
from typing import Final

from plugin.configuration import CA_FILE_LIMIT
from protocol.failures import Code, Failed

__all__ = ["read_authorities"]

_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_MARK: Final = b"-----BEGIN CERTIFICATE-----"


def read_authorities(path: str) -> bytes:
    """Return the PEM text of a regular file of at most 256 KiB with at least one certificate.

    Links are followed: system bundles are links. Raises Failed (`invalid_binding`), quoting neither path nor content.
    """
    try:
        file = os.open(path, _FLAGS)
    except OSError as error:
        raise _refused(f"cannot be opened ({_reason(error)})") from None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise _refused("is not a regular file")
        content = _content(file)
    except OSError as error:
        raise _refused(f"cannot be read ({_reason(error)})") from None
    finally:
        os.close(file)
    if len(content) > CA_FILE_LIMIT:
        raise _refused(f"has more than {CA_FILE_LIMIT} bytes")
    if _MARK not in content:
        raise _refused("holds no certificate in PEM form")
    return content


def _content(file: int) -> bytes:
    parts, size = [], 0
    while size <= CA_FILE_LIMIT and (part := os.read(file, CA_FILE_LIMIT + 1 - size)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else "unknown error"


def _refused(rule: str) -> Failed:
    return Failed(Code.INVALID_BINDING, f"The file that the binding's `caFile` names {rule}.", where="caFile")
