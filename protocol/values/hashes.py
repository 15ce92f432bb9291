"""SHA-256 of values and texts, as evidence keeps them in their stead. Redact first: a hash can confirm a guess."""

import hashlib
from typing import Any

from protocol.values.document import canonical

__all__ = ["digest", "text_digest"]


def digest(value: Any) -> str:
    """Return the SHA-256 of the value's canonical form, in 64 lowercase hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def text_digest(text: str) -> str:
    """Return the SHA-256 of the text in UTF-8, in 64 lowercase hexadecimal digits. Raises UnicodeEncodeError."""
    return hashlib.sha256(text.encode()).hexdigest()
