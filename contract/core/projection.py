"""What a route may disclose of a result: a few typed fields, all of them or none."""

from collections.abc import Callable
from enum import StrEnum, unique
from typing import Any, Final, NamedTuple

from contract.core.identifier import is_identifier
from contract.core.members import integer, members
from contract.core.refusal import Refusal, Refused
from protocol.values.document import INTEGER_LIMIT, Document, encode

__all__ = [
    "FIELD_LIMIT",
    "OUTPUT_LIMIT",
    "TOKEN_LIMIT",
    "VALUE_LIMIT",
    "Disclosure",
    "Field",
    "Projected",
    "Projection",
    "project",
    "read_projection",
]

#: Fields of a projection, tokens of a status, and characters of a token: what a person can review at a glance.
FIELD_LIMIT: Final = 8
VALUE_LIMIT: Final = 16
TOKEN_LIMIT: Final = 32
#: Bytes of what is disclosed, as compact JSON. The limits above keep below it; it holds should one of them grow.
OUTPUT_LIMIT: Final = 1024


class Field(NamedTuple):
    """One member of ``structuredContent``, by the name under which it is disclosed.

    ``values`` are the tokens of a status; without any it is an integer from 1 to ``maximum``.
    """

    source: str
    name: str
    maximum: int
    values: frozenset[str]


class Projection(NamedTuple):
    """The fields, in the order in which they are disclosed."""

    fields: tuple[Field, ...]


@unique
class Disclosure(StrEnum):
    """What became of a result: disclosed, or withheld and why."""

    PROJECTED = "projected"
    INVALID = "withheld_invalid_projection"
    TOOL_ERROR = "withheld_tool_error"


class Projected(NamedTuple):
    """The values by their names; None when they are withheld."""

    disclosure: Disclosure
    output: dict[str, Any] | None = None


def read_projection(value: Any) -> Projection:
    """Read an ``output_projection``, or raise Refused with the rule that it breaks."""
    entries = members(value, {"fields"}, set(), Refusal.PROJECTION_FIELDS)["fields"]
    if not isinstance(entries, list) or not 1 <= len(entries) <= FIELD_LIMIT:
        raise Refused(Refusal.PROJECTION_FIELDS)
    fields = tuple(map(_field, entries))
    if len({field.source for field in fields}) < len(fields) or len({field.name for field in fields}) < len(fields):
        raise Refused(Refusal.PROJECTION_REPEATED)
    return Projection(fields)


def _field(value: Any) -> Field:
    field = members(value, {"source", "name", "value_type"}, set(), Refusal.PROJECTION_MEMBERS)
    if not is_identifier(field["source"]) or not is_identifier(field["name"]):
        raise Refused(Refusal.PROJECTION_IDENTIFIER)
    typed = field["value_type"]
    kind = typed.get("kind") if isinstance(typed, dict) else None
    if not isinstance(kind, str) or kind not in _KINDS:
        raise Refused(Refusal.PROJECTION_TYPE)
    member, read = _KINDS[kind]
    maximum, values = read(members(typed, {"kind", member}, set(), Refusal.PROJECTION_TYPE)[member])
    return Field(field["source"], field["name"], maximum, values)


def _maximum(value: Any) -> tuple[int, frozenset[str]]:
    number = integer(value, 1, INTEGER_LIMIT)
    if number is None:
        raise Refused(Refusal.PROJECTION_MAXIMUM)
    return number, frozenset()


def _values(value: Any) -> tuple[int, frozenset[str]]:
    if (
        not isinstance(value, list)
        or not 1 <= len(value) <= VALUE_LIMIT
        or not all(is_identifier(token, TOKEN_LIMIT) for token in value)
        or len(set(value)) < len(value)
    ):
        raise Refused(Refusal.PROJECTION_VALUES)
    return 0, frozenset(value)


_KINDS: Final[dict[str, tuple[str, Callable[[Any], tuple[int, frozenset[str]]]]]] = {
    "integer_id": ("maximum", _maximum),
    "status": ("values", _values),
}


def project(projection: Projection, result: Document) -> Projected:
    """Take the fields out of the result of ``tools/call``, or withhold every one of them.

    Only members of the top level of ``structuredContent`` are looked at, never text, and never those of a result with
    ``isError``. A member that is missing, of another type, out of its range or repeated withholds all; members that are
    not selected are ignored. Raises nothing.
    """
    value = result.value
    if result.repeated or not isinstance(value, dict) or not isinstance(value.get("isError", False), bool):
        return Projected(Disclosure.INVALID)
    if value.get("isError", False):
        return Projected(Disclosure.TOOL_ERROR)
    content = value.get("structuredContent")
    if not isinstance(content, dict) or not all(_fits(field, content.get(field.source)) for field in projection.fields):
        return Projected(Disclosure.INVALID)
    output = {field.name: content[field.source] for field in projection.fields}
    if len(encode(output)) > OUTPUT_LIMIT:
        return Projected(Disclosure.INVALID)
    return Projected(Disclosure.PROJECTED, output)


def _fits(field: Field, value: Any) -> bool:
    if field.values:
        return isinstance(value, str) and value in field.values
    return integer(value, 1, field.maximum) is not None
