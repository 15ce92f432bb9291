"""Sends the requests of a sign-in over MCP's own HTTP transport: once, in bounded time and size, redirects refused."""

from typing import Final

from oauth.steps import Fetch, NoReply, Reply
from protocol.failures import Code, Failed
from protocol.mcp.attempts import Attempt, Interrupt
from protocol.mcp.http import HttpTransport, Opened

__all__ = ["REPLY_LIMIT", "REQUEST_TIMEOUT", "Fetcher"]

#: Seconds that one request may take as a whole, at most (the seed, "Limits").
REQUEST_TIMEOUT: Final = 60.0
#: Bytes of a reply, before and after decompression. The largest metadata document found has 20 KiB.
REPLY_LIMIT: Final = 256 * 1024


class Fetcher:
    """Carries out :class:`oauth.steps.Fetch`, without headers of a binding, cookies, or anything of the environment.

    The transport refuses what is not admitted; ``interrupt`` ends a request that is under way. Each request has
    ``timeout`` seconds as a whole, never more than REQUEST_TIMEOUT, and less where the request itself says so.
    """

    def __init__(
        self,
        transport: HttpTransport,
        interrupt: Interrupt,
        *,
        name: str,
        version: str,
        timeout: float = REQUEST_TIMEOUT,
    ) -> None:
        self._transport = transport
        self._interrupt = interrupt
        self._common = [(b"User-Agent", f"{name}/{version}".encode()), (b"Accept-Encoding", b"identity")]
        self._timeout = min(timeout, REQUEST_TIMEOUT)

    def __call__(self, request: Fetch) -> Reply | NoReply:
        """Send a request and return what became of it. Raises nothing of the network's."""
        seconds = self._timeout if request.seconds is None else min(self._timeout, request.seconds)
        attempt = Attempt(self._interrupt, seconds)
        headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in request.headers]
        try:
            target = self._transport.target(request.url)
            opened = self._transport.send(request.method, target, [*self._common, *headers], request.body, attempt)
            try:
                return _read(opened, head_only=request.head_only)
            finally:
                opened.close()
        except Failed as error:
            message = error.failure.message
            if error.code is Code.RESPONSE_TOO_LARGE:
                message = f"The reply has more than {REPLY_LIMIT} bytes."
            return NoReply(error.code, message, attempt.sent)


def _read(opened: Opened, *, head_only: bool) -> Reply:
    names = ("content-type", "mcp-session-id", "www-authenticate")
    headers = tuple((name, value) for name in names for value in opened.fields(name.encode()))
    # Nobody reads the body of a redirect, and nobody should wait for it.
    empty = head_only or 300 <= opened.status < 400
    return Reply(opened.status, headers, b"" if empty else b"".join(opened.chunks(REPLY_LIMIT)))
