"""The two alphabets of OAuth's texts (RFC 6749, appendix A): scope tokens, and printable ASCII."""

import re
from typing import Final

__all__ = ["PRINTABLE_PATTERN", "SCOPE_PATTERN", "are_scopes", "is_printable"]

# Without anchors, and read the same by Python and by JSON Schema.
#: VSCHAR with spaces: client ids and secrets, codes, refresh tokens.
PRINTABLE_PATTERN: Final = "[ -~]+"
#: One scope token (RFC 6749, section 3.3).
SCOPE_PATTERN: Final = r"[!#-\[\]-~]+"

_PRINTABLE: Final = re.compile(PRINTABLE_PATTERN)
_SCOPE: Final = re.compile(SCOPE_PATTERN)


def is_printable(text: str) -> bool:
    """Tell whether a text is one or more printable ASCII characters, spaces included."""
    return _PRINTABLE.fullmatch(text) is not None


def are_scopes(*texts: str) -> bool:
    """Tell whether each text is a scope token: printable ASCII without spaces, quotes and backslashes, not empty."""
    return all(_SCOPE.fullmatch(text) for text in texts)
