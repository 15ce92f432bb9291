"""The transport: foreign exceptions, connecting, resolving, deadlines and interruption before a reply, admission."""

import errno
import os
import select
import socket
import threading
import time
from typing import Any

import httpx
import pytest

from protocol.failures import Code, Failed
from protocol.mcp.attempts import Attempt, Interrupt, Late
from protocol.mcp.http import CODES, HttpTransport, deadline, failed
from protocol.mcp.replies import Outcome
from tests.fakes.http_server import HttpServer, McpScript, Peer, Request
from tests.fakes.mcp_connections import connection_at, connection_to


@pytest.fixture
def interrupt() -> Any:
    made = Interrupt()
    yield made
    made.close()


def subclasses(kind: type[httpx.TransportError]) -> set[type[httpx.TransportError]]:
    return {kind}.union(*(subclasses(each) for each in kind.__subclasses__()))


def test_every_transport_error_of_httpx_has_a_code() -> None:
    assert set(CODES) == {kind for kind in subclasses(httpx.TransportError) if kind.__module__.startswith("httpx")}


@pytest.mark.parametrize(
    ("error", "stage", "sent", "ended", "code"),
    [
        (httpx.ConnectError, "connect", False, False, Code.UNREACHABLE),
        (httpx.ConnectError, "tls", False, False, Code.TLS_FAILED),
        (httpx.ConnectTimeout, "connect", False, False, Code.TIMEOUT),
        (httpx.ConnectTimeout, "tls", False, False, Code.TIMEOUT),
        (httpx.ReadTimeout, "sent", True, False, Code.TIMEOUT),
        (httpx.WriteTimeout, "sent", True, False, Code.TIMEOUT),
        (httpx.PoolTimeout, "connect", False, False, Code.TIMEOUT),
        (httpx.ReadError, "sent", True, False, Code.REPLY_LOST),
        (httpx.ReadError, "sent", False, False, Code.UNREACHABLE),
        (httpx.WriteError, "sent", True, False, Code.REPLY_LOST),
        (httpx.WriteError, "sent", False, False, Code.UNREACHABLE),
        (httpx.CloseError, "sent", True, False, Code.REPLY_LOST),
        (httpx.RemoteProtocolError, "sent", True, True, Code.REPLY_LOST),
        (httpx.RemoteProtocolError, "sent", True, False, Code.PROTOCOL_ERROR),
        (httpx.LocalProtocolError, "connect", False, False, Code.INVALID_BINDING),
        (httpx.UnsupportedProtocol, "connect", False, False, Code.INVALID_BINDING),
        (httpx.ProxyError, "connect", False, False, Code.UNREACHABLE),
    ],
)
def test_a_foreign_exception_becomes_a_code_by_its_class_and_how_far_the_attempt_came(
    interrupt: Interrupt, error: type[httpx.TransportError], stage: Any, sent: bool, ended: bool, code: Code
) -> None:
    attempt = Attempt(interrupt, 2.5)
    attempt.stage, attempt.sent, attempt.ended = stage, sent, ended
    failure = failed(error("what happened"), attempt).failure
    assert failure.code is code
    assert ("2.5 s" in failure.message) is (code is Code.TIMEOUT)
    assert ("what happened" in failure.message) is issubclass(error, httpx.NetworkError)


def test_a_subclass_that_is_not_known_has_the_code_of_its_nearest_class(interrupt: Interrupt) -> None:
    class Novel(httpx.ReadError):
        pass

    attempt = Attempt(interrupt, None)
    attempt.sent = True
    assert failed(Novel(""), attempt).code is Code.REPLY_LOST


def test_an_interrupted_attempt_is_cancelled_whatever_timed_out(interrupt: Interrupt) -> None:
    interrupt.set()
    assert failed(httpx.ReadTimeout(""), Attempt(interrupt, 1)).code is Code.CANCELLED


def initialize(url: str, **settings: Any) -> Outcome:
    with connection_at(url, **settings) as connection:
        return connection.initialize()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def test_a_server_that_is_down_is_unreachable_and_nothing_was_sent() -> None:
    origin = f"http://127.0.0.1:{free_port()}"
    outcome = initialize(origin + "/mcp")
    assert (outcome.kind, outcome.code, outcome.closes) == ("unsent", Code.UNREACHABLE, True)
    assert outcome.message == f"No reply to initialize. No connection to {origin}: Connection refused."
    assert {**outcome.http, "milliseconds": 0} == {"status": None, "milliseconds": 0}


