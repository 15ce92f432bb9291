"""A scripted HTTP server on raw loopback sockets: one callable decides every byte that goes back, however wrong.

``HttpServer(respond)`` calls ``respond(request, peer)`` for each request, on the thread of its connection.
`McpScript` is such a callable that behaves, with single answers to be overridden.
"""

import contextlib
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["HttpServer", "McpScript", "Peer", "Refusal", "Request", "chunked", "refuse_get"]

Header = tuple[str, str]
Respond = Callable[["Request", "Peer"], Any]
Early = Callable[["Request", "Peer"], bool]


@dataclass(frozen=True)
class Request:
    """A request as it was read. Header names are lower case; of a repeated header the values are joined by commas."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def rpc(self) -> str:
        """The JSON-RPC method of a POST (empty for a response), else the HTTP method, that of a form's POST, too."""
        form = self.headers.get("content-type") == "application/x-www-form-urlencoded"
        return self.json.get("method", "") if self.method == "POST" and not form else self.method


class Peer:
    """The server's end of one connection. Everything written goes out at once; what writes returns the peer."""

    def __init__(self, sock: socket.socket, stopping: threading.Event) -> None:
        self.socket = sock
        self.stopping = stopping

    def send(self, data: bytes) -> "Peer":
        self.socket.sendall(data)
        return self

    def head(self, status: int, *headers: Header) -> "Peer":
        """Send a status line and headers, and nothing else: no length, no type."""
        lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in headers)]
        return self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    def reply(self, status: int = 200, body: bytes = b"", *headers: Header, kind: str | None = None) -> "Peer":
        """Send a whole response. ``kind`` is its Content-Type."""
        typed = [("Content-Type", kind)] if kind else []
        lines = [f"HTTP/1.1 {status} Scripted"]
        lines += [f"{name}: {value}" for name, value in (*typed, ("Content-Length", str(len(body))), *headers)]
        return self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body)

    def json(self, message: Any, *headers: Header, status: int = 200) -> "Peer":
        """Send a whole JSON response; bytes go out as they are."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.reply(status, body, *headers, kind="application/json")

    def stream(self, *headers: Header, status: int = 200) -> "Peer":
        """Begin an event stream (chunked)."""
        return self.head(status, ("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked"), *headers)

    def chunk(self, data: bytes) -> "Peer":
        return self.send(chunked(data))

    def event(self, message: Any, name: str | None = None) -> "Peer":
        """Send one event in a chunk; bytes are its data as they are."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.chunk((b"event: %b\n" % name.encode() if name else b"") + b"data: " + data + b"\n\n")

    def finish(self) -> "Peer":
        """End a chunked body."""
        return self.send(b"0\r\n\r\n")

    def drip(self, data: bytes, every: float) -> "Peer":
        """Send one byte at a time, ``every`` seconds, until the client goes away or the server stops."""
        for byte in data:
            if self.stopping.wait(every):
                break
            self.send(bytes([byte]))
        return self

    def repeat(self, data: bytes, every: float) -> "Peer":
        """Send the same again and again, ``every`` seconds, until the client goes away or the server stops."""
        while not self.stopping.wait(every):
            self.send(data)
        return self

    def hold(self) -> None:
        """Say nothing more, until the client closes or the server stops."""
        with contextlib.suppress(OSError):
            while self.socket.recv(65536):
                pass

    def close(self) -> None:
        """Close in order: the client reads what was sent, then the end."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def reset(self) -> None:
        """Cut the connection (RST): what the client has not read yet is gone."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def chunked(data: bytes) -> bytes:
    """Return one chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


class HttpServer:
    """Serves on 127.0.0.1, any port, while it is entered. A failure of the script is raised when it is left.

    ``requests`` are all that were read whole, in order; ``accepted`` counts connections. With ``tls`` each connection
    is secured by that context first. ``early`` is asked about each request before its body is read: when it says True,
    it has answered, and the connection is closed with the body unread.
    """

    def __init__(self, respond: Respond, *, tls: ssl.SSLContext | None = None, early: Early | None = None) -> None:
        self.requests: list[Request] = []
        self.accepted = 0
        self.stopping = threading.Event()
        self._respond = respond
        self._tls = tls
        self._early = early or (lambda _request, _peer: False)
        self._changed = threading.Condition()
        self._failures: list[BaseException] = []
        self._connections: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    @property
    def origin(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.origin}/mcp"

    def __enter__(self) -> "HttpServer":
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._threads[0].join(10)
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(10)
            assert not thread.is_alive(), "a script does not end when its connection does"
        for failure in self._failures:
            raise failure

    def seen(self, rpc: str) -> list[Request]:
        """Return the requests of one JSON-RPC method, or of one HTTP method other than POST."""
        with self._changed:
            return [request for request in self.requests if request.rpc == rpc]

    def wait_for(self, holds: Callable[["HttpServer"], bool], timeout: float = 10) -> None:
        """Wait until something holds of the server; it is asked again whenever a request came."""
        with self._changed:
            assert self._changed.wait_for(lambda: holds(self), timeout), "what was waited for never happened"

    def _start(self, target: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.accepted += 1
                self._connections.append(connection)
                self._start(self._serve, connection, self.accepted)

    def _serve(self, sock: socket.socket, number: int) -> None:
        try:
            with contextlib.suppress(OSError, EOFError):
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self._tls is not None:
                    sock = self._tls.wrap_socket(sock, server_side=True)
                    self._connections.append(sock)
                peer = Peer(sock, self.stopping)
                for request in self._requests(peer, number):
                    with self._changed:
                        self.requests.append(request)
                        self._changed.notify_all()
                    self._respond(request, peer)
        except BaseException as failure:  # noqa: BLE001 - raised again when the server is left
            self._failures.append(failure)
        finally:
            sock.close()

    def _requests(self, peer: Peer, number: int) -> Iterator[Request]:
        """Read requests until the connection ends. Raises EOFError at its end."""
        buffer = b""
        while True:
            while b"\r\n\r\n" not in buffer:
                buffer += _receive(peer.socket)
            head, _, buffer = buffer.partition(b"\r\n\r\n")
            request = _head(head.decode("latin-1"), number)
            if self._early(request, peer):
                return
            length = int(request.headers.get("content-length", "0"))
            while len(buffer) < length:
                buffer += _receive(peer.socket)
            body, buffer = buffer[:length], buffer[length:]
            yield replace(request, body=body)


def _head(text: str, number: int) -> Request:
    start, *lines = text.split("\r\n")
    method, path, _ = start.split(" ")
    headers: dict[str, str] = {}
    for name, _, value in (line.partition(":") for line in lines):
        key, value = name.lower(), value.strip()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return Request(method, path, headers, b"", number)


def _receive(sock: socket.socket) -> bytes:
    data = sock.recv(65536)
    if not data:
        raise EOFError
    return data


@dataclass(frozen=True)
class Refusal:
    """A JSON-RPC error as an answer of a `McpScript`, at some HTTP status."""

    code: int
    message: str
    data: Any = None
    status: int = 200


def refuse_get(_: Request, peer: Peer) -> None:
    """Answer as a server without a GET stream does."""
    peer.reply(405, b"", ("Allow", "POST, DELETE"))


@dataclass
class McpScript:
    """A well-behaved MCP server with one tool, `echo`.

    ``on`` overrides single answers, by JSON-RPC method, or `GET`, `DELETE`, or the empty text for the client's own
    responses: a callable takes over the whole response, a `Refusal` is sent as a JSON-RPC error, any other value as a
    result. With ``sse`` results are sent as event streams that end after them.
    """

    on: dict[str, Any] = field(default_factory=dict)
    session: str | None = "session-0123456789"
    revision: str = "2025-11-25"
    capabilities: dict[str, Any] = field(default_factory=lambda: {"tools": {}})
    tools: list[Any] = field(default_factory=lambda: [{"name": "echo", "inputSchema": {"type": "object"}}])
    sse: bool = False

    def __call__(self, request: Request, peer: Peer) -> None:
        answer = self.on.get(request.rpc, self._default(request))
        if callable(answer):
            answer(request, peer)
        elif request.method != "POST" or "id" not in request.json or "method" not in request.json:
            peer.reply(202 if request.method == "POST" else 200)
        else:
            self._respond(request, peer, answer)

    def _respond(self, request: Request, peer: Peer, answer: Any) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": request.json["id"]}
        status = 200
        if isinstance(answer, Refusal):
            error = {"code": answer.code, "message": answer.message}
            message["error"] = error if answer.data is None else {**error, "data": answer.data}
            status = answer.status
        else:
            message["result"] = answer
        headers = [("Mcp-Session-Id", self.session)] if self.session and request.rpc == "initialize" else []
        if self.sse:
            peer.stream(*headers, status=status)
            peer.event(message, "message")
            peer.finish()
        else:
            peer.json(message, *headers, status=status)

    def _default(self, request: Request) -> Any:
        answers: dict[str, Any] = {
            "initialize": {
                "protocolVersion": self.revision,
                "capabilities": self.capabilities,
                "serverInfo": {"name": "scripted", "version": "1"},
            },
            "tools/list": {"tools": self.tools},
            "tools/call": {"content": [{"type": "text", "text": "hello"}], "isError": False},
            "GET": refuse_get,
        }
        return answers.get(request.rpc, Refusal(-32601, "Method not found"))
