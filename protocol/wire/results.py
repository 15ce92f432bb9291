"""Encodes a step result within the limits of the wire, with nothing private in it."""

from typing import Any, Final

import msgspec

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
    shown, written = result, _Written(result)
    if not redactor.clear(written.whole):
        shown = _redacted(result, redactor)
        written = _Written(shown)
    large = written.too_large()
    return encode(_replacement(result, shown.message, large)) if large else written.whole


class _Written:
    """A result in JSON. What has a limit of its own is written once, and stands in the whole as it is."""

    def __init__(self, result: StepResult) -> None:
        self._parts = {"state": encode(result.state)}
        artifacts = []
        for artifact in result.artifacts:
            text, kept = artifact.written()
            self._parts[f"artifact {artifact.name}"] = text
            artifacts.append(kept)
        members = {name: getattr(result, name) for name in result.__struct_fields__}
        members |= {"state": msgspec.Raw(self._parts["state"]), "artifacts": artifacts}
        self.whole = encode(StepResult(**members))

    def too_large(self) -> str | None:
        """Name the first part that passes its limit."""
        for name, text in self._parts.items():
            if len(text) > ARTIFACT_LIMIT:
                return f"The {name} of the step passes {ARTIFACT_LIMIT} bytes."
        return f"The result of the step passes {RESULT_LIMIT} bytes." if len(self.whole) > RESULT_LIMIT else None


def _redacted(result: StepResult, redactor: Redactor) -> StepResult:
    members: dict[str, Any] = {name: redactor.redact(getattr(result, name)).value for name in _OPEN}
    artifacts = [entry.redacted(lambda value: redactor.redact(value).value) for entry in result.artifacts]
    return StepResult(status=result.status, code=result.code, effect=result.effect, artifacts=artifacts, **members)


def _replacement(result: StepResult, message: str, reason: str) -> StepResult:
    unknown = result.status == "unknown"
    return StepResult(
        status="unknown" if unknown else "failed",
        code=result.code if unknown else str(Code.EVIDENCE_TOO_LARGE),
        message=message if unknown else f"{reason} Ask for less in one step.",
        effect=result.effect,
        facts={name: result.facts[name] for name in ("connection",) if name in result.facts},
    )
