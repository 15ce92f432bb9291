"""The requests of a sign-in: how long each may take, how much it may bring, and that no redirect takes it elsewhere."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from oauth.fetching import REPLY_LIMIT, Fetcher
from oauth.steps import Fetch, NoReply, Reply
from protocol.failures import Code, Failed
from protocol.mcp.attempts import Attempt, Interrupt
from protocol.mcp.http import HttpTransport, Opened, Target
from tests.fakes.http_server import HttpServer

Header = tuple[bytes, bytes]


@contextmanager
def fetching(transport: HttpTransport, timeout: float = 30) -> Iterator[Fetcher]:
    interrupt = Interrupt()
    yield Fetcher(transport, interrupt, name="assay", version="9", timeout=timeout)
    transport.close()
    interrupt.close()


class Noting(HttpTransport):
    """Sends nothing, and notes how long each request would have had."""

    def __init__(self) -> None:
        super().__init__({"https://auth.example.com:443"})
        self.allowed: list[str] = []

    def send(self, method: str, target: Target, headers: list[Header], body: bytes | None, attempt: Attempt) -> Opened:
        self.allowed.append(attempt.allowed)
        raise Failed(Code.UNREACHABLE, "No connection.")


@pytest.mark.requirement("oauth.request-time")
@pytest.mark.parametrize(
    ("timeout", "seconds", "allowed"),
    [
        (600, None, "60 s"),
        (60, None, "60 s"),
        (15, None, "15 s"),
        (0.1, None, "0.1 s"),
        (15, 1.5, "1.5 s"),
        (0.1, 1.5, "0.1 s"),
        (600, 100, "60 s"),
    ],
)
def test_a_request_has_the_time_of_the_binding_a_minute_at_most_and_its_own_where_that_is_less(
    timeout: float, seconds: float | None, allowed: str
) -> None:
    transport = Noting()
    with fetching(transport, timeout) as fetch:
        reply = fetch(Fetch("x", "GET", "https://auth.example.com/x", seconds=seconds))
    assert reply == NoReply(Code.UNREACHABLE, "No connection.", False)
    assert transport.allowed == [allowed]


@pytest.mark.requirement("oauth.reply-limit")
def test_a_reply_of_256_kib_is_read_and_one_of_a_byte_more_is_not() -> None:
    sizes = {"/most": REPLY_LIMIT, "/more": REPLY_LIMIT + 1}
    assert REPLY_LIMIT == 262_144
    with (
        HttpServer(lambda request, peer: peer.json(b" " * sizes[request.path])) as server,
        fetching(HttpTransport({server.origin})) as fetch,
    ):
        most = fetch(Fetch("x", "GET", f"{server.origin}/most"))
        more = fetch(Fetch("x", "GET", f"{server.origin}/more"))
    assert most == Reply(200, (("content-type", "application/json"),), b" " * REPLY_LIMIT)
    assert more == NoReply(Code.RESPONSE_TOO_LARGE, "The reply has more than 262144 bytes.", True)


@pytest.mark.requirement("oauth.no-redirects")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_redirect_is_a_reply_and_is_never_followed(status: int, method: str) -> None:
    with (
        HttpServer(lambda _, peer: peer.json({"useful": True})) as elsewhere,
        HttpServer(lambda _, peer: peer.reply(status, b"moved", ("Location", f"{elsewhere.origin}/x"))) as server,
        fetching(HttpTransport({server.origin, elsewhere.origin})) as fetch,
    ):
        body = b"code=code-1" if method == "POST" else None
        reply = fetch(Fetch("x", method, f"{server.origin}/x", (("Authorization", "Basic YTpi"),), body))
        assert reply == Reply(status, (), b"")
        assert (len(server.requests), elsewhere.accepted) == (1, 0)
