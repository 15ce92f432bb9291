"""Private values in every form that is looked for, and what it takes to prove that a text holds none of them."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from protocol.values.encodings import LAYERS, View, base64_forms, strip_controls, views
from protocol.values.numbers import decimal
from protocol.values.searching import Form, Searcher, Span, union

__all__ = ["MARKER", "Learnt", "Patterns", "is_encodable"]

#: What stands where a private value stood.
MARKER: Final = "[redacted]"
#: Values of fewer characters are private as whole strings only: as parts of others they would shred every reply.
WHOLE_LENGTH: Final = 4
#: Values of fewer bytes are not looked for in percent-encoding and base64, where chance would find them.
ENCODED_LENGTH: Final = 8

# Escapes that some servers write by habit: they hide nothing unless a value holds the character.
_HABITUAL: Final = "\"&'+<>`"
_PERCENT: Final = re.compile(rb"%[0-9a-fA-F]{2}")


class Patterns:
    """The forms of a set of private values. Immutable; a larger set is a new object.

    Values are compared without terminal controls, as the texts are; empty ones are ignored.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        known = dict.fromkeys(strip_controls(value) for value in values)
        self.values = tuple(sorted(filter(None, known), key=len, reverse=True))
        self.short = frozenset(value for value in self.values if len(value) < WHOLE_LENGTH)
        long = [value for value in self.values if value not in self.short]
        self.numbers = frozenset(number for value in long if (number := decimal(_bytes(value))))
        plain = [_bytes(value) for value in long]
        encoded = [_bytes(value) for value in long if is_encodable(value)]
        base64 = [Form(*form) for value in encoded for form in base64_forms(value)]
        literals = [Form(b'"%b"' % _bytes(value), -1, -1) for value in self.short]
        self._direct = Searcher([*map(Form, plain), *base64, *literals])
        self._percent = Searcher(
            form._replace(text=form.text.replace(b"+", b" ")) for form in [*map(Form, encoded), *base64]
        )
        self._spaced = any(b" " in value or b"+" in value for value in encoded)
        self._note_characters("".join([*self.values, *(form.text.decode() for form in base64)]))

    def _note_characters(self, characters: str) -> None:
        alphabet = set(characters)
        self._quoted = not alphabet.isdisjoint('"\\\t\n\r')
        self._slashed = "/" in alphabet
        self._wide = not characters.isascii()
        blind = {"+"} if " " in alphabet else set()
        if self.short:
            blind.add('"')
        harmless = [f"{ord(character):02x}" for character in _HABITUAL if character not in alphabet | blind]
        # Latin letters cannot be part of an ASCII value; the range before them holds controls.
        self._telling = re.compile(rf"\\u00(?!{'|'.join([*harmless, '[a-f][0-9a-f]'])})".encode(), re.IGNORECASE)

    def hides(self, text: bytes) -> bool:
        """Tell whether escapes in the text might spell or split a private value, so that its own bytes do not show it.

        False is certain, for the text and for every layer of JSON strings in it; it also says that no terminal
        control is escaped in it. True is not certain.
        """
        if b"\\" not in text:
            return False
        if self._quoted or b"\\b" in text or b"\\f" in text or (self.short and b'\\"' in text):
            return True
        if self._slashed and b"\\/" in text:
            return True
        if b"\\u" not in text:
            return False
        return self._wide or (b"\\u00" in text and self._telling.search(text) is not None)

    def touches(self, text: bytes) -> bool:
        """Tell, fast, whether the bytes themselves or their percent-decoding may hold a value; False is certain."""
        if self._direct.touches(text):
            return True
        return self._percent_matters(text) and self._percent.touches(View(text).unpercented().text)

    def finds(self, text: bytes, layers: int = LAYERS) -> bool:
        """Tell whether the text holds a value in any form, in up to so many ``layers`` of JSON strings."""
        return any(searcher.finds(view.text) for view, searcher in self._views(text, layers))

    def spans(self, text: bytes, layers: int = LAYERS) -> list[Span]:
        """Return where the text holds values in any form: ordered spans, whole escape sequences, overlaps united."""
        return union(
            [
                view.origin(start, end)
                for view, searcher in self._views(text, layers)
                for start, end in searcher.spans(view.text)
            ]
        )

    def redact(self, text: bytes) -> bytes:
        """Return the text with MARKER in place of every span; the very same object when there is none."""
        spans = self.spans(text)
        if not spans:
            return text
        marker, pieces, place = MARKER.encode(), [], 0
        for start, end in spans:
            pieces += [text[place:start], marker]
            place = end
        return b"".join([*pieces, text[place:]])

    def _views(self, text: bytes, layers: int) -> Iterator[tuple[View, Searcher]]:
        if not self._direct:
            return
        for view in views(text, layers if self.hides(text) else 0):
            yield view, self._direct
            if self._percent_matters(view.text):
                yield view.unpercented(), self._percent

    def _percent_matters(self, text: bytes) -> bool:
        if not self._percent:
            return False
        return (self._spaced and b"+" in text) or (b"%" in text and _PERCENT.search(text) is not None)


class Learnt:
    """Private values that grow while they are in use, and their patterns. Safe to use from several threads."""

    def __init__(self) -> None:
        # Appending to a list is atomic, and its length tells whether the patterns are of its present state.
        self._values: list[str] = []
        self._current = (0, Patterns())

    def add(self, *values: str) -> None:
        """Learn values; known and empty ones change nothing. The next search is a few milliseconds slower."""
        for value in values:
            if value and value not in self._values:
                self._values.append(value)

    @property
    def patterns(self) -> Patterns:
        """The patterns of everything that was added before."""
        count, patterns = self._current
        if count != len(self._values):
            values = tuple(self._values)
            patterns = Patterns(values)
            self._current = len(values), patterns
        return patterns


def is_encodable(value: str) -> bool:
    """Tell whether a value is long enough to be looked for in percent-encoding and base64."""
    return len(_bytes(value)) >= ENCODED_LENGTH


def _bytes(value: str) -> bytes:
    # A value from the environment may hold what was no UTF-8; it must not stop the others from being found.
    return value.encode("utf-8", "surrogatepass")
