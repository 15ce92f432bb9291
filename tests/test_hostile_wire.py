"""The real plugin against a hostile server, misbehaviour by misbehaviour: every row of the wire, seen from the host."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.fakes.hostile_server import MISBEHAVIOURS, hostile, seen_at
from tests.fakes.http_server import HttpServer
from tests.fakes.plugin_driver import PluginDriver

#: Deadline of the requests that are answered too late, in milliseconds.
LATE = 400
#: Limit of the replies that are too large, in bytes.
LIMIT = 1_000_000

SLOW = ("says-nothing", "drips-its-head", "drips-its-body", "keeps-alive", "notifies-for-ever", "lists-for-ever")
LARGE = ("floods-with-comments", "floods-one-line", "sends-a-bomb", "streams-a-bomb", "deflates-a-bomb")
#: What the aliases of some misbehaviours need, beside their endpoint.
CONFIGURATION: dict[str, dict[str, Any]] = {
    **{name: {"timeoutMs": LATE} for name in SLOW},
    **{name: {"maxResponseBytes": LIMIT} for name in LARGE},
    "pages-for-ever": {"maxPages": 3},
}


class Wire(NamedTuple):
    """One plugin process, with an alias for each misbehaviour of one server."""

    plugin: PluginDriver
    server: HttpServer

    def run(self, name: str, command: str, **arguments: Any) -> dict[str, Any]:
        return self.plugin.run(alias(name), command, **arguments)

    def outcome(self, name: str, command: str, **arguments: Any) -> tuple[str, str | None, str]:
        seen = self.run(name, command, **arguments)
        return seen["status"], seen["code"], seen["facts"]["connection"]

    def times(self, name: str, rpc: str) -> int:
        return list(seen_at(self.server, name)).count(rpc)


def alias(name: str) -> str:
    return name.replace("-", "_")


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    with hostile() as server, PluginDriver() as plugin:
        bindings = {
            alias(name): {"endpoint": f"{server.origin}/{name}", **CONFIGURATION.get(name, {})}
            for name in MISBEHAVIOURS
        }
        assert "result" in plugin.initialize([server.origin], **bindings)
        yield Wire(plugin, server)


Row = tuple[str, str | None, str]
KNOWN: Row = ("succeeded", None, "open")
LOST: Row = ("unknown", "reply_lost", "closed")
AMBIGUOUS: Row = ("unknown", "reply_ambiguous", "closed")
PROTOCOL: Row = ("unknown", "protocol_error", "closed")
STATUS: Row = ("unknown", "http_status", "closed")
REDIRECT: Row = ("unknown", "redirect_refused", "closed")
TIMEOUT: Row = ("unknown", "timeout", "closed")
TOO_LARGE: Row = ("unknown", "response_too_large", "closed")
REFUSED: Row = ("failed", "http_status", "open")
SESSION: Row = ("failed", "session_lost", "closed")
UNUSABLE: Row = ("failed", "protocol_error", "open")

#: What a call comes to at each misbehaviour that meets it.
CALLS: dict[str, Row] = {
    "redirects-to-a-slash": REDIRECT,
    "redirects-elsewhere": REDIRECT,
    "forbids-the-call": REFUSED,
    "limits-the-rate": REFUSED,
    "gives-up-waiting": STATUS,
    "fails-with-a-page": STATUS,
    "is-a-bad-gateway": STATUS,
    "accepts-only": LOST,
    "forgets-the-session": SESSION,
    "says-that-the-session-is-gone": SESSION,
    "is-not-there-without-a-session": REFUSED,
    "refuses-in-json-at-403": ("failed", "unexpected_refusal", "open"),
    "answers-with-a-page": PROTOCOL,
    "answers-without-a-type": PROTOCOL,
    "answers-no-json": PROTOCOL,
    "answers-nothing": PROTOCOL,
    "answers-nan": PROTOCOL,
    "answers-too-deep": PROTOCOL,
    "answers-no-utf-8": PROTOCOL,
    "answers-another-id": AMBIGUOUS,
    "answers-a-string-id": AMBIGUOUS,
    "answers-no-id": AMBIGUOUS,
    "answers-a-batch": AMBIGUOUS,
    "answers-a-batch-that-is-allowed": KNOWN,
    "speaks-no-http": PROTOCOL,
    "repeats-a-member": UNUSABLE,
    "answers-result-and-error": UNUSABLE,
    "answers-no-content": UNUSABLE,
    "closes-before-the-head": LOST,
    "resets-before-the-head": LOST,
    "closes-in-the-head": LOST,
    "closes-in-the-body": LOST,
    "closes-in-a-chunk": LOST,
    "closes-between-events": LOST,
    "resets-between-events": LOST,
    "ends-before-the-response": LOST,
    "ends-in-the-response": LOST,
    "compresses-half": LOST,
    "says-nothing": TIMEOUT,
    "drips-its-head": TIMEOUT,
    "drips-its-body": TIMEOUT,
    "keeps-alive": TIMEOUT,
    "notifies-for-ever": TIMEOUT,
    "floods-with-comments": TOO_LARGE,
    "floods-one-line": TOO_LARGE,
    "sends-a-bomb": TOO_LARGE,
    "streams-a-bomb": TOO_LARGE,
    "deflates-a-bomb": TOO_LARGE,
    "encodes-oddly": PROTOCOL,
    "answers-twice": AMBIGUOUS,
    "answers-for-another-too": AMBIGUOUS,
    "answers-again-late": AMBIGUOUS,
    "streams-no-utf-8": PROTOCOL,
    "streams-junk": PROTOCOL,
    "streams-with-crlf": KNOWN,
    "streams-with-cr": KNOWN,
    "streams-in-lines": KNOWN,
    "streams-byte-by-byte": KNOWN,
    "primes-its-stream": KNOWN,
    "asks-back": KNOWN,
}

#: What `tools` (or the inventory named) comes to, and a word of its message.
LISTINGS: dict[str, tuple[Row, str]] = {
    "repeats-a-cursor": (("failed", "inventory_incomplete", "closed"), "repeats a `nextCursor`"),
    "uses-an-empty-cursor": (KNOWN, "2 tools listed."),
    "pages-for-ever": (("failed", "inventory_incomplete", "open"), "`maxPages` (3)"),
    "numbers-its-cursor": (("failed", "inventory_invalid", "closed"), "`nextCursor` of page 1"),
    "refuses-what-it-declares": (("failed", "inventory_incomplete", "open"), "no tools today"),
    "declares-nothing": (KNOWN, "0 tools listed. The server does not declare them."),
    "lists-what-it-does-not-declare": (KNOWN, "1 tool listed. The server does not declare them."),
    "lists-no-array": (("failed", "inventory_invalid", "closed"), "no array `tools`"),
    "lists-no-object": (("failed", "inventory_invalid", "closed"), "Entry 1 of tools (page 1) is malformed"),
    "lists-without-a-name": (("failed", "inventory_invalid", "closed"), "name-not-a-string"),
    "lists-without-a-schema": (("failed", "inventory_invalid", "closed"), "input-schema-not-an-object"),
    "lists-another-schema": (("failed", "inventory_invalid", "closed"), "input-schema-not-of-type-object"),
    "lists-twice": (("failed", "inventory_invalid", "closed"), "Entry 2 of tools (page 2) repeats a name: a"),
    "lists-a-resource-without-a-uri": (("failed", "inventory_invalid", "closed"), "uri-not-a-string"),
    "refuses-to-list": (("failed", "http_status", "open"), "HTTP 403"),
    "repeats-a-member-of-a-page": (("failed", "inventory_invalid", "closed"), "repeated-member"),
    "lists-half": (("failed", "reply_lost", "closed"), "ended"),
    "lists-for-ever": (("failed", "timeout", "closed"), "0.4 s"),
}

#: What `connect` comes to.
CONNECTIONS: dict[str, Row] = {
    "redirects-on-connect": ("failed", "redirect_refused", "refused"),
    "asks-for-a-token": ("failed", "http_status", "refused"),
    "forbids-to-connect": ("failed", "http_status", "refused"),
    "chose-the-future": ("failed", "version_unsupported", "refused"),
    "introduces-nobody": ("failed", "protocol_error", "refused"),
    "names-its-session-badly": ("failed", "protocol_error", "refused"),
}

#: What `disconnect` comes to.
ENDINGS: dict[str, tuple[Row, str]] = {
    "deletes-slowly": (("unknown", "cleanup_unconfirmed", "disconnected"), "lost"),
    "drips-its-delete": (("unknown", "cleanup_unconfirmed", "disconnected"), "lost"),
    "refuses-delete": (("failed", "cleanup_unconfirmed", "disconnected"), "refused"),
    "loses-delete": (("unknown", "cleanup_unconfirmed", "disconnected"), "lost"),
}

#: The GET stream, which is never the failure of a command: what is recorded of it.
STREAMS: dict[str, tuple[str, int]] = {
    "has-no-stream-400": ("refused", 400),
    "has-no-stream-404": ("refused", 404),
    "has-no-stream-405": ("refused", 405),
    "has-no-stream-406": ("refused", 406),
    "streams-silently": ("open", 200),
}

#: The rows of the wire table (design, inspector), in a few words, and the misbehaviours that stand for them here.
WIRE_TABLE: dict[str, tuple[str, ...]] = {
    "any redirect": ("redirects-to-a-slash", "redirects-elsewhere", "redirects-on-connect"),
    "401 or 403 on connect": ("asks-for-a-token", "forbids-to-connect"),
    "4xx or 5xx without a response": ("forbids-the-call", "limits-the-rate", "gives-up-waiting", "fails-with-a-page"),
    "a foreign content type": ("answers-with-a-page", "answers-without-a-type"),
    "a cursor that repeats, a limit": ("repeats-a-cursor", "pages-for-ever"),
    "an error on a declared inventory": ("refuses-what-it-declares",),
    "a malformed or repeated entry": (
        "lists-no-object",
        "lists-without-a-name",
        "lists-without-a-schema",
        "lists-another-schema",
        "lists-a-resource-without-a-uri",
        "lists-twice",
    ),
    "an empty cursor": ("uses-an-empty-cursor",),
    "a capability not declared": ("declares-nothing", "lists-what-it-does-not-declare"),
    "a tool that is not listed": ("refuses-in-json-at-403",),
    "GET without a stream": tuple(STREAMS),
    "a session that is gone": ("forgets-the-session", "says-that-the-session-is-gone"),
    "the forms of an event stream": (
        "streams-with-crlf",
        "streams-with-cr",
        "streams-in-lines",
        "streams-byte-by-byte",
        "primes-its-stream",
        "streams-no-utf-8",
    ),
    "a stream or connection that ends early": (
        "ends-before-the-response",
        "ends-in-the-response",
        "closes-between-events",
        "closes-in-a-chunk",
        "closes-before-the-head",
        "resets-before-the-head",
    ),
    "a batch": ("answers-a-batch", "answers-a-batch-that-is-allowed"),
    "an id of another type or value": ("answers-another-id", "answers-a-string-id", "answers-no-id"),
    "over the limit, decompressed too": (
        "floods-with-comments",
        "floods-one-line",
        "sends-a-bomb",
        "streams-a-bomb",
        "deflates-a-bomb",
    ),
}


def test_every_misbehaviour_is_met_and_every_row_of_the_table_has_some() -> None:
    met = [*CALLS, *LISTINGS, *CONNECTIONS, *ENDINGS, *STREAMS]
    assert sorted(met) == sorted(MISBEHAVIOURS)
    assert {name for names in WIRE_TABLE.values() for name in names} <= set(met)
    assert set(CONFIGURATION) <= set(met)


@pytest.mark.requirement(
    "field.timeout",
    "commands.unknown",
    "calls.always-mutate",
    "deadline.keepalives",
    "deadline.no-retry",
    "evidence.call.unavailable",
    "closing.lost",
    "closing.delete",
    "closing.invalid-content",
    "cleanup.after",
    "limits.sse",
    "limits.deadline",
)
@pytest.mark.parametrize("name", CALLS)
def test_a_call_has_its_outcome_is_seen_once_and_closes_or_not(wire: Wire, name: str) -> None:
    expected = CALLS[name]
    assert wire.outcome(name, "connect") == KNOWN
    begun = time.monotonic()
    seen = wire.run(name, "call", tool="t")
    assert time.monotonic() - begun < 5
    assert (seen["status"], seen["code"], seen["facts"]["connection"]) == expected, seen
    assert (seen["state"]["kind"] == "unknown") == (expected[0] == "unknown")
    later = KNOWN if expected[2] == "open" else ("failed", "not_connected", "closed")
    assert wire.outcome(name, "tools") == later
    assert wire.outcome(name, "disconnect") == ("succeeded", None, "disconnected")
    assert wire.outcome(name, "call", tool="t") == ("failed", "disconnected", "disconnected")
    sessions = 0 if name == "is-not-there-without-a-session" else 1
    assert (wire.times(name, "tools/call"), wire.times(name, "DELETE")) == (1, sessions)
    assert wire.times(name, "tools/list") == (1 if expected[2] == "open" else 0)
    late = expected == TIMEOUT
    assert wire.times(name, "notifications/cancelled") == (1 if late else 0)
    assert ("cancelNotification" in seen["facts"]["http"]) == late


@pytest.mark.requirement("expect.incomplete", "closing.lost")
@pytest.mark.parametrize("name", LISTINGS)
def test_an_inventory_has_its_outcome_and_satisfies_nothing_when_it_is_incomplete(wire: Wire, name: str) -> None:
    expected, word = LISTINGS[name]
    command = "resources" if "resource" in name else "tools"
    seen = wire.run(name, command, expect={"absent": ["z"]})
    assert (seen["status"], seen["code"], seen["facts"]["connection"]) == expected, seen
    assert word in seen["message"]
    assert seen["state"]["complete"] == (expected == KNOWN)
    assert ("entries" in seen["state"]) == (expected == KNOWN)
    later = KNOWN if expected[2] == "open" else ("failed", "not_connected", "closed")
    assert wire.outcome(name, "call", tool="t") == later
    assert wire.outcome(name, "disconnect") == ("succeeded", None, "disconnected")
    assert wire.times(name, "DELETE") == 1


@pytest.mark.requirement("refused.later-commands", "limits.no-resuming")
@pytest.mark.parametrize("name", CONNECTIONS)
def test_a_connection_that_is_refused_is_refused_once(wire: Wire, name: str) -> None:
    assert wire.outcome(name, "connect") == CONNECTIONS[name]
    assert wire.outcome(name, "tools") == ("failed", "not_connected", "refused")
    assert wire.outcome(name, "connect") == ("failed", "not_connected", "refused")
    assert wire.run(name, "disconnect")["facts"]["connection"] == "disconnected"
    assert (wire.times(name, "initialize"), wire.times(name, "tools/list")) == (1, 0)


@pytest.mark.requirement("cleanup.one-delete", "cleanup.confirmed", "cleanup.deadline")
@pytest.mark.parametrize("name", ENDINGS)
def test_an_end_that_is_not_confirmed_is_reported_and_never_asked_for_again(wire: Wire, name: str) -> None:
    expected, cleanup = ENDINGS[name]
    assert wire.outcome(name, "connect") == KNOWN
    begun = time.monotonic()
    first = wire.run(name, "disconnect")
    assert time.monotonic() - begun < 2.5
    second = wire.run(name, "disconnect")
    for seen in (first, second):
        assert (seen["status"], seen["code"], seen["facts"]["connection"]) == expected
        assert seen["state"] == {"kind": "disconnected", "cleanup": cleanup}
    assert wire.times(name, "DELETE") == 1


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_is_not_there_or_silent_is_normal_and_recorded(wire: Wire, name: str) -> None:
    assert wire.outcome(name, "connect") == KNOWN
    wire.server.wait_for(lambda server: "GET" in seen_at(server, name))
    state, status = STREAMS[name]
    for _ in range(50):
        seen = wire.run(name, "call", tool="t")
        if seen["facts"]["stream"]["state"] != "opening":
            break
    assert (seen["status"], seen["facts"]["stream"]["state"], seen["facts"]["stream"]["status"]) == (
        "succeeded",
        state,
        status,
    )
    assert wire.outcome(name, "disconnect") == ("succeeded", None, "disconnected")
    assert (wire.times(name, "GET"), wire.times(name, "DELETE")) == (1, 1)


@pytest.mark.requirement("origins.redirects")
def test_a_redirect_takes_nothing_along_and_says_what_helps() -> None:
    with hostile() as server, PluginDriver() as plugin:
        endpoint = f"{server.origin}/redirects-on-connect"
        plugin.initialize([server.origin], api={"endpoint": endpoint, "bearerToken": "token-1234"})
        seen = plugin.run("api", "connect")
        assert "the same URL with a trailing slash; change `endpoint`" in seen["message"]
        # The path is long enough to be private, so the address shows without it.
        assert seen["facts"]["http"]["location"] == "[redacted]/"
        assert [request.path for request in server.requests] == ["/redirects-on-connect"]


def test_a_refusal_keeps_its_challenge_and_the_beginning_of_its_body() -> None:
    with hostile() as server, PluginDriver() as plugin:
        bindings = {
            alias(name): {"endpoint": f"{server.origin}/{name}"} for name in ("asks-for-a-token", "fails-with-a-page")
        }
        plugin.initialize([server.origin], **bindings)
        asked = plugin.run("asks_for_a_token", "connect", expect={"status": 401})
        assert (asked["status"], asked["code"]) == ("succeeded", None)
        assert asked["facts"]["http"]["challenge"] == [
            {
                "scheme": "Bearer",
                "parameters": {"realm": "mcp", "error": "insufficient_scope", "scope": "mcp:write"},
            }
        ]
        failed = plugin.run("fails_with_a_page", "call", tool="t")
        assert "HTTP 500" in failed["message"]
        assert failed["facts"]["http"]["body"] == ("<h1>" + "oops " * 400)[:512]


@pytest.mark.requirement("limits.server-requests")
def test_a_ping_of_the_server_is_answered_and_its_other_requests_are_refused() -> None:
    with hostile() as server, PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": f"{server.origin}/asks-back"})
        assert plugin.run("api", "call", tool="t")["status"] == "succeeded"
        server.wait_for(lambda seen: list(seen_at(seen, "asks-back")).count("") == 2)
        answers = [request.json for request in server.requests if request.rpc == ""]
        assert answers[0] == {"jsonrpc": "2.0", "id": "ping-1", "result": {}}
        assert (answers[1]["id"], answers[1]["error"]["code"]) == (77, -32601)


@pytest.mark.parametrize("name", ["answers-no-json", "closes-between-events", "gives-up-waiting", "answers-twice"])
def test_what_makes_a_call_unknown_only_fails_an_observation(name: str) -> None:
    code = CALLS[name][1]
    methods = {"read_resource": ("resources/read", {"uri": "file:///a"}), "get_prompt": ("prompts/get", {"name": "p"})}
    for command, (method, arguments) in methods.items():
        moved = MISBEHAVIOURS[name].__class__(method, MISBEHAVIOURS[name].act)
        with hostile(moved=moved) as server, PluginDriver() as plugin:
            plugin.initialize([server.origin], api={"endpoint": f"{server.origin}/moved"})
            seen = plugin.run("api", command, **arguments)
            assert (seen["status"], seen["code"], seen["facts"]["connection"]) == ("failed", code, "closed")
            assert list(seen_at(server, "moved")).count(method) == 1


def test_the_process_wrote_nothing_but_replies(wire: Wire) -> None:
    assert wire.plugin.diagnostics == b""
