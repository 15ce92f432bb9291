"""Exact comparison of JSON numbers by their spelling, and the two limits that bind the numbers of an expectation."""

import math
import re
from typing import Final, NamedTuple

import msgspec

from protocol.values.document import INTEGER_LIMIT

__all__ = ["Decimal", "admitted", "decimal", "equal", "less", "within_limits"]

#: Limits of a number that is compared: digits of the mantissa, bytes in all, and exponent digits that count.
MANTISSA_LIMIT: Final = 1000
BYTE_LIMIT: Final = 1024
EXPONENT_LIMIT: Final = 6
# Python refuses to read longer integers; an exponent of that length compares by its spelling.
_READABLE_EXPONENT: Final = 4000

# No part gives back what it took, so that text which is nearly a number is refused in linear time.
_NUMBER: Final = re.compile(rb"(-?)(0|[1-9][0-9]*+)(?:\.([0-9]++))?(?:[eE]([+-]?)(?=[0-9])0*+([0-9]*+))?\Z")


class Decimal(NamedTuple):
    """A number in the one form that all its spellings share: no zero at either end of ``digits``, none for zero.

    The value is 0.DIGITS times ten to the ``exponent``. The exponent is text when it is too long to read.
    """

    negative: bool
    digits: bytes
    exponent: int | str


def decimal(spelling: bytes) -> Decimal | None:
    """Return the normal form of a JSON number (RFC 8259, section 6), or None when it is none. Linear in its size."""
    match = _NUMBER.match(spelling)
    if match is None:
        return None
    sign, whole, fraction, direction, power = match.groups(default=b"")
    digits = (whole + fraction).lstrip(b"0")
    if not digits:
        return Decimal(False, b"", 0)
    # Leading zeros that were stripped move the point; so does the length of the whole part.
    point = len(whole) - (len(whole) + len(fraction) - len(digits))
    exponent: int | str
    if len(power) > _READABLE_EXPONENT:
        exponent = f"{direction.decode()}{power.decode()}{point:+d}"
    else:
        exponent = point + int(direction + (power or b"0"))
    return Decimal(sign == b"-", digits.rstrip(b"0"), exponent)


def equal(left: msgspec.Raw, right: msgspec.Raw) -> bool:
    """Tell whether two JSON numbers are the same number, exactly: ``1.10`` is ``1.1``, ``1e-400`` is not ``0``."""
    ours, theirs = bytes(left), bytes(right)
    return ours == theirs or decimal(ours) == decimal(theirs)


def less(left: msgspec.Raw, right: msgspec.Raw) -> bool:
    """Tell whether one JSON number is less than another, exactly. Both have to be within the limits."""
    ours, theirs = _signed(left), _signed(right)
    if ours.negative != theirs.negative:
        return ours.negative
    return _magnitude(theirs) < _magnitude(ours) if ours.negative else _magnitude(ours) < _magnitude(theirs)


def _signed(number: msgspec.Raw) -> Decimal:
    found = decimal(bytes(number))
    assert found is not None
    return found


def _magnitude(number: Decimal) -> tuple[bool, int, bytes]:
    """Order numbers without their sign: by their exponent, then as the text of their digits. Zero comes first."""
    assert isinstance(number.exponent, int)
    return bool(number.digits), number.exponent, number.digits


def within_limits(number: msgspec.Raw) -> bool:
    """Tell whether a number may be compared: at most 1,000 mantissa digits, 1,024 bytes, and six exponent digits.

    Exponent digits count after the sign and leading zeros.
    """
    spelling = bytes(number)
    if len(spelling) > BYTE_LIMIT:
        return False
    match = _NUMBER.match(spelling)
    if match is None:
        return False
    _, whole, fraction, _, power = match.groups(default=b"")
    return len(whole) + len(fraction) <= MANTISSA_LIMIT and len(power) <= EXPONENT_LIMIT


def admitted(number: msgspec.Raw) -> bool:
    """Tell whether a number may be an operand: parsed as a double it is finite and at most 2**53 - 1 in magnitude.

    Rounding and underflow are allowed: ``1e-400`` and ``9007199254740991.4`` are admitted.
    """
    double = float(bytes(number))
    return math.isfinite(double) and abs(double) <= INTEGER_LIMIT
