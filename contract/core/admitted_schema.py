"""The admitted subset: the finite arguments that a caller may submit. Everything in it has an upper bound."""

from typing import Any, Final

from contract.core.members import integer
from contract.core.refusal import Refusal, Refused
from contract.core.schema import Schema, Subset, read_schema, refusals_of

__all__ = ["CHOICE_LIMIT", "ITEM_LIMIT", "LENGTH_LIMIT", "read_admitted"]

#: Largest ``maxLength``, in code points: a page of text, which a person can still read before saying yes.
LENGTH_LIMIT: Final = 4096
#: Largest ``maxItems``.
ITEM_LIMIT: Final = 256
#: Values of an ``enum``.
CHOICE_LIMIT: Final = 64


def read_admitted(value: Any, *, sized: bool = True) -> Schema:
    """Read an admitted schema, or raise Refused with the rule that it breaks.

    ``sized``: hold its canonical form to 64 KiB, as version 2 of a registry does.
    """
    return read_schema(value, ADMITTED, sized=sized)


def _is_choice(kind: str, value: Any) -> bool:
    if kind == "integer":
        return integer(value) is not None
    return isinstance(value, bool if kind == "boolean" else str)


def _is_bound(value: Any) -> bool:
    return integer(value) is not None


def _check(_value: dict[str, Any], schema: Schema) -> None:
    """Refuse bounds that contradict each other: no argument could ever pass them, which nobody means."""
    if schema.longest is not None and schema.shortest > schema.longest:
        raise Refused(Refusal.ADMITTED_LENGTH if schema.type == "string" else Refusal.ADMITTED_ITEMS)
    minimum, maximum = integer(schema.minimum), integer(schema.maximum)
    if minimum is not None and maximum is not None and minimum > maximum:
        raise Refused(Refusal.ADMITTED_RANGE)


_KEYWORDS: Final = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "string": frozenset({"minLength", "maxLength", "enum"}),
    "integer": frozenset({"minimum", "maximum", "enum"}),
    "boolean": frozenset({"enum"}),
    "array": frozenset({"items", "minItems", "maxItems"}),
}

#: The rules, as a table.
ADMITTED: Final = Subset(
    keywords=_KEYWORDS,
    mandatory={
        "object": frozenset({"properties", "additionalProperties"}),
        "string": frozenset({"maxLength"}),
        "integer": frozenset({"minimum", "maximum"}),
        "boolean": frozenset(),
        "array": frozenset({"items", "maxItems"}),
    },
    openness=(False,),
    longest=LENGTH_LIMIT,
    most=ITEM_LIMIT,
    choices=CHOICE_LIMIT,
    is_choice=_is_choice,
    is_bound=_is_bound,
    check=_check,
    refusals=refusals_of("admitted"),
)
