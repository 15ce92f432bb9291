"""Encodes a step result within the limits of the wire, with nothing private in it."""

from typing import Any, Final

from protocol.failures import Code
from protocol.values.document import encode
from protocol.values.redaction import Redactor
from protocol.wire.steps import ARTIFACT_LIMIT, RESULT_LIMIT, StepResult

__all__ = ["bounded"]

#: Members of a result that hold more than the plugin's own fixed words.
_OPEN: Final = ("message", "state", "facts", "capture", "display")


def bounded(result: StepResult, redactor: Redactor) -> bytes:
    """Return the result in JSON.

    Handlers redact what they hash, cut or compare; whatever else is private is taken out here, where everything passes.
    A state or artifact over 7 MiB, or a result over 31 MiB, becomes a result with the code `evidence_too_large`.
    """
    shown, encoded = result, encode(result)
    if not redactor.clear(encoded):
        shown = _redacted(result, redactor)
        encoded = encode(shown)
    large = _too_large(shown, len(encoded))
    return encode(_replacement(result, shown.message, large)) if large else encoded


def _redacted(result: StepResult, redactor: Redactor) -> StepResult:
    members: dict[str, Any] = {name: redactor.redact(getattr(result, name)).value for name in _OPEN}
    artifacts = [entry.redacted(lambda value: redactor.redact(value).value) for entry in result.artifacts]
    return StepResult(status=result.status, code=result.code, effect=result.effect, artifacts=artifacts, **members)


def _too_large(result: StepResult, size: int) -> str | None:
    """Name the first part that passes its limit. A small whole spares encoding the parts once more."""
    if size <= ARTIFACT_LIMIT:
        return None
    if len(encode(result.state)) > ARTIFACT_LIMIT:
        return f"The state of the step passes {ARTIFACT_LIMIT} bytes."
    for artifact in result.artifacts:
        if artifact.size > ARTIFACT_LIMIT:
            return f"The artifact {artifact.name} passes {ARTIFACT_LIMIT} bytes."
    return f"The result of the step passes {RESULT_LIMIT} bytes." if size > RESULT_LIMIT else None


def _replacement(result: StepResult, message: str, reason: str) -> StepResult:
    unknown = result.status == "unknown"
    return StepResult(
        status="unknown" if unknown else "failed",
        code=result.code if unknown else str(Code.EVIDENCE_TOO_LARGE),
        message=message if unknown else f"{reason} Ask for less in one step.",
        effect=result.effect,
        facts={name: result.facts[name] for name in ("connection",) if name in result.facts},
    )
