"""The results that the canned server gives: small ones, and ones of about 8 MiB."""

import json
from typing import Any

__all__ = ["CALLABLE", "EVENTS", "INITIALIZED", "SMALL", "TOOLS", "inventory", "progress", "texts"]

#: As many tools as a binding lets an inventory have, and the events of a reply that is all small ones.
TOOLS = 5_000
EVENTS = 50_000
#: Size of one tool in bytes: 5,000 of them stay just under the 8 MiB that a binding may set as its limit.
TOOL_BYTES = (8 * 1024 * 1024 - 64 * 1024) // TOOLS
#: Bytes of a line of text.
LINE = 1_000

INITIALIZED = json.dumps(
    {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "canned", "version": "1"},
    }
).encode()
CALLABLE = json.dumps(
    {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("small", "large")]}
).encode()
SMALL = b'{"content":[{"type":"text","text":"{\\"total\\":2}"}],"isError":false}'


def inventory(count: int, *, alike: bool) -> bytes:
    """The result of `tools/list`: ``count`` tools with nine properties each, three of them nested.

    Schemas that are not ``alike`` have the same names in them, and texts and numbers of their own.
    """
    return json.dumps({"tools": [_tool(index, 0 if alike else index) for index in range(count)]}).encode()


def _tool(index: int, variant: int) -> dict[str, Any]:
    plain = {
        f"field_{place}": {"type": "string", "description": f"number {place} of six, for use {variant:05}"}
        for place in range(6)
    }
    inner = {
        f"inner_{place}": {"type": ["integer", "null"], "minimum": place, "maximum": 10_000 + variant}
        for place in range(3)
    }
    group = {"type": "object", "properties": inner, "additionalProperties": False}
    tool = {
        "name": f"tool_{index:05}",
        "description": "",
        "inputSchema": {"type": "object", "properties": plain | {"group": group}, "required": ["field_0", "group"]},
        "annotations": {"readOnlyHint": True, "destructiveHint": False},
    }
    filler = "what this tool does, at length; " * 80
    tool["description"] = filler[: TOOL_BYTES - len(json.dumps(tool)) - 2]
    return tool


def texts(size: int) -> bytes:
    """The result of a `tools/call` in text blocks of 1,000 bytes, each on a line of its own, ``size`` bytes in all."""
    block = json.dumps({"type": "text", "text": ("so it was seen; " * 80)[: LINE - 28]})
    return b'{"content":[\n' + b",\n".join([block.encode()] * (size // (LINE + 2))) + b'\n],"isError":false}'


def progress(count: int, size: int) -> list[bytes]:
    """``count`` log notifications, ``size`` bytes of events in all."""
    room = size // count - len(b"event: message\ndata: \n\n")
    message = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": ""}}
    filler = "x" * (room - len(json.dumps(message)) - 8)
    return [
        json.dumps(message | {"params": {"level": "info", "data": f"{number:07} {filler}"}}).encode()
        for number in range(count)
    ]
