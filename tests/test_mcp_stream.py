"""The GET stream of a session, and the answers to what a server asks on it or inside a reply."""

import threading
import time
from typing import Any

import pytest

from protocol.mcp.answering import Answerer, answer
from protocol.mcp.connection import Connection
from protocol.mcp.messages import Request as ServerRequest
from tests.fakes.http_server import HttpServer, McpScript, Peer, Request
from tests.fakes.mcp_connections import call, connection_to, opened

PING = {"jsonrpc": "2.0", "id": "p-1", "method": "ping"}


def facts_when(connection: Connection, **expected: Any) -> dict[str, Any]:
    """Wait until the stream's facts hold what is expected, and return them."""
    until = time.monotonic() + 5
    while not expected.items() <= (facts := connection.stream()).items():
        assert time.monotonic() < until, facts
        threading.Event().wait(0.005)
    return facts


def streaming(*parts: Any, end: Any = Peer.hold) -> dict[str, Any]:
    """Answer GET by a stream of events (bytes: of chunks as they are), then by ``end``."""

    def act(_: Request, peer: Peer) -> None:
        peer.stream()
        for part in parts:
            if isinstance(part, bytes):
                peer.chunk(part)
            else:
                peer.event(part)
        end(peer)

    return {"GET": act}


NOTHING = {"requests": 0, "notifications": 0, "malformed": 0, "events": 0}
NO_ANSWERS = {"ping": 0, "refused": 0, "dropped": 0}


@pytest.mark.parametrize("status", [400, 404, 405, 406, 500, 302, 202])
def test_a_server_without_the_stream_is_normal_and_recorded(status: int) -> None:
    with opened(McpScript({"GET": lambda _, peer: peer.reply(status, b"no", kind="text/plain")})) as (
        server,
        connection,
    ):
        facts = facts_when(connection, state="refused")
        assert facts == {
            "state": "refused",
            "status": status,
            "contentType": "text/plain",
            **NOTHING,
            "answers": NO_ANSWERS,
        }
        assert call(connection).kind == "result"
    assert len(server.seen("GET")) == 1


def test_a_page_in_place_of_the_stream_is_no_stream() -> None:
    with opened(McpScript({"GET": lambda _, peer: peer.reply(200, b"<html>", kind="text/html")})) as (_, connection):
        assert facts_when(connection, state="refused")["contentType"] == "text/html"


@pytest.mark.parametrize("act", [Peer.hold, lambda peer: peer.stream().hold()])
def test_a_silent_stream_delays_no_command_and_ends_with_the_session(act: Any) -> None:
    with opened(McpScript({"GET": lambda _, peer: act(peer)})) as (server, connection):
        server.wait_for(lambda seen: bool(seen.seen("GET")))
        started = time.monotonic()
        assert call(connection).kind == "result"
        assert connection.end().kind == "result"
        assert time.monotonic() - started < 5
        assert connection.stream()["state"] == "stopped"


def test_the_stream_has_no_deadline() -> None:
    with opened(McpScript(streaming()), timeout=0.1) as (_, connection):
        facts_when(connection, state="open")
        threading.Event().wait(0.3)
        assert connection.stream()["state"] == "open"


@pytest.mark.requirement("limits.server-requests")
def test_ping_is_answered_and_every_other_request_refused_by_post() -> None:
    asked = [PING, {"jsonrpc": "2.0", "id": 1e3, "method": "sampling/createMessage", "params": {}}]
    with opened(McpScript(streaming(*asked))) as (server, connection):
        server.wait_for(lambda seen: len(seen.seen("")) == 2)
        assert facts_when(connection, state="open", requests=2)["answers"] == {"ping": 1, "refused": 1, "dropped": 0}
    first, second = server.seen("")
    assert first.json == {"jsonrpc": "2.0", "id": "p-1", "result": {}}
    assert b'"id":1000.0,' in second.body
    assert second.json["error"] == {"code": -32601, "message": "This client answers ping and no other request"}
    assert first.headers["mcp-session-id"] == "session-0123456789"
    assert first.headers["accept"] == "application/json, text/event-stream"


def test_requests_inside_a_reply_are_answered_before_the_reply_ends() -> None:
    def act(request: Request, peer: Peer) -> None:
        peer.stream()
        peer.event(PING)
        server.wait_for(lambda seen: bool(seen.seen("")))
        peer.event({"jsonrpc": "2.0", "id": request.json["id"], "result": {"content": []}})
        peer.finish()

    with opened(McpScript({"tools/call": act})) as (server, connection):
        outcome = call(connection)
        assert (outcome.kind, outcome.http["requests"]) == ("result", 1)
    assert server.seen("")[0].json == {"jsonrpc": "2.0", "id": "p-1", "result": {}}


