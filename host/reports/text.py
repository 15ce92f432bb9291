"""Foreign text made safe to show: what would hide, reorder or drive is spelled out, and what XML forbids is dropped."""

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["defused", "duration", "line", "plural", "shortened", "spans", "visible"]

# Every control character but tab and newline, lone surrogates, line and paragraph separators, the soft hyphen, the
# format characters that reorder text or show nothing, and letters and marks without a shape (Unicode 16). Scripts and
# emoji need the joiners U+200C and U+200D and the selectors U+FE0E and U+FE0F: they stay, unlike on a terminal.
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e01ef]"
)
# What no XML 1.0 document may hold, not even as a reference (XML 1.0, production 2).
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# GitLab and a Jenkins plugin take this in a report's text for the order to publish a file of the build machine.
_ATTACHMENT: Final = re.compile(r"\[\[(?=\s*ATTACHMENT\b)", re.IGNORECASE)


def visible(text: str) -> str:
    """Spell each character that hides, reorders or drives as JSON escapes it (U+202E is then six plain characters).

    Tabs and newlines stay, CR LF becomes LF. JSON text stays JSON text of the same value. Linear.
    """
    return _HIDDEN.sub(_escape, text.replace("\r\n", "\n"))


def _escape(match: re.Match[str]) -> str:
    point = ord(match[0])
    if point <= 0xFFFF:
        return f"\\u{point:04x}"
    high, low = divmod(point - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def line(text: str, limit: int = 1000) -> str:
    """The same on one line: runs of white space become one space, and past ``limit`` characters it is cut."""
    return shortened(" ".join(visible(text).split()), limit)


def shortened(text: str, limit: int) -> str:
    """Keep at most ``limit`` characters and say how many are missing."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text) - limit} more characters)"


def defused(text: str) -> str:
    """Return a text for a JUnit file: legal in XML 1.0, visible, and without orders to attach files."""
    return _ATTACHMENT.sub("[ [", visible(_NOT_XML.sub("", text)))


def spans(text: str) -> Iterator[tuple[str, bool]]:
    """Split a sentence of ours at its backticks: each part, and whether it stood between two (and is code)."""
    parts = text.split("`")
    unclosed = len(parts) % 2 == 0
    if unclosed:
        parts[-2:] = [f"{parts[-2]}`{parts[-1]}"]
    return ((part, at % 2 == 1) for at, part in enumerate(parts) if part)


def duration(milliseconds: float) -> str:
    """Spell a duration as people read it: `8 ms`, `1.2 s`, `3 min 20 s`."""
    if milliseconds < 999.5:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 59_950:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes} min {seconds} s"


def plural(count: int, noun: str) -> str:
    """`1 step`, `2 steps`: for nouns with a plain plural."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
