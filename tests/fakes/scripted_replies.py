"""Replies of a scripted server that tests of several commands use."""

from collections.abc import Callable
from typing import Any

from tests.fakes.http_server import Peer, Request

__all__ = ["SUCCEEDED_OPEN", "TOOLS", "TOOL_ERROR", "answer", "cut", "paged", "result", "structured"]

SUCCEEDED_OPEN = ("succeeded", None, "open")


def answer(status: int, body: bytes = b"", *headers: tuple[str, str], kind: str | None = None) -> Any:
    return lambda request, peer: peer.reply(status, body, *headers, kind=kind)


def cut(request: Request, peer: Peer) -> None:
    peer.head(200, ("Content-Type", "application/json"), ("Content-Length", "100"))
    peer.close()


def result(value: Any) -> Callable[[Request, Peer], None]:
    """Answer with a result whose JSON is given as text, so that numbers keep their spelling."""

    def reply(request: Request, peer: Peer) -> None:
        peer.json(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (request.json["id"], value.encode()))

    return reply


def structured(text: str) -> Callable[[Request, Peer], None]:
    return result('{"content":[],"structuredContent":%s}' % text)  # noqa: UP031 - braces of JSON


TOOLS = [
    {"name": "b_tool", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    {"name": "a_tool", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": True}},
]


def paged(*pages: Any) -> Callable[[Request, Peer], None]:
    def reply(request: Request, peer: Peer) -> None:
        place = int(request.json["params"].get("cursor") or 0)
        page: dict[str, Any] = {"tools": pages[place]}
        if place + 1 < len(pages):
            page["nextCursor"] = str(place + 1)
        peer.json({"jsonrpc": "2.0", "id": request.json["id"], "result": page})

    return reply


TOOL_ERROR = {"content": [{"type": "text", "text": "out of stock"}], "isError": True}
