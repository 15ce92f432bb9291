"""The shape of a tool's schemas: what a change of them can be judged by, without keeping any of their text."""

import hashlib
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from protocol.values.document import Members, canonical
from protocol.values.pointer import format_pointer

__all__ = ["LOCATION_LIMIT", "Difference", "Location", "differences", "locations", "shape"]

#: Locations that a tool's shape may hold. A tool with more has no shape, and a change of it counts as unclassified:
#: schemas of empty properties would otherwise make a state many times as large as the inventory it came from.
LOCATION_LIMIT: Final = 512
#: Hexadecimal digits of the hashes in a shape. 64 bits tell the locations of one tool apart, and 5,000 tools still fit.
HASH_DIGITS: Final = 16

# Keywords (JSON Schema 2020-12 and draft 7) whose value is a schema, a list of schemas, or an object of schemas.
_SCHEMA: Final = frozenset(
    {
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_LIST: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_OBJECT: Final = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"})
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
    ``text`` stand only where they say something. The schemas must be redacted already.
    """
    found: dict[str, dict[str, Any]] = {}
    for name, schema in schemas.items():
        for pointer, location in locations(schema, (name,)):
            if len(found) == LOCATION_LIMIT:
                return None
            found[_hash(pointer.encode())] = _kept(location)
    return found


def _kept(location: Location) -> dict[str, Any]:
    kept: dict[str, Any] = {} if location.types is None else {"types": list(location.types)}
    if location.required:
        kept["required"] = True
    if location.rest is not None:
        kept["rest"] = location.rest
    if location.text is not None:
        kept["text"] = location.text
    return kept


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


def locations(schema: Any, place: tuple[str, ...] = (), required: bool = False) -> Iterator[tuple[str, Location]]:
    """Walk a schema and give each location with its pointer, parents first.

    References are not followed. What is no object (and an object two of whose names redact alike) is one location.
    """
    pending = [(place, schema, required)]
    while pending:
        place, schema, required = pending.pop()
        if not isinstance(schema, dict):
            yield format_pointer(place), Location(None, required, _digest(schema), None)
            continue
        inner, rest = _divide(place, schema)
        pending.extend(reversed(inner))
        text = {name: rest.pop(name) for name in _TEXT & rest.keys()}
        types = _types(rest)
        yield format_pointer(place), Location(types, required, _digest(rest), _digest(text))


_Inner = list[tuple[tuple[str, ...], Any, bool]]


def _divide(place: tuple[str, ...], schema: dict[str, Any]) -> tuple[_Inner, dict[str, Any]]:
    """Part a schema into the schemas inside it and the keywords that are its own."""
    inner: _Inner = []
    rest: dict[str, Any] = {}
    properties = schema.get("properties")
    names = schema.get("required")
    named = set(properties) if isinstance(properties, dict) else set()
    asked = {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()
    for keyword, value in schema.items():
        if keyword in _OBJECT and isinstance(value, dict):
            needed = asked if keyword == "properties" else set()
            inner.extend(((*place, keyword, name), part, name in needed) for name, part in value.items())
        elif (keyword in _LIST or keyword == "items") and isinstance(value, list):
            inner.extend(((*place, keyword, str(index)), part, False) for index, part in enumerate(value))
        elif keyword in _SCHEMA or keyword == "items":
            inner.append(((*place, keyword), value, False))
        elif keyword == "required" and isinstance(value, list):
            left = [name for name in value if not (isinstance(name, str) and name in named)]
            rest.update({keyword: left} if left else {})
        else:
            rest[keyword] = value
    return inner, rest


def _types(rest: dict[str, Any]) -> tuple[str, ...] | None:
    value = rest.get("type")
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return None
    del rest["type"]
    return tuple(sorted(set(names)))


def _digest(value: Any) -> str | None:
    return None if value == {} or (isinstance(value, Members) and not value.pairs) else _hash(canonical(value))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:HASH_DIGITS]
