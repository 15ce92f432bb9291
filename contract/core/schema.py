"""A schema of either subset, read: what the validator looks at. The rules that differ are a table of the subset."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from contract.core.identifier import is_identifier
from contract.core.members import integer
from contract.core.refusal import Refusal, Refused
from protocol.values.document import canonical
from protocol.values.numbers import decimal

__all__ = [
    "DEPTH_LIMIT",
    "NODE_LIMIT",
    "PROPERTY_LIMIT",
    "SIZE_LIMIT",
    "Refusals",
    "Schema",
    "Subset",
    "choice",
    "read_schema",
    "refusals_of",
]

#: Steps from the root, which is 0, to the innermost part; and parts in all. A person reviews a schema whole.
DEPTH_LIMIT: Final = 8
NODE_LIMIT: Final = 1024
#: Bytes of a schema's canonical form: a quarter of the largest response, which has to hold it.
SIZE_LIMIT: Final = 64 * 1024
#: Properties of one object.
PROPERTY_LIMIT: Final = 64


class Schema(NamedTuple):
    """One part of a schema. ``shortest`` and ``longest`` count code points of a string or items of an array."""

    type: str
    properties: Mapping[str, "Schema"] = {}
    required: tuple[str, ...] = ()
    closed: bool = False
    items: "Schema | None" = None
    shortest: int = 0
    longest: int | None = None
    minimum: msgspec.Raw | None = None
    maximum: msgspec.Raw | None = None
    enum: tuple[Any, ...] | None = None
    #: What :func:`choice` makes of each value of ``enum``, so that a value is compared with all of them at once.
    choices: frozenset[Any] | None = None


class Refusals(NamedTuple):
    """How a subset refuses a schema, rule by rule."""

    root: Refusal
    type: Refusal
    keyword: Refusal
    missing: Refusal
    properties: Refusal
    required: Refusal
    open: Refusal
    length: Refusal
    items: Refusal
    range: Refusal
    enum: Refusal
    depth: Refusal
    nodes: Refusal
    size: Refusal


def refusals_of(name: str) -> Refusals:
    """Return the refusals of a subset: those whose codes begin with its name."""
    return Refusals(*(Refusal(f"{name}_{rule}") for rule in Refusals._fields))


class Subset(NamedTuple):
    """The rules of a subset.

    ``keywords`` and ``mandatory`` go by type, ``type`` itself left out. ``check`` raises Refused for a part, as given
    and as read, that breaks a rule of this subset alone. ``openness`` is what ``additionalProperties`` may be.
    ``longest`` and ``most`` are the largest ``maxLength`` and ``maxItems``, ``choices`` is the largest ``enum``.
    """

    keywords: Mapping[str, frozenset[str]]
    mandatory: Mapping[str, frozenset[str]]
    openness: tuple[bool, ...]
    longest: int
    most: int
    choices: int
    is_choice: Callable[[str, Any], bool]
    is_bound: Callable[[Any], bool]
    check: Callable[[dict[str, Any], Schema], None]
    refusals: Refusals


def choice(value: Any) -> Any:
    """Return what a scalar is compared by: its type, and of a number the normal form of all of its spellings."""
    return decimal(bytes(value)) if isinstance(value, msgspec.Raw) else (type(value), value)


def read_schema(value: Any, subset: Subset, *, sized: bool = True) -> Schema:
    """Read a schema whose root is an object, or raise Refused: nothing that the subset does not name is let through.

    ``sized``: hold its canonical form to 64 KiB.
    """
    if not isinstance(value, dict) or value.get("type") != "object":
        raise Refused(subset.refusals.root)
    if sized and len(canonical(value)) > SIZE_LIMIT:
        raise Refused(subset.refusals.size)
    return _Reading(subset).part(value, 0)


class _Reading:
    """One schema under way: how many parts it has so far."""

    def __init__(self, subset: Subset) -> None:
        self._subset = subset
        self._refusals = subset.refusals
        self._parts = 0

    def part(self, value: Any, depth: int) -> Schema:
        self._parts += 1
        if depth > DEPTH_LIMIT:
            raise Refused(self._refusals.depth)
        if self._parts > NODE_LIMIT:
            raise Refused(self._refusals.nodes)
        kind = value.get("type") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in self._subset.keywords:
            raise Refused(self._refusals.type)
        keywords = value.keys() - {"type"}
        if not keywords <= self._subset.keywords[kind]:
            raise Refused(self._refusals.keyword)
        if not self._subset.mandatory[kind] <= keywords:
            raise Refused(self._refusals.missing)
        schema = _OF_TYPE[kind](self, self._part_of(kind, value), value, depth)
        self._subset.check(value, schema)
        return schema

    def object(self, schema: Schema, value: dict[str, Any], depth: int) -> Schema:
        properties, required = value["properties"], value.get("required", [])
        if (
            not isinstance(properties, dict)
            or len(properties) > PROPERTY_LIMIT
            or not all(map(is_identifier, properties))
        ):
            raise Refused(self._refusals.properties)
        names: list[Any] = required if isinstance(required, list) else [None]
        if not all(isinstance(name, str) and name in properties for name in names) or len(set(names)) < len(names):
            raise Refused(self._refusals.required)
        opened = value.get("additionalProperties", True)
        if not isinstance(opened, bool) or opened not in self._subset.openness:
            raise Refused(self._refusals.open)
        read = {name: self.part(child, depth + 1) for name, child in properties.items()}
        return schema._replace(properties=read, required=tuple(names), closed=not opened)

    def string(self, schema: Schema, value: dict[str, Any], _depth: int) -> Schema:
        sizes = self._sizes(value, "minLength", "maxLength", self._subset.longest, self._refusals.length)
        return schema._replace(shortest=sizes[0], longest=sizes[1])

    def array(self, schema: Schema, value: dict[str, Any], depth: int) -> Schema:
        sizes = self._sizes(value, "minItems", "maxItems", self._subset.most, self._refusals.items)
        return schema._replace(shortest=sizes[0], longest=sizes[1], items=self.part(value["items"], depth + 1))

    def number(self, schema: Schema, value: dict[str, Any], _depth: int) -> Schema:
        for name in ("minimum", "maximum"):
            if name in value and not self._subset.is_bound(value[name]):
                raise Refused(self._refusals.range)
        return schema._replace(minimum=value.get("minimum"), maximum=value.get("maximum"))

    def boolean(self, schema: Schema, _value: dict[str, Any], _depth: int) -> Schema:
        return schema

    def _sizes(
        self, value: dict[str, Any], lower: str, upper: str, limit: int, refusal: Refusal
    ) -> tuple[int, int | None]:
        shortest = integer(value[lower], 0) if lower in value else 0
        longest = integer(value[upper], 0, limit) if upper in value else None
        if shortest is None or (upper in value and longest is None):
            raise Refused(refusal)
        return shortest, longest

    def _part_of(self, kind: str, value: dict[str, Any]) -> Schema:
        enum = self._enum(kind, value)
        return Schema(kind, enum=enum, choices=None if enum is None else frozenset(map(choice, enum)))

    def _enum(self, kind: str, value: dict[str, Any]) -> tuple[Any, ...] | None:
        if "enum" not in value:
            return None
        choices = value["enum"]
        if (
            not isinstance(choices, list)
            or not 1 <= len(choices) <= self._subset.choices
            or not all(self._subset.is_choice(kind, choice) for choice in choices)
        ):
            raise Refused(self._refusals.enum)
        return tuple(choices)


_OF_TYPE: Final[dict[str, Callable[[_Reading, Schema, dict[str, Any], int], Schema]]] = {
    "object": _Reading.object,
    "string": _Reading.string,
    "integer": _Reading.number,
    "number": _Reading.number,
    "boolean": _Reading.boolean,
    "array": _Reading.array,
}
