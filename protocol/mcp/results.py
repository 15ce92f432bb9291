"""The shape that MCP gives to the result of each method, as far as a reading of it depends on it."""

from collections.abc import Callable
from typing import Any, Final

from protocol.mcp.revisions import Revision

__all__ = ["fault"]


def fault(method: str, result: Any, revision: Revision | None) -> str | None:
    """Return the fixed, hyphenated reason why a result is not of its method's shape, or None.

    Every result is an object. Of a tool result, ``content`` is an array of objects with a string ``type`` (a text block
    with a string ``text``) and ``isError`` a boolean where present. ``structuredContent`` is taken as it is: revisions
    differ on what it may be, and nothing stands in the way of looking at it. A resource's ``contents`` are objects with
    either a string ``text`` or a string ``blob``. A prompt's ``messages`` are objects with a string ``role`` and one
    content block, and its ``description`` is a string where present. Null stands for absent in these two.
    """
    if not isinstance(result, dict):
        return "result-not-an-object"
    check = _CHECKS.get(method)
    return None if check is None else check(result, revision)


def _tool_result(result: dict[str, Any], revision: Revision | None) -> str | None:
    members = revision.tool_results if revision else ("content",)
    if "toolResult" in members and "toolResult" in result:
        return None
    if not isinstance(result.get("isError", False), bool):
        return "is-error-not-a-boolean"
    content = result.get("content")
    if not isinstance(content, list):
        return "content-not-an-array"
    return next((reason for block in content if (reason := _block(block))), None)


def _block(block: Any) -> str | None:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return "content-block-malformed"
    return "text-not-a-string" if block["type"] == "text" and not isinstance(block.get("text"), str) else None


def _resource_result(result: dict[str, Any], _revision: Revision | None) -> str | None:
    contents = result.get("contents")
    if not isinstance(contents, list):
        return "contents-not-an-array"
    return next((reason for entry in contents if (reason := _contents(entry))), None)


def _contents(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return "contents-entry-malformed"
    held = [member for member in ("text", "blob") if entry.get(member) is not None]
    if len(held) != 1:
        return "text-and-blob" if held else "neither-text-nor-blob"
    return None if isinstance(entry[held[0]], str) else f"{held[0]}-not-a-string"


def _prompt_result(result: dict[str, Any], _revision: Revision | None) -> str | None:
    if not isinstance(result.get("description"), str | None):
        return "description-not-a-string"
    messages = result.get("messages")
    if not isinstance(messages, list):
        return "messages-not-an-array"
    return next((reason for message in messages if (reason := _message(message))), None)


def _message(message: Any) -> str | None:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return "message-malformed"
    return _block(message.get("content"))


_CHECKS: Final[dict[str, Callable[[dict[str, Any], Revision | None], str | None]]] = {
    "tools/call": _tool_result,
    "resources/read": _resource_result,
    "prompts/get": _prompt_result,
}
