"""JSON Pointer, strictly as RFC 6901 has it."""

import re
from collections.abc import Iterable
from enum import Enum
from typing import Any, Final

from protocol.values.document import Members

__all__ = ["MISSING", "Missing", "PointerError", "escape", "format_pointer", "parse_pointer", "resolve"]

_INDEX: Final = re.compile(r"(?:0|[1-9][0-9]{0,17})\Z")
_BAD_ESCAPE: Final = re.compile(r"~(?![01])")


class Missing(Enum):
    """The type of MISSING, so that a checker can tell it from any value."""

    MISSING = "missing"


#: What a pointer resolves to when nothing is there; a present null is None.
MISSING: Final = Missing.MISSING


class PointerError(ValueError):
    """The text is not a JSON Pointer. ``reason`` quotes nothing of it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse_pointer(text: str) -> tuple[str, ...]:
    """Split a pointer into decoded reference tokens; the empty pointer is the root (RFC 6901, sections 3 and 4).

    Raises PointerError when it is neither empty nor begins with ``/``, or when ``~`` is not part of ``~0`` or ``~1``.
    """
    if not text:
        return ()
    if not text.startswith("/"):
        raise PointerError("a JSON Pointer is empty or begins with `/`")
    if _BAD_ESCAPE.search(text):
        raise PointerError("in a JSON Pointer `~` is written `~0` and `/` inside a name `~1`")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in text[1:].split("/"))


def format_pointer(tokens: Iterable[str]) -> str:
    """Write reference tokens as a pointer (RFC 6901, section 3)."""
    return "".join("/" + escape(token) for token in tokens)


def escape(token: str) -> str:
    """Write one reference token as it stands in a pointer (RFC 6901, section 3)."""
    return token.replace("~", "~0").replace("/", "~1") if "~" in token or "/" in token else token


def resolve(value: Any, tokens: Iterable[str]) -> Any:
    """Return the value that the tokens lead to, or MISSING (RFC 6901, section 4).

    An array index is ``0`` or digits without a leading zero; ``-`` names no element. Nothing is inside a scalar.
    A name that a :class:`Members` holds twice leads nowhere.
    """
    for token in tokens:
        value = _step(value, token)
        if value is MISSING:
            return MISSING
    return value


def _step(value: Any, token: str) -> Any:
    if isinstance(value, dict):
        return value.get(token, MISSING)
    if isinstance(value, list):
        index = int(token) if _INDEX.match(token) else len(value)
        return value[index] if index < len(value) else MISSING
    if isinstance(value, Members):
        found = [member for name, member in value.pairs if name == token]
        return found[0] if len(found) == 1 else MISSING
    return MISSING
