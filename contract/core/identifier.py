"""Identifiers: the names that a registry gives, and the properties that it admits."""

import re
from typing import Any, Final

__all__ = ["IDENTIFIER_LIMIT", "is_identifier"]

#: Characters of an identifier: enough for a name that a person reads in a review, on one line.
IDENTIFIER_LIMIT: Final = 64

# No character of it has a meaning in JSON, in JSON Pointer, in a shell's word or in a file's path but the point.
_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_.-]+\Z")


def is_identifier(value: Any, limit: int = IDENTIFIER_LIMIT) -> bool:
    """Tell whether a value is a string of 1 to ``limit`` ASCII letters, digits, ``_``, ``.`` and ``-``."""
    return isinstance(value, str) and len(value) <= limit and _IDENTIFIER.match(value) is not None
