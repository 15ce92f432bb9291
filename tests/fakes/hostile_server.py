"""A server that misbehaves on demand: one named callable per misbehaviour, each at a path of its own.

``hostile()`` serves them all: ``server.url/NAME`` behaves well but for what `MISBEHAVIOURS[NAME]` does to one of its
methods. One plugin process with an alias for each can so be led through all of them.
"""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.http_server import HttpServer, McpScript, Peer, Refusal, Request, chunked

__all__ = ["MISBEHAVIOURS", "Misbehaviour", "hostile", "inventory_pages", "seen_at", "sized_inventory", "tool"]

Act = Callable[[Request, Peer], Any]

RESULT = {"content": [{"type": "text", "text": "hello"}]}
JSON = "application/json"
NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "working"}}
#: Seconds between two bytes or comments of a server that drips.
DRIP = 0.02


@dataclass(frozen=True)
class Misbehaviour:
    """What is done, and to which method (JSON-RPC, `GET` or `DELETE`); ``script`` are further traits of the server."""

    on: str
    act: Any
    script: dict[str, Any] = field(default_factory=dict)


MISBEHAVIOURS: dict[str, Misbehaviour] = {}


def misbehaviour(name: str, on: str = "tools/call", **script: Any) -> Callable[[Any], Any]:
    """Enter a callable into the table, or a result or `Refusal` that stands for one."""

    def enter(act: Any) -> Any:
        assert name not in MISBEHAVIOURS, name
        MISBEHAVIOURS[name] = Misbehaviour(on, act, script)
        return act

    return enter


def response(request: Request, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request.json["id"], "result": RESULT, **members}


def encoded(request: Request, **members: Any) -> bytes:
    return json.dumps(response(request, **members)).encode()


def tool(name: str, **members: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **members}


# Refused by HTTP


def answer(status: int, body: bytes = b"", *headers: tuple[str, str], kind: str | None = None) -> Act:
    return lambda _, peer: peer.reply(status, body, *headers, kind=kind)


CHALLENGE = ("WWW-Authenticate", 'Bearer realm="mcp", error="insufficient_scope", scope="mcp:write"')

misbehaviour("redirects-to-a-slash")(answer(307, b"", ("Location", "/redirects-to-a-slash/")))
misbehaviour("redirects-elsewhere")(answer(302, b"", ("Location", "https://evil.example/mcp")))
misbehaviour("redirects-on-connect", "initialize")(answer(308, b"", ("Location", "/redirects-on-connect/")))
misbehaviour("asks-for-a-token", "initialize")(answer(401, b"who?", CHALLENGE, kind="text/plain"))
misbehaviour("forbids-to-connect", "initialize")(answer(403, b"not you", CHALLENGE, kind="text/plain"))
misbehaviour("forbids-the-call")(answer(403, b"not this", CHALLENGE, kind="text/plain"))
misbehaviour("limits-the-rate")(answer(429, b"later", kind="text/plain"))
misbehaviour("gives-up-waiting")(answer(408))
misbehaviour("fails-with-a-page")(answer(500, b"<h1>" + b"oops " * 400 + b"</h1>", kind="text/html"))
misbehaviour("is-a-bad-gateway")(answer(502))
misbehaviour("accepts-only")(answer(202))
misbehaviour("forgets-the-session")(answer(404, b"gone", kind="text/plain"))
misbehaviour("says-that-the-session-is-gone")(
    lambda _, peer: peer.json({"error": {"message": "Session not found"}}, status=400)
)
misbehaviour("is-not-there-without-a-session", session=None)(answer(404, b"no such page", kind="text/plain"))


@misbehaviour("refuses-in-json-at-403")
def _(request: Request, peer: Peer) -> None:
    error = {"code": -32001, "message": "not yours"}
    peer.json({"jsonrpc": "2.0", "id": request.json["id"], "error": error}, CHALLENGE, status=403)


# Says something else


