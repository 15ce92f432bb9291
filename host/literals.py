"""JSON literals inside a command: read strictly (RFC 8259), with the place of every string and of what is wrong."""

import re
from typing import Final, NamedTuple, TypeAlias

from host.problems import quoted

__all__ = [
    "DEPTH_LIMIT",
    "NUMBER",
    "QUOTES",
    "JsonString",
    "Misread",
    "Path",
    "StringLiteral",
    "read_object",
    "read_string",
    "unexpected",
]

#: Containers that may stand inside one another: the limit of `protocol.values.document`, which reads the value later.
DEPTH_LIMIT: Final = 128

_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]*')
_SPACE: Final = re.compile(r"[ \t\n\r]*")
#: A number (RFC 8259, section 6), whole.
NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_SCALAR: Final = re.compile(r"[^\s,:\[\]{}\"]+")
_HEXADECIMAL: Final = re.compile(r"[0-9a-fA-F]{4}")
_WORDS: Final = ("true", "false", "null")
_ESCAPES: Final = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_ESCAPE_OF: Final = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_MEANT: Final = {"True": "true", "False": "false", "None": "null", "undefined": "null", "nil": "null"}
#: What people and their programs write in place of a double quote.
QUOTES: Final = "'`\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb\u00b4\uff02\uff07"


#: The names and array indices that lead from the outermost object to a value.
Path: TypeAlias = tuple[str | int, ...]


class Misread(ValueError):
    """The text is not what is expected at ``index``; ``width`` counts the characters that are wrong."""

    def __init__(self, index: int, width: int, message: str, advice: str) -> None:
        super().__init__(message)
        self.index = index
        self.width = max(1, width)
        self.message = message
        self.help = advice


class StringLiteral(NamedTuple):
    """A string that was read: ``end`` is the index after its closing quote.

    Each of ``anchors`` pairs an index in ``value`` with the index in the text where the same run of characters begins.
    """

    value: str
    end: int
    anchors: list[tuple[int, int]]


class JsonString(NamedTuple):
    """A string inside an object: from its opening quote up to the index after its closing one.

    ``member`` is, for a member's name, the way to it: the names and array indices that lead there, its own last.
    For any other string it is None.
    """

    start: int
    end: int
    member: Path | None = None


def unexpected(character: str) -> str:
    """Return how a message names a character: itself, and its number when it is easily taken for another."""
    if character.isascii() and character.isprintable():
        return f"`{character}`"
    return f"U+{ord(character):04X}" + (f" (`{character}`)" if character.isprintable() else "")


def read_string(text: str, start: int) -> StringLiteral:
    """Read the JSON string whose opening quote stands at ``start``. Raises Misread."""
    parts: list[str] = []
    anchors: list[tuple[int, int]] = []
    length, index = 0, start + 1
    while True:
        plain = _PLAIN.match(text, index)
        assert plain is not None
        piece = plain.group()
        anchors.append((length, index))
        index = plain.end()
        if text[index : index + 1] == "\\":
            # An escape is a run of its own: what follows it is again as long in the text as in the value.
            escaped, after = _escape(text, index)
            anchors.append((length + len(piece), index))
            piece += escaped
            index = after
        elif text[index : index + 1] == '"':
            parts.append(piece)
            anchors.append((length + len(piece), index))
            return StringLiteral("".join(parts), index + 1, anchors)
        else:
            raise _unclosed_or_control(text, start, index)
        parts.append(piece)
        length += len(piece)


def _escape(text: str, index: int) -> tuple[str, int]:
    kind = text[index + 1 : index + 2]
    if kind in _ESCAPES:
        return _ESCAPES[kind], index + 2
    if kind != "u":
        raise _unknown_escape(index, kind)
    first = _unit(text, index)
    if not 0xD800 <= first <= 0xDFFF:
        return chr(first), index + 6
    if first <= 0xDBFF and text.startswith("\\u", index + 6):
        second = _unit(text, index + 6)
        if 0xDC00 <= second <= 0xDFFF:
            return chr(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)), index + 12
    raise Misread(
        index,
        6,
        f"`{text[index : index + 6]}` is half of a surrogate pair.",
        "Write the character itself, or both halves of its pair, one after the other.",
    )


def _unit(text: str, index: int) -> int:
    digits = _HEXADECIMAL.match(text, index + 2)
    if digits is None:
        raise Misread(index, 2, "`\\u` is not followed by four hexadecimal digits.", "Write, for example, `\\u00e9`.")
    return int(digits.group(), 16)


def _unknown_escape(index: int, kind: str) -> Misread:
    if kind in ("", "\n", "\r"):
        return Misread(index, 1, "The string ends in a backslash.", 'Write `\\\\` for a backslash, and close with `"`.')
    known = (
        'JSON has `\\"`, `\\\\`, `\\/`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t` and `\\uXXXX`; a backslash itself is `\\\\`.'
    )
    literal = "Write `$${` for a literal `${`. " if kind == "$" else ""
    return Misread(index, 2, f"A backslash before {unexpected(kind)} is no escape of JSON.", literal + known)


def _unclosed_or_control(text: str, start: int, index: int) -> Misread:
    character = text[index : index + 1]
    if character in ("", "\n", "\r"):
        return Misread(
            start,
            index - start,
            "The string is not closed on its line.",
            'End it with `"`; a quote inside it is written `\\"`, a line break `\\n`.',
        )
    written = _ESCAPE_OF.get(character, f"\\u{ord(character):04x}")
    return Misread(
        index, 1, f"A string cannot hold the control character {unexpected(character)}.", f"Write `{written}`."
    )


