"""Web pages on loopback for tests of a browser, and a reader for the pictures that it takes of them."""

import struct
import zlib
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.fakes.http_server import HttpServer, Peer, Request

__all__ = ["Picture", "Website", "read_png"]


class Website(HttpServer):
    """Serves pages by their path: a text is HTML; a pair is a status and headers, with no body; else it answers 404."""

    def __init__(self, **pages: Any) -> None:
        super().__init__(self._page)
        self.pages: dict[str, Any] = pages

    def _page(self, request: Request, peer: Peer) -> None:
        page = self.pages.get(urlsplit(request.path).path.removeprefix("/"))
        if callable(page):
            page(request, peer)
        elif isinstance(page, str):
            peer.reply(200, page.encode(), kind="text/html; charset=utf-8")
        elif page is not None:
            peer.reply(page[0], b"", *page[1])
        else:
            peer.reply(404, b"<p>Nothing is here.</p>", kind="text/html")

    @property
    def paths(self) -> list[str]:
        """The paths that were asked for, a browser's own wish for an icon aside."""
        return [request.path for request in self.requests if request.path != "/favicon.ico"]


class Picture(NamedTuple):
    """A decoded picture: its size, and the colour of each pixel in rows from the top."""

    width: int
    height: int
    rows: list[bytes]
    depth: int

    def pixel(self, x: int, y: int) -> tuple[int, ...]:
        """Return red, green and blue at a place."""
        return tuple(self.rows[y][x * self.depth : x * self.depth + 3])


def read_png(data: bytes) -> Picture:
    """Decode a PNG of 8 bits a colour, not interlaced (ISO/IEC 15948)."""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        chunks[kind] = chunks.get(kind, b"") + data[at + 8 : at + 8 + size]
        at += size + 12
    width, height, bits, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert (bits, interlaced) == (8, 0)
    depth = {2: 3, 6: 4}[colour]
    return Picture(width, height, _rows(zlib.decompress(chunks[b"IDAT"]), width * depth, depth), depth)


def _rows(raw: bytes, length: int, depth: int) -> list[bytes]:
    rows: list[bytes] = []
    above = bytes(length)
    for at in range(0, len(raw), length + 1):
        line = bytearray(raw[at + 1 : at + 1 + length])
        for index in range(length):
            left = line[index - depth] if index >= depth else 0
            corner = above[index - depth] if index >= depth else 0
            line[index] = (line[index] + _predicted(raw[at], left, above[index], corner)) & 255
        above = bytes(line)
        rows.append(above)
    return rows


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 4:
        estimate = left + up - corner
        return min((left, up, corner), key=lambda each: abs(estimate - each))
    return (0, left, up, (left + up) // 2)[kind]
