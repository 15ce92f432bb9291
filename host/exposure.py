"""Refuses a flow whose text, or inputs, hold a private value: the flow is kept as evidence and shared as written."""

from collections.abc import Iterable, Mapping
from typing import Final

from host.problems import LINE_END, Problem
from protocol.values.leaks import LeakScanner

__all__ = ["exposed_inputs", "exposed_text"]

#: Lines that are named one by one; a flow full of them needs no longer list.
NAMED_LINES: Final = 20
_ADVICE: Final = (
    "Take it out; private values stand in the bindings file only. Treat it as exposed if the flow was shared."
)


def exposed_text(text: str, private: Iterable[str]) -> tuple[Problem, ...]:
    """Return a problem for each line that holds a private value of 8 bytes or more, in any form that is scanned for.

    A value that only shows across lines is a problem of the file as a whole. Neither value nor line is quoted.
    """
    scanner = LeakScanner(private)
    if not scanner.find(text.encode()):
        return ()
    lines = [number for number, line in enumerate(LINE_END.split(text), 1) if scanner.find(line.encode())]
    message = "This line holds a private value of a binding."
    if not lines:
        return (Problem(0, 0, 0, "The flow holds a private value of a binding, across lines.", _ADVICE),)
    return tuple(Problem(line, 1, 0, message, _ADVICE) for line in lines[:NAMED_LINES])


def exposed_inputs(values: Mapping[str, str], private: Iterable[str]) -> tuple[Problem, ...]:
    """Return a problem for each input whose value holds a private value of 8 bytes or more."""
    scanner = LeakScanner(private)
    return tuple(
        Problem(
            0, 0, 0, f"The input `{name}` holds a private value of a binding.", "Inputs are public: give another value."
        )
        for name, value in values.items()
        if scanner.find(value.encode())
    )
