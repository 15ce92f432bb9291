"""One connection over real sockets: opening, requests, inventories, cancelling, and the one DELETE."""

import threading
import time
from typing import Any

import pytest

from protocol.failures import Code, Failed
from protocol.mcp.connection import Connection, Settings
from protocol.mcp.http import HttpTransport
from protocol.mcp.inventories import KINDS
from protocol.mcp.paging import Limits
from tests.fakes.http_server import HttpServer, McpScript, Peer, Refusal, Request
from tests.fakes.mcp_connections import call, connection_to, ignore, opened

ACCEPT = "application/json, text/event-stream"
INITIALIZED = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}


def test_a_session_is_opened_used_and_ended() -> None:
    learnt: list[str] = []
    with HttpServer(McpScript()) as server, connection_to(server, learnt=learnt, version="7") as connection:
        assert (connection.state, connection.revision) == ("none", None)
        outcome = connection.initialize()
        assert (outcome.kind, outcome.code, outcome.closes) == ("result", None, False)
        assert outcome.value["serverInfo"] == {"name": "scripted", "version": "1"}
        assert (connection.state, connection.revision) == ("open", "2025-11-25")
        assert (connection.server, connection.capabilities) == ({"name": "scripted", "version": "1"}, {"tools": {}})
        assert call(connection).value == {"content": [{"type": "text", "text": "hello"}], "isError": False}
        server.wait_for(lambda seen: bool(seen.seen("GET")))
        assert connection.end().value == {"delete": "confirmed"}
        assert connection.state == "disconnected"
    assert learnt == ["session-0123456789"]
    assert [request.json for request in server.seen("initialize")] == [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "assay", "version": "7"},
            },
        }
    ]
    assert server.seen("notifications/initialized")[0].json == {"jsonrpc": "2.0", "method": "notifications/initialized"}
    order = [request.rpc for request in server.requests if request.rpc != "GET"]
    assert order == ["initialize", "notifications/initialized", "tools/call", "DELETE"]


def headers_of(request: Request) -> dict[str, str]:
    return {name: value for name, value in request.headers.items() if name not in ("host", "content-length")}


def test_headers_are_those_of_the_method_and_of_the_negotiated_session() -> None:
    own = (("X-Key", "k"), ("Authorization", "Bearer t"))
    with opened(McpScript(), headers=own, version="7") as (server, connection):
        call(connection)
        server.wait_for(lambda seen: bool(seen.seen("GET")))
        connection.end()
    common = {"accept-encoding": "identity", "user-agent": "assay/7", "x-key": "k", "authorization": "Bearer t"}
    post = {"accept": ACCEPT, "content-type": "application/json"}
    session = {"mcp-session-id": "session-0123456789", "mcp-protocol-version": "2025-11-25"}
    assert headers_of(server.seen("initialize")[0]) == {**post, **common}
    for method in ("notifications/initialized", "tools/call"):
        assert headers_of(server.seen(method)[0]) == {**post, **common, **session}
    assert headers_of(server.seen("GET")[0]) == {
        "accept": "text/event-stream",
        "cache-control": "no-store",
        **common,
        **session,
    }
    assert headers_of(server.seen("DELETE")[0]) == {**common, **session}
    assert {request.headers["host"] for request in server.requests} == {f"127.0.0.1:{server.port}"}


def test_a_user_agent_of_the_binding_is_the_only_one() -> None:
    with opened(McpScript(), headers=(("user-agent", "mine"),)) as (server, _):
        pass
    assert server.requests[0].headers["user-agent"] == "mine"


@pytest.mark.parametrize(
    ("revision", "version_header"),
    [("2025-11-25", True), ("2025-06-18", True), ("2025-03-26", False), ("2024-11-05", False), ("2024-10-07", False)],
)
def test_every_accepted_revision_opens_and_has_its_header(revision: str, version_header: bool) -> None:
    with opened(McpScript(revision=revision)) as (server, connection):
        assert connection.revision == revision
        assert call(connection).kind == "result"
    sent = server.seen("tools/call")[0].headers
    assert sent.get("mcp-protocol-version") == (revision if version_header else None)


def test_a_server_without_sessions_gets_no_id_and_no_delete() -> None:
    with opened(McpScript(session=None)) as (server, connection):
        assert call(connection).kind == "result"
        outcome = connection.end()
        assert (outcome.kind, outcome.code, outcome.value) == ("result", None, {"delete": "none"})
    assert server.seen("DELETE") == []
    assert all("mcp-session-id" not in request.headers for request in server.requests)


