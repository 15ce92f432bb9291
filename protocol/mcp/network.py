"""Sockets for httpcore whose every wait ends at an absolute deadline, or at once when it is interrupted."""

import contextlib
import os
import select
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final, TypeAlias

import httpcore

from protocol.mcp.attempts import Attempt, Late
from protocol.mcp.certificate import read_certificate
from protocol.mcp.resolving import resolve

__all__ = ["Network", "Stream"]

#: A write is held back until the next read so that head and body leave in one packet; more than this is not copied.
_HELD_LIMIT: Final = 64 * 1024

#: Addresses of a host that are told; a name may have dozens.
_ADDRESSES_LIMIT: Final = 16

_Late: TypeAlias = type[httpcore.TimeoutException]
_Failed: TypeAlias = type[httpcore.NetworkError]


@contextlib.contextmanager
def _mapped(late: _Late, failed: _Failed) -> Iterator[None]:
    """Turn what a socket raises into httpcore's exceptions, which httpx maps in turn. Their texts name no address."""
    try:
        yield
    except Late as error:
        raise late(str(error)) from None
    except ssl.SSLCertVerificationError as error:
        raise failed(f"the certificate is not trusted: {error.verify_message.rstrip('.')}") from None
    except ssl.SSLError as error:
        raise failed(f"TLS failed: {error.reason or 'the connection was closed'}") from None
    except OSError as error:
        raise failed(error.strerror or "no connection") from None
    except ValueError:  # of a host name that no resolver or certificate could have
        raise failed("the host name is malformed") from None


class Stream(httpcore.NetworkStream):
    """A connected socket, non-blocking. ``timeout`` is everywhere the :class:`Attempt` of the request."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._held = b""

    def read(self, max_bytes: int, timeout: Any = None) -> bytes:
        attempt: Attempt = timeout
        with _mapped(httpcore.ReadTimeout, httpcore.ReadError):
            if self._held:
                # A server may refuse early and close; its reply then counts, not the failure of the write.
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self._flush(attempt)
                if not isinstance(self._socket, ssl.SSLSocket):  # which may hold what has arrived already
                    attempt.wait(self._socket.fileno(), select.POLLIN)
            data: bytes = _repeat(attempt, self._socket, partial(self._socket.recv, max_bytes), select.POLLIN)
        attempt.ended = not data
        return data

    def write(self, buffer: bytes, timeout: Any = None) -> None:
        attempt: Attempt = timeout
        self._held += buffer
        if len(self._held) > _HELD_LIMIT:
            with _mapped(httpcore.WriteTimeout, httpcore.WriteError):
                self._flush(attempt)

    def _flush(self, attempt: Attempt) -> None:
        view, self._held = memoryview(self._held), b""
        attempt.stage = "sent"
        while view:
            # Of a TLS record a part may have left before a failure is reported; of plain bytes it has not.
            attempt.sent = attempt.sent or isinstance(self._socket, ssl.SSLSocket)
            count = _repeat(attempt, self._socket, partial(self._socket.send, view), select.POLLOUT)
            attempt.sent = True
            view = view[count:]

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: Any = None
    ) -> "Stream":
        attempt: Attempt = timeout
        attempt.stage = "tls"
        try:
            with _mapped(httpcore.ConnectTimeout, httpcore.ConnectError):
                secured = ssl_context.wrap_socket(
                    self._socket, server_hostname=server_hostname, do_handshake_on_connect=False
                )
                self._socket = secured
                _repeat(attempt, secured, secured.do_handshake, select.POLLIN)
        except BaseException as error:
            self.close()
            attempt.network["tls"] = _distrust(error.__context__)
            raise
        attempt.network["tls"] = _security(secured)
        return Stream(secured)

    def get_extra_info(self, info: str) -> Any:
        # httpcore asks before it uses an idle connection again: readable then means closed, or talking out of turn.
        if info == "is_readable":
            poll = select.poll()
            poll.register(self._socket, select.POLLIN)
            return bool(poll.poll(0))
        return self._socket if info == "socket" else None


_WANTED: Final[dict[type[Exception], int]] = {
    ssl.SSLWantReadError: select.POLLIN,
    ssl.SSLWantWriteError: select.POLLOUT,
}


def _repeat(attempt: Attempt, sock: socket.socket, operation: Callable[[], Any], event: int) -> Any:
    """Do it as soon as the socket lets it, and not past the deadline even when the socket never makes it wait."""
    while True:
        attempt.left()
        try:
            return operation()
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
            wanted = _WANTED.get(type(error), event)
        attempt.wait(sock.fileno(), wanted)


def _security(secured: ssl.SSLSocket) -> dict[str, Any]:
    """Say what secures a connection."""
    certificate = read_certificate(secured.getpeercert(binary_form=True) or b"")
    cipher = secured.cipher()
    return {
        "version": secured.version(),
        "cipher": cipher[0] if cipher else None,
        "certificate": certificate and certificate.facts(),
    }


def _distrust(error: BaseException | None) -> dict[str, Any]:
    """Say why a handshake failed. ``verifyCode`` is OpenSSL's, where the certificate was the reason."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return {"reason": error.verify_message, "verifyCode": error.verify_code}
    return {"reason": error.reason if isinstance(error, ssl.SSLError) else None, "verifyCode": None}


class Network(httpcore.NetworkBackend):
    """Connects by TCP: each address of the host in turn, each with its share of what is left of the one deadline.

    The attempt's ``network`` then holds what is known: ``addresses`` of the host, the ``address`` that took the
    connection, and ``tls``: ``version``, ``cipher`` and ``certificate`` (see :mod:`protocol.mcp.certificate`), or the
    ``reason`` and ``verifyCode`` of a handshake that failed.
    """

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: Any = None,
        local_address: str | None = None,  # noqa: ARG002 - httpcore's interface
        socket_options: Iterable[Any] | None = None,  # noqa: ARG002 - httpcore's interface
    ) -> Stream:
        attempt: Attempt = timeout
        failure = OSError(0, "the name has no address")
        with _mapped(httpcore.ConnectTimeout, httpcore.ConnectError):
            addresses = resolve(host, port, attempt)
            attempt.stage = "connect"
            attempt.network["addresses"] = [address[0] for _, _, _, _, address in addresses[:_ADDRESSES_LIMIT]]
            for tried, (family, kind, protocol, _, address) in enumerate(addresses):
                left = attempt.left()
                share = None if left is None else left / (len(addresses) - tried)
                try:
                    stream = Stream(_connect(socket.socket(family, kind, protocol), address, attempt, share))
                    attempt.network["address"] = address[0]
                    return stream
                except OSError as error:
                    failure = error
            raise failure


def _connect(sock: socket.socket, address: Any, attempt: Attempt, share: float | None) -> socket.socket:
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(BlockingIOError):
            sock.connect(address)
        if not attempt.wait(sock.fileno(), select.POLLOUT, share):
            attempt.left()
            raise OSError(0, "no answer")
        code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if code:
            raise OSError(code, os.strerror(code))
        return sock
    except BaseException:
        sock.close()
        raise
