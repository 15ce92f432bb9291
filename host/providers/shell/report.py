"""Makes a step's outcome of how a command ended: exit status, and output that is redacted, hashed and cut."""

from typing import Any, Final

from host.providers.outcome import Outcome
from host.providers.shell.execution import Captured, Ended
from protocol.failures import Code
from protocol.values.hashes import text_digest
from protocol.values.redaction import Redactor

__all__ = ["TEXT_LIMIT", "report"]

#: Characters of each stream that are kept: its beginning and its end, where commands say what went wrong.
TEXT_LIMIT: Final = 16_384
#: Characters at the end of a stream that was cut that are not shown: a private value may have been cut in two there,
#: and half of one is not recognised. Room for the longest value, each character of it escaped as `\u0041`.
UNSURE_LIMIT: Final = 128 * 1024
#: Characters of the last line on stderr that a message quotes.
QUOTED_LIMIT: Final = 200
_CUT: Final = {
    "timeout": (Code.TIMEOUT, "did not end in time (the binding's `timeoutMs`)"),
    "cancelled": (Code.CANCELLED, "was cancelled"),
}


def report(ended: Ended, redactor: Redactor) -> Outcome:
    """Return the outcome: exit status 0 succeeded, another failed; a command that was cut short is unknown."""
    streams = {"stdout": ended.stdout, "stderr": ended.stderr}
    texts = {name: _text(stream, redactor) for name, stream in streams.items()}
    output = {name: _record(streams[name], *texts[name]) for name in streams}
    facts: dict[str, Any] = {"bytes": {name: stream.size for name, stream in streams.items()}}
    if ended.cut is not None:
        code, told = _CUT[ended.cut]
        message = f"The command {told}; it was ended with all that it had started. What it did before is not known."
        return Outcome(message, "unknown", code, {"kind": "unknown", "code": str(code)}, facts | {"output": output})
    state: dict[str, Any] = {"kind": "exited", "exit": ended.status, "signal": ended.signal, **output}
    if ended.status == 0:
        return Outcome("The command exited with status 0.", state=state, facts=facts)
    how = f"was ended by {ended.signal}" if ended.signal else f"exited with status {ended.status}"
    last = _last_line(texts["stderr"][0])
    message = f"The command {how}: {last}" if last else f"The command {how}."
    return Outcome(message, "failed", Code.EXPECTATION_FAILED, state, facts)


def _text(stream: Captured, redactor: Redactor) -> tuple[str, bool]:
    redacted = redactor.text(stream.data.decode("utf-8", "replace"))
    whole = stream.size == len(stream.data)
    return redacted.value if whole else redacted.value[:-UNSURE_LIMIT], redacted.changed


def _record(stream: Captured, text: str, redacted: bool) -> dict[str, Any]:
    whole = stream.size == len(stream.data)
    return {
        "text": _shortened(text),
        "truncated": len(text) > TEXT_LIMIT or not whole,
        "redacted": redacted,
        "sha256": text_digest(text) if whole else None,
    }


def _shortened(text: str) -> str:
    if len(text) <= TEXT_LIMIT:
        return text
    left_out = f"\n[… {len(text) - TEXT_LIMIT} characters or more are left out here …]\n"
    half = (TEXT_LIMIT - len(left_out)) // 2
    return text[:half] + left_out + text[-half:]


def _last_line(text: str) -> str:
    lines = text.strip().rsplit("\n", 1)
    return lines[-1].strip()[:QUOTED_LIMIT]
