"""A call that a caller submits, and whether its arguments are admitted."""

from typing import Any, NamedTuple

import msgspec

from contract.core.document import CALL, read_document
from contract.core.members import integer, members
from contract.core.refusal import Refusal, Refused
from contract.core.route import Route
from contract.core.validation import is_valid

__all__ = ["Call", "check_arguments", "read_call"]


class Call(NamedTuple):
    """The alias of a route, the arguments, and the bytes that both had as they were submitted."""

    route: str
    arguments: dict[str, Any]
    size: int


def read_call(data: bytes) -> Call:
    """Read the bytes of a call, at most 64 KiB, or raise Refused: only ``route`` and ``arguments`` can be given."""
    call = members(read_document(CALL, data), {"route", "arguments"}, set(), Refusal.CALL_MEMBERS)
    if not isinstance(call["route"], str) or not isinstance(call["arguments"], dict):
        raise Refused(Refusal.CALL_MEMBERS)
    return Call(call["route"], call["arguments"], len(data))


def check_arguments(route: Route, arguments: dict[str, Any]) -> Refusal | None:
    """Say why a route does not admit arguments: their numbers, its admitted schema, or the tool's own; else None.

    :func:`contract.core.validation.violations` tells where. Numbers are ``msgspec.Raw``.
    """
    if not _integers_only(arguments):
        return Refusal.ARGUMENTS_NUMBER
    if not is_valid(route.admitted, arguments):
        return Refusal.ARGUMENTS_NOT_ADMITTED
    if not is_valid(route.upstream, arguments):
        return Refusal.ARGUMENTS_NOT_UPSTREAM
    return None


def _integers_only(value: Any) -> bool:
    """Tell whether every number is a 64-bit integer in integer spelling, wherever it stands. Does not recurse."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, msgspec.Raw) and integer(value) is None:
            return False
    return True
