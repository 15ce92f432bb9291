"""What came back from one request, in the form that expectations look at: kept parts redacted, targets untouched."""

from typing import Any, Final, NamedTuple

from plugin.checks.contents import CONTENTS
from protocol.mcp.replies import Outcome
from protocol.values.document import JsonError, integer, parse
from protocol.values.pointer import MISSING
from protocol.values.redaction import Redactor

__all__ = ["TEXT_LIMIT", "Observation", "observe", "only_block", "state_of"]

#: Characters of a reply's text that its state keeps (seed).
TEXT_LIMIT: Final = 16_384


class Observation(NamedTuple):
    """An answer of the server to `tools/call`, `resources/read` or `prompts/get`.

    ``kind`` is ``result``, ``rpc-error`` or ``unavailable`` (``reason`` then says why). ``whole`` is the redacted
    result or error, ``text`` its redacted text uncut, ``kept`` the method's own part of the state.
    ``blocks`` and ``structured`` (MISSING when there is none) are as the server sent them: they are looked into and
    never kept.
    """

    kind: str
    whole: Any = None
    redacted: bool = False
    text: str = ""
    is_error: bool = False
    blocks: tuple[str, ...] = ()
    structured: Any = MISSING
    length: int | None = None
    kept: dict[str, Any] | None = None
    code: int | None = None
    reason: str | None = None


def observe(outcome: Outcome, redactor: Redactor, method: str = "tools/call") -> Observation:
    """Look at a ``result``, ``rpc-error`` or ``unavailable`` outcome of ``method``."""
    if outcome.kind == "unavailable":
        return Observation("unavailable", reason=str(outcome.value))
    value = outcome.value
    clear = redactor.clear(outcome.raw)
    whole, redacted = (value, False) if clear else redactor.redact(value)
    if outcome.kind == "rpc-error":
        text = redactor.text(value["message"]).value
        return Observation("rpc-error", whole, redacted, text, code=integer(value["code"]))
    reading = CONTENTS[method]
    texts, structured, length = reading.contents(value)

    def clean(part: Any) -> Any:
        return part if clear else redactor.redact(part).value

    return Observation(
        "result",
        whole,
        redacted,
        text="\n".join(clean(list(texts))),
        is_error=value.get("isError") is True,
        blocks=texts,
        structured=structured,
        length=length,
        kept=reading.kept(value, clean),
    )


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
    text, truncated = observation.text[:TEXT_LIMIT], len(observation.text) > TEXT_LIMIT
    if observation.kind == "rpc-error":
        own: dict[str, Any] = {"code": observation.code, "message": text}
    else:
        own = {**(observation.kept or {}), "text": text}
    return {"kind": observation.kind, **own, "truncated": truncated, "redacted": observation.redacted}
