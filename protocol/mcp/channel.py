"""The address of a session: one URL, and the headers that each method carries to it."""

from collections.abc import Iterable
from typing import Final

from protocol.failures import Code, Failed
from protocol.mcp.attempts import Attempt
from protocol.mcp.http import Header, HttpTransport, Opened
from protocol.mcp.replies import EVENT_STREAM, JSON
from protocol.mcp.revisions import Revision

__all__ = ["Channel"]

# Replies are small or made once, so compression saves little here; unasked for it cannot hold events back in some
# proxy's buffer, and `bytes` are those of the server. One that compresses all the same is decoded.
_ENCODING: Final = (b"Accept-Encoding", b"identity")
_ACCEPT: Final = {
    # Servers compare it with this very text.
    "POST": ((b"Accept", f"{JSON}, {EVENT_STREAM}".encode()), (b"Content-Type", JSON.encode())),
    "GET": ((b"Accept", EVENT_STREAM.encode()), (b"Cache-Control", b"no-store")),
    "DELETE": (),
}


class Channel:
    """Sends requests of one session. Threads may share it once it is :meth:`settled`."""

    def __init__(
        self, transport: HttpTransport, url: str, headers: Iterable[tuple[str, str]], *, name: str, version: str
    ) -> None:
        """Raises Failed: invalid_binding for a URL or header that is none, origin_not_admitted."""
        self.url = url
        self._transport = transport
        self._target = transport.target(url)
        own = [_header(*pair) for pair in headers]
        if not any(field.lower() == b"user-agent" for field, _ in own):
            own.append(_header("User-Agent", f"{name}/{version}"))
        self._common = [_ENCODING, *own]
        self._session: list[Header] = []
        self._headers = self._per_method()

    def settle(self, revision: Revision | None, session: str | None) -> None:
        """Let every later request carry the session id and, where the revision has it, its protocol version."""
        own: list[Header] = [] if session is None else [_header("Mcp-Session-Id", session)]
        if revision is not None and revision.version_header:
            own.append(_header("MCP-Protocol-Version", revision.name))
        self._session = own
        self._headers = self._per_method()

    def authorize(self, value: str) -> None:
        """Let every later request carry this Authorization, in place of the one before."""
        name, text = _header("Authorization", value)
        self._common = [field for field in self._common if field[0].lower() != name.lower()] + [(name, text)]
        self._headers = self._per_method()

    def send(self, method: str, body: bytes | None, attempt: Attempt) -> Opened:
        """Send one request and wait for the head of its response. Raises Failed."""
        return self._transport.send(method, self._target, self._headers[method], body, attempt)

    def resume(self, event: str, attempt: Attempt) -> Opened:
        """Ask for the rest of a stream whose last event had this id (2025-11-25, "Resumability"). Raises Failed."""
        headers = [*self._headers["GET"], (b"Last-Event-ID", event.encode())]
        return self._transport.send("GET", self._target, headers, None, attempt)

    def _per_method(self) -> dict[str, list[Header]]:
        return {method: [*accept, *self._common, *self._session] for method, accept in _ACCEPT.items()}


def _header(name: str, value: str) -> Header:
    try:
        return name.encode("ascii"), value.encode("latin-1")
    except UnicodeEncodeError:
        raise Failed(Code.INVALID_BINDING, "A header holds characters that HTTP cannot carry.") from None