def test_replies_may_come_as_event_streams() -> None:
    with opened(McpScript(sse=True)) as (_, connection):
        outcome = call(connection)
    assert outcome.kind == "result"
    assert outcome.raw.startswith(b'{"jsonrpc"')
    facts = {**outcome.http, "milliseconds": 0}
    assert facts == {
        "status": 200,
        "contentType": "text/event-stream",
        "reply": "sse",
        "bytes": len(outcome.raw) + len("event: message\ndata: \n\n"),
        "events": 1,
        "challenge": [],
        "location": None,
        "milliseconds": 0,
    }


def test_facts_of_a_json_reply() -> None:
    with opened(McpScript()) as (_, connection):
        outcome = call(connection)
    assert {**outcome.http, "milliseconds": 0} == {
        "status": 200,
        "contentType": "application/json",
        "reply": "json",
        "bytes": len(outcome.raw),
        "events": 0,
        "challenge": [],
        "location": None,
        "milliseconds": 0,
    }


def refused_initialize(answer: Any, **script: Any) -> tuple[Any, list[str], list[Request], str]:
    """Return the outcome of initialize, what was learnt, what the server saw, and the state before the end."""
    learnt: list[str] = []
    with HttpServer(McpScript({"initialize": answer}, **script)) as server:
        with connection_to(server, learnt=learnt) as connection:
            outcome = connection.initialize()
            state = connection.state
            assert connection.request("tools/list").code is Code.NOT_CONNECTED
        return outcome, learnt, list(server.requests), state


def test_a_401_refuses_the_connection_and_its_challenge_is_recorded() -> None:
    def unauthorized(_: Request, peer: Peer) -> None:
        peer.reply(401, b"who are you", ("WWW-Authenticate", 'Bearer scope="a b"'), kind="text/plain")

    outcome, _, requests, state = refused_initialize(unauthorized)
    assert (outcome.kind, outcome.code, outcome.closes, state) == ("refused", Code.HTTP_STATUS, True, "refused")
    assert outcome.http["status"] == 401
    assert outcome.http["body"] == "who are you"
    assert outcome.http["challenge"] == [{"scheme": "Bearer", "parameters": {"scope": "a b"}}]
    assert [request.rpc for request in requests] == ["initialize"]


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [
        (Refusal(-32600, "no"), "rpc-error", Code.UNEXPECTED_REFUSAL),
        (Refusal(-32600, "no", status=400), "refused", Code.HTTP_STATUS),
        (Refusal(-32600, "no", status=500), "refused", Code.HTTP_STATUS),
        ({**INITIALIZED, "protocolVersion": "1999-01-01"}, "unavailable", Code.VERSION_UNSUPPORTED),
        ({**INITIALIZED, "capabilities": None}, "unavailable", Code.PROTOCOL_ERROR),
        (lambda _, peer: peer.reply(307, b"", ("Location", "/mcp/")), "refused", Code.REDIRECT_REFUSED),
        (lambda _, peer: peer.reply(503, b"later", kind="text/plain"), "refused", Code.HTTP_STATUS),
        (lambda _, peer: peer.reply(404, b"", kind="text/html"), "refused", Code.HTTP_STATUS),
        (lambda _, peer: peer.reply(200, b"<html>", kind="text/html"), "lost", Code.PROTOCOL_ERROR),
        (
            lambda _, peer: peer.json(b"[" + b'{"jsonrpc":"2.0","id":1,"result":{}}' + b"]"),
            "lost",
            Code.REPLY_AMBIGUOUS,
        ),
        (lambda _, peer: peer.close(), "lost", Code.REPLY_LOST),
    ],
)
def test_every_refused_initialize_ends_there(answer: Any, kind: str, code: Code) -> None:
    outcome, _, requests, state = refused_initialize(answer, session=None)
    assert (outcome.kind, outcome.code, outcome.closes, state) == (kind, code, True, "refused")
    assert [request.rpc for request in requests] == ["initialize"]


def test_an_unsupported_version_says_what_the_server_wants() -> None:
    refusal = Refusal(-32022, "Unsupported", {"supported": ["2026-07-28"]}, status=400)
    outcome, *_ = refused_initialize(refusal)
    assert "The server wants MCP 2026-07-28; this client speaks 2025-11-25" in outcome.message


