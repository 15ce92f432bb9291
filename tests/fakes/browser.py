"""Stands in for a browser at a consent page: follows redirects by hand, and sends whatever Host it is told to."""

import socket
from http.client import HTTPConnection
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit


class Page(NamedTuple):
    url: str
    status: int
    headers: dict[str, str]
    body: bytes


def get(url: str, host: str | None = None, method: str = "GET") -> Page:
    """Fetch one page of a loopback server, without following anything."""
    parts = urlsplit(url)
    connection = HTTPConnection("127.0.0.1", parts.port or 80, timeout=10)
    try:
        target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        connection.putrequest(method, target, skip_host=True)
        connection.putheader("Host", host or parts.netloc)
        connection.endheaders()
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        return Page(url, response.status, headers, response.read())
    finally:
        connection.close()


def browse(url: str, host: str | None = None) -> list[Page]:
    """Open a URL and follow its redirects to the end. ``host`` is sent to every server but the first."""
    pages = [get(url)]
    while (location := pages[-1].headers.get("location")) and len(pages) < 10:
        pages.append(get(urljoin(pages[-1].url, location), host))
    return pages


def listens(port: int) -> bool:
    """Tell whether anybody takes connections on a port of this machine."""
    with socket.socket() as probe:
        probe.settimeout(5)
        return probe.connect_ex(("127.0.0.1", port)) == 0
