"""What a reply holds, by the method that was asked: its texts, its JSON, its count, and what the state keeps of it."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from protocol.values.document import encode
from protocol.values.hashes import digest, text_digest
from protocol.values.pointer import MISSING

__all__ = ["CONTENTS", "Contents", "Reading"]

#: Redacts a value, or gives it back where nothing in the reply is private.
Clean: TypeAlias = Callable[[Any], Any]


class Contents(NamedTuple):
    """The parts of a result as the server sent them; they are looked into and never kept.

    ``texts`` are its text blocks or text entries, ``structured`` the JSON that stands for the whole (MISSING: none).
    ``length`` is what the expectation `count` compares, None where there is nothing to count.
    """

    texts: tuple[str, ...]
    structured: Any = MISSING
    length: int | None = None


class Reading(NamedTuple):
    """How the result of one method is read: into its contents, and into the part of the state that is its own."""

    contents: Callable[[dict[str, Any]], Contents]
    kept: Callable[[dict[str, Any], Clean], dict[str, Any]]


def _tool_contents(result: dict[str, Any]) -> Contents:
    """Read a tool result; that of 2024-10-07 stands in one member."""
    if "content" not in result:
        value = result["toolResult"]
        return Contents((value,)) if isinstance(value, str) else Contents((encode(value).decode(),), value)
    texts = tuple(block["text"] for block in result["content"] if block["type"] == "text")
    structured = result.get("structuredContent")
    # Servers write null for content that is not there.
    return Contents(texts, MISSING if structured is None else structured)


def _tool_kept(result: dict[str, Any], clean: Clean) -> dict[str, Any]:
    structured = _tool_contents(result).structured
    types = [block["type"] for block in result["content"]] if "content" in result else ["toolResult"]
    return {
        "isError": result.get("isError") is True,
        "contentTypes": clean(types),
        "structuredContent": None if structured is MISSING else digest(clean(structured)),
    }


def _resource_contents(result: dict[str, Any]) -> Contents:
    entries = result["contents"]
    return Contents(tuple(entry["text"] for entry in entries if _is_text(entry)), length=len(entries))


def _resource_kept(result: dict[str, Any], clean: Clean) -> dict[str, Any]:
    """Keep a hash of each entry's content; a blob's is over its base64 as it was received."""
    entries = [
        {
            "uri": _word(entry.get("uri"), clean),
            "mimeType": _word(entry.get("mimeType"), clean),
            "form": "text" if _is_text(entry) else "blob",
            "sha256": text_digest(clean(entry["text"]) if _is_text(entry) else entry["blob"]),
        }
        for entry in result["contents"]
    ]
    return {"count": len(entries), "contents": entries}


def _is_text(entry: dict[str, Any]) -> bool:
    return isinstance(entry.get("text"), str)


def _word(value: Any, clean: Clean) -> str | None:
    return str(clean(value)) if isinstance(value, str) else None


def _prompt_contents(result: dict[str, Any]) -> Contents:
    blocks = [message["content"] for message in result["messages"]]
    envelope = {name: result[name] for name in ("description", "messages") if name in result}
    texts = tuple(block["text"] for block in blocks if block["type"] == "text")
    return Contents(texts, envelope, len(blocks))


def _prompt_kept(result: dict[str, Any], clean: Clean) -> dict[str, Any]:
    description = result.get("description")
    messages = [
        {
            "role": clean(message["role"]),
            "type": clean(message["content"]["type"]),
            "sha256": _block_hash(message["content"], clean),
        }
        for message in result["messages"]
    ]
    return {
        "count": len(messages),
        "description": None if description is None else text_digest(clean(description)),
        "messages": messages,
    }


def _block_hash(block: dict[str, Any], clean: Clean) -> str:
    """Hash a content block, redacted; of an embedded blob, the base64 as it was received."""
    resource = block.get("resource")
    blob = resource.get("blob") if isinstance(resource, dict) else None
    return text_digest(blob) if isinstance(blob, str) else digest(clean(block))


#: Method -> how its result is read, once protocol.mcp.results has found no fault in it.
CONTENTS: Final[dict[str, Reading]] = {
    "tools/call": Reading(_tool_contents, _tool_kept),
    "resources/read": Reading(_resource_contents, _resource_kept),
    "prompts/get": Reading(_prompt_contents, _prompt_kept),
}
