"""Origins of URLs in one normal form, and the rule that a request goes to an admitted origin or nowhere."""

import ipaddress
import re
from collections.abc import Container
from functools import lru_cache
from typing import Final

__all__ = ["DEFAULT_PORTS", "OriginError", "is_admitted", "origin"]

#: Schemes that MCP over HTTP uses, with the port that each implies (RFC 9110, section 4.2).
DEFAULT_PORTS: Final = {"http": 80, "https": 443}
PORT_LIMIT: Final = 65535

_URL: Final = re.compile(r"(https?)://([^/?#]*)", re.IGNORECASE)
_PLACE: Final = re.compile(r"(?:\[([^\[\]]*)\]|([^:\[\]]*))(?::(.*))?\Z")
# What a host may hold once it is ASCII. No percent signs: a name that decodes to another would pass for two origins.
_HOST: Final = re.compile(r"[a-z0-9._~!$&'()*+,;=-]+\Z")
_PORT: Final = re.compile(r"[0-9]{1,5}\Z")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x20\x7f\\]")


class OriginError(ValueError):
    """The text has no HTTP origin. ``reason`` quotes nothing of it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@lru_cache(maxsize=64)
def origin(url: str) -> str:
    """Return ``scheme://host:port`` of an absolute http or https URL (RFC 6454, section 4; the port is always written).

    Scheme and host are lower case, an international host is in its ASCII form (IDNA 2008, as the HTTP client sends it),
    an IPv6 address is compressed and in brackets. A trailing dot of a host is kept: it is another name.
    Raises OriginError for everything else, and for user information, white space, controls and backslashes.
    """
    if _UNPRINTABLE.search(url):
        raise OriginError("a URL holds no white space, control characters or backslashes")
    found = _URL.match(url)
    if found is None:
        raise OriginError("the URL must begin with http:// or https://")
    scheme, place = found[1].lower(), found[2]
    if "@" in place:
        raise OriginError("the URL must hold no user information")
    host, port = _split(place)
    return f"{scheme}://{host}:{port or DEFAULT_PORTS[scheme]}"


def is_admitted(url: str, admitted: Container[str]) -> bool:
    """Tell whether the URL's origin is among the admitted ones, which are written as :func:`origin` writes them."""
    try:
        return origin(url) in admitted
    except OriginError:
        return False


def _split(place: str) -> tuple[str, int | None]:
    found = _PLACE.match(place)
    if found is None:
        raise OriginError("the URL has a malformed host")
    address, name, port = found.groups()
    if port and not (_PORT.match(port) and 0 < int(port) <= PORT_LIMIT):
        raise OriginError("the port must be a number from 1 to 65535")
    return _name(name) if address is None else _address(address), int(port) if port else None


def _address(text: str) -> str:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        raise OriginError("the URL has a malformed IPv6 address") from None
    if address.scope_id is not None:  # it names an interface of this machine, not a server
        raise OriginError("an IPv6 address in a URL must have no zone")
    return f"[{address.compressed}]"


def _name(text: str) -> str:
    host = text.lower()
    if not host.isascii():
        host = _ascii(host)
    if not _HOST.match(host):
        raise OriginError("the URL has no host, or a malformed one")
    return host


def _ascii(host: str) -> str:
    import idna  # only for the rare name that is not ASCII: its tables take a while to load

    try:
        return idna.encode(host).decode("ascii")
    except idna.IDNAError:
        raise OriginError("the URL has a malformed international host") from None
