"""The connections of a transport: kept while they are fresh, one for each request at a time, closed with it."""

from collections.abc import Iterator

import httpcore
import httpx
import pytest

from protocol.failures import Code
from protocol.mcp.attempts import Attempt, Interrupt
from protocol.mcp.http import HttpTransport, Opened, failed
from tests.fakes.http_server import HttpServer, Peer, Request


@pytest.fixture
def interrupt() -> Iterator[Interrupt]:
    made = Interrupt()
    yield made
    made.close()


def respond(request: Request, peer: Peer) -> None:
    peer.reply(200, b"ok")


def ask(transport: HttpTransport, server: HttpServer, interrupt: Interrupt) -> Opened:
    return transport.send("POST", transport.target(server.url), [], b"{}", Attempt(interrupt, 5))


def read(opened: Opened) -> None:
    assert b"".join(opened.chunks(100)) == b"ok"
    opened.close()
    opened.close()


def connections(server: HttpServer) -> list[int]:
    return [request.connection for request in server.requests]


def test_a_connection_is_used_again_once_its_reply_was_read(interrupt: Interrupt) -> None:
    with HttpServer(respond) as server:
        transport = HttpTransport([server.origin])
        for _ in range(3):
            read(ask(transport, server, interrupt))
        transport.close()
    assert connections(server) == [1, 1, 1]


def test_a_connection_whose_reply_was_not_read_is_not_used_again(interrupt: Interrupt) -> None:
    with HttpServer(respond) as server:
        transport = HttpTransport([server.origin])
        ask(transport, server, interrupt).close()
        read(ask(transport, server, interrupt))
        transport.close()
    assert connections(server) == [1, 2]


def test_requests_at_one_time_have_a_connection_each_and_the_last_one_is_taken_first(interrupt: Interrupt) -> None:
    with HttpServer(respond) as server:
        transport = HttpTransport([server.origin])
        first, second = ask(transport, server, interrupt), ask(transport, server, interrupt)
        read(second)
        read(first)
        read(ask(transport, server, interrupt))
        transport.close()
    assert connections(server) == [1, 2, 1]


def test_a_connection_is_kept_for_its_own_origin(interrupt: Interrupt) -> None:
    with HttpServer(respond) as one, HttpServer(respond) as other:
        transport = HttpTransport([one.origin, other.origin])
        for server in (one, other, one, other):
            read(ask(transport, server, interrupt))
        transport.close()
    assert (connections(one), connections(other)) == ([1, 1], [1, 1])


def test_what_is_given_back_after_the_end_is_closed(interrupt: Interrupt) -> None:
    with HttpServer(respond) as server:
        transport = HttpTransport([server.origin])
        opened = ask(transport, server, interrupt)
        transport.close()
        read(opened)
        read(ask(transport, server, interrupt))
    assert connections(server) == [1, 2]


@pytest.mark.parametrize(
    "kind",
    [each for each in vars(httpcore).values() if isinstance(each, type) and issubclass(each, Exception)],
)
def test_every_exception_of_httpcore_means_what_that_of_httpx_means(
    interrupt: Interrupt, kind: type[Exception]
) -> None:
    attempt = Attempt(interrupt, 2.5)
    attempt.sent = True
    same = getattr(httpx, kind.__name__, httpx.TransportError)
    ours, theirs = failed(kind("what happened"), attempt), failed(same("what happened"), attempt)
    assert ours.failure == theirs.failure
    assert (ours.code is Code.REPLY_LOST) or hasattr(httpx, kind.__name__)
