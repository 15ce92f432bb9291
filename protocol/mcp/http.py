"""The HTTP transport: httpx's own, over sockets of ours that keep an absolute deadline and can be interrupted."""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

# Importing httpx imports its command line, and with it rich and pygments where they are installed (some 80 ms).
_UNUSED: Final = "httpx._main"
_blocked = _UNUSED not in sys.modules and "httpx" not in sys.modules
if _blocked:
    sys.modules[_UNUSED] = None  # type: ignore[assignment]
import httpcore  # noqa: E402 - after the block above
import httpx  # noqa: E402

if _blocked:
    del sys.modules[_UNUSED]

from protocol.failures import Code, Failed  # noqa: E402
from protocol.mcp.attempts import Attempt  # noqa: E402
from protocol.mcp.bodies import BodyError, decoder  # noqa: E402
from protocol.mcp.origins import OriginError, origin  # noqa: E402
from protocol.mcp.pool import Pool  # noqa: E402

__all__ = ["CODES", "HttpTransport", "Opened", "Target", "failed"]

Header = tuple[bytes, bytes]

#: Code of each exception that httpx's transports raise. The nearest class counts; :func:`failed` refines it.
CODES: Final[dict[type[httpx.TransportError], Code]] = {
    httpx.TransportError: Code.REPLY_LOST,
    httpx.TimeoutException: Code.TIMEOUT,
    httpx.ConnectTimeout: Code.TIMEOUT,
    httpx.ReadTimeout: Code.TIMEOUT,
    httpx.WriteTimeout: Code.TIMEOUT,
    httpx.PoolTimeout: Code.TIMEOUT,
    httpx.NetworkError: Code.REPLY_LOST,
    httpx.ConnectError: Code.UNREACHABLE,
    httpx.ReadError: Code.REPLY_LOST,
    httpx.WriteError: Code.REPLY_LOST,
    httpx.CloseError: Code.REPLY_LOST,
    httpx.ProxyError: Code.UNREACHABLE,
    httpx.UnsupportedProtocol: Code.INVALID_BINDING,
    httpx.ProtocolError: Code.PROTOCOL_ERROR,
    httpx.LocalProtocolError: Code.INVALID_BINDING,
    httpx.RemoteProtocolError: Code.PROTOCOL_ERROR,
}

#: What httpcore raises. Of each class, httpx has one of the same name.
_RAISED: Final = (
    httpcore.ConnectionNotAvailable,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.TimeoutException,
    httpcore.UnsupportedProtocol,
)

_NAMED: Final = {kind.__name__: code for kind, code in CODES.items()}

_TEXTS: Final = {
    Code.TIMEOUT: "The deadline of {seconds} passed {when}.",
    Code.CANCELLED: "It was cancelled {when}.",
    Code.UNREACHABLE: "No connection to {place}: {detail}.",
    Code.TLS_FAILED: "No secure connection to {place}: {detail}.",
    Code.REPLY_LOST: "The connection ended before the reply did: {detail}.",
    Code.PROTOCOL_ERROR: "The server's reply breaks HTTP/1.1.",
    Code.INVALID_BINDING: "The request cannot be written as HTTP. Check `endpoint` and `headers`.",
}
_WHEN: Final = {
    "connect": "before a connection was made",
    "tls": "during the TLS handshake",
    "sent": "before the reply was complete",
}