def test_a_session_that_a_refused_initialize_opened_is_deleted() -> None:
    outcome, learnt, requests, _ = refused_initialize({**INITIALIZED, "protocolVersion": "1999-01-01"})
    assert outcome.code is Code.VERSION_UNSUPPORTED
    assert learnt == ["session-0123456789"]
    assert [request.rpc for request in requests] == ["initialize", "DELETE"]
    assert requests[1].headers["mcp-session-id"] == "session-0123456789"


@pytest.mark.parametrize("session", ["has space", "caf\u00e9", ""])
def test_a_session_id_that_is_not_visible_ascii_is_a_protocol_error(session: str) -> None:
    def bad(request: Request, peer: Peer) -> None:
        message = {"jsonrpc": "2.0", "id": request.json["id"], "result": INITIALIZED}
        peer.json(message, ("Mcp-Session-Id", session))

    outcome, learnt, requests, state = refused_initialize(bad)
    assert (outcome.kind, outcome.code, state) == ("unavailable", Code.PROTOCOL_ERROR, "refused")
    assert outcome.message == "The server's Mcp-Session-Id is not made of visible ASCII characters."
    assert learnt == [session]
    assert [request.rpc for request in requests] == ["initialize"]


def test_two_session_ids_are_a_protocol_error() -> None:
    def bad(request: Request, peer: Peer) -> None:
        message = {"jsonrpc": "2.0", "id": request.json["id"], "result": INITIALIZED}
        peer.json(message, ("Mcp-Session-Id", "one-one-one"), ("mcp-session-id", "two-two-two"))

    outcome, learnt, _, _ = refused_initialize(bad)
    assert outcome.code is Code.PROTOCOL_ERROR
    assert learnt == ["one-one-one", "two-two-two"]


def test_the_session_id_is_learnt_before_the_body_is_read() -> None:
    order: list[str] = []

    def initialize(request: Request, peer: Peer) -> None:
        peer.stream(("Mcp-Session-Id", "early-session"))
        learning.wait(10)
        order.append("body")
        peer.event({"jsonrpc": "2.0", "id": request.json["id"], "result": INITIALIZED})
        peer.finish()

    learning = threading.Event()

    def learn(value: str) -> None:
        order.append(value)
        learning.set()

    with HttpServer(McpScript({"initialize": initialize})) as server:
        connection = Connection(HttpTransport([server.origin]), Settings(server.url), learn)
        assert connection.initialize().kind == "result"
        connection.end()
    assert order == ["early-session", "body"]


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [
        (lambda _, peer: peer.reply(400, b"no", kind="text/plain"), "refused", Code.HTTP_STATUS),
        (lambda _, peer: peer.reply(403, b""), "refused", Code.HTTP_STATUS),
        (lambda _, peer: peer.reply(404, b""), "refused", Code.SESSION_LOST),
        (lambda _, peer: peer.reply(500, b""), "lost", Code.HTTP_STATUS),
        (lambda _, peer: peer.reply(302, b"", ("Location", "/")), "lost", Code.REDIRECT_REFUSED),
        (lambda _, peer: peer.close(), "lost", Code.REPLY_LOST),
        (lambda _, peer: peer.hold(), "lost", Code.TIMEOUT),
    ],
)
def test_a_refused_initialized_notification_refuses_the_connection(answer: Any, kind: str, code: Code) -> None:
    script = McpScript({"notifications/initialized": answer})
    with HttpServer(script) as server, connection_to(server, timeout=0.4) as connection:
        outcome = connection.initialize()
        assert (outcome.kind, outcome.code, outcome.closes) == (kind, code, True)
        assert connection.state == "refused"
        assert connection.end().value == {"delete": "confirmed"}
    assert [request.rpc for request in server.requests] == ["initialize", "notifications/initialized", "DELETE"]


@pytest.mark.parametrize(
    "answer",
    [
        lambda _, peer: peer.reply(200, b""),
        lambda _, peer: peer.reply(204),
        lambda _, peer: peer.json({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "no"}}),
        lambda _, peer: peer.stream().hold(),
        lambda _, peer: peer.head(200, ("Content-Length", "50")).hold(),
    ],
)
def test_any_2xx_confirms_the_initialized_notification(answer: Any) -> None:
    with opened(McpScript({"notifications/initialized": answer}), timeout=60) as (_, connection):
        started = time.monotonic()
        assert call(connection).kind == "result"
        assert time.monotonic() - started < 10


