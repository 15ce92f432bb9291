"""Text that people see: everything that could act on a terminal, or hide in it, spelled out."""

import json
from typing import Final

__all__ = ["block", "legible", "line"]

#: Letters and marks without a shape of their own, which `str.isprintable` lets pass: fillers, joiners, variation
#: selectors. They hide text from people that programs read.
_SHAPELESS: Final = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
    | set(range(0x180B, 0x1810))
    | set(range(0xFE00, 0xFE10))
    | set(range(0xE0100, 0xE01F0))
)
_KNOWN: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def line(text: str) -> str:
    """Return a text as one line: every character that is not visible, line ends and tabs too, as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(character if _visible(character) else _escape(character) for character in text)


def block(text: str) -> str:
    """Return a text of several lines; only their ends and tabs stay as they are."""
    return "\n".join("\t".join(line(part) for part in row.split("\t")) for row in text.split("\n"))


def legible(document: str) -> str:
    """Return a JSON text whose strings show everything that is in them; line ends stand between its values only."""
    return "\n".join(map(_escaped, document.split("\n")))


def _escaped(row: str) -> str:
    if row.isascii() and row.isprintable():
        return row
    return "".join(character if _visible(character) else json.dumps(character)[1:-1] for character in row)


def _visible(character: str) -> bool:
    return character.isprintable() and ord(character) not in _SHAPELESS


def _escape(character: str) -> str:
    known = _KNOWN.get(character)
    if known:
        return known
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
