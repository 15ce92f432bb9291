"""The upstream subset: what a tool may advertise as its ``inputSchema`` to be pinned exactly as it is."""

from typing import Any, Final

import msgspec

from contract.core.admitted_schema import ADMITTED
from contract.core.members import INTEGER_MAXIMUM
from contract.core.refusal import Refusal, Refused
from contract.core.schema import Schema, Subset, read_schema, refusals_of
from protocol.values.numbers import within_limits

__all__ = ["ANNOTATION_LIMIT", "CHOICE_LIMIT", "read_upstream"]

#: Bytes of a title or description in UTF-8: a page, and far less than the schema may have.
ANNOTATION_LIMIT: Final = 4 * 1024
#: Values of an ``enum``. They may be of any scalar type: what a server advertises need not be tidy.
CHOICE_LIMIT: Final = 128

_ANNOTATIONS: Final = frozenset({"title", "description"})


def read_upstream(value: Any) -> Schema:
    """Read an upstream schema, or raise Refused with the rule that puts it outside the subset."""
    return read_schema(value, UPSTREAM)


def _is_choice(_kind: str, value: Any) -> bool:
    return isinstance(value, bool | str) or _is_bound(value)


def _is_bound(value: Any) -> bool:
    return isinstance(value, msgspec.Raw) and within_limits(value)


def _check(value: dict[str, Any], _schema: Schema) -> None:
    for name in value.keys() & _ANNOTATIONS:
        text = value[name]
        if not isinstance(text, str) or len(text.encode()) > ANNOTATION_LIMIT:
            raise Refused(Refusal.UPSTREAM_ANNOTATION)


#: The rules, as a table: the admitted types and ``number``, with annotations, and without most of the bounds.
UPSTREAM: Final = Subset(
    keywords={
        kind: keywords | _ANNOTATIONS
        for kind, keywords in {**ADMITTED.keywords, "number": ADMITTED.keywords["integer"]}.items()
    },
    mandatory={
        "object": frozenset({"properties"}),
        "string": frozenset(),
        "integer": frozenset(),
        "number": frozenset(),
        "boolean": frozenset(),
        "array": frozenset({"items"}),
    },
    openness=(False, True),
    longest=INTEGER_MAXIMUM,
    most=INTEGER_MAXIMUM,
    choices=CHOICE_LIMIT,
    is_choice=_is_choice,
    is_bound=_is_bound,
    check=_check,
    refusals=refusals_of("upstream"),
)