def test_an_answer_that_is_not_taken_does_not_hold_up_the_reply() -> None:
    def act(request: Request, peer: Peer) -> None:
        peer.stream()
        peer.event(PING)
        server.wait_for(lambda seen: bool(seen.seen("")))
        peer.event({"jsonrpc": "2.0", "id": request.json["id"], "result": {"content": []}})
        peer.finish()

    with opened(McpScript({"tools/call": act, "": lambda _, peer: peer.hold()}), timeout=30) as (server, connection):
        started = time.monotonic()
        assert call(connection).kind == "result"
        assert connection.end().kind == "result"
        assert time.monotonic() - started < 4


@pytest.mark.parametrize("act", [lambda _, peer: peer.reply(500), lambda _, peer: peer.close()])
def test_an_answer_that_fails_is_nobodys_failure(act: Any) -> None:
    with opened(McpScript({**streaming(PING), "": act})) as (server, connection):
        server.wait_for(lambda seen: bool(seen.seen("")))
        assert call(connection).kind == "result"
        assert connection.state == "open"


def test_a_server_that_floods_with_requests_gets_a_bounded_number_of_answers() -> None:
    events = [{"jsonrpc": "2.0", "id": index, "method": "ping"} for index in range(200)]
    with opened(McpScript({**streaming(*events), "": lambda _, peer: peer.hold()})) as (_, connection):
        answers = facts_when(connection, requests=200)["answers"]
        assert answers["ping"] + answers["dropped"] == 200
        assert answers["ping"] <= 66


def test_malformed_messages_and_notifications_are_counted_and_never_fatal() -> None:
    parts = [
        b"data: junk\n\n",
        {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
        [{"jsonrpc": "2.0", "method": "n"}, 5],
        b"event: other\ndata: x\n\n",
        b"id: 7\ndata:\n\n",
        PING,
    ]
    with opened(McpScript(streaming(*parts))) as (server, connection):
        server.wait_for(lambda seen: bool(seen.seen("")))
        facts = facts_when(connection, events=8)
        assert {name: facts[name] for name in ("requests", "notifications", "malformed")} == {
            "requests": 1,
            "notifications": 2,
            "malformed": 4,
        }
        assert call(connection).kind == "result"


@pytest.mark.requirement("limits.no-resuming")
@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (streaming(PING, end=Peer.finish), {"state": "ended"}),
        (streaming(PING, end=Peer.reset), {"state": "failed", "code": "reply_lost"}),
        (
            streaming(b"zz", end=lambda peer: peer.send(b"zz\r\n").hold()),
            {"state": "failed", "code": "protocol_error"},
        ),
        (streaming(b"data: \xff\n\n"), {"state": "failed", "code": "protocol_error"}),
        ({"GET": lambda _, peer: peer.close()}, {"state": "failed", "code": "reply_lost"}),
    ],
)
def test_a_stream_that_ends_or_fails_is_recorded_and_not_opened_again(act: Any, expected: dict[str, Any]) -> None:
    with opened(McpScript(act)) as (server, connection):
        facts_when(connection, **expected)
        assert call(connection).kind == "result"
    assert len(server.seen("GET")) == 1


def test_a_stream_past_the_limit_is_listened_to_no_longer() -> None:
    def flood(_: Request, peer: Peer) -> None:
        peer.stream()
        while not peer.stopping.is_set():
            peer.chunk(b": flood\n" * 100)

    with opened(McpScript({"GET": flood}), max_response_bytes=5000) as (_, connection):
        facts_when(connection, state="failed", code="response_too_large")
        assert call(connection).kind == "result"


def test_the_stream_stops_when_the_connection_is_closed_by_a_lost_reply() -> None:
    with opened(McpScript({**streaming(), "tools/call": lambda _, peer: peer.close()})) as (_, connection):
        facts_when(connection, state="open")
        assert call(connection).kind == "lost"
        facts_when(connection, state="stopped")


def test_a_stream_is_opened_after_the_initialized_notification() -> None:
    with opened(McpScript()) as (server, _):
        server.wait_for(lambda seen: bool(seen.seen("GET")))
    assert [request.rpc for request in server.requests][:3] == ["initialize", "notifications/initialized", "GET"]


def test_an_answer_names_the_request_as_the_server_spelled_it() -> None:
    assert answer(ServerRequest("a", "ping", {})) == b'{"jsonrpc":"2.0","id":"a","result":{}}'
    assert b'"code":-32601' in answer(ServerRequest("a", "roots/list", {}))


def test_a_closed_answerer_takes_nothing() -> None:
    sent: list[bytes] = []
    answerer = Answerer(sent.append)
    assert answerer.close(1)
    answerer.take(ServerRequest("a", "ping", {}))
    assert (sent, answerer.facts()) == ([], {"ping": 0, "refused": 0, "dropped": 1})


def test_a_server_that_is_gone_leaves_no_stream() -> None:
    with HttpServer(McpScript(streaming())) as server, connection_to(server) as connection:
        connection.initialize()
        facts_when(connection, state="open")
        server.__exit__()
        assert facts_when(connection, state="failed")["code"] == "reply_lost"
