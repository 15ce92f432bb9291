"""Reads the certificate authorities that a binding adds to system trust."""

from typing import Final

from plugin.configuration import CA_FILE_LIMIT
from protocol.failures import Code, Failed
from protocol.files import IrregularFile, read_regular

__all__ = ["read_authorities"]

_MARK: Final = b"-----BEGIN CERTIFICATE-----"


def read_authorities(path: str) -> bytes:
    """Return the PEM text of a regular file of at most 256 KiB with at least one certificate.

    Links are followed: system bundles are links. Raises Failed (`invalid_binding`), quoting neither path nor content.
    """
    try:
        content = read_regular(path, CA_FILE_LIMIT, follow=True).data
    except IrregularFile:
        raise _refused("is not a regular file") from None
    except OSError as error:
        raise _refused(f"cannot be read ({error.strerror or 'unknown error'})") from None
    if len(content) > CA_FILE_LIMIT:
        raise _refused(f"has more than {CA_FILE_LIMIT} bytes")
    if _MARK not in content:
        raise _refused("holds no certificate in PEM form")
    return content


def _refused(rule: str) -> Failed:
    return Failed(Code.INVALID_BINDING, f"The file that the binding's `caFile` names {rule}.", where="caFile")