def test_a_connection_is_initialized_once() -> None:
    with opened(McpScript()) as (server, connection), pytest.raises(RuntimeError, match="open cannot be initialized"):
        connection.initialize()
    assert len(server.seen("initialize")) == 1


def test_requests_need_an_open_connection() -> None:
    with HttpServer(McpScript()) as server, connection_to(server) as connection:
        outcome = connection.request("tools/list")
        assert (outcome.kind, outcome.code, outcome.closes, outcome.http) == ("unsent", Code.NOT_CONNECTED, False, {})
        assert connection.end().value == {"delete": "none"}
        assert connection.request("tools/list").code is Code.DISCONNECTED
        assert connection.stream() == {}
    assert server.requests == []


def test_an_argument_that_cannot_be_encoded_is_not_sent() -> None:
    with opened(McpScript()) as (server, connection):
        outcome = connection.request("tools/call", {"name": "\ud800"})
        assert (outcome.kind, outcome.code) == ("unsent", Code.INVALID_ARGUMENTS)
        assert connection.state == "open"
    assert server.seen("tools/call") == []


def test_ids_count_up_over_all_requests() -> None:
    with opened(McpScript()) as (server, connection):
        call(connection)
        connection.request("ping")
    assert [server.seen(rpc)[0].json["id"] for rpc in ("initialize", "tools/call", "ping")] == [1, 2, 3]


def test_an_inventory_is_read_with_its_cursors_and_reported() -> None:
    def listed(request: Request, peer: Peer) -> None:
        cursor = request.json["params"].get("cursor")
        name = cursor or "first"
        result: dict[str, Any] = {"tools": [{"name": name, "inputSchema": {"type": "object"}}]}
        following = {"first": "second", "second": ""}.get(name)
        if cursor != "":
            result |= {} if following is None else {"nextCursor": following}
        else:
            result = {"tools": []}
        peer.json({"jsonrpc": "2.0", "id": request.json["id"], "result": result})

    reported: list[tuple[int, int]] = []
    with opened(McpScript({"tools/list": listed})) as (server, connection):
        inventory = connection.read(KINDS["tools"], Limits(), lambda *counts: reported.append(counts))
        assert (inventory.complete, inventory.declared) == (True, True)
        assert [entry["name"] for entry in inventory.entries] == ["first", "second"]
        assert connection.state == "open"
    assert [request.json["params"] for request in server.seen("tools/list")] == [
        {},
        {"cursor": "second"},
        {"cursor": ""},
    ]
    assert reported == [(1, 1), (2, 2)]


def test_an_inventory_that_is_not_declared_is_asked_for_all_the_same() -> None:
    script = McpScript({"tools/list": Refusal(-32601, "no")}, capabilities={})
    with opened(script) as (server, connection):
        inventory = connection.read(KINDS["tools"], Limits())
        assert (inventory.complete, inventory.declared, inventory.entries) == (True, False, [])
    assert len(server.seen("tools/list")) == 1


def test_an_invalid_inventory_closes_and_the_session_is_still_deleted_once() -> None:
    with opened(McpScript(tools=[{"name": "a"}])) as (server, connection):
        inventory = connection.read(KINDS["tools"], Limits())
        assert (inventory.code, inventory.closes) == (Code.INVENTORY_INVALID, True)
        assert connection.state == "closed"
        assert call(connection).code is Code.NOT_CONNECTED
        assert connection.end().value == {"delete": "confirmed"}
    assert [request.rpc for request in server.requests if request.rpc != "GET"] == [
        "initialize",
        "notifications/initialized",
        "tools/list",
        "DELETE",
    ]


def test_a_lost_page_closes_with_its_own_code() -> None:
    with opened(McpScript({"tools/list": lambda _, peer: peer.close()})) as (_, connection):
        inventory = connection.read(KINDS["tools"], Limits())
        assert (inventory.code, connection.state) == (Code.REPLY_LOST, "closed")


def test_an_inventory_past_a_limit_leaves_the_connection_open() -> None:
    tools = [{"name": str(index), "inputSchema": {"type": "object"}} for index in range(3)]
    with opened(McpScript(tools=tools)) as (_, connection):
        assert connection.read(KINDS["tools"], Limits(items=2)).code is Code.INVENTORY_INCOMPLETE
        assert connection.state == "open"
        assert connection.read(KINDS["tools"], Limits(items=3)).complete


