"""The shape of a table of binding fields, and the JSON Schema that a description makes of one.

It is on the path of ``plugin --describe``. ``protocol.wire.configuration`` reads values by such a table.
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

__all__ = ["PRIVATE_MINIMUM", "Field", "Range", "choice", "number", "object_schema", "switch", "table"]

#: A private value under this many characters is refused: redacting it would shred every reply.
PRIVATE_MINIMUM: Final = 4


class Range(NamedTuple):
    """The default and both ends of a number field."""

    default: int
    least: int
    most: int


class Field(NamedTuple):
    """One field of a binding. ``range`` is set for numbers, which may also be written as decimal strings."""

    name: str
    meaning: str
    schema: dict[str, Any]
    private: bool = False
    required: bool = False
    range: Range | None = None


def number(name: str, meaning: str, bounds: Range) -> Field:
    """An integer, or the string of one."""
    schema = {
        "type": ["integer", "string"],
        "minimum": bounds.least,
        "maximum": bounds.most,
        "pattern": "^(0|[1-9][0-9]{0,9})$",
        "default": bounds.default,
    }
    return Field(name, meaning, schema, range=bounds)


def switch(name: str, meaning: str) -> Field:
    """True or false, or the string of one; false by default."""
    schema = {"type": ["boolean", "string"], "enum": [True, False, "true", "false"], "default": False}
    return Field(name, meaning, schema)


def choice(name: str, meaning: str, *choices: str) -> Field:
    """One of several words; the first is the default."""
    return Field(name, meaning, {"enum": list(choices), "default": choices[0]})


def table(*fields: Field) -> dict[str, Field]:
    """Every field by its name."""
    return {field.name: field for field in fields}


def object_schema(fields: Mapping[str, Field]) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of an object of these fields; private ones carry ``writeOnly``."""
    properties = {}
    for field in fields.values():
        properties[field.name] = {"description": field.meaning, **field.schema}
        if field.private:
            properties[field.name]["writeOnly"] = True
    return {
        "type": "object",
        "properties": properties,
        "required": [field.name for field in fields.values() if field.required],
        "additionalProperties": False,
    }
