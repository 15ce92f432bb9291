"""The shape of a tool's schemas: what a change of them can be judged by, without keeping any of their text."""

import hashlib
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from protocol.values.document import Members, canonical
from protocol.values.pointer import escape, format_pointer

__all__ = ["LOCATION_LIMIT", "Difference", "Location", "differences", "locations", "shape"]

#: Locations that a tool's shape may hold. A tool with more has no shape, and a change of it counts as unclassified:
#: schemas of empty properties would otherwise make a state many times as large as the inventory it came from.
LOCATION_LIMIT: Final = 512
#: Hexadecimal digits of the hashes in a shape. 64 bits tell the locations of one tool apart, and 5,000 tools still fit.
HASH_DIGITS: Final = 16
#: Pointers, and own keywords of locations, that are remembered, and bytes of the latter: a few megabytes at most.
_MEMORY: Final = 16_384
_KEY_LIMIT: Final = 256

# Keywords (JSON Schema 2020-12 and draft 7) whose value is a schema, a list of schemas, or an object of schemas.
_SCHEMA: Final = frozenset(
    {
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_LIST: Final = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_OBJECT: Final = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
#: A schema with none of these has no schema inside it, and says nothing about the names of its properties.
_DIVIDING: Final = _SCHEMA | _LIST | _OBJECT | {"required"}
# Keywords that tell people and models something and constrain nothing.
_TEXT: Final = frozenset({"$comment", "description", "examples", "title"})


class Location(NamedTuple):
    """One place of a schema. ``types`` is sorted, None where any type may stand.

    ``text`` is the hash of title, description, examples and comments, ``rest`` of every other keyword.
    """

    types: tuple[str, ...] | None
    required: bool
    rest: str | None
    text: str | None


class Difference(NamedTuple):
    """What changed at a location: one of ``gone``, ``required``, ``type-lost``, ``added``, ``added-required``,
    ``type-added``, ``optional``, ``text``, ``rest``. Which class that is, is the diff's to say."""

    location: str
    change: str


def shape(schemas: dict[str, Any]) -> dict[str, dict[str, Any]] | None:
    """Return the shape of the named schemas, as the state of a tool keeps it; None past LOCATION_LIMIT.

    Keys are hashes of the locations' pointers (``/inputSchema/properties/a``). ``types``, ``required``, ``rest`` and
    ``text`` stand only where they say something. The schemas must be redacted already. Locations that say the same may
    share one object.
    """
    found: dict[str, dict[str, Any]] = {}
    known = _POINTERS
    if len(known) > _MEMORY:
        known.clear()
    for name, schema in schemas.items():
        for pointer, kept in _walk(f"/{escape(name)}", schema):
            if len(found) == LOCATION_LIMIT:
                return None
            key = known.get(pointer) or known.setdefault(pointer, _hash(pointer.encode()))
            found[key] = kept
    return found


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[Difference]:
    """Compare two shapes as :func:`shape` made them, location by location, sorted by location.

    ``integer`` is within ``number``: going from the one to the other adds a type, and back loses one.
    """
    found: list[Difference] = []
    for key in sorted({*before, *after}):
        if key not in after:
            found.append(Difference(key, "gone"))
        elif key not in before:
            found.append(Difference(key, "added-required" if after[key].get("required") else "added"))
        elif before[key] != after[key]:
            found.extend(Difference(key, change) for change in _changes(before[key], after[key]))
    return found


def _changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    if before.get("required", False) != after.get("required", False):
        yield "required" if after.get("required") else "optional"
    if before.get("types") != after.get("types"):
        lost = _lost(before.get("types"), after.get("types"))
        yield "type-lost" if lost else "type-added"
    for part in ("rest", "text"):
        if before.get(part) != after.get(part):
            yield part


def _lost(before: list[str] | None, after: list[str] | None) -> bool:
    if after is None:
        return False
    return before is None or not set(before) <= set(after) | ({"integer"} if "number" in after else set())


def locations(schema: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[str, Location]]:
    """Walk a schema and give each location with its pointer, parents first.

    References are not followed. What is no object (and an object two of whose names redact alike) is one location.
    """
    for pointer, kept in _walk(format_pointer(place), schema):
        types = tuple(kept["types"]) if "types" in kept else None
        yield pointer, Location(types, kept.get("required", False), kept.get("rest"), kept.get("text"))


def _walk(place: str, schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each pointer with what a shape keeps of its location. It is on the way of every inventory."""
    pending: list[_Inner] = [(place, schema, False)]
    while pending:
        place, schema, required = pending.pop()
        kept: dict[str, Any] = {"required": True} if required else {}
        if isinstance(schema, dict):
            own = schema
            if not _DIVIDING.isdisjoint(schema):
                inner, own = _divide(place, schema)
                inner.reverse()
                pending += inner
            _keep(kept, own)
        elif not (isinstance(schema, Members) and not schema.pairs):
            kept["rest"] = _digest(schema)
        yield place, kept


#: A schema inside another: its pointer, itself, and whether it is that of a required property.
_Inner: TypeAlias = tuple[str, Any, bool]


def _divide(place: str, schema: dict[str, Any]) -> tuple[list[_Inner], dict[str, Any]]:
    """Part a schema into the schemas inside it and the keywords that are its own."""
    inner: list[_Inner] = []
    own: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _OBJECT and isinstance(value, dict):
            needed = _asked(schema) if keyword == "properties" else frozenset()
            start = f"{place}/{keyword}/"
            inner += [(start + escape(name), part, name in needed) for name, part in value.items()]
        elif keyword in _LIST and isinstance(value, list):
            inner += [(f"{place}/{keyword}/{index}", part, False) for index, part in enumerate(value)]
        elif keyword in _SCHEMA:
            inner.append((f"{place}/{keyword}", value, False))
        elif keyword == "required" and isinstance(value, list):
            if left := _left(value, schema.get("properties")):
                own[keyword] = left
        else:
            own[keyword] = value
    return inner, own


def _asked(schema: dict[str, Any]) -> frozenset[str]:
    names = schema.get("required")
    return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()


def _left(names: list[Any], properties: Any) -> list[Any]:
    """Return what of `required` is no flag of a property."""
    named = properties if isinstance(properties, dict) else ()
    return [name for name in names if not (isinstance(name, str) and name in named)]


def _keep(kept: dict[str, Any], own: dict[str, Any]) -> None:
    """Add what is kept of a location's own keywords."""
    rest: dict[str, Any] = {}
    text: dict[str, Any] = {}
    for keyword, value in own.items():
        if keyword in _TEXT:
            text[keyword] = value
        elif keyword == "type" and (types := _types(value)) is not None:
            kept["types"] = types
        else:
            rest[keyword] = value
    if rest:
        kept["rest"] = _digest(rest)
    if text:
        kept["text"] = _digest(text)


def _types(value: Any) -> list[str] | None:
    """Return the names that a `type` lists, sorted; None when it is none that schemas have."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not set(map(type, value)) <= _NAMES:
        return None
    return sorted(set(value))


_NAMES: Final = {str}


def _digest(value: Any) -> str:
    return _hash(canonical(value))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:HASH_DIGITS]


#: The hash of each pointer. The tools of a server have most of their properties in common.
_POINTERS: Final[dict[str, str]] = {}