def failed(error: Exception, attempt: Attempt, place: str = "the server") -> Failed:
    """Return the failure that an exception of httpx's transport, or of httpcore under it, means for an attempt.

    The class gives the code, and the attempt refines it: interrupted is ``cancelled``; a connection that failed in its
    handshake is ``tls_failed``; a broken-off reply is ``reply_lost`` once the server closed, and nothing of ours having
    left, ``unreachable``. Only texts of our own sockets are passed on: those of h11 quote headers. ``place`` is the
    origin that was tried: nothing else of a URL may be told.
    """
    code = next((_NAMED[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in _NAMED), Code.REPLY_LOST)
    if code is Code.TIMEOUT and attempt.interrupt.is_set:
        code = Code.CANCELLED
    elif code is Code.UNREACHABLE and attempt.stage == "tls":
        code = Code.TLS_FAILED
    elif code is Code.PROTOCOL_ERROR and attempt.ended:
        code = Code.REPLY_LOST
    if code is Code.REPLY_LOST and not attempt.sent:
        code = Code.UNREACHABLE
    ours = isinstance(error, httpx.NetworkError | httpcore.NetworkError) and str(error)
    detail = ours or "the server closed it"
    when = _WHEN[attempt.stage]
    return Failed(code, _TEXTS[code].format(when=when, seconds=attempt.allowed, detail=detail, place=place))


class Target(NamedTuple):
    """A URL that was looked at once: as httpcore takes it, its ``Host``, and its origin."""

    url: httpcore.URL
    host: Header
    origin: str


class Opened:
    """A response whose head has arrived. Close it; what is left of the body is then not read."""

    def __init__(self, response: httpcore.Response, attempt: Attempt) -> None:
        self.status = response.status
        self._response = response
        self._attempt = attempt
        self._headers = [(name.lower(), _text(value).strip()) for name, value in response.headers]

    def fields(self, name: bytes) -> list[str]:
        """Return the values of a header field, one for each of its lines; ``name`` is lower case."""
        return [value for found, value in self._headers if found == name]

    def field(self, name: bytes) -> str | None:
        """Return the value of a header field, its lines joined by commas; None when there is none."""
        values = self.fields(name)
        return ", ".join(values) if values else None

    @property
    def media_type(self) -> str:
        """``Content-Type`` without parameters, in lower case; empty when there is none."""
        return (self.field(b"content-type") or "").partition(";")[0].strip().lower()

    def chunks(self, limit: int) -> Iterator[bytes]:
        """Give the decoded body in pieces; ``limit`` bounds its bytes before and after decoding. Raises Failed."""
        try:
            body = decoder(self.field(b"content-encoding") or "", limit)
            for chunk in self._response.stream:  # type: ignore[union-attr]
                yield body.feed(chunk)
            if not body.finish():
                raise Failed(Code.REPLY_LOST, "The compressed reply ended before it was whole.")
        except BodyError as error:
            if error.rest:
                yield error.rest
            code = Code.RESPONSE_TOO_LARGE if error.too_large else Code.PROTOCOL_ERROR
            raise Failed(code, f"The reply cannot be read: {error.reason}.") from None
        except _RAISED as error:
            raise failed(error, self._attempt) from None

    def close(self) -> None:
        """Give the connection back when the body was read to its end, else close it."""
        self._response.close()


def _text(value: bytes) -> str:
    """Decode a header. Bytes beyond ASCII are UTF-8 in practice; RFC 9110 (section 5.5) leaves them opaque."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


class HttpTransport(httpx.HTTPTransport):
    """One identity's way to the network: admitted origins, no redirects, no cookies, no proxies, nothing sent twice.

    ``origins`` are admitted, as :func:`protocol.mcp.origins.origin` writes them. ``authority`` is PEM that is added to
    system trust. Threads may share it. Requests through :meth:`send` carry an :class:`Attempt`; through an
    ``httpx.Client`` they must as well: ``extensions=deadline(attempt)``.
    """

    def __init__(self, origins: Iterable[str], authority: bytes | None = None) -> None:
        # Not httpx's constructor: that one makes a TLS context of its own (60 ms) and a pool over its own sockets.
        self._admitted = frozenset(origins)
        self._pool = Pool(authority)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request. Raises Failed with origin_not_admitted before anything is contacted."""
        self._admit(str(request.url))
        return super().handle_request(request)

    def target(self, url: str) -> Target:
        """Prepare a URL. Raises Failed with invalid_binding or origin_not_admitted."""
        found = self._admit(url)
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL:
            raise Failed(Code.INVALID_BINDING, "The endpoint is not a URL. Mend `endpoint` in the binding.") from None
        place = httpcore.URL(scheme=parsed.raw_scheme, host=parsed.raw_host, port=parsed.port, target=parsed.raw_path)
        return Target(place, (b"Host", parsed.netloc), found)

    def _admit(self, url: str) -> str:
        try:
            found = origin(url)
        except OriginError as error:
            raise Failed(Code.INVALID_BINDING, f"The URL of a request has no origin: {error.reason}.") from None
        if found not in self._admitted:
            text = f"The origin {found} is not admitted. Make it the target, or add `--allow-origin {found}`."
            raise Failed(Code.ORIGIN_NOT_ADMITTED, text)
        return found

    def send(self, method: str, target: Target, headers: list[Header], body: bytes | None, attempt: Attempt) -> Opened:
        """Send one request and wait for the head of its response. Raises Failed; ``attempt.sent`` tells the rest."""
        fields = [target.host, *headers]
        if body is not None:
            fields.append((b"Content-Length", b"%d" % len(body)))
        request = httpcore.Request(
            method, target.url, headers=fields, content=body or b"", extensions=deadline(attempt)
        )
        try:
            return Opened(self._pool.handle_request(request), attempt)
        except _RAISED as error:
            raise failed(error, attempt, target.origin) from None


def deadline(attempt: Attempt) -> dict[str, Any]:
    """Return the extensions of a request that make it keep the attempt's deadline."""
    return {"timeout": {"connect": attempt, "read": attempt, "write": attempt}}
