"""URLs as every program of ours reads them: the origin in one normal form, and which parts of a URL are private."""

import ipaddress
import re
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, urlsplit

__all__ = ["OriginError", "is_loopback", "origin", "url_secrets"]

#: A path with at least this many characters is private on its own, without the origin before it.
PATH_MINIMUM: Final = 16
#: A query's value with at least this many characters is private on its own.
QUERY_MINIMUM: Final = 4

# Schemes that MCP over HTTP uses, with the port that each implies (RFC 9110, section 4.2).
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_PORT_LIMIT: Final = 65535
_URL: Final = re.compile(r"(https?)://([^/?#]*)", re.IGNORECASE)
_PLACE: Final = re.compile(r"(?:\[([^\[\]]*)\]|([^:\[\]]*))(?::(.*))?\Z")
# What a host may hold once it is ASCII. No percent signs: a name that decodes to another would pass for two origins.
_HOST: Final = re.compile(r"[a-z0-9_][a-z0-9_.-]*\Z")
_PORT: Final = re.compile(r"[0-9]{1,9}\Z")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x20\x7f-\xa0\\\ud800-\udfff]")


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
    return f"{scheme}://{host}:{port or _DEFAULT_PORTS[scheme]}"


def _split(place: str) -> tuple[str, int | None]:
    found = _PLACE.match(place)
    if found is None:
        raise OriginError("the URL has a malformed host")
    address, name, port = found.groups()
    if port and not (_PORT.match(port) and 0 < int(port) <= _PORT_LIMIT):
        raise OriginError(f"the port must be a number from 1 to {_PORT_LIMIT}")
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


def is_loopback(url: str) -> bool:
    """Tell whether a URL names this machine: ``localhost``, 127.0.0.0/8 or ``[::1]``, where http is as good as https.

    See RFC 8252, section 7.3.
    """
    try:
        host = urlsplit(origin(url)).hostname or ""
    except OriginError:
        return False
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def url_secrets(url: str) -> list[str]:
    """List what is private in a URL, each once.

    The whole; its path with the query when there is a query or the path has 16 characters or more; and each value of
    the query with 4 or more, as written and decoded. Of what is no URL, the whole alone.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return [url]
    values = [url]
    if parts.query or len(parts.path) >= PATH_MINIMUM:
        values.append(f"{parts.path}?{parts.query}" if parts.query else parts.path)
    for pair in parts.query.split("&"):
        _, _, value = pair.partition("=")
        values += [text for text in (value, unquote(value.replace("+", " "))) if len(text) >= QUERY_MINIMUM]
    return list(dict.fromkeys(values))
