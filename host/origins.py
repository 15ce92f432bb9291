"""Origins in one normal form: what the target and `--allow-origin` admit. A plugin reaches nothing else."""

import ipaddress
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import SplitResult, urlsplit

from protocol.failures import Code, Failed

__all__ = ["admitted_origins", "check_target", "origin", "read_grant"]

#: Longest URL that is taken, in characters: what common servers accept.
URL_LIMIT: Final = 8192
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_PORT_LIMIT: Final = 65535
_UNPRINTABLE: Final = re.compile(r"[\x00-\x20\x7f-\xa0\\\ud800-\udfff]")
_PLACE: Final = re.compile(r"(?P<host>[^:\[\]]*|\[[^\[\]]*\])(?::(?P<port>.*))?")
_PORT: Final = re.compile(r"[0-9]{1,9}")
_NAME: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_.-]*)")
_TARGET_EXAMPLE: Final = "Write, for example, `http://localhost:8000/mcp`."
_GRANT_EXAMPLE: Final = "Write scheme, host and, where it is not the scheme's own, port: `https://auth.example.com`."


def check_target(url: str) -> str:
    """Return the target's URL as it stands once it is known to be usable.

    Raises Failed (`invalid_arguments`) unless it is absolute, http or https, without user information and fragment.
    The message quotes nothing of it: a mistaken URL may hold a password.
    """
    try:
        parts = _split(url)
        _origin(parts)
        if "#" in url:
            raise ValueError("it has a fragment (`#`)")
    except ValueError as error:
        raise Failed(Code.INVALID_ARGUMENTS, f"The target is no usable URL: {error}. {_TARGET_EXAMPLE}") from None
    return url


def read_grant(text: str) -> str:
    """Return the origin that one `--allow-origin`, or one entry of `allow_origins`, admits.

    Raises Failed (`invalid_arguments`) for anything but an origin; one slash at its end is allowed.
    """
    try:
        parts = _split(text)
        if parts.path not in ("", "/") or "?" in text or "#" in text:
            raise ValueError("an origin has no path, query or fragment")
        return _origin(parts)
    except ValueError as error:
        raise Failed(Code.INVALID_ARGUMENTS, f"The allowed origin cannot be used: {error}. {_GRANT_EXAMPLE}") from None


def origin(url: str) -> str:
    """Return ``scheme://host:port`` of an absolute http or https URL (RFC 6454, section 4; the port always written).

    Two URLs have one origin exactly when the results are equal: host in lower case and ASCII (IDNA 2008), an IPv6
    address compressed. Raises ValueError, quoting nothing, for everything that is no such URL.
    """
    return _origin(_split(url))


def admitted_origins(target: str | None, grants: Iterable[str]) -> tuple[str, ...]:
    """Return what a plugin may reach: the target's origin and those of ``grants``, each once, in this order.

    Raises Failed (`invalid_arguments`) for a target or grant that cannot be used.
    """
    own = [origin(check_target(target))] if target is not None else []
    return tuple(dict.fromkeys([*own, *map(read_grant, grants)]))


def _split(url: str) -> SplitResult:
    if len(url) > URL_LIMIT:
        raise ValueError(f"it is longer than {URL_LIMIT} characters")
    if _UNPRINTABLE.search(url):
        raise ValueError("it holds white space, a control character or a backslash")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ValueError("its host is malformed") from None
    if parts.scheme not in _DEFAULT_PORTS or not url[len(parts.scheme) :].startswith("://"):
        raise ValueError("it has to begin with `http://` or `https://`")
    if "@" in parts.netloc:
        raise ValueError("it holds user information (`@`)")
    return parts


def _origin(parts: SplitResult) -> str:
    place = _PLACE.fullmatch(parts.netloc)
    if place is None:
        raise ValueError("its host is malformed")
    port = place["port"] or str(_DEFAULT_PORTS[parts.scheme])
    if not _PORT.fullmatch(port) or not 0 < int(port) <= _PORT_LIMIT:
        raise ValueError(f"its port is no number from 1 to {_PORT_LIMIT}")
    host = place["host"]
    name = _address(host[1:-1]) if host.startswith("[") else _name(host.lower())
    return f"{parts.scheme}://{name}:{int(port)}"


def _address(text: str) -> str:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        raise ValueError("its IPv6 address is malformed") from None
    if address.scope_id is not None:
        raise ValueError("its IPv6 address names a zone")
    return f"[{address.compressed}]"


def _name(host: str) -> str:
    if not host.isascii():
        # Only for the rare name that needs it: its tables take a while to load.
        import idna

        try:
            host = idna.encode(host).decode("ascii")
        except idna.IDNAError:
            raise ValueError("its international host name is malformed") from None
    if not _NAME.fullmatch(host):
        raise ValueError("it has no host, or a malformed one")
    return host
