"""Which pages a browser may show: those of admitted origins, and while signing in the loopback callback."""

import re
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from host.origins import origin
from protocol.values.urls import is_loopback

__all__ = ["BLANK", "Admission", "place"]

#: Scheme and authority of a URL: all that an origin needs. What follows may be longer than any limit of ours.
_AUTHORITY: Final = re.compile(r"(https?)://([^/?#\\]*)", re.IGNORECASE)
#: Where the callback's listener sends a browser, so that the code leaves its address.
_DONE: Final = "/done"
#: Pages that hold nothing: what a window shows before it shows anything.
BLANK: Final = frozenset({"about:blank", ""})


class Admission:
    """The origins of the host's admission. ``begin`` and ``end`` bound the time in which the callback is admitted."""

    def __init__(self, origins: frozenset[str]) -> None:
        self._origins = origins
        self._callback: tuple[str, frozenset[str]] | None = None

    def admits(self, url: str) -> bool:
        """Tell whether a page of this URL may be navigated to."""
        own = _origin(url)
        if own is None:
            return url in BLANK
        if own in self._origins:
            return True
        return self._callback is not None and own == self._callback[0] and _path(url) in self._callback[1]

    def awaits(self, url: str) -> bool:
        """Tell whether a URL is the callback's, or at its origin: what answers there is our own listener."""
        return self._callback is not None and _origin(url) == self._callback[0]

    def misses(self, url: str) -> bool:
        """Tell whether a URL leads to the callback's port on this machine, and not to the callback."""
        own = _origin(url)
        if self._callback is None or own is None or self.admits(url):
            return False
        return is_loopback(own) and urlsplit(own).port == urlsplit(self._callback[0]).port

    def trusts(self, url: str) -> bool:
        """Tell whether a page of this URL may be given private values: its own origin is admitted."""
        return _origin(url) in self._origins

    def begin(self, url: str) -> None:
        """Admit the callback of an authorization URL: its `redirect_uri`, where that is on this machine (RFC 8252)."""
        query = url.partition("#")[0].partition("?")[2]
        targets = [value for name, value in parse_qsl(query) if name == "redirect_uri"]
        own = _origin(targets[0]) if len(targets) == 1 else None
        local = own is not None and is_loopback(own)
        self._callback = (own, frozenset({_path(targets[0]), _DONE})) if own is not None and local else None

    def end(self) -> None:
        """Admit no callback any more."""
        self._callback = None


def place(url: str) -> str:
    """Name where a URL leads, for a message: its origin, else its scheme. Nothing else of it is said."""
    if url in BLANK:
        return "a blank page"
    scheme = re.match(r"[A-Za-z][A-Za-z0-9+.-]{0,20}:", url)
    return _origin(url) or (f"a `{scheme[0].lower()}` address" if scheme else "an address without a scheme")


def _path(url: str) -> str:
    """Return the path of a URL that has an origin."""
    return re.split("[?#]", _AUTHORITY.sub("", url, count=1), maxsplit=1)[0] or "/"


def _origin(url: str) -> str | None:
    found = _AUTHORITY.match(url)
    try:
        return origin(f"{found[1].lower()}://{found[2]}") if found else None
    except ValueError:
        return None