def test_each_address_of_a_host_is_tried() -> None:
    """`localhost` has ::1 first on most machines, and the server listens on 127.0.0.1 alone."""
    with HttpServer(McpScript()) as server:
        origin = f"http://localhost:{server.port}"
        assert initialize(f"{origin}/mcp").kind == "result"


def resolver(monkeypatch: pytest.MonkeyPatch, answer: Any) -> None:
    """Let every name but a literal address be resolved by ``answer``."""

    def getaddrinfo(host: str, port: int, *_: Any, flags: int = 0, **__: Any) -> Any:
        if flags:
            raise socket.gaierror(socket.EAI_NONAME, "not a number")
        return answer(port)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def address(host: str, port: int) -> Any:
    return (socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port))


def test_a_name_is_resolved_and_its_next_address_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = free_port()
    with HttpServer(McpScript()) as server:
        resolver(monkeypatch, lambda port: [address("127.0.0.1", closed), address("127.0.0.1", port)])
        origin = f"http://mcp.example:{server.port}"
        assert initialize(f"{origin}/mcp").kind == "result"
    assert {request.headers["host"] for request in server.requests} == {f"mcp.example:{server.port}"}


def test_a_name_that_does_not_exist_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    resolver(monkeypatch, unknown)
    outcome = initialize("http://nowhere.example/")
    assert (outcome.kind, outcome.code) == ("unsent", Code.UNREACHABLE)
    assert "Name or service not known" in outcome.message


def test_a_name_that_no_resolver_can_encode_is_unreachable() -> None:
    host = "x" * 70 + ".example"
    outcome = initialize(f"http://{host}/")
    assert (outcome.kind, outcome.code) == ("unsent", Code.UNREACHABLE)


def test_a_name_without_addresses_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver(monkeypatch, lambda _: [])
    outcome = initialize("http://empty.example/")
    assert (outcome.kind, outcome.code) == ("unsent", Code.UNREACHABLE)
    assert "the name has no address" in outcome.message


def test_a_resolver_that_hangs_does_not_extend_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()
    resolver(monkeypatch, lambda _: released.wait(10) and [])
    started = time.monotonic()
    outcome = initialize("http://slow.example/", timeout=0.3)
    released.set()
    assert time.monotonic() - started < 5
    assert (outcome.kind, outcome.code) == ("unsent", Code.TIMEOUT)
    assert outcome.message == "No reply to initialize. The deadline of 0.3 s passed before a connection was made."


class Deaf:
    """A listener whose queue is full, so that connections to it get no answer."""

    def __enter__(self) -> int:
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(0)
        port: int = self._listener.getsockname()[1]
        self._callers = []
        for _ in range(4):
            caller = socket.socket()
            caller.setblocking(False)
            caller.connect_ex(("127.0.0.1", port))
            self._callers.append(caller)
        return port

    def __exit__(self, *_: object) -> None:
        for caller in (*self._callers, self._listener):
            caller.close()


def test_a_connection_that_is_not_answered_ends_at_the_deadline() -> None:
    with Deaf() as port:
        origin = f"http://127.0.0.1:{port}"
        started = time.monotonic()
        outcome = initialize(origin, timeout=0.3)
        assert time.monotonic() - started < 5
    assert (outcome.kind, outcome.code) == ("unsent", Code.TIMEOUT)


def test_an_address_without_an_answer_leaves_time_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    with Deaf() as deaf, HttpServer(McpScript()) as server:
        resolver(monkeypatch, lambda port: [address("127.0.0.1", deaf), address("127.0.0.1", port)])
        origin = f"http://half.example:{server.port}"
        assert initialize(f"{origin}/mcp", timeout=0.6).kind == "result"


def test_a_connection_being_made_can_be_cancelled() -> None:
    with Deaf() as port:
        with connection_at(f"http://127.0.0.1:{port}", timeout=30) as connection:
            timer = threading.Timer(0.1, connection.cancel)
            timer.start()
            started = time.monotonic()
            outcome = connection.initialize()
            timer.join()
        assert time.monotonic() - started < 10
    assert (outcome.kind, outcome.code) == ("unsent", Code.CANCELLED)
    assert outcome.message == "No reply to initialize. It was cancelled before a connection was made."


def test_a_request_that_cannot_be_written_ends_at_the_deadline_and_may_have_arrived() -> None:
    with HttpServer(McpScript(), early=full) as server, connection_to(server, timeout=0.5) as connection:
        connection.initialize()
        outcome = connection.request("tools/call", {"name": "x" * 8_000_000})
        assert (outcome.kind, outcome.code) == ("lost", Code.TIMEOUT)


