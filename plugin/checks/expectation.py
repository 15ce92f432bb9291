"""Reads an `expect` object strictly: only known keys, only operands that can be checked, nothing that cannot fail."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from plugin.checks.assertions import read_assertion
from plugin.checks.texts import has_terminal_control, strings
from plugin.expectations import (
    ANNOTATIONS,
    ASSERTIONS_LIMIT,
    COUNT_LIMIT,
    EXPECT_EXCLUSIONS,
    NAMES_LIMIT,
    NUMBER_LIMIT,
    STATUS_RANGE,
    TEXTS_LIMIT,
)
from protocol.failures import Code, Failed
from protocol.values.document import canonical, integer

__all__ = ["Expect", "read_expect"]

#: A read `expect`: integers are ints, `json` is a tuple of Assertion, lists are tuples.
Expect = dict[str, Any]


def read_expect(value: Any, keys: tuple[str, ...]) -> Expect:
    """Read the parsed value of `expect` for a command that accepts ``keys``.

    Raises Failed (`invalid_expectation`), naming the place and quoting no operand: an unknown key, an operand of the
    wrong form, an expectation that cannot fail or can never hold, keys that exclude each other, or a terminal control
    in an operand.
    """
    if not isinstance(value, dict) or not value:
        raise _invalid("expect", "is an object with at least one key; leave it out if nothing is to be checked")
    for key in value:
        if key not in keys:
            raise _invalid("expect", f"has a key `{key}`; this command accepts {_listed(keys)}")
    for text in strings(value):
        if has_terminal_control(text):
            raise _invalid("expect", "holds a terminal control; those are stripped from replies and cannot be matched")
    for key, others in EXPECT_EXCLUSIONS.items():
        for other in others:
            if key in value and other in value:
                raise _invalid("expect", f"has `{key}` beside `{other}`: a JSON-RPC error has no tool result")
    read = {key: _READERS[key](operand, f"expect.{key}") for key, operand in value.items()}
    _refuse_contradictions(read)
    return read


def _refuse_contradictions(read: Expect) -> None:
    for key in ("present", "only"):
        if not set(read.get(key, ())).isdisjoint(read.get("absent", ())):
            raise _invalid("expect.absent", f"holds a name of `{key}`, so the two can never hold together")
    if "only" in read and not set(read.get("present", ())) <= set(read["only"]):
        raise _invalid("expect.present", "holds a name that `only` does not, so the two can never hold together")
    if any(text in included for text in read.get("textExcludes", ()) for included in read.get("textIncludes", ())):
        raise _invalid("expect.textExcludes", "holds a part of `textIncludes`, so the two can never hold together")


def _invalid(where: str, rule: str) -> Failed:
    return Failed(Code.INVALID_EXPECTATION, f"`{where}` {rule}.", where=where)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _list(value: Any, where: str, least: int, most: int) -> list[Any]:
    if not isinstance(value, list) or not least <= len(value) <= most:
        counts = f"{least} to {most} entries" if least else f"at most {most} entries"
        empty = "; an empty list could never fail" if least and value == [] else ""
        raise _invalid(where, f"takes a list of {counts}{empty}")
    if len({canonical(entry) for entry in value}) != len(value):
        raise _invalid(where, "repeats an entry")
    return value


def _strings(value: Any, where: str, least: int, most: int) -> tuple[str, ...]:
    entries = _list(value, where, least, most)
    if not all(isinstance(entry, str) for entry in entries):
        raise _invalid(where, "takes strings only")
    return tuple(entries)


def _names(value: Any, where: str) -> tuple[str, ...]:
    return _strings(value, where, 1, NAMES_LIMIT)


def _exact_names(value: Any, where: str) -> tuple[str, ...]:
    return _strings(value, where, 0, NAMES_LIMIT)


def _texts(value: Any, where: str) -> tuple[str, ...]:
    texts = _strings(value, where, 1, TEXTS_LIMIT)
    if "" in texts:
        raise _invalid(where, "holds an empty string, which every text includes")
    return texts


def _annotations(value: Any, where: str) -> tuple[str, ...]:
    names = _strings(value, where, 1, len(ANNOTATIONS))
    if not set(names) <= set(ANNOTATIONS):
        raise _invalid(where, f"takes names among {_listed(ANNOTATIONS)}")
    return names


def _boolean(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise _invalid(where, "takes true or false")
    return value


def _within(least: int, most: int) -> Callable[[Any, str], int]:
    def read(value: Any, where: str) -> int:
        number = integer(value)
        if number is None or not least <= number <= most:
            raise _invalid(where, f"takes an integer from {least} to {most}, written without point or exponent")
        return number

    return read


def _assertions(value: Any, where: str) -> tuple[Any, ...]:
    entries = _list(value, where, 1, ASSERTIONS_LIMIT)
    return tuple(read_assertion(entry, f"{where}[{index}]") for index, entry in enumerate(entries))


_READERS: Final[dict[str, Callable[[Any, str], Any]]] = {
    "present": _names,
    "absent": _names,
    "only": _exact_names,
    "count": _within(0, COUNT_LIMIT),
    "noTrueAnnotations": _annotations,
    "rpcError": _within(-NUMBER_LIMIT, NUMBER_LIMIT),
    "isError": _boolean,
    "textIncludes": _texts,
    "textExcludes": _texts,
    "redacted": _boolean,
    "json": _assertions,
    "status": _within(*STATUS_RANGE),
}