def test_pages_are_read_without_anyone_listening() -> None:
    pages = iter([{"tools": [], "nextCursor": "x"}, {"tools": []}])

    def listed(request: Request, peer: Peer) -> None:
        peer.json({"jsonrpc": "2.0", "id": request.json["id"], "result": next(pages)})

    with opened(McpScript({"tools/list": listed})) as (_, connection):
        assert len(connection.read(KINDS["tools"], Limits()).pages) == 2


@pytest.mark.parametrize(
    ("answer", "kind", "delete", "status"),
    [
        (lambda _, peer: peer.reply(200), "result", "confirmed", 200),
        (lambda _, peer: peer.reply(202), "result", "confirmed", 202),
        (lambda _, peer: peer.head(204), "result", "confirmed", 204),
        (lambda _, peer: peer.reply(405), "refused", "refused", 405),
        (lambda _, peer: peer.reply(404, b"gone", kind="text/plain"), "refused", "refused", 404),
        (lambda _, peer: peer.reply(302, b"", ("Location", "/")), "refused", "refused", 302),
        (lambda _, peer: peer.reply(500), "refused", "refused", 500),
        (lambda _, peer: peer.close(), "lost", "lost", None),
        (lambda _, peer: peer.reset(), "lost", "lost", None),
    ],
)
def test_the_outcome_of_the_delete_is_recorded_and_it_is_sent_once(
    answer: Any, kind: str, delete: str, status: int | None
) -> None:
    with opened(McpScript({"DELETE": answer})) as (server, connection):
        outcome = connection.end()
        assert (outcome.kind, outcome.value) == (kind, {"delete": delete})
        assert outcome.code is (None if kind == "result" else Code.CLEANUP_UNCONFIRMED)
        assert outcome.http["status"] == status
        assert connection.end() is outcome
    assert len(server.seen("DELETE")) == 1


@pytest.mark.requirement("cleanup.deadline")
def test_a_slow_delete_is_given_up_after_a_second_and_a_half() -> None:
    with opened(McpScript({"DELETE": lambda _, peer: peer.hold()}), timeout=60) as (_, connection):
        started = time.monotonic()
        outcome = connection.end()
        assert 1.4 < time.monotonic() - started < 10
        assert (outcome.kind, outcome.code) == ("lost", Code.CLEANUP_UNCONFIRMED)


@pytest.mark.requirement("cleanup.deadline")
def test_a_dripping_delete_reply_does_not_extend_its_time() -> None:
    def drip(_: Request, peer: Peer) -> None:
        peer.drip(b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 1000, 0.05)

    with opened(McpScript({"DELETE": drip}), timeout=60) as (_, connection):
        started = time.monotonic()
        assert connection.end().kind == "lost"
        assert time.monotonic() - started < 10


def test_a_delete_that_cannot_be_sent_is_unconfirmed() -> None:
    with HttpServer(McpScript()) as server:
        connection = Connection(HttpTransport([server.origin]), Settings(server.url), ignore)
        connection.initialize()
    outcome = connection.end()
    assert (outcome.kind, outcome.code, outcome.value) == ("unsent", Code.CLEANUP_UNCONFIRMED, {"delete": "unsent"})


def test_a_delete_is_still_sent_after_a_lost_reply() -> None:
    with opened(McpScript({"tools/call": lambda _, peer: peer.reset()})) as (server, connection):
        assert call(connection).kind == "lost"
        assert call(connection).code is Code.NOT_CONNECTED
        assert connection.end().value == {"delete": "confirmed"}
    assert (len(server.seen("tools/call")), len(server.seen("DELETE"))) == (1, 1)


def cancel_when(server: HttpServer, connection: Connection, rpc: str) -> threading.Thread:
    def run() -> None:
        server.wait_for(lambda seen: bool(seen.seen(rpc)))
        connection.cancel()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.parametrize(
    "answer",
    [
        lambda _, peer: peer.hold(),
        lambda _, peer: peer.drip(b"HTTP/1.1 200 OK\r\n" + b"x" * 1000, 0.01),
        lambda _, peer: peer.stream().drip(b": alive\n" * 100, 0.01),
    ],
)
def test_cancelling_from_another_thread_ends_the_running_request_at_once(answer: Any) -> None:
    with opened(McpScript({"tools/call": answer}), timeout=60) as (server, connection):
        thread = cancel_when(server, connection, "tools/call")
        started = time.monotonic()
        outcome = call(connection)
        assert time.monotonic() - started < 10
        thread.join()
        assert (outcome.kind, outcome.code, outcome.closes) == ("lost", Code.CANCELLED, True)
        assert outcome.http["cancelNotification"] == {"status": 202, "code": None}
        assert connection.end().value == {"delete": "confirmed"}
    assert server.seen("notifications/cancelled")[0].json == {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 2, "reason": "cancelled"},
    }