misbehaviour("answers-with-a-page")(answer(200, b"<html>", kind="text/html; charset=utf-8"))
misbehaviour("answers-without-a-type")(lambda request, peer: peer.reply(200, encoded(request)))
misbehaviour("answers-no-json")(lambda _, peer: peer.json(b"{]"))
misbehaviour("answers-nothing")(lambda _, peer: peer.json(b""))
misbehaviour("answers-nan")(lambda request, peer: peer.json(encoded(request).replace(b'"hello"', b"NaN")))
misbehaviour("answers-too-deep")(
    lambda request, peer: peer.json(encoded(request, result={"content": []}).replace(b"[]", b"[" * 500 + b"]" * 500))
)
misbehaviour("answers-no-utf-8")(lambda request, peer: peer.json(encoded(request).replace(b"hello", b"h\xff")))
misbehaviour("answers-another-id")(lambda request, peer: peer.json(response(request, id=999)))
misbehaviour("answers-a-string-id")(lambda request, peer: peer.json(response(request, id=str(request.json["id"]))))
misbehaviour("answers-no-id")(lambda request, peer: peer.json(response(request, id=None)))
misbehaviour("answers-a-batch")(lambda request, peer: peer.json([response(request)]))
misbehaviour("answers-a-batch-that-is-allowed", revision="2025-03-26")(
    lambda request, peer: peer.json([NOTE, response(request)])
)
misbehaviour("speaks-no-http")(lambda _, peer: peer.send(b"SSH-2.0-OpenSSH\r\n\r\n").hold())
misbehaviour("repeats-a-member")(
    lambda request, peer: peer.json(encoded(request).replace(b'"text": "hello"', b'"text": "a", "text": "b"'))
)
misbehaviour("answers-result-and-error")(
    lambda request, peer: peer.json(response(request, error={"code": 1, "message": "and yet"}))
)
misbehaviour("answers-no-content")(lambda request, peer: peer.json(response(request, result={"content": "hello"})))
misbehaviour("chose-the-future", "initialize", revision="2031-01-01")(
    lambda request, peer: McpScript(revision="2031-01-01")(request, peer)
)
misbehaviour("introduces-nobody", "initialize")({"protocolVersion": "2025-11-25", "capabilities": {}})
misbehaviour("names-its-session-badly", "initialize", session="a b")(
    lambda request, peer: McpScript(session="a b")(request, peer)
)


# Breaks off


misbehaviour("closes-before-the-head")(lambda _, peer: peer.close())
misbehaviour("resets-before-the-head")(lambda _, peer: peer.reset())
misbehaviour("closes-in-the-head")(lambda _, peer: peer.send(b"HTTP/1.1 200 OK\r\nContent-").close())
misbehaviour("closes-in-the-body")(
    lambda request, peer: peer.head(200, ("Content-Type", JSON), ("Content-Length", "500")).send(b"{").close()
)
misbehaviour("closes-in-a-chunk")(lambda _, peer: peer.stream().send(b"50\r\ndata: {").close())
misbehaviour("closes-between-events")(lambda _, peer: peer.stream().event(NOTE).close())
misbehaviour("resets-between-events")(lambda _, peer: peer.stream().event(NOTE).reset())
misbehaviour("ends-before-the-response")(lambda _, peer: peer.stream().event(NOTE).finish())
misbehaviour("ends-in-the-response")(
    lambda request, peer: peer.stream().chunk(b"data: " + encoded(request) + b"\n").finish()
)
misbehaviour("compresses-half")(
    lambda request, peer: peer.json(gzip.compress(encoded(request))[:-6], ("Content-Encoding", "gzip"))
)


# Takes its time


misbehaviour("says-nothing")(lambda _, peer: peer.hold())
misbehaviour("drips-its-head")(lambda _, peer: peer.drip(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 900, DRIP))
misbehaviour("drips-its-body")(
    lambda _, peer: peer.head(200, ("Content-Type", JSON), ("Content-Length", "900")).drip(b" " * 900, DRIP)
)
misbehaviour("keeps-alive")(lambda _, peer: peer.stream().repeat(chunked(b": alive\n\n"), DRIP))
misbehaviour("notifies-for-ever")(
    lambda _, peer: peer.stream().repeat(chunked(b"data: " + json.dumps(NOTE).encode() + b"\n\n"), DRIP)
)
misbehaviour("lists-for-ever", "tools/list")(lambda _, peer: peer.hold())
misbehaviour("deletes-slowly", "DELETE")(lambda _, peer: peer.hold())
misbehaviour("drips-its-delete", "DELETE")(lambda _, peer: peer.drip(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 900, DRIP))
misbehaviour("refuses-delete", "DELETE")(answer(405, b"", ("Allow", "POST")))
misbehaviour("loses-delete", "DELETE")(lambda _, peer: peer.close())


# Says too much


@misbehaviour("floods-with-comments")
def _(_: Request, peer: Peer) -> None:
    peer.stream()
    while not peer.stopping.is_set():
        peer.chunk(b": flood\n" * 4000)


@misbehaviour("floods-one-line")
def _(_: Request, peer: Peer) -> None:
    peer.stream()
    peer.chunk(b"data: ")
    while not peer.stopping.is_set():
        peer.chunk(b"x" * 65536)


BOMB = gzip.compress(bytes(64 * 1024 * 1024))

