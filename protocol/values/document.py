"""Strict JSON text to values and back, with every number kept in its own spelling as a ``msgspec.Raw``."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final, NamedTuple, NoReturn

import msgspec

__all__ = [
    "DEPTH_LIMIT",
    "INTEGER_LIMIT",
    "Document",
    "JsonError",
    "Members",
    "canonical",
    "encode",
    "has_lone_surrogate",
    "integer",
    "parse",
]

#: Containers that may stand inside one another. Far below what any thread's stack can hold on CPython 3.11 to 3.13.
DEPTH_LIMIT: Final = 128
#: Largest magnitude of an integer that every JSON implementation holds exactly (RFC 8259, section 6).
INTEGER_LIMIT: Final = 2**53 - 1

_UNSTRUCTURED: Final = bytes(byte for byte in range(256) if byte not in b'"[]{}:')
_ONE_KIND_OF_BRACKET: Final = bytes.maketrans(b"{}", b"[]")
_LONE_SURROGATE: Final = re.compile(
    r"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)
_INTEGER: Final = re.compile(rb"-?(?:0|[1-9][0-9]{0,15})\Z")
# What the standard decoder says, without its habit of naming the character that it met.
_REASONS: Final = {
    "Expecting value": "a value is expected",
    "Expecting ',' delimiter": "a comma or the end of the array or object is expected",
    "Expecting ':' delimiter": "a colon is expected",
    "Expecting property name enclosed in double quotes": "a member name in double quotes is expected",
    "Illegal trailing comma before end of object": "a comma stands before the end of an object",
    "Illegal trailing comma before end of array": "a comma stands before the end of an array",
    "Extra data": "data follows the value",
    "Unterminated string starting at": "a string is not ended",
    "Invalid control character at": "a control character stands in a string",
    "Invalid \\escape": "a string holds an unknown escape",
    "Invalid \\uXXXX escape": "a string holds an unknown escape",
}


class JsonError(ValueError):
    """The text is not strict JSON. ``reason`` quotes nothing of it; ``offset`` counts characters from 0, if known."""

    def __init__(self, reason: str, offset: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset


class Document(NamedTuple):
    """A parsed text. ``repeated`` names each member that some object held more than once, in the order found."""

    value: Any
    repeated: tuple[str, ...]


class Members:
    """An object as ordered pairs: two names that differ in a reply may be one name once they are redacted."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[str, Any]]) -> None:
        self.pairs = tuple(pairs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Members) and self.pairs == other.pairs

    def __hash__(self) -> NoReturn:
        raise TypeError("the values of an object may be mutable")

    def __repr__(self) -> str:
        return f"Members({list(self.pairs)!r})"


def parse(text: bytes | str, *, depth: int = DEPTH_LIMIT) -> Document:
    """Read one JSON text (RFC 8259) strictly.

    Objects become dicts (the last of repeated members wins and its name is reported), numbers ``msgspec.Raw``. Bytes
    are UTF-8 without a byte order mark. Linear in the size of the text.

    Raises JsonError for other encodings, NaN and Infinity, lone surrogates however written, control characters in
    strings, data after the value, and more than ``depth`` containers inside one another.
    """
    raw, text = _both(text)
    structure = _structure(raw)
    if _too_deep(structure, depth):
        raise JsonError(f"arrays and objects are nested too deeply (at most {depth})")
    reader = _Reader.take()
    try:
        value, held = reader.read(text)
    except json.JSONDecodeError as error:
        raise JsonError(_REASONS.get(error.msg, "the text is malformed"), error.pos) from None
    except RecursionError:
        raise JsonError("arrays and objects are nested too deeply") from None
    # The first look costs a tenth of the two others, and most texts end here.
    if b"\\" in raw and ("\\ud" in text or "\\uD" in text):
        _refuse_lone_surrogates(text)
    # Each member has one colon. Fewer were held than were written only where a name was written again.
    return Document(value, () if held == structure.count(b":") else _repeated(text))


class _Reader:
    """The standard library's decoder, and a count of the members that it has put into objects.

    Making one takes as long as reading a small message, so that spare ones are kept; threads never share one.
    """

    _spare: ClassVar[list["_Reader"]] = []

    def __init__(self) -> None:
        self._held = 0
        self._decode = json.JSONDecoder(
            object_hook=self._count, parse_int=msgspec.Raw, parse_float=msgspec.Raw, parse_constant=_refuse
        ).decode

    @classmethod
    def take(cls) -> "_Reader":
        try:
            return cls._spare.pop()
        except IndexError:
            return cls()

    def read(self, text: str) -> tuple[Any, int]:
        """Return the value and its number of members; only then can the reader be used again."""
        self._held = 0
        value = self._decode(text)
        held = self._held
        self._spare.append(self)
        return value, held

    def _count(self, members: dict[str, Any]) -> dict[str, Any]:
        # The hot path, once for each object. A list of its pairs would tell more, and cost half of all the reading.
        self._held += len(members)
        return members


