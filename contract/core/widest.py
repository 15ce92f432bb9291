"""The widest admitted schema that an upstream one leaves room for, and what in it a person has to look at."""

import decimal
from collections.abc import Callable
from enum import StrEnum, unique
from typing import Any, Final, NamedTuple

import msgspec

from contract.core.admitted_schema import CHOICE_LIMIT, ITEM_LIMIT, LENGTH_LIMIT
from contract.core.members import INTEGER_MAXIMUM, INTEGER_MINIMUM
from contract.core.refusal import Refusal, Refused
from contract.core.schema import Schema
from contract.core.upstream_schema import read_upstream
from protocol.values.numbers import equal, less

__all__ = ["CHANGES", "Bound", "Change", "Widest", "widest"]


@unique
class Change(StrEnum):
    """How an admitted schema differs from the upstream one, but for annotations: they are left out without a word."""

    LENGTH = "length"
    ITEMS = "items"
    RANGE = "range"
    INTEGER = "integer"
    CLOSED = "closed"
    CHOICES = "choices"
    FEWER = "fewer"
    DROPPED = "dropped"


#: Every change in words, for the person who bounds it.
CHANGES: Final = {
    Change.LENGTH: f"`maxLength` is {LENGTH_LIMIT}, the most that there is: the tool sets none, or a larger one.",
    Change.ITEMS: f"`maxItems` is {ITEM_LIMIT}, the most that there is: the tool sets none, or a larger one.",
    Change.RANGE: "`minimum` or `maximum` is the end of the 64-bit integers: the tool sets none, or one past it.",
    Change.INTEGER: "Only integers are admitted, where the tool takes any number.",
    Change.CLOSED: "No other properties are admitted, where the tool takes any.",
    Change.CHOICES: f"The tool lists more than {CHOICE_LIMIT} values: they are left to its own schema.",
    Change.FEWER: "Some of the tool's values are left out: they cannot be admitted.",
    Change.DROPPED: "It is left out: no value of it can be admitted.",
}


class Bound(NamedTuple):
    """A place to look at, a JSON Pointer (RFC 6901) into the schema, and what was changed there."""

    pointer: str
    change: Change


class Widest(NamedTuple):
    """The admitted schema as a JSON value with Python's numbers, and its changes in the order of the schema."""

    schema: dict[str, Any]
    bounds: tuple[Bound, ...]


def widest(upstream: Any) -> Widest:
    """Return the schema that admits whatever the upstream one accepts and some admitted schema could.

    That the tool's own schema is checked as well for each call is made use of where a list of values is too long.
    Raises Refused: outside the upstream subset, or no arguments at all can be admitted. The result may still be larger
    than an admitted schema may be, which whoever reads it finds out.
    """
    bounds: list[Bound] = []
    schema = _part(read_upstream(upstream), "", bounds)
    if schema is None:
        raise Refused(Refusal.PIN_IMPOSSIBLE)
    return Widest(schema, tuple(bounds))


def _part(schema: Schema, pointer: str, bounds: list[Bound]) -> dict[str, Any] | None:
    """Return the widest admitted part, None where no value could pass it; what it changes is added to ``bounds``."""
    found: list[Bound] = []
    made = _OF_TYPE[schema.type](schema, pointer, found)
    if made is not None:
        bounds += found
    return made


def _object(schema: Schema, pointer: str, bounds: list[Bound]) -> dict[str, Any] | None:
    if not schema.closed:
        bounds.append(Bound(pointer, Change.CLOSED))
    properties: dict[str, Any] = {}
    for name, child in schema.properties.items():
        place = f"{pointer}/properties/{name}"
        made = _part(child, place, bounds)
        if made is not None:
            properties[name] = made
        elif name in schema.required:
            return None
        else:
            bounds.append(Bound(place, Change.DROPPED))
    required = {"required": list(schema.required)} if schema.required else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def _string(schema: Schema, pointer: str, bounds: list[Bound]) -> dict[str, Any] | None:
    longest = LENGTH_LIMIT if schema.longest is None else min(schema.longest, LENGTH_LIMIT)
    if schema.shortest > longest:
        return None
    if schema.enum is not None:
        texts = [text for text in schema.enum if isinstance(text, str) and schema.shortest <= len(text) <= longest]
        if any(isinstance(text, str) and len(text) > LENGTH_LIMIT for text in schema.enum):
            bounds.append(Bound(pointer, Change.FEWER))
        return _listed(texts, {"maxLength": max(map(len, texts), default=0)}, schema, pointer, bounds)
    if schema.longest is None or schema.longest > LENGTH_LIMIT:
        bounds.append(Bound(pointer, Change.LENGTH))
    shortest = {"minLength": schema.shortest} if schema.shortest else {}
    return {"type": "string", **shortest, "maxLength": longest}


