"""YAML read strictly into nodes that know their place: no repeated key, anchor, alias, tag, or second document."""

import re
from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from host.problems import quoted

__all__ = ["Mapping", "Misplaced", "Node", "Scalar", "Sequence", "read_yaml"]

#: Mappings and sequences that may stand inside one another; a flow's frontmatter needs three.
DEPTH_LIMIT: Final = 8

# Plain scalars by YAML 1.2's core schema (section 10.3.2). Words such as `yes` and dates are text there.
_NULL: Final = re.compile(r"null|Null|NULL|~|")
_BOOLEAN: Final = re.compile(r"true|True|TRUE|false|False|FALSE")
_NUMBER: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_OTHER_NUMBER: Final = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class Misplaced(ValueError):
    """The text is not YAML, or YAML that is not taken. ``start`` and ``end`` are offsets in the text."""

    def __init__(self, start: int, end: int, message: str, advice: str) -> None:
        super().__init__(message)
        self.start = start
        self.end = end
        self.message = message
        self.help = advice


class Scalar(NamedTuple):
    """A single value. ``kind`` is what YAML reads it as; in quotes, it is always a string."""

    text: str
    kind: Literal["string", "number", "boolean", "null"]
    start: int
    end: int

    @property
    def number(self) -> float | None:
        """The value of a decimal number, else None."""
        return float(self.text) if self.kind == "number" and _NUMBER.fullmatch(self.text) else None


class Sequence(NamedTuple):
    """A list of values; a block list ends where its last entry does."""

    entries: "tuple[Node, ...]"
    start: int
    end: int


class Mapping(NamedTuple):
    """Keys with their values, each key once; a block mapping ends where its last value does."""

    entries: "tuple[tuple[Scalar, Node], ...]"
    start: int
    end: int


Node: TypeAlias = Scalar | Sequence | Mapping


def read_yaml(text: str) -> Mapping:
    """Read one mapping. Raises Misplaced for the first thing that is wrong; an empty text is an empty mapping."""
    # Both imports take 30 ms, and only a flow needs them.
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError
    from ruamel.yaml.reader import ReaderError

    try:
        return _Builder(YAML(typ="safe", pure=True).parse(text)).document()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        start = min(mark.index if mark else 0, len(text))
        reason = error.problem or error.context or "it is malformed"
        message = f"This is not YAML: {reason}."
        raise Misplaced(
            start, start + 1, message, "Check indentation, and put text with `: `, `#` or quotes in quotes."
        ) from None
    except ReaderError as error:
        start = error.position
        message = f"YAML does not allow the character U+{ord(text[start]):04X}."
        raise Misplaced(start, start + 1, message, 'Take it out, or write it as an escape between `"`.') from None


class _Builder:
    """Builds nodes from the parser's events, and stops at the first that is not taken."""

    def __init__(self, events: Iterator[Any]) -> None:
        self.events = events

    def next(self) -> tuple[str, Any]:
        event = next(self.events)
        return type(event).__name__.removesuffix("Event"), event

    def document(self) -> Mapping:
        self.next()
        kind, event = self.next()
        if kind == "StreamEnd":
            return Mapping((), 0, 0)
        root = self.node(*self.next(), 0)
        self.next()
        kind, event = self.next()
        if kind != "StreamEnd":
            raise _refused(event, "A second YAML document begins here.", "Keep one.")
        if isinstance(root, Scalar) and root.kind == "null":
            return Mapping((), root.start, root.end)
        if not isinstance(root, Mapping):
            raise Misplaced(root.start, root.end, "Keys with values are expected.", "Write `key: value` lines.")
        return root

    def node(self, kind: str, event: Any, depth: int) -> Node:
        if kind == "Alias":
            raise _refused(event, "A YAML alias is not allowed.", "Write the value out.")
        if event.anchor is not None:
            raise _refused(event, "A YAML anchor is not allowed.", "Take out `&name`.")
        if event.tag is not None:
            raise _refused(
                event, "A YAML tag is not allowed.", "Take out what begins with `!`; quotes make text of a value."
            )
        if depth > DEPTH_LIMIT:
            raise _refused(event, "The values are nested too deeply.", "No key takes a value that is nested like this.")
        if kind == "Scalar":
            return _scalar(event)
        return self.sequence(event, depth) if kind == "SequenceStart" else self.mapping(event, depth)

    def sequence(self, start: Any, depth: int) -> Sequence:
        entries: list[Node] = []
        while True:
            kind, event = self.next()
            if kind == "SequenceEnd":
                end = event.end_mark.index if start.flow_style or not entries else entries[-1].end
                return Sequence(tuple(entries), start.start_mark.index, end)
            entries.append(self.node(kind, event, depth + 1))

    def mapping(self, start: Any, depth: int) -> Mapping:
        entries: dict[str, tuple[Scalar, Node]] = {}
        while True:
            kind, event = self.next()
            if kind == "MappingEnd":
                ended = event.end_mark.index if start.flow_style or not entries else list(entries.values())[-1][1].end
                return Mapping(tuple(entries.values()), start.start_mark.index, ended)
            key = self.node(kind, event, depth + 1)
            if not isinstance(key, Scalar):
                raise Misplaced(key.start, key.end, "A key is a plain word.", "Write `key: value`.")
            if key.text in entries:
                raise Misplaced(key.start, key.end, f"The key {quoted(key.text)} is repeated.", "Keep one of them.")
            value = self.node(*self.next(), depth + 1)
            if isinstance(value, Scalar) and value.start == value.end:
                # A value that is left out is missing after its key, not where the parser finds the next thing.
                value = value._replace(start=key.end, end=key.end)
            entries[key.text] = (key, value)


def _refused(event: Any, message: str, advice: str) -> Misplaced:
    return Misplaced(event.start_mark.index, event.end_mark.index, message, advice)


def _scalar(event: Any) -> Scalar:
    text: str = event.value
    start, end = event.start_mark.index, event.end_mark.index
    if event.style is not None:
        return Scalar(text, "string", start, end)
    if _NULL.fullmatch(text):
        return Scalar(text, "null", start, end)
    if _BOOLEAN.fullmatch(text):
        return Scalar(text, "boolean", start, end)
    is_number = _NUMBER.fullmatch(text) or _OTHER_NUMBER.fullmatch(text)
    return Scalar(text, "number" if is_number else "string", start, end)
