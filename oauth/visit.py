"""One request to the loopback listener: read from its bytes, and answered by where it goes and how it got there."""

import re
from typing import Final, NamedTuple

__all__ = ["DONE", "HEAD_LIMIT", "Answer", "Door", "answer", "door", "read_visit"]

#: Bytes of a request's head. Browsers send one or two KiB; a code and a signed `iss` fit many times.
HEAD_LIMIT: Final = 32 * 1024
#: Where the browser goes after the callback, so that the code leaves the address bar and the history.
DONE: Final = "/done"

_DEFAULT_PORT: Final = 80  # of http (RFC 9110, section 4.2.1)
_REQUEST: Final = re.compile(rb"([A-Z]{1,16}) (/[!-~]*) HTTP/1\.[01]\Z")
_HOST: Final = re.compile(rb"[Hh][Oo][Ss][Tt]:[ \t]*([!-~]*)[ \t]*\Z")

_PAGE: Final = (
    b"<!doctype html><html lang=en><meta charset=utf-8><title>Back from signing in</title>"
    b"<p>The sign-in goes on where it was started. This page can be closed.</p></html>\n"
)


class Visit(NamedTuple):
    """A request: its method, the path and query of its target as written, and the value of its one Host field."""

    method: str
    path: str
    query: str
    host: str

    def __repr__(self) -> str:
        return f"<Visit {self.method}>"


class Door(NamedTuple):
    """What a callback has to match: the path, and one of the authorities that stand for the redirect URI's."""

    path: str
    authorities: tuple[str, ...]


class Answer(NamedTuple):
    """What is sent back. ``query`` is the callback's, when this was it; ``done``: the last page was shown."""

    response: bytes
    query: str | None = None
    done: bool = False

    def __repr__(self) -> str:
        return "<Answer>"


def door(host: str, port: int, path: str) -> Door:
    """Return the door of a redirect URI. Browsers leave the default port of http out of the Host that they send."""
    named = f"{host}:{port}"
    return Door(path, (named, host) if port == _DEFAULT_PORT else (named,))


def read_visit(head: bytes) -> Visit | None:
    """Read the head of a request, up to its empty line (RFC 9112, sections 2 to 5); None when it is none of ours.

    A browser sends a target in origin form and exactly one Host field; nothing else gets further.
    """
    first, *fields = head.split(b"\r\n")
    request = _REQUEST.match(first)
    hosts = [found[1] for field in fields if (found := _HOST.match(field))]
    if request is None or len(hosts) != 1:
        return None
    path, _, query = request[2].decode("ascii").partition("?")
    return Visit(request[1].decode("ascii"), path, query, hosts[0].decode("ascii").lower())


def answer(visit: Visit | None, door: Door, *, used: bool) -> Answer:
    """Answer a visit. ``used``: the callback has come already, so another is refused, and the last page may be shown.

    A visit under another host name is a page of someone else's that had its name point here (DNS rebinding).
    """
    if visit is None or visit.method != "GET" or visit.host not in door.authorities:
        return Answer(_response("404 Not Found"))
    if visit.path == door.path and visit.query:
        if used:
            return Answer(_response("410 Gone"))
        return Answer(_response("303 See Other", f"Location: {DONE}\r\n"), query=visit.query)
    if visit.path == DONE and used:
        return Answer(_response("200 OK", "Content-Type: text/html; charset=utf-8\r\n", _PAGE), done=True)
    return Answer(_response("404 Not Found"))


def _response(status: str, field: str = "", body: bytes = b"") -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\n{field}Content-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
        "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + body
