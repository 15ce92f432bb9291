"""What a text says once it is decoded: JSON escapes in layers, percent-encoding, base64; each with a way back."""

import re
from array import array
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from itertools import product
from string import hexdigits
from typing import Final, NamedTuple

__all__ = [
    "LAYERS",
    "View",
    "base64_forms",
    "drop_controls",
    "shows_controls",
    "strip_controls",
    "unescape",
    "unpercent",
    "views",
]

#: Layers of JSON string literals inside strings that are looked into.
LAYERS: Final = 4

# Category Cc but for tab, line feed and carriage return: what a terminal might obey.
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_CONTROL_BYTES: Final = bytes(code for code in (*range(32), 127) if code not in b"\t\n\r")
_C1_CONTROL: Final = re.compile(b"\xc2[\x80-\x9f]")

_UNICODE: Final = rb"\\u(?:[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|[0-9a-fA-F]{4})"
_UNICODE_ESCAPE: Final = re.compile(_UNICODE)
_ESCAPE: Final = re.compile(_UNICODE + rb'|\\["\\/bfnrt]')
_SHORT_ESCAPES: Final = {
    b'\\"': b'"',
    b"\\\\": b"\\",
    b"\\/": b"/",
    b"\\b": b"",
    b"\\f": b"",
    b"\\n": b"\n",
    b"\\r": b"\r",
    b"\\t": b"\t",
}
# Stands for an escaped backslash while the other escapes are decoded; texts hold no such control.
_BACKSLASH: Final = b"\x01"

_PERCENT: Final = re.compile(rb"%[0-9a-fA-F]{2}")

_WEB_SAFE: Final = bytes.maketrans(b"+/", b"-_")


def drop_controls(text: bytes) -> bytes:
    """Return UTF-8 text without its terminal controls: category Cc but for tab, line feed and carriage return."""
    return _C1_CONTROL.sub(b"", text.translate(None, _CONTROL_BYTES))


def shows_controls(raw: bytes) -> bool:
    """Tell whether strict JSON text holds a terminal control that is not escaped: it lets DEL and C1 stand so."""
    return b"\x7f" in raw or (b"\xc2" in raw and _C1_CONTROL.search(raw) is not None)


def strip_controls(text: str) -> str:
    """Return the text without its terminal controls."""
    return _CONTROL.sub("", text)


def unescape(text: bytes) -> bytes:
    """Decode every JSON escape in the text once, wherever it stands, so that no counting of quotes can be led astray.

    Escaped terminal controls are dropped: they could split a value. What is no escape (RFC 8259, section 7) stays as
    it is, and so does half a surrogate pair. The text may hold NUL but no other terminal control.

    The result equals a scan from left to right; it is made of whole passes, each of which is linear and fast.
    """
    if b"\\" not in text:
        return text
    text = text.replace(b"\\\\", _BACKSLASH)
    if b"\\u" in text:
        text = _UNICODE_ESCAPE.sub(_sheltered, text)
    for escape, character in _SHORT_ESCAPES.items():
        text = text.replace(escape, character)
    return text.replace(_BACKSLASH, b"\\")


def _sheltered(match: re.Match[bytes]) -> bytes:
    character = _character(match[0])
    return _BACKSLASH if character == b"\\" else character


@lru_cache(maxsize=4096)
def _character(escape: bytes) -> bytes:
    if escape in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[escape]
    code = int(escape[2:6], 16)
    if len(escape) == 12:
        code = 0x10000 + ((code - 0xD800) << 10) + int(escape[8:], 16) - 0xDC00
    if 0xD800 <= code <= 0xDFFF:
        return escape
    return strip_controls(chr(code)).encode()


def unpercent(text: bytes) -> bytes:
    """Decode percent-encoding once (RFC 3986, section 2.1), and ``+`` as a space (as HTML forms write it).

    A literal plus sign becomes a space as well: compare with values in which it does too. Controls are dropped.
    """
    return _PERCENT.sub(lambda match: _OCTETS[match[0]], text).replace(b"+", b" ")


def _octet(digits: str) -> bytes:
    octet = bytes.fromhex(digits)
    return b"" if octet in _CONTROL_BYTES else octet


_OCTETS: Final = {f"%{digits}".encode(): _octet(digits) for digits in map("".join, product(hexdigits, repeat=2))}


class _Coding(NamedTuple):
    """How a view was decoded: what is replaced in its source, by what."""

    sequence: re.Pattern[bytes]
    decode: Callable[[bytes], bytes]


_JSON: Final = _Coding(_ESCAPE, _character)
_URL: Final = _Coding(_PERCENT, _OCTETS.__getitem__)


class _Edits(NamedTuple):
    """The replacements that made a view, in order: where each one stands in the view and stood in its source."""

    starts: "array[int]"
    ends: "array[int]"
    source_starts: "array[int]"
    source_ends: "array[int]"


class View:
    """A decoded form of a text, in bytes, that can tell where each of its spans came from."""

    def __init__(self, text: bytes, source: "View | None" = None, coding: _Coding | None = None) -> None:
        self.text = text
        self._source = source
        self._coding = coding

    def unescaped(self) -> "View":
        return View(unescape(self.text), self, _JSON)

    def unpercented(self) -> "View":
        return View(unpercent(self.text), self, _URL)

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """Map a span (not empty) to the first text, widened to whole escape sequences."""
        if self._source is None:
            return start, end
        return self._source.origin(self._before(start)[0], self._before(end - 1)[1])

    def _before(self, position: int) -> tuple[int, int]:
        """Return the span in the source that became the byte at ``position``."""
        edits = self._edits
        index = bisect_right(edits.starts, position) - 1
        if index < 0:
            return position, position + 1
        if position < edits.ends[index]:
            return edits.source_starts[index], edits.source_ends[index]
        place = edits.source_ends[index] + position - edits.ends[index]
        return place, place + 1

    @cached_property
    def _edits(self) -> _Edits:
        # Made on the first hit only: decoding without the way back is many times faster.
        assert self._source is not None
        assert self._coding is not None
        edits = _Edits(array("Q"), array("Q"), array("Q"), array("Q"))
        shift = 0
        for match in self._coding.sequence.finditer(self._source.text):
            start, end = match.span()
            size = len(self._coding.decode(match[0]))
            edits.starts.append(start + shift)
            edits.ends.append(start + shift + size)
            edits.source_starts.append(start)
            edits.source_ends.append(end)
            shift += size - (end - start)
        return edits


def views(text: bytes, layers: int = LAYERS) -> Iterator[View]:
    """Yield the text itself, then what it says with its JSON escapes decoded once, twice, up to ``layers`` times.

    Stops as soon as decoding changes nothing. Linear in the text for each layer.
    """
    view = View(text)
    yield view
    for _ in range(layers):
        inner = view.unescaped()
        if inner.text == view.text:
            return
        view = inner
        yield view


def base64_forms(value: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield what base64 (RFC 4648, sections 4 and 5) makes of a value that stands anywhere in longer data.

    For each alphabet and each of the three alignments: the characters that the value alone decides, and how many
    more characters (0 or 1) before and after them hold some of its bits.
    """
    for offset in range(3):
        first_bit, last_bit = 8 * offset, 8 * (offset + len(value))
        first, last = -(-first_bit // 6), last_bit // 6
        form = b64encode(bytes(offset) + value)[first:last]
        before, after = int(first_bit % 6 > 0), int(last_bit % 6 > 0)
        yield form, before, after
        web_safe = form.translate(_WEB_SAFE)
        if web_safe != form:
            yield web_safe, before, after