def _repeated(text: str) -> tuple[str, ...]:
    """Name the repeated members of a strict text. Rare, so the text is simply read once more."""
    found: dict[str, None] = {}

    def note(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                found[name] = None
            seen.add(name)

    json.JSONDecoder(object_pairs_hook=note, parse_int=str).decode(text)
    return tuple(found)


def _both(text: bytes | str) -> tuple[bytes, str]:
    try:
        return (text.encode(), text) if isinstance(text, str) else (text, str(text, "utf-8"))
    except UnicodeEncodeError as error:
        raise JsonError("a string holds a lone surrogate", error.start) from None
    except UnicodeDecodeError:
        raise JsonError("the text is not UTF-8") from None


def _refuse(_constant: str) -> NoReturn:
    raise JsonError("NaN and Infinity are not JSON")


def _structure(raw: bytes) -> bytes:
    """Return the brackets and colons of a text that stand outside of its strings, every bracket as a square one.

    The text need not be JSON: it is then right up to where the decoder gives up, which is all that matters.
    """
    if b"\\" in raw:
        raw = raw.replace(b"\\\\", b"").replace(b'\\"', b"")
    # What is in a string stands between an odd and an even quote; two quotes side by side change no one's parity.
    raw = raw.translate(_ONE_KIND_OF_BRACKET, _UNSTRUCTURED).replace(b'""', b"")
    return b"".join(raw.split(b'"')[::2])


def _too_deep(structure: bytes, depth: int) -> bool:
    """Tell whether some value stands in more than ``depth`` containers, without recursion and in linear time."""
    if structure.count(b"[") <= depth:
        return False
    brackets = structure.replace(b":", b"")
    for _ in range(depth):
        inner, brackets = brackets, brackets.replace(b"[]", b"")
        if len(inner) == len(brackets):
            break
    if b"[]" in brackets:
        return True
    return len(brackets) - len(brackets.lstrip(b"[")) > depth


def has_lone_surrogate(text: str) -> bool:
    """Tell whether a text holds half of a surrogate pair: so arrive bytes of the system that are not UTF-8."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def _refuse_lone_surrogates(text: str) -> None:
    # An escaped backslash is no start of an escape. Its place is kept, so that no two halves meet over it.
    found = _LONE_SURROGATE.search(text.replace("\\\\", "--"))
    if found:
        raise JsonError("a string holds a lone surrogate", found.start())


def encode(value: Any) -> bytes:
    """Write a value as compact JSON in UTF-8; a ``msgspec.Raw`` goes out as it is spelled.

    Names are unique in what is written, so that it is strict JSON to whoever reads it: of :class:`Members` of one name
    the second is `name (2)`.

    Raises ValueError when a string holds a lone surrogate, TypeError for what is not a JSON value.
    """
    return _PLAIN.encode(value)


def canonical(value: Any) -> bytes:
    """Write a value in the one form that is hashed: members sorted by code point, numbers in their own spelling.

    Members of one name (see :class:`Members`) are sorted by their canonical values.
    """
    return _CANONICAL.encode(value)


def _pairs(value: Any) -> msgspec.Raw:
    return _object(_told_apart(_members(value).pairs), encode)


def _told_apart(pairs: Iterable[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    counts: dict[str, int] = {}
    used: set[str] = set()
    for name, value in pairs:
        unique = name
        while unique in used:
            counts[name] = counts.get(name, 1) + 1
            unique = f"{name} ({counts[name]})"
        used.add(unique)
        yield unique, value


def _sorted_pairs(value: Any) -> msgspec.Raw:
    pairs = _members(value).pairs
    return _object(sorted(pairs, key=lambda pair: (pair[0], canonical(pair[1]))), canonical)


# Each is made once: an encoder of its own for every small value would cost as much as the encoding.
_PLAIN: Final = msgspec.json.Encoder(enc_hook=_pairs)
_CANONICAL: Final = msgspec.json.Encoder(enc_hook=_sorted_pairs, order="deterministic")


def _members(value: Any) -> Members:
    if not isinstance(value, Members):
        raise TypeError(f"{type(value).__name__} is not a JSON value")
    return value


def _object(pairs: Iterable[tuple[str, Any]], write: Any) -> msgspec.Raw:
    return msgspec.Raw(b"{" + b",".join(b"%b:%b" % (write(name), write(value)) for name, value in pairs) + b"}")


def integer(value: Any) -> int | None:
    """Return the number that an int or an integer-spelled ``msgspec.Raw`` stands for, within 2**53 - 1; else None."""
    if isinstance(value, msgspec.Raw) and _INTEGER.match(bytes(value)):
        value = int(bytes(value))
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= INTEGER_LIMIT:
        return value
    return None