def test_a_cancel_holds_for_later_requests_until_it_is_taken_back() -> None:
    with opened(McpScript()) as (server, connection):
        connection.cancel()
        for _ in range(2):
            outcome = call(connection)
            assert (outcome.kind, outcome.code, outcome.closes) == ("unsent", Code.CANCELLED, False)
        assert connection.state == "open"
        connection.rearm()
        assert call(connection).kind == "result"
    assert len(server.seen("tools/call")) == 1


def test_a_cancelled_initialize_is_refused_and_no_cancellation_is_sent() -> None:
    script = McpScript({"initialize": lambda _, peer: peer.hold()})
    with HttpServer(script) as server, connection_to(server, timeout=60) as connection:
        thread = cancel_when(server, connection, "initialize")
        outcome = connection.initialize()
        thread.join()
        assert (outcome.kind, outcome.code, connection.state) == ("lost", Code.CANCELLED, "refused")
        assert "cancelNotification" not in outcome.http
    assert [request.rpc for request in server.requests] == ["initialize"]


def test_cancelling_does_not_touch_the_delete() -> None:
    with opened(McpScript()) as (_, connection):
        connection.cancel()
        assert connection.end().value == {"delete": "confirmed"}
        connection.cancel()
        connection.rearm()


def test_a_request_past_its_deadline_is_cancelled_once_at_the_server() -> None:
    with opened(McpScript({"tools/call": lambda _, peer: peer.hold()}), timeout=0.3) as (server, connection):
        outcome = call(connection)
        assert (outcome.kind, outcome.code, outcome.closes) == ("lost", Code.TIMEOUT, True)
        assert outcome.http["cancelNotification"] == {"status": 202, "code": None}
    assert server.seen("notifications/cancelled")[0].json["params"] == {"requestId": 2, "reason": "timeout"}
    assert len(server.seen("tools/call")) == 1


def test_a_cancellation_that_the_server_ignores_costs_one_second_at_most() -> None:
    script = McpScript(
        {"tools/call": lambda _, peer: peer.hold(), "notifications/cancelled": lambda _, peer: peer.hold()}
    )
    with opened(script, timeout=0.3) as (_, connection):
        started = time.monotonic()
        outcome = call(connection)
        assert 1.2 < time.monotonic() - started < 10
        assert outcome.http["cancelNotification"] == {"status": None, "code": "timeout"}


def test_an_origin_that_is_not_admitted_is_refused_before_anything_is_contacted() -> None:
    with HttpServer(McpScript()) as server:
        transport = HttpTransport(["http://127.0.0.1:1"])
        with pytest.raises(Failed) as caught:
            Connection(transport, Settings(server.url), ignore)
    assert caught.value.code is Code.ORIGIN_NOT_ADMITTED
    assert server.origin in str(caught.value)
    assert server.accepted == 0


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:99999/",
        "http://[::1/",
        "ftp://x/",
        "http://a b/",
        "",
        pytest.param("http://h/" + "x" * 70_000, id="long"),
    ],
)
def test_an_endpoint_that_is_no_url_is_an_invalid_binding(url: str) -> None:
    with pytest.raises(Failed) as caught:
        Connection(HttpTransport(["http://h:80"]), Settings(url), ignore)
    assert caught.value.code is Code.INVALID_BINDING


def test_a_header_that_http_cannot_carry_is_an_invalid_binding() -> None:
    for pair in (("X-A", "\u20ac"), ("X-\u00e9", "a")):
        with pytest.raises(Failed) as caught:
            Connection(HttpTransport(["http://h:80"]), Settings("http://h/", (pair,)), ignore)
        assert caught.value.code is Code.INVALID_BINDING


def test_no_thread_is_left_behind() -> None:
    before = set(threading.enumerate())
    stream = McpScript(
        {"GET": lambda _, peer: peer.stream().event({"jsonrpc": "2.0", "id": 1, "method": "ping"}).hold()}
    )
    with opened(stream) as (server, connection):
        server.wait_for(lambda seen: bool(seen.seen("")))
        connection.end()
        assert [thread.name for thread in threading.enumerate() if thread.name.startswith("mcp-")] == []
    assert set(threading.enumerate()) <= before
