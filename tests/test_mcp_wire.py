"""What servers do on the wire to one tool call, row by row: each gives its outcome, is seen once, and closes or not."""

import gzip
import json
import time
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from protocol.failures import Code
from protocol.mcp import exchange
from protocol.mcp.connection import Connection
from protocol.mcp.replies import JSON, Outcome, OutcomeKind
from tests.fakes.http_server import HttpServer, McpScript, Peer, Request, chunked
from tests.fakes.mcp_connections import call, connection_to, opened

Act = Callable[[Request, Peer], Any]
RESULT = {"content": [{"type": "text", "text": "hello"}]}


def response(request: Request, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request.json["id"], "result": RESULT, **members}


def encoded(request: Request, **members: Any) -> bytes:
    return json.dumps(response(request, **members)).encode()


class Seen(NamedTuple):
    """What came of one call."""

    outcome: Outcome
    state: str
    seconds: float
    server: HttpServer

    @property
    def brief(self) -> tuple[str, Code | None, bool]:
        return self.outcome.kind, self.outcome.code, self.outcome.closes


def misbehave(act: Act, *, script: dict[str, Any] | None = None, timeout: float = 10, **settings: Any) -> Seen:
    """Call one tool at a server that answers the call by ``act``. The call must have been seen exactly once."""
    mcp = script or {}
    with opened(McpScript({"tools/call": act}, **mcp), timeout=timeout, **settings) as (server, connection):
        started = time.monotonic()
        outcome = call(connection)
        seconds = time.monotonic() - started
        state = connection.state
        assert len(server.seen("tools/call")) == 1
        after(connection, state)
    assert len(server.seen("tools/call")) == 1
    assert len(server.seen("DELETE")) == 1
    return Seen(outcome, state, seconds, server)


def after(connection: Connection, state: str) -> None:
    """A closed connection sends nothing more but its DELETE; an open one goes on."""
    outcome = connection.request("ping")
    assert (outcome.code is Code.NOT_CONNECTED) == (state == "closed")
    assert connection.end().kind == "result"


def streamed(*parts: Any) -> Act:
    """Answer by an event stream: each part is the data of an event, or a callable of the request that gives it."""

    def act(request: Request, peer: Peer) -> None:
        peer.stream()
        for part in parts:
            peer.event(part(request) if callable(part) else part)
        peer.finish()

    return act


def raw_stream(data: Callable[[Request], bytes]) -> Act:
    """Answer by an event stream of exactly these bytes."""

    def act(request: Request, peer: Peer) -> None:
        peer.stream()
        peer.chunk(data(request))
        peer.finish()

    return act


NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
LOST, AMBIGUOUS, PROTOCOL = (
    ("lost", code, True) for code in (Code.REPLY_LOST, Code.REPLY_AMBIGUOUS, Code.PROTOCOL_ERROR)
)
KNOWN = ("result", None, False)
STATUS_OPEN = ("refused", Code.HTTP_STATUS, False)
STATUS_CLOSED = ("lost", Code.HTTP_STATUS, True)


