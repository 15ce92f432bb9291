"""Rules for request headers: their names as Go writes them, the ones that are not to be set, and admissible values."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from plugin.configuration import HEADER_VALUE_LIMIT, HEADERS_LIMIT

__all__ = ["CREDENTIAL", "HEADERS_TEXT_LIMIT", "RESERVED", "HeaderError", "canonical_name", "read_headers"]

#: Characters of all names and values of the public headers together (seed).
HEADERS_TEXT_LIMIT: Final = 32_768

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")  # RFC 9110, section 5.6.2
_VALUE: Final = re.compile(r"[!-~](?:[\t -~]*[!-~])?\Z")  # RFC 9110, section 5.5, without obsolete bytes

#: Set by the transport or by MCP itself; nobody else may. In canonical form.
RESERVED: Final = frozenset(
    (
        "Accept",
        "Accept-Encoding",
        "Connection",
        "Content-Encoding",
        "Content-Length",
        "Content-Type",
        "Cookie",
        "Cookie2",
        "Expect",
        "Host",
        "Http2-Settings",
        "Keep-Alive",
        "Last-Event-Id",
        "Mcp-Method",
        "Mcp-Name",
        "Mcp-Protocol-Version",
        "Mcp-Session-Id",
        "Proxy-Authorization",
        "Proxy-Connection",
        "Set-Cookie",
        "Te",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
    )
)
_RESERVED_PREFIX: Final = "Mcp-Param-"
#: Known to carry credentials: public headers may not be among them.
CREDENTIAL: Final = frozenset(
    ("Api-Key", "Apikey", "Authorization", "X-Access-Token", "X-Api-Key", "X-Apikey", "X-Auth-Token")
)


class HeaderError(ValueError):
    """A header is not admissible. ``reason`` quotes no value, and a name only when it is a known one."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def canonical_name(name: str) -> str:
    """Write a header name as Go does: upper case at the start and after each hyphen, lower case elsewhere."""
    return "-".join(part[:1].upper() + part[1:].lower() for part in name.split("-"))


def read_headers(value: Any, *, refused: Iterable[str] = ()) -> dict[str, str]:
    """Read an object of headers into canonical names and values, in the order written.

    ``refused`` are canonical names that may not be set beside the reserved ones. Raises HeaderError: no object, more
    than 32 names, a name that is no token, reserved, refused or there twice, or a value that is not 1 to 16,384
    printable ASCII characters without white space at its ends.
    """
    if not isinstance(value, Mapping):
        raise HeaderError("headers are an object of names and string values")
    if len(value) > HEADERS_LIMIT:
        raise HeaderError(f"at most {HEADERS_LIMIT} headers can be set")
    read: dict[str, str] = {}
    denied = RESERVED.union(refused)
    for place, (name, text) in enumerate(value.items(), start=1):
        if not _TOKEN.match(name):
            raise HeaderError(f"the name of header {place} holds a character that header names cannot hold")
        known = canonical_name(name)
        if known in denied or known.startswith(_RESERVED_PREFIX):
            raise HeaderError(f"the name of header {place} may not be set here: the protocol or the binding sets it")
        if known in read:
            raise HeaderError(f"the name of header {place} is there twice (upper and lower case are the same)")
        if not isinstance(text, str) or not 1 <= len(text) <= HEADER_VALUE_LIMIT or not _VALUE.match(text):
            raise HeaderError(
                f"the value of header {place} is not 1 to {HEADER_VALUE_LIMIT} printable ASCII characters"
                " without white space at its ends"
            )
        read[known] = text
    return read