misbehaviour("sends-a-bomb")(lambda _, peer: peer.json(BOMB, ("Content-Encoding", "gzip")))
misbehaviour("streams-a-bomb")(
    lambda _, peer: peer.reply(200, BOMB, ("Content-Encoding", "gzip"), kind="text/event-stream")
)
misbehaviour("deflates-a-bomb")(
    lambda _, peer: peer.json(zlib.compress(bytes(64 * 1024 * 1024)), ("Content-Encoding", "deflate"))
)
misbehaviour("encodes-oddly")(lambda request, peer: peer.json(encoded(request), ("Content-Encoding", "br")))


# Answers twice, or beside the point


def streamed(*parts: Any) -> Act:
    """Answer by an event stream: each part is the data of an event, or a callable of the request that gives it."""

    def act(request: Request, peer: Peer) -> None:
        peer.stream()
        for part in parts:
            peer.event(part(request) if callable(part) else part)
        peer.finish()

    return act


def raw_stream(data: Callable[[Request], bytes]) -> Act:
    return lambda request, peer: peer.stream().chunk(data(request)).finish()


misbehaviour("answers-twice")(streamed(response, response))
misbehaviour("answers-for-another-too")(streamed(response, lambda request: response(request, id=7)))


@misbehaviour("answers-again-late")
def _(request: Request, peer: Peer) -> None:
    peer.stream().event(response(request))
    peer.stopping.wait(0.1)
    peer.event(response(request))
    peer.hold()


misbehaviour("streams-no-utf-8")(streamed(b"\xff\xfe", response))
misbehaviour("streams-junk")(streamed(b"junk", response))


# Streams that are odd and right


misbehaviour("streams-with-crlf")(
    raw_stream(lambda request: b"\xef\xbb\xbf: hi\r\nid: 4\r\nretry: 10\r\n\r\ndata: " + encoded(request) + b"\r\n\r\n")
)
misbehaviour("streams-with-cr")(raw_stream(lambda request: b": c\r\rdata: " + encoded(request) + b"\r\r"))
misbehaviour("streams-in-lines")(
    raw_stream(
        lambda request: (
            b"data: " + json.dumps(response(request), indent=1).encode().replace(b"\n", b"\ndata: ") + b"\n\n"
        )
    )
)
misbehaviour("primes-its-stream")(
    raw_stream(
        lambda request: b"id: 1\nretry: 10\ndata:\n\nevent: ping\ndata: x\n\ndata: " + encoded(request) + b"\n\n"
    )
)


@misbehaviour("streams-byte-by-byte")
def _(request: Request, peer: Peer) -> None:
    peer.stream()
    for byte in b": hi\r\ndata: " + encoded(request) + b"\r\n\r\n":
        peer.chunk(bytes([byte]))
    peer.finish()


@misbehaviour("asks-back")
def _(request: Request, peer: Peer) -> None:
    """Send requests of its own inside the reply: a ping, and one that this client does not serve."""
    peer.stream()
    peer.event({"jsonrpc": "2.0", "id": "ping-1", "method": "ping"})
    peer.event({"jsonrpc": "2.0", "id": 77, "method": "sampling/createMessage", "params": {}})
    peer.event(response(request)).finish()


for status in (400, 404, 405, 406):
    misbehaviour(f"has-no-stream-{status}", "GET")(answer(status))
misbehaviour("streams-silently", "GET")(lambda _, peer: peer.stream().hold())


# Inventories


def pages(*listed: Any, member: str = "tools") -> Act:
    """Answer page after page; each is a list of entries and its `nextCursor` (None: the last one)."""

    def act(request: Request, peer: Peer) -> None:
        cursor = request.json["params"].get("cursor")
        known = [None, *(following for _, following in listed)]
        entries, following = listed[known.index(cursor)]
        result = {member: entries} | ({} if following is None else {"nextCursor": following})
        peer.json({"jsonrpc": "2.0", "id": request.json["id"], "result": result})

    return act


