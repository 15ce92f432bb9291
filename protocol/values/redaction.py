"""Takes private values and terminal controls out of values before they are encoded, hashed, shown or kept."""

from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

import msgspec

from protocol.values.document import Members, encode
from protocol.values.encodings import drop_controls, shows_controls, strip_controls
from protocol.values.numbers import decimal
from protocol.values.patterns import MARKER, Learnt, Patterns

__all__ = ["Redacted", "Redactor"]

_CONSTANTS: Final = {True: b"true", False: b"false", None: b"null"}
# Stands between texts that are searched as one. It is a terminal control, so neither texts nor values hold it.
_SEPARATOR: Final = b"\0"


class Redacted(NamedTuple):
    """A redacted value or text; ``changed`` tells whether anything was stripped or replaced."""

    value: Any
    changed: bool


class Redactor:
    """Knows the private values of one plugin. Values can be added from any thread while others redact.

    Looked for in every string, member name and scalar: the value itself; JSON escapes of it in up to four layers of
    string literals nested in strings; for values of 8 bytes and more its percent-encoding and base64. Values of fewer
    than 4 characters count as whole strings only. Empty values are ignored.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._learnt = Learnt()
        self.add(*values)

    def add(self, *values: str) -> None:
        """Learn private values. The first search after it is a few milliseconds slower."""
        self._learnt.add(*values)

    @property
    def values(self) -> tuple[str, ...]:
        """The values that are looked for, without terminal controls, longest first."""
        return self._learnt.patterns.values

    def clear(self, raw: bytes) -> bool:
        """Prove from its bytes that a JSON text holds nothing to redact: ``redact`` of its value would change nothing.

        ``raw`` must be a text that ``document.parse`` accepts. False means only that the proof failed. Takes a few
        milliseconds for 8 MiB.
        """
        patterns = self._learnt.patterns
        # Numbers have too many spellings; raw controls beyond ASCII's first 32 are all that JSON lets through.
        if patterns.numbers or patterns.hides(raw) or shows_controls(raw):
            return False
        return not patterns.touches(raw)

    def redact(self, value: Any) -> Redacted:
        """Return the value with nothing private in it. An unchanged value is the very same object.

        Objects whose names redact alike become :class:`Members`. Raises TypeError for what is not a JSON value.
        """
        patterns = self._learnt.patterns
        strings, scalars = _gather(value)
        changes = _Changes(_changed_strings(patterns, strings), _private_scalars(patterns, scalars))
        if not changes.strings and not changes.scalars:
            return Redacted(value, False)
        return Redacted(changes.apply(value), True)

    def text(self, text: str) -> Redacted:
        """Return a text with nothing private in it: the same rules as for a string in a value."""
        patterns = self._learnt.patterns
        # Most texts are sentences of ours. What can be printed holds no control that could split a value.
        if text.isprintable() and text not in patterns.short:
            raw = text.encode()
            if not patterns.hides(raw) and not patterns.touches(raw):
                return Redacted(text, False)
        redacted = _changed_strings(patterns, {text}).get(text, text)
        return Redacted(redacted, redacted != text)

    def holds(self, value: Any) -> bool:
        """Tell whether a value contains something private in any form: it may then not be sent, kept or compared.

        Terminal controls alone do not count. A string that spells a number equal to a private one does.
        """
        patterns = self._learnt.patterns
        strings, scalars = _gather(value)
        stripped = {strip_controls(text) for text in strings}
        return (
            not patterns.short.isdisjoint(stripped)
            or patterns.finds(_joined(stripped))
            or bool(_private_scalars(patterns, scalars))
            or (bool(patterns.numbers) and any(decimal(_joined([text])) in patterns.numbers for text in stripped))
        )


class _Changes(NamedTuple):
    """What becomes of each string and name, and which scalars are private, by their spelling."""

    strings: dict[str, str]
    scalars: set[bytes]

    def apply(self, value: Any) -> Any:
        kind = type(value)
        if isinstance(value, str):
            return self.strings.get(value, value)
        if kind is dict:
            if self.strings.keys().isdisjoint(value):
                return {name: self.apply(member) for name, member in value.items()}
            return self._object(value.items())
        if kind is list:
            return [self.apply(element) for element in value]
        if kind is Members:
            return self._object(value.pairs)
        return MARKER if self.scalars and _spelling(value) in self.scalars else value

    def _object(self, members: Collection[tuple[str, Any]]) -> dict[str, Any] | Members:
        pairs = [(self.strings.get(name, name), self.apply(value)) for name, value in members]
        redacted = dict(pairs)
        return redacted if len(redacted) == len(pairs) else Members(pairs)


def _gather(value: Any) -> tuple[set[str], set[bytes]]:
    """Collect each string and name once, and the spelling of each other scalar once."""
    strings: set[str] = set()
    numbers: list[msgspec.Raw] = []
    others: list[Any] = []
    pending = [value]
    while pending:
        value = pending.pop()
        kind = type(value)
        if isinstance(value, str):
            strings.add(value)
        elif kind is dict:
            strings.update(value)
            pending.extend(value.values())
        elif kind is msgspec.Raw:
            numbers.append(value)
        elif kind is list:
            pending.extend(value)
        elif kind is Members:
            strings.update(name for name, _ in value.pairs)
            pending.extend(member for _, member in value.pairs)
        else:
            others.append(value)
    return strings, {*map(bytes, numbers), *map(_spelling, others)}


def _spelling(value: Any) -> bytes:
    if value is True or value is False or value is None:
        return _CONSTANTS[value]
    if isinstance(value, msgspec.Raw):
        return bytes(value)
    if isinstance(value, int | float):
        return encode(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _changed_strings(patterns: Patterns, strings: Collection[str]) -> dict[str, str]:
    """Return what becomes of those strings that hold anything private or a terminal control."""
    originals = list(strings)
    stripped, joined = originals, _joined(originals)
    if len(joined) - len(drop_controls(joined)) >= len(originals):
        stripped = [strip_controls(text) for text in originals]
        joined = _joined(stripped)
    redacted, whole = stripped, patterns.redact(joined)
    if whole is not joined:
        redacted = whole.decode("utf-8", "surrogatepass").split(_SEPARATOR.decode())
    if patterns.short:
        redacted = [MARKER if text in patterns.short else text for text in redacted]
    return {old: new for old, new in zip(originals, redacted, strict=True) if old != new}


def _private_scalars(patterns: Patterns, scalars: Collection[bytes]) -> set[bytes]:
    """Return those spellings of numbers and constants that hold a private value, or equal a private number."""
    if not scalars:
        return set()
    spellings = list(scalars)
    joined = _SEPARATOR.join(spellings)
    redacted = patterns.redact(joined)
    private: set[bytes] = set()
    if redacted is not joined:
        private.update(old for old, new in zip(spellings, redacted.split(_SEPARATOR), strict=True) if old != new)
    if patterns.numbers:
        private.update(spelling for spelling in spellings if decimal(spelling) in patterns.numbers)
    return private


def _joined(texts: Iterable[str]) -> bytes:
    # One search of all texts is many times faster than one search each.
    return _SEPARATOR.decode().join(texts).encode("utf-8", "surrogatepass")
