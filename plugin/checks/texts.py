"""Every string of a JSON value, also the JSON string literals that strings hold, for searches in whole replies."""

import re
from collections.abc import Iterable, Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed leaves it out
from typing import Any, Final

from protocol.values.document import Members
from protocol.values.encodings import LAYERS, strip_controls

__all__ = ["has_terminal_control", "search", "strings"]

_ESCAPE: Final = re.compile(r"\\.", re.DOTALL)
#: What stands between two quotes and holds an escape: only then does decoding change it. Escapes are masked before the
#: search, so that every quote left is one that is not escaped and no text makes the search more than linear.
_ESCAPED_SEGMENT: Final = re.compile(r'(?<=")[^"\\]*\\[^"]*(?=")')


def has_terminal_control(text: str) -> bool:
    """Tell whether a text holds a character of category Cc other than tab, line feed and carriage return."""
    return strip_controls(text) != text


def strings(value: Any) -> Iterator[str]:
    """Yield every string value and every member name of a JSON value, in document order."""
    pending = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            pending.extend(reversed(value))
        elif isinstance(value, dict | Members):
            pairs = value.pairs if isinstance(value, Members) else value.items()
            pending.extend(part for name, member in reversed(tuple(pairs)) for part in (member, name))


def search(value: Any, wanted: Iterable[str]) -> list[bool]:
    """Tell for each wanted text whether it occurs in a string or member name of the value.

    JSON string literals nested in strings are decoded too, up to four layers. Exact and case-sensitive. A wanted text
    holds no terminal control, so that NUL can part the strings that are searched.
    """
    layer = list(strings(value))
    haystacks = ["\0".join(layer)]
    for _ in range(LAYERS):
        layer = [decoded for text in layer if "\\" in text for decoded in _decoded(text)]
        if not layer:
            break
        haystacks.append("\0".join(layer))
    return [any(text in haystack for haystack in haystacks) for text in wanted]


def _decoded(text: str) -> Iterator[str]:
    masked = _ESCAPE.sub(r"\\\\", text)
    for segment in _ESCAPED_SEGMENT.finditer(masked):
        # A copy of the segment: the decoder's exception counts lines from the start of the text it is given.
        try:
            yield scanstring(text[segment.start() : segment.end()] + '"', 0, True)[0]
        except ValueError:
            continue