misbehaviour("repeats-a-cursor", "tools/list")(
    lambda request, peer: peer.json(
        {
            "jsonrpc": "2.0",
            "id": request.json["id"],
            "result": {"tools": [tool(f"t{request.json['id']}")], "nextCursor": "x"},
        }
    )
)
misbehaviour("uses-an-empty-cursor", "tools/list")(pages(([tool("a")], ""), ([tool("b")], None)))
misbehaviour("pages-for-ever", "tools/list")(
    lambda request, peer: peer.json(
        {
            "jsonrpc": "2.0",
            "id": request.json["id"],
            "result": {"tools": [tool(f"t{request.json['id']}")], "nextCursor": f"after-{request.json['id']}"},
        }
    )
)
misbehaviour("numbers-its-cursor", "tools/list")({"tools": [], "nextCursor": 5})
misbehaviour("refuses-what-it-declares", "tools/list")(Refusal(-32601, "no tools today"))
misbehaviour("declares-nothing", "tools/list", capabilities={})(Refusal(-32601, "Method not found"))
misbehaviour("lists-what-it-does-not-declare", "tools/list", capabilities={})({"tools": [tool("a")]})
misbehaviour("lists-no-array", "tools/list")({"tools": {}})
misbehaviour("lists-no-object", "tools/list")({"tools": [tool("a"), "b"]})
misbehaviour("lists-without-a-name", "tools/list")({"tools": [{"inputSchema": {"type": "object"}}]})
misbehaviour("lists-without-a-schema", "tools/list")({"tools": [{"name": "a"}]})
misbehaviour("lists-another-schema", "tools/list")({"tools": [{"name": "a", "inputSchema": {"type": "array"}}]})
misbehaviour("lists-twice", "tools/list")(pages(([tool("a"), tool("b")], "2"), ([tool("a")], None)))
misbehaviour("lists-a-resource-without-a-uri", "resources/list")({"resources": [{"name": "a"}]})
misbehaviour("refuses-to-list", "tools/list")(answer(403, b"no", kind="text/plain"))
misbehaviour("repeats-a-member-of-a-page", "tools/list")(
    lambda request, peer: peer.json(
        b'{"jsonrpc":"2.0","id":%d,"result":{"tools":[{"name":"a","name":"b"}]}}' % request.json["id"]
    )
)
misbehaviour("lists-half", "tools/list")(
    lambda _, peer: peer.head(200, ("Content-Type", JSON), ("Content-Length", "900")).send(b'{"jsonrpc"').close()
)


def inventory_pages(count: int, pages: int, size: int | None = None) -> Act:
    """Answer `tools/list` with ``count`` tools on so many pages, whose bodies have ``size`` bytes altogether."""
    made = [
        [
            tool(f"tool_{index:05}", description="")
            for index in range(page * count // pages, (page + 1) * count // pages)
        ]
        for page in range(pages)
    ]

    def body(identity: int, page: int, padding: int = 0) -> bytes:
        result: dict[str, Any] = {"tools": made[page]}
        if page + 1 < pages:
            result["nextCursor"] = f"page-{page + 1}"
        if padding:
            result["_meta"] = {"p": "x" * (padding - len(', "_meta": {"p": ""}'))}
        return json.dumps({"jsonrpc": "2.0", "id": identity, "result": result}).encode()

    def act(request: Request, peer: Peer) -> None:
        cursor = request.json["params"].get("cursor")
        page = int(cursor.removeprefix("page-")) if cursor else 0
        identity = request.json["id"]
        padding = 0
        if size is not None and page == pages - 1:
            # The ids of the requests count up, one for each page.
            before = sum(len(body(identity - pages + 1 + each, each)) for each in range(pages))
            padding = size - before
        peer.json(body(identity, page, padding))

    return act


def sized_inventory(count: int, size: int, *, sse: bool = False) -> Act:
    """Answer `tools/list` with ``count`` tools in one reply of exactly ``size`` bytes, each tool with a long text."""
    schema = {
        "type": "object",
        "properties": {name: {"type": "string", "description": name} for name in ("query", "limit", "after")},
        "required": ["query"],
    }

    def body(identity: int, text: int, rest: int) -> bytes:
        tools = [
            {"name": f"tool_{index:05}", "description": "d" * text, "inputSchema": schema} for index in range(count)
        ]
        tools[-1]["title"] = "t" * rest
        return json.dumps({"jsonrpc": "2.0", "id": identity, "result": {"tools": tools}}).encode()

    def act(request: Request, peer: Peer) -> None:
        identity = request.json["id"]
        frame = len(b"data: \n\n") if sse else 0
        room = size - frame - len(body(identity, 0, 0))
        text, rest = divmod(room, count)
        made = body(identity, text, rest)
        assert len(made) + frame == size
        if sse:
            peer.reply(200, b"data: " + made + b"\n\n", kind="text/event-stream")
        else:
            peer.json(made)

    return act


class _Dispatcher:
    """Behaves at each path as its misbehaviour says. Whatever follows the name in a path belongs to it."""

    def __init__(self, further: dict[str, Misbehaviour]) -> None:
        self._scripts = {
            name: McpScript(on={each.on: each.act}, **{"session": f"session-of-{name}", **each.script})
            for name, each in {**MISBEHAVIOURS, **further}.items()
        }

    def __call__(self, request: Request, peer: Peer) -> None:
        self._scripts[request.path.split("/")[1]](request, peer)


def hostile(**further: Misbehaviour) -> HttpServer:
    """A server of all misbehaviours, and of ``further`` ones. Enter it."""
    return HttpServer(_Dispatcher(further))


def seen_at(server: HttpServer, name: str) -> Iterator[str]:
    """Give the method of each request that came to a name's path, in order."""
    return (request.rpc for request in list(server.requests) if request.path.split("/")[1] == name)
