"""One thing that is true of a server, or wrong with it: the rows of `assay doctor` and of its document."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

__all__ = ["Check", "Status", "document", "listed", "ok", "plural", "problem", "skipped", "warning"]

Status: TypeAlias = Literal["ok", "warning", "problem", "skipped"]

#: Names that a message lists; the facts have more of them.
_LISTED = 5


class Check(NamedTuple):
    """``id`` is fixed and documented, ``help`` says what to do (empty when there is nothing to do)."""

    id: str
    status: Status
    message: str
    help: str = ""
    facts: Mapping[str, Any] = MappingProxyType({})


def ok(identity: str, message: str, advice: str = "", facts: Mapping[str, Any] = MappingProxyType({})) -> Check:
    return Check(identity, "ok", message, advice, facts)


def warning(identity: str, message: str, advice: str, facts: Mapping[str, Any] = MappingProxyType({})) -> Check:
    return Check(identity, "warning", message, advice, facts)


def problem(identity: str, message: str, advice: str, facts: Mapping[str, Any] = MappingProxyType({})) -> Check:
    return Check(identity, "problem", message, advice, facts)


def skipped(identity: str, message: str, facts: Mapping[str, Any] = MappingProxyType({})) -> Check:
    return Check(identity, "skipped", message, "", facts)


def document(checks: Sequence[Check]) -> dict[str, Any]:
    """Return the document `assay-doctor/1` (docs/doctor.schema.json)."""
    return {"format": "assay-doctor/1", "checks": [{**check._asdict(), "facts": dict(check.facts)} for check in checks]}


def plural(count: int, one: str, many: str) -> str:
    """`1 tool`, `2 tools`."""
    return f"{count} {one if count == 1 else many}"


def listed(names: Sequence[str]) -> str:
    """Some names for a message, and how many more there are."""
    shown = ", ".join(f"`{name}`" for name in names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED} more"
