"""Selects the one public scalar that `call_value` captures."""

import re
from typing import Any, Final, NamedTuple

import msgspec

from plugin.checks.observation import Observation
from protocol.values.document import JsonError, parse
from protocol.values.pointer import MISSING, resolve
from protocol.values.redaction import Redactor

__all__ = ["CAPTURE_LIMIT", "Selection", "select"]

#: Bytes of a capture in UTF-8 (seed).
CAPTURE_LIMIT: Final = 4 * 1024

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Selection(NamedTuple):
    """The captured string, or the fixed reason why there is none; exactly one of the two is None."""

    capture: str | None
    reason: str | None


def select(observation: Observation, tokens: tuple[str, ...], redactor: Redactor) -> Selection:
    """Capture from structured content, else from all text blocks joined by line feeds and read as JSON.

    Numbers keep their spelling. Refused are nulls, containers, more than 4 KiB, control characters and private values.
    """
    source = observation.structured
    if source is MISSING:
        try:
            document = parse("\n".join(observation.blocks))
        except JsonError:
            return Selection(None, "not-json")
        if document.repeated:
            return Selection(None, "repeated-member")
        source = document.value
    value = resolve(source, tokens)
    if value is MISSING:
        return Selection(None, "missing")
    text = _spelling(value)
    if text is None:
        return Selection(None, "not-a-scalar")
    return _admit(value, text, redactor)


def _spelling(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, msgspec.Raw):
        return bytes(value).decode("ascii")
    return value if isinstance(value, str) else None


def _admit(value: Any, text: str, redactor: Redactor) -> Selection:
    if len(text.encode()) > CAPTURE_LIMIT:
        return Selection(None, "too-long")
    if _CONTROL.search(text):
        return Selection(None, "control-character")
    if redactor.holds(value):
        return Selection(None, "private-value")
    return Selection(text, None)
