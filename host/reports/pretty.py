"""JSON laid out for reading, every number as it is spelled, and cut at a limit however large the value is."""

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from host.reports.text import shortened, visible
from protocol.values.document import Members, encode

__all__ = ["Excerpt", "compact", "pretty"]

#: Characters of a container of scalars that may stand on one line.
_WIDTH: Final = 88
#: Characters of one scalar. A text of a mebibyte on one line helps nobody; the evidence has it whole.
_SCALAR_LIMIT: Final = 20_000


class Excerpt(NamedTuple):
    """A laid out text. ``whole`` is False when lines past the limit, or the end of a long string, were left out."""

    text: str
    whole: bool

    @property
    def lines(self) -> int:
        """How many lines the text has."""
        return self.text.count("\n") + 1


def pretty(value: Any, limit: int) -> Excerpt:
    """Lay out a JSON value, indented by two, in at most ``limit`` characters (whole lines).

    Numbers (``msgspec.Raw``) keep their spelling; characters that hide or reorder are written as JSON escapes. A value
    within the limit gives JSON text again. Raises TypeError for what is no JSON value.
    """
    kept: list[str] = []
    room = limit
    whole = True
    for text, complete in _lines(value, "", "", ""):
        room -= len(text) + 1
        if room < 0:
            return Excerpt("\n".join(kept), whole=False)
        kept.append(text)
        whole = whole and complete
    return Excerpt("\n".join(kept), whole)


def compact(value: Any, limit: int = 200) -> str:
    """Write a JSON value on one line; a string as it is, without quotes. Past ``limit`` characters it is cut."""
    if isinstance(value, str):
        return shortened(visible(value), limit)
    return shortened(visible(encode(value).decode()), limit)


def _lines(value: Any, indent: str, lead: str, end: str) -> Iterator[tuple[str, bool]]:
    """Yield each line with whether it is complete. ``lead`` is the member name before the value, ``end`` its comma."""
    opened, closed, items = _items(value)
    if not opened:
        text, complete = _scalar(value)
        yield f"{indent}{lead}{text}{end}", complete
        return
    short = _short(items) if opened == "[" or not items else None
    if short is not None:
        yield f"{indent}{lead}{opened}{short}{closed}{end}", True
        return
    yield f"{indent}{lead}{opened}", True
    last = len(items) - 1
    for at, (name, item) in enumerate(items):
        yield from _lines(item, f"{indent}  ", f"{_scalar(name)[0]}: " if opened == "{" else "", "," * (at != last))
    yield f"{indent}{closed}{end}", True


def _items(value: Any) -> tuple[str, str, list[tuple[str, Any]]]:
    """Open a container: its brackets, and its members or elements. A scalar has no brackets."""
    if isinstance(value, dict):
        return "{", "}", list(value.items())
    if isinstance(value, Members):
        return "{", "}", list(value.pairs)
    if isinstance(value, list | tuple):
        return "[", "]", [("", item) for item in value]
    return "", "", []


def _short(items: Iterable[tuple[str, Any]]) -> str | None:
    """An array of scalars, or an empty container, on one line; None if it holds more or is too long."""
    parts: list[str] = []
    room = _WIDTH
    for _, item in items:
        if _items(item)[0] or (isinstance(item, str) and len(item) > room):
            return None
        parts.append(_scalar(item)[0])
        room -= len(parts[-1]) + 2
        if room < 0:
            return None
    return ", ".join(parts)


def _scalar(value: Any) -> tuple[str, bool]:
    if isinstance(value, str) and len(value) > _SCALAR_LIMIT:
        return visible(encode(value[:_SCALAR_LIMIT]).decode()[:-1]) + "…", False
    return visible(encode(value).decode()), True