ROWS: dict[str, tuple[Act, tuple[str, Code | None, bool]]] = {
    "redirect with a trailing slash": (
        lambda _, peer: peer.reply(307, b"", ("Location", "/mcp/")),
        ("lost", Code.REDIRECT_REFUSED, True),
    ),
    "redirect to another origin": (
        lambda _, peer: peer.reply(302, b"", ("Location", "https://evil.example/")),
        ("lost", Code.REDIRECT_REFUSED, True),
    ),
    "401": (lambda _, peer: peer.reply(401, b"", ("WWW-Authenticate", "Bearer")), STATUS_OPEN),
    "403 with text": (lambda _, peer: peer.reply(403, b"no", kind="text/plain"), STATUS_OPEN),
    "403 with JSON of its own": (lambda _, peer: peer.json({"error": "forbidden"}, status=403), STATUS_OPEN),
    "400 with another id": (
        lambda _, peer: peer.json(
            {"jsonrpc": "2.0", "id": "server-error", "error": {"code": 1, "message": ""}}, status=400
        ),
        STATUS_OPEN,
    ),
    "408": (lambda _, peer: peer.reply(408), STATUS_CLOSED),
    "500 with HTML": (lambda _, peer: peer.reply(500, b"<h1>no</h1>", kind="text/html"), STATUS_CLOSED),
    "502": (lambda _, peer: peer.reply(502), STATUS_CLOSED),
    "202": (lambda _, peer: peer.reply(202), LOST),
    "101": (lambda _, peer: peer.head(101, ("Upgrade", "x"), ("Connection", "upgrade")), PROTOCOL),
    "204": (lambda _, peer: peer.head(204), PROTOCOL),
    "a foreign type": (lambda _, peer: peer.reply(200, b"<html>", kind="text/html"), PROTOCOL),
    "no type": (lambda request, peer: peer.reply(200, encoded(request)), PROTOCOL),
    "a type with parameters and capitals": (
        lambda request, peer: peer.reply(200, encoded(request), kind="Application/JSON; charset=utf-8"),
        KNOWN,
    ),
    "no JSON": (lambda _, peer: peer.json(b"{"), PROTOCOL),
    "an empty body": (lambda _, peer: peer.json(b""), PROTOCOL),
    "JSON in UTF-16": (lambda request, peer: peer.json(encoded(request).decode().encode("utf-16")), PROTOCOL),
    "a response of another id": (lambda request, peer: peer.json(response(request, id=99)), AMBIGUOUS),
    "a response whose id is a string": (lambda request, peer: peer.json(response(request, id="2")), AMBIGUOUS),
    "a response whose id is a float": (
        lambda request, peer: peer.json(encoded(request).replace(b'"id": 2', b'"id": 2.0')),
        AMBIGUOUS,
    ),
    "a response whose id is null": (lambda request, peer: peer.json(response(request, id=None)), AMBIGUOUS),
    "a response with two ids": (
        lambda request, peer: peer.json(encoded(request).replace(b'"id": 2', b'"id": 2, "id": 2')),
        AMBIGUOUS,
    ),
    "a batch": (lambda request, peer: peer.json([response(request)]), AMBIGUOUS),
    "a request in place of a response": (
        lambda _, peer: peer.json({"jsonrpc": "2.0", "id": 2, "method": "ping"}),
        PROTOCOL,
    ),
    "a repeated member": (
        lambda request, peer: peer.json(encoded(request).replace(b'"text": "hello"', b'"text": "hello", "text": "x"')),
        ("unavailable", Code.PROTOCOL_ERROR, False),
    ),
    "result and error": (
        lambda request, peer: peer.json(response(request, error={"code": 1, "message": ""})),
        ("unavailable", Code.PROTOCOL_ERROR, False),
    ),
    "a JSON-RPC error": (
        lambda request, peer: peer.json({"jsonrpc": "2.0", "id": 2, "error": {"code": -32602, "message": "no"}}),
        ("rpc-error", None, False),
    ),
    "a JSON-RPC error at 404": (
        lambda request, peer: peer.json({"jsonrpc": "2.0", "id": 2, "error": {"code": -1, "message": ""}}, status=404),
        ("rpc-error", None, False),
    ),
    "404 with a session": (
        lambda _, peer: peer.reply(404, b"no", kind="text/plain"),
        ("refused", Code.SESSION_LOST, True),
    ),
    "a 400 that says so": (
        lambda _, peer: peer.json({"error": {"message": "Session not found"}}, status=400),
        ("refused", Code.SESSION_LOST, True),
    ),
    "a connection that is closed": (lambda _, peer: peer.close(), LOST),
    "a connection that is reset": (lambda _, peer: peer.reset(), LOST),
    "a cut in the head": (lambda _, peer: peer.send(b"HTTP/1.1 200 OK\r\nContent-").close(), LOST),
    "a cut in the body": (
        lambda request, peer: peer.head(200, ("Content-Type", JSON), ("Content-Length", "90")).close(),
        LOST,
    ),
    "a cut in a chunk": (lambda _, peer: peer.stream().send(b"50\r\ndata: {").close(), LOST),
    "a reset between events": (lambda _, peer: peer.stream().event(NOTE).reset(), LOST),
    "a stream without the response": (streamed(NOTE), LOST),
    "an empty stream": (streamed(), LOST),
    "a cut in the last event": (
        lambda request, peer: peer.stream().chunk(b"data: " + encoded(request) + b"\n").finish(),
        LOST,
    ),
    "no HTTP": (lambda _, peer: peer.send(b"SSH-2.0-OpenSSH\r\n\r\n").hold(), PROTOCOL),
    "a malformed chunk": (lambda _, peer: peer.stream().send(b"zz\r\n").hold(), PROTOCOL),
    "a stream with the response": (streamed(response), KNOWN),
    "a stream of notifications before the response": (streamed(NOTE, NOTE, response), KNOWN),
    "a primer event": (
        raw_stream(lambda request: b"id: 1\nretry: 10\ndata:\n\ndata: " + encoded(request) + b"\n\n"),
        KNOWN,
    ),
    "events of other names": (
        raw_stream(lambda request: b"event: ping\ndata: now\n\ndata: " + encoded(request) + b"\n\n"),
        KNOWN,
    ),
    "CRLF, comments, a BOM, several data lines": (
        raw_stream(
            lambda request: (
                b"\xef\xbb\xbf: hi\r\nid: 4\r\ndata: "
                + json.dumps(response(request), indent=1).encode().replace(b"\n", b"\r\ndata: ")
                + b"\r\n\r\n"
            )
        ),
        KNOWN,
    ),
    "CR line ends": (raw_stream(lambda request: b"data: " + encoded(request) + b"\r\r"), KNOWN),
    "line separators in a string": (
        raw_stream(lambda request: b"data: " + encoded(request).replace(b"hello", "a\u2028b\x85".encode()) + b"\n\n"),
        KNOWN,
    ),
    "an event that is no JSON": (streamed(b"junk", response), PROTOCOL),
    "an event that is no UTF-8": (streamed(b"\xff", response), PROTOCOL),
    "junk after the response": (streamed(response, b"junk"), KNOWN),
    "two responses in a stream": (streamed(response, response), AMBIGUOUS),
    "another response before ours": (streamed(lambda request: response(request, id=7), response), AMBIGUOUS),
    "another response after ours": (streamed(response, lambda request: response(request, id=7)), AMBIGUOUS),
    "a batch in a stream": (streamed(lambda request: [response(request)]), AMBIGUOUS),
    "a stream at 403": (
        lambda _, peer: peer.stream(status=403).event({"error": "no"}).finish(),
        STATUS_OPEN,
    ),
    "an unknown content encoding": (
        lambda request, peer: peer.json(encoded(request), ("Content-Encoding", "br")),
        PROTOCOL,
    ),
    "damaged gzip": (lambda request, peer: peer.json(encoded(request), ("Content-Encoding", "gzip")), PROTOCOL),
    "gzip cut short": (
        lambda request, peer: peer.json(gzip.compress(encoded(request))[:-5], ("Content-Encoding", "gzip")),
        LOST,
    ),
    "gzip": (lambda request, peer: peer.json(gzip.compress(encoded(request)), ("Content-Encoding", "gzip")), KNOWN),
    "deflate": (
        lambda request, peer: peer.json(zlib.compress(encoded(request)), ("Content-Encoding", "deflate")),
        KNOWN,
    ),
    "a body until the connection ends": (
        lambda request, peer: peer.head(200, ("Content-Type", JSON)).send(encoded(request)).close(),
        KNOWN,
    ),
    "informational responses first": (
        lambda request, peer: peer.head(103).head(102).json(response(request)),
        KNOWN,
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_each_row_of_the_wire_has_its_outcome(row: str) -> None:
    act, expected = ROWS[row]
    seen = misbehave(act)
    assert seen.brief == expected, seen.outcome
    assert seen.state == ("closed" if expected[2] else "open")
    assert seen.seconds < 5
    assert bool(seen.outcome.message) == (expected != KNOWN)


def test_a_batch_is_taken_at_the_one_revision_that_has_them() -> None:
    script = {"revision": "2025-03-26"}
    assert misbehave(lambda request, peer: peer.json([NOTE, response(request)]), script=script).brief == KNOWN
    assert misbehave(streamed(lambda request: [response(request)]), script=script).brief == KNOWN
    both = lambda request, peer: peer.json([response(request), response(request)])  # noqa: E731
    assert misbehave(both, script=script).brief == AMBIGUOUS
    assert misbehave(lambda _, peer: peer.json([]), script=script).brief == PROTOCOL


def test_the_first_revision_answers_with_a_tool_result() -> None:
    script = {"revision": "2024-10-07"}
    old = lambda request, peer: peer.json(response(request, result={"toolResult": 5}))  # noqa: E731
    assert misbehave(old, script=script).brief == KNOWN
    assert misbehave(old).brief == ("unavailable", Code.PROTOCOL_ERROR, False)


def test_a_refusal_is_recorded_with_its_body_challenge_and_location() -> None:
    def act(_: Request, peer: Peer) -> None:
        body = ("é" * 600 + "\xff").encode("latin-1")
        headers = [
            ("WWW-Authenticate", 'Bearer error="insufficient_scope", scope="mcp:write"'),
            ("Location", "/elsewhere"),
        ]
        peer.reply(403, body, *headers, kind="text/plain; charset=latin-1")

    http = misbehave(act).outcome.http
    assert {**http, "milliseconds": 0, "body": len(http["body"])} == {
        "status": 403,
        "contentType": "text/plain; charset=latin-1",
        "reply": None,
        "bytes": 601,
        "events": 0,
        "challenge": [{"scheme": "Bearer", "parameters": {"error": "insufficient_scope", "scope": "mcp:write"}}],
        "location": "/elsewhere",
        "milliseconds": 0,
        "body": 601,
    }


def test_a_redirect_is_not_followed_and_says_what_to_change() -> None:
    seen = misbehave(ROWS["redirect with a trailing slash"][0])
    assert "the same URL with a trailing slash; change `endpoint`" in seen.outcome.message
    assert seen.outcome.http["location"] == "/mcp/"
    assert {request.path for request in seen.server.requests} == {"/mcp"}


def test_cookies_are_never_sent_back() -> None:
    def act(request: Request, peer: Peer) -> None:
        peer.json(response(request), ("Set-Cookie", "a=b; Path=/"))

    seen = misbehave(act)
    assert all("cookie" not in request.headers for request in seen.server.requests)


def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert misbehave(lambda request, peer: peer.json(response(request))).brief == KNOWN


def test_a_stream_that_ends_properly_costs_no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "LINGER", 8)
    assert misbehave(streamed(response)).seconds < 4


def test_a_stream_that_stays_open_is_read_on_for_a_quarter_of_a_second() -> None:
    def act(request: Request, peer: Peer) -> None:
        peer.stream()
        peer.event(response(request))
        peer.hold()

    seen = misbehave(act)
    assert seen.brief == KNOWN
    assert 0.2 < seen.seconds < 5


def test_a_second_response_that_comes_late_is_seen() -> None:
    def act(request: Request, peer: Peer) -> None:
        peer.stream()
        peer.event(response(request))
        peer.stopping.wait(0.1)
        peer.event(response(request))
        peer.hold()

    assert misbehave(act).brief == AMBIGUOUS


@pytest.mark.parametrize("end", [Peer.close, Peer.reset])
def test_a_cut_after_the_response_leaves_it_standing(end: Callable[[Peer], None]) -> None:
    def act(request: Request, peer: Peer) -> None:
        peer.stream()
        peer.event(response(request))
        peer.stopping.wait(0.05)
        end(peer)

    assert misbehave(act).brief == KNOWN


def test_notifications_are_counted() -> None:
    # no request asks for progress, and one that is told all the same is a notification like any other
    params = {"progressToken": 1, "progress": 0}
    told = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
    huge = json.dumps(told).replace('"progress": 0', '"progress": 1e400').encode()
    act = streamed(told, NOTE, huge, {"method": 5}, response)
    seen = misbehave(act)
    assert seen.brief == KNOWN
    assert {name: seen.outcome.http[name] for name in ("events", "notifications", "malformed")} == {
        "events": 5,
        "notifications": 3,
        "malformed": 1,
    }


LIMIT = 4096


def padded(request: Request, size: int) -> bytes:
    """Return a response of exactly ``size`` bytes."""
    return encoded(request, pad="x" * (size - len(encoded(request, pad=""))))


SIZED: dict[str, Callable[[int], Act]] = {
    "json": lambda size: lambda request, peer: peer.json(padded(request, size)),
    "sse": lambda size: raw_stream(lambda request: b"data: " + padded(request, size - 8) + b"\n\n"),
    "sse lines": lambda size: raw_stream(
        lambda request: b": c\n" * 200 + b"data: " + padded(request, size - 808) + b"\n\n"
    ),
    "gzip": lambda size: (
        lambda request, peer: peer.json(gzip.compress(padded(request, size)), ("Content-Encoding", "gzip"))
    ),
    "deflate": lambda size: (
        lambda request, peer: peer.json(zlib.compress(padded(request, size)), ("Content-Encoding", "deflate"))
    ),
    "chunks": lambda size: (
        lambda request, peer: (
            peer.head(200, ("Content-Type", JSON), ("Transfer-Encoding", "chunked")),
            [peer.chunk(bytes([byte])) for byte in padded(request, size)],
            peer.finish(),
        )
    ),
}


@pytest.mark.parametrize("form", SIZED)
def test_a_reply_of_the_limit_passes_and_one_byte_more_is_too_large(form: str) -> None:
    assert misbehave(SIZED[form](LIMIT), max_response_bytes=LIMIT).brief == KNOWN
    seen = misbehave(SIZED[form](LIMIT + 1), max_response_bytes=LIMIT)
    assert seen.brief == ("lost", Code.RESPONSE_TOO_LARGE, True)
    assert f"`maxResponseBytes` ({LIMIT})" in seen.outcome.message


def test_an_endless_reply_is_stopped_at_the_limit() -> None:
    def act(_: Request, peer: Peer) -> None:
        peer.stream()
        while not peer.stopping.is_set():
            peer.chunk(b": flood\n" * 1000)

    assert misbehave(act, max_response_bytes=LIMIT).brief == ("lost", Code.RESPONSE_TOO_LARGE, True)


def test_a_bomb_is_stopped_at_the_limit() -> None:
    bomb = gzip.compress(bytes(50_000_000))

    def act(_: Request, peer: Peer) -> None:
        peer.json(bomb, ("Content-Encoding", "gzip"))

    seen = misbehave(act, max_response_bytes=1_000_000)
    assert seen.brief == ("lost", Code.RESPONSE_TOO_LARGE, True)


def test_a_refusal_with_an_endless_body_is_still_that_refusal() -> None:
    def act(_: Request, peer: Peer) -> None:
        peer.head(403, ("Content-Type", "text/plain"))
        while not peer.stopping.is_set():
            peer.send(b"no " * 1000)

    seen = misbehave(act, max_response_bytes=LIMIT)
    assert seen.brief == STATUS_OPEN
    assert len(seen.outcome.http["body"]) == LIMIT
    assert seen.outcome.http["ended"] == "response_too_large"


DRIPS: dict[str, Act] = {
    "silence": lambda _, peer: peer.hold(),
    "head": lambda _, peer: peer.drip(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 500, 0.02),
    "endless head": lambda _, peer: peer.repeat(b"HTTP/1.1 100 Continue\r\n\r\n", 0.02),
    "body": lambda _, peer: peer.head(200, ("Content-Type", JSON), ("Content-Length", "500")).drip(b" " * 500, 0.02),
    "keepalive comments": lambda _, peer: peer.stream().repeat(chunked(b": alive\n\n"), 0.02),
    "notifications": lambda _, peer: peer.stream().repeat(
        chunked(b"data: " + json.dumps(NOTE).encode() + b"\n\n"), 0.02
    ),
    # Small comments as fast as they are taken: the client never has to wait for any.
    "flood": lambda _, peer: peer.stream().repeat(chunked(b":\n"), 0),
}


@pytest.mark.requirement("deadline.keepalives", "limits.deadline")
@pytest.mark.parametrize("drip", DRIPS)
def test_nothing_that_a_server_sends_extends_the_deadline(drip: str) -> None:
    seen = misbehave(DRIPS[drip], timeout=0.4, max_response_bytes=8 * 1024 * 1024)
    assert seen.brief == ("lost", Code.TIMEOUT, True)
    assert 0.35 < seen.seconds < 5
    assert "0.4 s" in seen.outcome.message
    assert seen.outcome.http["cancelNotification"] == {"status": 202, "code": None}


def test_a_large_request_is_sent_whole_and_once() -> None:
    sizes: list[int] = []

    def act(request: Request, peer: Peer) -> None:
        sizes.append(len(request.json["params"]["arguments"]["text"]))
        peer.json(response(request))

    with opened(McpScript({"tools/call": act})) as (_, connection):
        arguments = {"name": "echo", "arguments": {"text": "x" * 3_000_000}}
        assert connection.request("tools/call", arguments).kind == "result"
    assert sizes == [3_000_000]


def test_a_server_that_refuses_a_large_request_early_is_heard() -> None:
    """The head is enough for a 413; that the body cannot be written any more does not hide it."""

    def early(request: Request, peer: Peer) -> bool:
        if int(request.headers.get("content-length", "0")) < 1_000_000:
            return False
        peer.reply(413, b"too large", ("Connection", "close"), kind="text/plain")
        return True

    with HttpServer(McpScript(), early=early) as server, connection_to(server) as connection:
        connection.initialize()
        outcome = connection.request("tools/call", {"name": "x" * 8_000_000})
        assert (outcome.kind, outcome.http["status"]) == ("refused", 413)
        assert connection.state == "open"


def test_after_a_known_refusal_the_next_call_goes_on() -> None:
    answers = iter([(403, b"no"), (200, None)])

    def act(request: Request, peer: Peer) -> None:
        status, body = next(answers)
        if body is None:
            peer.json(response(request))
        else:
            peer.reply(status, body, kind="text/plain")

    with opened(McpScript({"tools/call": act})) as (_, connection):
        assert [call(connection).kind, call(connection).kind] == ["refused", "result"]


def closing_after_reply(act: Callable[[Peer], None]) -> tuple[list[OutcomeKind], int]:
    """Make two calls at a server that acts on its connection after the first reply. Returns kinds, and calls seen."""

    def once(request: Request, peer: Peer) -> None:
        peer.json(response(request))
        act(peer)

    with opened(McpScript({"tools/call": once})) as (server, connection):
        kinds = [call(connection).kind]
        server.wait_for(lambda seen: bool(seen.seen("GET")))
        kinds.append(call(connection).kind)
    return kinds, len(server.seen("tools/call"))


def test_a_connection_that_the_server_closed_in_between_is_not_used_again() -> None:
    kinds, calls = closing_after_reply(Peer.close)
    # The close may cross the second call; then that one is lost, seen or not, and never sent again.
    assert kinds in (["result", "result"], ["result", "lost"])
    assert calls == 2 or (calls == 1 and kinds[1] == "lost")


@pytest.mark.requirement("deadline.no-retry")
def test_a_close_upon_the_second_request_loses_it_and_it_is_not_sent_again() -> None:
    calls: list[int] = []

    def act(request: Request, peer: Peer) -> None:
        calls.append(request.connection)
        if len(calls) == 1:
            peer.json(response(request))
        else:
            peer.reset()

    with opened(McpScript({"tools/call": act})) as (server, connection):
        assert call(connection).kind == "result"
        outcome = call(connection)
        assert (outcome.kind, outcome.code) == ("lost", Code.REPLY_LOST)
        assert connection.end().value == {"delete": "confirmed"}
    assert calls == [calls[0], calls[0]]
    assert len(server.seen("tools/call")) == 2


def test_connections_are_kept_between_calls() -> None:
    with opened(McpScript()) as (server, connection):
        for _ in range(5):
            assert call(connection).kind == "result"
    assert len({request.connection for request in server.seen("tools/call")}) == 1
    assert server.accepted <= 2  # the GET stream may take one
