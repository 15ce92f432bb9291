"""The `json` expectation: assertions on a value by JSON Pointer, read strictly and evaluated exactly."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from plugin.expectations import ASSERTION_COUNT_LIMIT, OPERATORS, TYPE_NAMES
from protocol.failures import Code, Failed
from protocol.values.document import Members, integer
from protocol.values.numbers import admitted, equal, within_limits
from protocol.values.pointer import MISSING, PointerError, parse_pointer, resolve

__all__ = ["SOURCE_UNAVAILABLE", "Assertion", "evaluate", "read_assertion", "type_name"]

#: The reason of every assertion when the reply holds no JSON to look at.
SOURCE_UNAVAILABLE: Final = "source-unavailable"


class Assertion(NamedTuple):
    """One assertion: exactly one operator on the value that a pointer leads to."""

    pointer: str
    tokens: tuple[str, ...]
    operator: str
    operand: Any


_PRESENCE: Final = {True: "present", False: "missing"}


def type_name(value: Any) -> str:
    """Return the JSON type of a value: one of ``plugin.expectations.TYPE_NAMES``."""
    for kind, name in _TYPE_NAMES:
        if isinstance(value, kind):
            return name
    return "null"


_TYPE_NAMES: Final[tuple[tuple[Any, str], ...]] = (
    (str, "string"),
    (bool, "boolean"),
    (msgspec.Raw, "number"),
    (list, "array"),
    (dict | Members, "object"),
)


def read_assertion(value: Any, where: str) -> Assertion:
    """Read one entry of `json`. Raises Failed (`invalid_expectation`) that names ``where`` and quotes no operand."""
    if not isinstance(value, dict) or not isinstance(value.get("pointer"), str):
        raise _invalid(where, "needs a string `pointer`")
    operators = [name for name in value if name != "pointer"]
    if len(operators) != 1 or operators[0] not in OPERATORS:
        raise _invalid(where, f"takes `pointer` and exactly one of {', '.join(f'`{name}`' for name in OPERATORS)}")
    (operator,) = operators
    try:
        tokens = parse_pointer(value["pointer"])
    except PointerError as error:
        raise _invalid(f"{where}.pointer", f"is not usable: {error.reason}") from None
    return Assertion(value["pointer"], tokens, operator, _OPERANDS[operator](value[operator], f"{where}.{operator}"))


def _invalid(where: str, rule: str) -> Failed:
    return Failed(Code.INVALID_EXPECTATION, f"`{where}` {rule}.", where=where)


def _exists_operand(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise _invalid(where, "takes true or false")
    return value


def _equals_operand(value: Any, where: str) -> Any:
    if isinstance(value, list | dict):
        raise _invalid(where, "takes a string, number, boolean or null; reach into arrays and objects by `pointer`")
    if isinstance(value, msgspec.Raw):
        # The first limit also keeps the second one's parsing short.
        if not within_limits(value):
            raise _invalid(where, "takes numbers of at most 1,000 mantissa digits, 1,024 bytes and six exponent digits")
        if not admitted(value):
            raise _invalid(where, "takes finite numbers of at most 9007199254740991 in magnitude")
    return value


def _type_operand(value: Any, where: str) -> str:
    if not isinstance(value, str) or value not in TYPE_NAMES:
        raise _invalid(where, f"takes one of {', '.join(f'`{name}`' for name in TYPE_NAMES)}")
    return value


def _count_operand(value: Any, where: str) -> int:
    number = integer(value)
    if number is None or not 0 <= number <= ASSERTION_COUNT_LIMIT:
        raise _invalid(where, f"takes an integer from 0 to {ASSERTION_COUNT_LIMIT}, written without point or exponent")
    return number


def _includes_operand(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise _invalid(where, "takes a string")
    return value


_OPERANDS: Final[dict[str, Callable[[Any, str], Any]]] = {
    "exists": _exists_operand,
    "equals": _equals_operand,
    "type": _type_operand,
    "count": _count_operand,
    "includes": _includes_operand,
}


def evaluate(assertion: Assertion, source: Any, is_private: Callable[[str], bool]) -> str | None:
    """Return None when the assertion holds on ``source``, else its fixed reason, which shows neither value.

    ``source`` is the unredacted value, or MISSING when there is none. ``is_private`` tells whether a string holds a
    private value or a terminal control: such a target satisfies neither `equals` nor `includes`.
    """
    if source is MISSING:
        return SOURCE_UNAVAILABLE
    target = resolve(source, assertion.tokens)
    if assertion.operator == "exists":
        return None if (target is not MISSING) == assertion.operand else _PRESENCE[target is not MISSING]
    if target is MISSING:
        return _PRESENCE[False]
    return _EVALUATORS[assertion.operator](target, assertion.operand, is_private)


def _equals(target: Any, operand: Any, is_private: Callable[[str], bool]) -> str | None:
    if type_name(target) != type_name(operand):
        return "type-mismatch"
    if isinstance(target, str) and is_private(target):
        return "private-target"
    if isinstance(target, msgspec.Raw):
        if not within_limits(target):
            return "number-limits"
        return None if equal(target, operand) else "not-equal"
    return None if target == operand else "not-equal"


def _type(target: Any, operand: Any, _is_private: Callable[[str], bool]) -> str | None:
    return None if type_name(target) == operand else "type-mismatch"


def _count(target: Any, operand: Any, _is_private: Callable[[str], bool]) -> str | None:
    if not isinstance(target, list | dict):
        return "not-countable"
    return None if len(target) == operand else "count-mismatch"


def _includes(target: Any, operand: Any, is_private: Callable[[str], bool]) -> str | None:
    if not isinstance(target, str):
        return "not-a-string"
    if is_private(target):
        return "private-target"
    return None if operand in target else "not-included"


_EVALUATORS: Final[dict[str, Callable[[Any, Any, Callable[[str], bool]], str | None]]] = {
    "equals": _equals,
    "type": _type,
    "count": _count,
    "includes": _includes,
}