def _number(schema: Schema, pointer: str, bounds: list[Bound]) -> dict[str, Any] | None:
    least = INTEGER_MINIMUM if schema.minimum is None else _whole(schema.minimum, decimal.ROUND_CEILING)
    most = INTEGER_MAXIMUM if schema.maximum is None else _whole(schema.maximum, decimal.ROUND_FLOOR)
    if least > most:
        return None
    if schema.enum is not None:
        numbers = [number for value in schema.enum for number in _integers(value) if least <= number <= most]
        if any(isinstance(value, msgspec.Raw) and not _integers(value) for value in schema.enum):
            bounds.append(Bound(pointer, Change.FEWER))
        ends = {"minimum": min(numbers, default=0), "maximum": max(numbers, default=0)}
        return _listed(numbers, ends, schema, pointer, bounds)
    if schema.type == "number":
        bounds.append(Bound(pointer, Change.INTEGER))
    if not _within(schema.minimum) or not _within(schema.maximum):
        bounds.append(Bound(pointer, Change.RANGE))
    return {"type": "integer", "minimum": least, "maximum": most}


def _boolean(schema: Schema, pointer: str, bounds: list[Bound]) -> dict[str, Any] | None:
    if schema.enum is None:
        return {"type": "boolean"}
    return _listed([value for value in schema.enum if isinstance(value, bool)], {}, schema, pointer, bounds)


def _array(schema: Schema, pointer: str, bounds: list[Bound]) -> dict[str, Any] | None:
    longest = ITEM_LIMIT if schema.longest is None else min(schema.longest, ITEM_LIMIT)
    if schema.shortest > longest:
        return None
    assert schema.items is not None
    items = _part(schema.items, f"{pointer}/items", bounds)
    if items is None:
        if schema.shortest:
            return None
        bounds.append(Bound(f"{pointer}/items", Change.DROPPED))
        return {"type": "array", "maxItems": 0, "items": {"type": "boolean"}}
    if schema.longest is None or schema.longest > ITEM_LIMIT:
        bounds.append(Bound(pointer, Change.ITEMS))
    shortest = {"minItems": schema.shortest} if schema.shortest else {}
    return {"type": "array", **shortest, "maxItems": longest, "items": items}


def _listed(
    values: list[Any], ends: dict[str, Any], schema: Schema, pointer: str, bounds: list[Bound]
) -> dict[str, Any] | None:
    """Return a part that admits the values, by themselves where they are few enough, else by their ends."""
    if not values:
        return None
    kind = "integer" if schema.type == "number" else schema.type
    different = list(dict.fromkeys(values))
    if len(different) > CHOICE_LIMIT:
        bounds.append(Bound(pointer, Change.CHOICES))
        return {"type": kind, **ends}
    return {"type": kind, **ends, "enum": different}


_LEAST: Final = msgspec.Raw(str(INTEGER_MINIMUM).encode())
_MOST: Final = msgspec.Raw(str(INTEGER_MAXIMUM).encode())


def _whole(bound: msgspec.Raw, rounding: str) -> int:
    """Return the integer next to a bound, upwards or downwards; one past the 64-bit integers when the bound is."""
    if less(bound, _LEAST):
        return INTEGER_MINIMUM - (rounding == decimal.ROUND_FLOOR)
    if less(_MOST, bound):
        return INTEGER_MAXIMUM + (rounding == decimal.ROUND_CEILING)
    return int(decimal.Decimal(bytes(bound).decode()).to_integral_value(rounding))


def _within(bound: msgspec.Raw | None) -> bool:
    return bound is not None and not less(bound, _LEAST) and not less(_MOST, bound)


def _integers(value: Any) -> list[int]:
    """Return the integer that a value of an ``enum`` is, in whichever spelling; nothing for any other value."""
    if not isinstance(value, msgspec.Raw) or not _within(value):
        return []
    number = _whole(value, decimal.ROUND_FLOOR)
    return [number] if equal(value, msgspec.Raw(str(number).encode())) else []


_OF_TYPE: Final[dict[str, Callable[[Schema, str, list[Bound]], dict[str, Any] | None]]] = {
    "object": _object,
    "string": _string,
    "integer": _number,
    "number": _number,
    "boolean": _boolean,
    "array": _array,
}
