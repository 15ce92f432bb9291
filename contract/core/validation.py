"""Validates arguments against a schema of either subset, as JSON Schema 2020-12 does for what both know."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from contract.core.members import integer
from contract.core.schema import Schema, choice
from protocol.values.numbers import less, within_limits

__all__ = ["Violation", "is_valid", "violations"]


class Violation(NamedTuple):
    """Where a value breaks a schema (a JSON Pointer, RFC 6901) and which keyword it breaks. It holds no value.

    A pointer is made of properties that the schema names, and of array indexes.
    """

    pointer: str
    keyword: str


def violations(schema: Schema, value: Any) -> Iterator[Violation]:
    """Find what is wrong with a value, in the order of the schema; take as many as you need.

    The length of a string counts Unicode code points. An ``enum`` compares by type, numbers by their exact value
    (``1`` is ``1.0``), strings by code points. An integer is one of 64 bits in integer spelling. Numbers are
    ``msgspec.Raw``, as :func:`protocol.values.document.parse` gives them.
    """
    return _of(schema, value, "")


def is_valid(schema: Schema, value: Any) -> bool:
    """Tell whether a value breaks nothing of a schema."""
    return next(violations(schema, value), None) is None


def _of(schema: Schema, value: Any, pointer: str) -> Iterator[Violation]:
    if not _IS_TYPE[schema.type](value):
        yield Violation(pointer, "type")
        return
    if schema.choices is not None and choice(value) not in schema.choices:
        yield Violation(pointer, "enum")
    if schema.type == "object":
        yield from _of_object(schema, value, pointer)
    elif schema.type == "array":
        yield from _of_array(schema, value, pointer)
    elif schema.type == "string":
        yield from _of_size(schema, len(value), pointer, "minLength", "maxLength")
    elif schema.type != "boolean":
        yield from _of_number(schema, value, pointer)


def _of_object(schema: Schema, value: dict[str, Any], pointer: str) -> Iterator[Violation]:
    if not value.keys() >= set(schema.required):
        yield Violation(pointer, "required")
    if schema.closed and not value.keys() <= schema.properties.keys():
        yield Violation(pointer, "additionalProperties")
    for name, child in schema.properties.items():
        if name in value:
            yield from _of(child, value[name], f"{pointer}/{name}")


def _of_array(schema: Schema, value: list[Any], pointer: str) -> Iterator[Violation]:
    yield from _of_size(schema, len(value), pointer, "minItems", "maxItems")
    assert schema.items is not None
    for index, item in enumerate(value):
        yield from _of(schema.items, item, f"{pointer}/{index}")


def _of_size(schema: Schema, size: int, pointer: str, lower: str, upper: str) -> Iterator[Violation]:
    if size < schema.shortest:
        yield Violation(pointer, lower)
    if schema.longest is not None and size > schema.longest:
        yield Violation(pointer, upper)


def _of_number(schema: Schema, value: msgspec.Raw, pointer: str) -> Iterator[Violation]:
    if schema.minimum is not None and less(value, schema.minimum):
        yield Violation(pointer, "minimum")
    if schema.maximum is not None and less(schema.maximum, value):
        yield Violation(pointer, "maximum")


_IS_TYPE: Final = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: integer(value) is not None,
    # One that is too long to compare is refused like another type: its bounds could not be told.
    "number": lambda value: isinstance(value, msgspec.Raw) and within_limits(value),
}
