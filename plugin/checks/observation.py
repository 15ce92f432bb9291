"""What came back from one tool call, in the form that expectations look at: kept parts redacted, targets untouched."""

from typing import Any, Final, NamedTuple

from protocol.mcp.replies import Outcome
from protocol.values.document import JsonError, encode, integer, parse
from protocol.values.hashes import digest
from protocol.values.pointer import MISSING
from protocol.values.redaction import Redactor

__all__ = ["TEXT_LIMIT", "Observation", "observe", "only_block", "state_of"]

#: Characters of a reply's text that its state keeps (seed).
TEXT_LIMIT: Final = 16_384


class Observation(NamedTuple):
    """An answer of the server to a call.

    ``kind`` is ``result``, ``rpc-error`` or ``unavailable`` (``reason`` then says why). ``whole`` is the redacted
    result or error, ``text`` its redacted text uncut. ``blocks`` and ``structured`` (MISSING when there is none) are as
    the server sent them: they are looked into and never kept.
    """

    kind: str
    whole: Any = None
    redacted: bool = False
    text: str = ""
    is_error: bool = False
    content_types: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    structured: Any = MISSING
    structured_hash: str | None = None
    code: int | None = None
    reason: str | None = None


def observe(outcome: Outcome, redactor: Redactor) -> Observation:
    """Look at a ``result``, ``rpc-error`` or ``unavailable`` outcome of `tools/call`."""
    if outcome.kind == "unavailable":
        return Observation("unavailable", reason=str(outcome.value))
    value = outcome.value
    clear = redactor.clear(outcome.raw)
    whole, redacted = (value, False) if clear else redactor.redact(value)
    if outcome.kind == "rpc-error":
        text = redactor.text(value["message"]).value
        return Observation("rpc-error", whole, redacted, text, code=integer(value["code"]))
    types, blocks, structured = _parts(value)
    return Observation(
        "result",
        whole,
        redacted,
        text="\n".join(blocks if clear else redactor.redact(list(blocks)).value),
        is_error=value.get("isError") is True,
        content_types=tuple(types if clear else redactor.redact(types).value),
        blocks=blocks,
        structured=structured,
        structured_hash=None if structured is MISSING else digest(redactor.redact(structured).value),
    )


def _parts(result: dict[str, Any]) -> tuple[list[str], tuple[str, ...], Any]:
    """Return content types, text blocks and structured content; those of 2024-10-07 stand in one member."""
    if "content" not in result:
        value = result["toolResult"]
        if isinstance(value, str):
            return ["toolResult"], (value,), MISSING
        return ["toolResult"], (encode(value).decode(),), value
    content = result["content"]
    structured = result.get("structuredContent")
    texts = tuple(block["text"] for block in content if block["type"] == "text")
    # Servers write null for content that is not there.
    return [block["type"] for block in content], texts, MISSING if structured is None else structured


def only_block(observation: Observation) -> Any:
    """Return what `json` assertions look at: structured content, else the only text block as JSON, else MISSING."""
    if observation.structured is not MISSING:
        return observation.structured
    if len(observation.blocks) != 1:
        return MISSING
    try:
        document = parse(observation.blocks[0])
    except JsonError:
        return MISSING
    return MISSING if document.repeated else document.value


def state_of(observation: Observation) -> dict[str, Any]:
    """Return what the state keeps of an answer; expectations add to it."""
    if observation.kind == "unavailable":
        return {"kind": "unavailable", "reason": observation.reason}
    kept = {"text": observation.text[:TEXT_LIMIT], "truncated": len(observation.text) > TEXT_LIMIT}
    if observation.kind == "rpc-error":
        return {
            "kind": "rpc-error",
            "code": observation.code,
            "message": kept["text"],
            "truncated": kept["truncated"],
            "redacted": observation.redacted,
        }
    return {
        "kind": "result",
        "isError": observation.is_error,
        "contentTypes": list(observation.content_types),
        **kept,
        "structuredContent": observation.structured_hash,
        "redacted": observation.redacted,
    }
