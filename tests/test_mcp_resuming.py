"""Reply streams that end early: taken up once by GET where the binding and the revision allow it, never sent again."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from protocol.mcp.connection import Connection
from protocol.mcp.resuming import may_resume
from protocol.mcp.sse import SseDecoder
from tests.fakes.http_server import HttpServer, McpScript, Peer, Request, refuse_get
from tests.fakes.mcp_connections import call, opened

PRIMER = b"id: event-1\nretry: 20\ndata: \n\n"


class Polled:
    """A server that ends the reply of a tool call after its first bytes, and answers the GET that takes it up."""

    def __init__(self, first: bytes = PRIMER, rest: Callable[["Polled", Peer], Any] | None = None) -> None:
        self.first = first
        self.rest = rest or (lambda polled, peer: polled.answer(peer))
        self.asked = 0
        self.ended = 0.0
        self.resumed: list[tuple[Request, float]] = []

    def script(self, revision: str = "2025-11-25") -> McpScript:
        return McpScript({"tools/call": self._call, "GET": self._get}, revision=revision)

    def answer(self, peer: Peer, text: str = "whole") -> None:
        result = {"content": [{"type": "text", "text": text}]}
        peer.stream().event({"jsonrpc": "2.0", "id": self.asked, "result": result}).finish()

    def _call(self, request: Request, peer: Peer) -> None:
        self.asked = request.json["id"]
        peer.stream().chunk(self.first).finish()
        self.ended = time.monotonic()

    def _get(self, request: Request, peer: Peer) -> None:
        if "last-event-id" not in request.headers:
            refuse_get(request, peer)
            return
        self.resumed.append((request, time.monotonic()))
        self.rest(self, peer)


def test_a_stream_that_ended_early_is_taken_up_after_its_time() -> None:
    polled = Polled(b"id: event-1\nretry: 150\ndata: \n\n")
    with opened(polled.script(), resume=True) as (server, connection):
        outcome = call(connection)
        assert outcome.kind == "result"
        assert outcome.value["content"] == [{"type": "text", "text": "whole"}]
        assert outcome.http["resumed"] == {"after": 150, "status": 200, "contentType": "text/event-stream"}
        ((request, moment),) = polled.resumed
        assert moment - polled.ended >= 0.15
        assert request.headers["last-event-id"] == "event-1"
        assert request.headers["accept"] == "text/event-stream"
        assert request.headers["mcp-session-id"] == "session-0123456789"
        assert request.headers["mcp-protocol-version"] == "2025-11-25"
        assert len(server.seen("tools/call")) == 1
        assert call(connection).kind == "result"  # the connection stays open


def test_messages_before_and_after_the_break_belong_to_one_reply() -> None:
    polled = Polled(b'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\n\n' + PRIMER)
    with opened(polled.script(), resume=True) as (_, connection):
        outcome = call(connection)
        assert (outcome.kind, outcome.http["notifications"], outcome.http["events"]) == ("result", 1, 3)


@pytest.mark.parametrize(
    ("first", "settings", "revision"),
    [
        (PRIMER, {}, "2025-11-25"),
        (PRIMER, {"resume": True}, "2025-06-18"),
        (PRIMER, {"resume": True}, "2024-11-05"),
        (b"id: event-1\ndata: \n\n", {"resume": True}, "2025-11-25"),
        (b"retry: 20\ndata: \n\n", {"resume": True}, "2025-11-25"),
        (b"id\nretry: 20\ndata: \n\n", {"resume": True}, "2025-11-25"),
        (b"id: \xc3\xa9\nretry: 20\ndata: \n\n", {"resume": True}, "2025-11-25"),
        (b": nothing\n\n", {"resume": True}, "2025-11-25"),
    ],
    ids=[
        "not asked for",
        "an older revision",
        "the oldest",
        "no time",
        "no id",
        "an empty id",
        "an id that no header can carry",
        "nothing",
    ],
)
def test_every_other_stream_that_ended_early_is_a_lost_reply(
    first: bytes, settings: dict[str, Any], revision: str
) -> None:
    polled = Polled(first)
    with opened(polled.script(revision), **settings) as (_, connection):
        outcome = call(connection)
        assert (outcome.kind, outcome.code) == ("lost", "reply_lost")
        assert polled.resumed == []
        assert "resumed" not in outcome.http
        assert connection.state == "closed"


def test_a_stream_that_was_cut_is_not_taken_up() -> None:
    def cut(request: Request, peer: Peer) -> None:
        peer.stream().chunk(PRIMER).close()

    polled = Polled()
    script = polled.script()
    script.on["tools/call"] = cut
    with opened(script, resume=True) as (_, connection):
        outcome = call(connection)
        assert (outcome.kind, outcome.code) == ("lost", "reply_lost")
        assert polled.resumed == []


def test_a_stream_that_ends_early_again_is_lost() -> None:
    polled = Polled(rest=lambda polled, peer: peer.stream().chunk(PRIMER).finish())
    with opened(polled.script(), resume=True) as (_, connection):
        outcome = call(connection)
        assert (outcome.kind, outcome.code) == ("lost", "reply_lost")
        assert len(polled.resumed) == 1


@pytest.mark.parametrize("status", [405, 404, 302, 500, 200])
def test_a_server_that_does_not_let_it_be_taken_up_loses_the_reply(status: int) -> None:
    polled = Polled(rest=lambda polled, peer: peer.reply(status, b"<html>", kind="text/html"))
    with opened(polled.script(), resume=True) as (_, connection):
        outcome = call(connection)
        assert (outcome.kind, outcome.code) == ("lost", "reply_lost")
        assert f"answered HTTP {status} to taking it up" in outcome.message
        assert outcome.http["resumed"] == {"after": 20, "status": status, "contentType": "text/html"}


def test_a_server_that_is_gone_by_then_loses_the_reply() -> None:
    polled = Polled(rest=lambda polled, peer: peer.close())
    with opened(polled.script(), resume=True) as (_, connection):
        outcome = call(connection)
        assert (outcome.kind, outcome.code) == ("lost", "reply_lost")
        assert outcome.message.startswith("The event stream ended early, and taking it up failed.")


def test_the_one_deadline_holds_for_all_of_it() -> None:
    polled = Polled(b"id: event-1\nretry: 60000\ndata: \n\n")
    with opened(polled.script(), resume=True, timeout=2.0) as (_, connection):
        started = time.monotonic()
        outcome = call(connection)
        assert (outcome.kind, outcome.code) == ("lost", "timeout")
        assert time.monotonic() - started < 2  # it is known at once that the deadline comes first
        assert polled.resumed == []


def test_a_stream_that_is_silent_once_taken_up_ends_at_the_deadline() -> None:
    polled = Polled(rest=lambda polled, peer: peer.stream().hold())
    with opened(polled.script(), resume=True, timeout=0.4) as (_, connection):
        outcome = call(connection)
        assert (outcome.kind, outcome.code) == ("lost", "timeout")


def test_a_cancel_ends_the_waiting() -> None:
    polled = Polled(b"id: event-1\nretry: 10000\ndata: \n\n")
    with opened(polled.script(), resume=True) as (server, connection):
        cancelling = threading.Thread(target=cancel_once_called, args=(server, connection))
        cancelling.start()
        outcome = call(connection)
        cancelling.join()
        assert (outcome.kind, outcome.code) == ("lost", "cancelled")
        assert polled.resumed == []


def cancel_once_called(server: HttpServer, connection: Connection) -> None:
    server.wait_for(lambda seen: bool(seen.seen("tools/call")))
    connection.cancel()


def test_only_a_stream_of_status_200_is_taken_up() -> None:
    decoder = SseDecoder(1000)
    decoder.feed(PRIMER)
    assert [may_resume(decoder, status) for status in (200, 202, 400)] == [True, False, False]