def full(request: Request, peer: Peer) -> bool:
    """Take no byte of a large body until the server stops."""
    if int(request.headers.get("content-length", "0")) < 1_000_000:
        return False
    peer.stopping.wait(5)
    return True


def test_a_header_that_is_not_legal_http_is_never_sent() -> None:
    with HttpServer(McpScript()) as server, connection_to(server, headers=(("X-A", "a\r\nb: c"),)) as connection:
        outcome = connection.initialize()
        assert (outcome.kind, outcome.code) == ("unsent", Code.INVALID_BINDING)
        assert "X-A" not in outcome.message
        assert "a\\r" not in outcome.message
    assert server.requests == []


def test_a_client_over_the_transport_is_held_to_admission_and_deadline(interrupt: Interrupt) -> None:
    def respond(request: Request, peer: Peer) -> None:
        if request.path == "/slow":
            peer.hold()
        else:
            peer.reply(302, b"", ("Location", "/slow"), ("Set-Cookie", "a=b"))

    with HttpServer(respond) as server, httpx.Client(transport=HttpTransport([server.origin])) as client:
        assert client.get(f"{server.origin}/x", extensions=deadline(Attempt(interrupt, 5))).status_code == 302
        with pytest.raises(httpx.ReadTimeout):
            client.get(f"{server.origin}/slow", extensions=deadline(Attempt(interrupt, 0.2)))
        with pytest.raises(Failed) as caught:
            client.get("http://127.0.0.1:1/", extensions=deadline(Attempt(interrupt, 5)))
    assert caught.value.code is Code.ORIGIN_NOT_ADMITTED
    assert "--allow-origin http://127.0.0.1:1" in str(caught.value)


def test_an_idle_connection_that_the_server_closed_is_replaced(interrupt: Interrupt) -> None:
    numbers: list[int] = []

    def respond(request: Request, peer: Peer) -> None:
        numbers.append(request.connection)
        peer.reply(200, b"ok")
        if len(numbers) == 1:
            peer.close()

    with HttpServer(respond) as server:
        transport = HttpTransport([server.origin])
        target = transport.target(server.url)
        for _ in range(2):
            opened = transport.send("POST", target, [], b"{}", Attempt(interrupt, 5))
            assert b"".join(opened.chunks(100)) == b"ok"
            opened.close()
            kept: list[Any] = list(transport._pool._idle)  # type: ignore[attr-defined]
            for idle in kept if len(numbers) == 1 else []:
                # The end of the connection has to have arrived before it is asked for again.
                assert select.select([idle._connection._network_stream.get_extra_info("socket")], [], [], 5)[0]
        transport.close()
    assert numbers == [1, 2]


def test_an_attempt_measures_and_shortens() -> None:
    made = Interrupt()
    attempt = Attempt(made, None)
    assert attempt.left() is None
    attempt.shorten(0)
    with pytest.raises(Late, match="deadline"):
        attempt.left()
    attempt = Attempt(made, 100)
    attempt.shorten(1000)
    assert 99 < (attempt.left() or 0) <= 100
    assert attempt.milliseconds() < 60_000
    made.set()
    made.set()
    with pytest.raises(Late, match="cancelled"):
        attempt.left()
    made.clear()
    made.clear()
    assert attempt.left()
    made.close()
    made.close()
    made.clear()
    made.set()
    with pytest.raises(Late):
        attempt.left()


def test_a_wait_without_a_deadline_is_still_interrupted() -> None:
    made = Interrupt()
    reader, writer = os.pipe()
    timer = threading.Timer(0.05, made.set)
    timer.start()
    with pytest.raises(Late):
        Attempt(made, None).wait(reader, select.POLLIN)
    timer.join()
    made.close()
    os.close(reader)
    os.close(writer)


def test_a_timeout_of_the_kernel_is_no_deadline_of_ours(interrupt: Interrupt, monkeypatch: pytest.MonkeyPatch) -> None:
    class Sock:
        def setblocking(self, _: bool) -> None: ...
        def setsockopt(self, *_: Any) -> None: ...
        def close(self) -> None: ...
        def connect(self, _: Any) -> None:
            raise OSError(errno.ETIMEDOUT, "Connection timed out")

    monkeypatch.setattr(socket, "socket", lambda *_: Sock())
    outcome = initialize("http://127.0.0.1:9/")
    assert (outcome.kind, outcome.code) == ("unsent", Code.UNREACHABLE)
    assert "Connection timed out" in outcome.message