def read_object(text: str, start: int) -> tuple[int, list[JsonString]]:
    """Read the JSON object whose brace stands at ``start``: the index after it, and its strings in their order.

    Raises Misread for all that is not strict JSON, repeated members, and more than :data:`DEPTH_LIMIT` containers.
    """
    scanner = _Scanner(text, start)
    end = scanner.object(start, ())
    return end, scanner.strings


class _Scanner:
    """Walks one JSON value; the methods take the index where a part begins and return the index after it."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = start
        self.strings: list[JsonString] = []

    def object(self, start: int, path: Path) -> int:
        names: set[str] = set()
        index = self._open(start, path)
        if self.text[index : index + 1] == "}":
            return index + 1
        while True:
            index = self._member(start, index, names, path)
            if self.text[index : index + 1] == "}":
                return index + 1
            index = self._comma(start, index, "}")

    def _member(self, start: int, index: int, names: set[str], path: Path) -> int:
        if self.text[index : index + 1] != '"':
            raise self._no_member_name(start, index)
        name = read_string(self.text, index)
        inner = (*path, name.value)
        self.strings.append(JsonString(index, name.end, inner))
        if name.value in names:
            raise Misread(
                index,
                name.end - index,
                f"The member {quoted(name.value)} is repeated in its object.",
                "Keep one of them: an object has each member once.",
            )
        names.add(name.value)
        colon = self._skip(name.end)
        if self.text[colon : colon + 1] != ":":
            raise self._missing(start, colon, "A colon is expected after a member name.", 'Write `"name": value`.')
        return self._skip(self._value(self._skip(colon + 1), inner, start))

    def _array(self, start: int, path: Path) -> int:
        index = self._open(start, path)
        if self.text[index : index + 1] == "]":
            return index + 1
        count = 0
        while True:
            index = self._skip(self._value(index, (*path, count), start))
            if self.text[index : index + 1] == "]":
                return index + 1
            index = self._comma(start, index, "]")
            count += 1

    def _value(self, index: int, path: Path, container: int) -> int:
        character = self.text[index : index + 1]
        if character == '"':
            end = read_string(self.text, index).end
            self.strings.append(JsonString(index, end))
            return end
        if character == "{":
            return self.object(index, path)
        if character == "[":
            return self._array(index, path)
        word = _SCALAR.match(self.text, index)
        if word and (word.group() in _WORDS or NUMBER.fullmatch(word.group())):
            return word.end()
        raise self._no_value(container, index, word.group() if word else "")

    def _open(self, start: int, path: Path) -> int:
        if len(path) >= DEPTH_LIMIT:
            message = f"Arrays and objects stand more than {DEPTH_LIMIT} deep in one another."
            raise Misread(start, 1, message, "Make the value flatter.")
        return self._skip(start + 1)

    def _skip(self, index: int) -> int:
        space = _SPACE.match(self.text, index)
        assert space is not None
        return space.end()

    def _comma(self, start: int, index: int, closing: str) -> int:
        if self.text[index : index + 1] != ",":
            message = f"A comma or the closing `{closing}` is expected here."
            raise self._missing(start, index, message, "Separate entries by commas, and close what was opened.")
        after = self._skip(index + 1)
        if self.text[after : after + 1] == closing:
            raise Misread(index, 1, f"A comma stands before the closing `{closing}`.", "Take the comma out.")
        return after

    def _missing(self, start: int, index: int, message: str, advice: str) -> Misread:
        if index >= len(self.text):
            bracket = self.text[start]
            return Misread(
                start, 1, f"The `{bracket}` is never closed.", f"Close it with `{'}' if bracket == '{' else ']'}`."
            )
        return Misread(index, 1, message, advice)

    def _no_member_name(self, start: int, index: int) -> Misread:
        word = _SCALAR.match(self.text, index)
        if self.text.startswith("${", index):
            return _outside(index)
        if word and word.group()[0] in QUOTES:
            return Misread(index, 1, "JSON has double quotes only.", 'Write `"` around names and strings.')
        if word:
            advice = f'Write `"{word.group()}"`.' if word.group().isidentifier() else 'Write `"name": value`.'
            return Misread(index, len(word.group()), "A member name needs double quotes.", advice)
        return self._missing(start, index, "A member name in double quotes is expected here.", 'Write `"name": value`.')

    def _no_value(self, container: int, index: int, word: str) -> Misread:
        if word.startswith("${") or self.text.startswith("${", index):
            return _outside(index)
        if not word:
            return self._missing(
                container,
                index,
                "A value is expected here.",
                "A value is a string, number, object, array, true, false or null.",
            )
        if word[0] in QUOTES:
            return Misread(index, 1, "JSON has double quotes only.", 'Write `"` around names and strings.')
        if word in _MEANT:
            return Misread(index, len(word), f"`{word}` is no value of JSON.", f"Write `{_MEANT[word]}`.")
        if word[0] in "+-.0123456789":
            return Misread(
                index,
                len(word),
                f"{quoted(word)} is no number of JSON.",
                "A number has no `+`, no leading zero, and digits on both sides of its point; or put it in quotes.",
            )
        return Misread(index, len(word), f"{quoted(word)} is no value of JSON.", 'Put text in double quotes: `"…"`.')


def _outside(index: int) -> Misread:
    return Misread(
        index,
        2,
        "A reference may stand only inside a JSON string value.",
        'Write `"${name}"` for text, or `"${name:number}"` for the number that it spells.',
    )
