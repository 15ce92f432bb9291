"""Objects with a closed set of members, and integers in their one spelling."""

import re
from collections.abc import Set
from typing import Any, Final

import msgspec

from contract.core.refusal import Refusal, Refused

__all__ = ["INTEGER_MAXIMUM", "INTEGER_MINIMUM", "integer", "members"]

#: A signed 64-bit integer: what every implementation of the other side can hold exactly.
INTEGER_MINIMUM: Final = -(2**63)
INTEGER_MAXIMUM: Final = 2**63 - 1

# `-0` is left out: one number has one spelling, so that one call has one digest. 19 digits hold 2**63.
_INTEGER: Final = re.compile(rb"(?:0|-?[1-9][0-9]{0,18})\Z")


def members(value: Any, required: Set[str], optional: Set[str], refusal: Refusal) -> dict[str, Any]:
    """Return an object that has every required member and otherwise optional ones only. Raises Refused."""
    if not isinstance(value, dict) or not required <= value.keys() <= required | optional:
        raise Refused(refusal)
    return value


def integer(value: Any, minimum: int = INTEGER_MINIMUM, maximum: int = INTEGER_MAXIMUM) -> int | None:
    """Return the number that an integer-spelled ``msgspec.Raw`` stands for, when it lies in the range; else None.

    A fraction, an exponent and ``-0`` are no integer's spelling, whatever number they stand for.
    """
    if not isinstance(value, msgspec.Raw):
        return None
    spelling = bytes(value)
    if not _INTEGER.match(spelling):
        return None
    number = int(spelling)
    return number if minimum <= number <= maximum else None
