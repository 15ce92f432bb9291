"""The command line of a plugin executable: three flags, or the host wire on stdin and stdout."""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Program", "run"]


class Program(NamedTuple):
    """A plugin executable. ``describe``, ``version`` and ``serve`` import what they need, and only when called.

    ``name`` is how it is started, ``usage`` the text of `--help`, ``greeting`` what it says on a terminal.
    """

    name: str
    usage: str
    greeting: str
    describe: Callable[[], dict[str, Any]]
    version: Callable[[], str]
    serve: Callable[[], int]


def run(program: Program) -> int:
    """Run by ``sys.argv`` and return the exit status: 0, or 2 for a wrong command line."""
    match sys.argv[1:]:
        case []:
            return _serve(program)
        case ["--describe"]:
            return _print(_described(program))
        case ["--version"]:
            return _print(program.version() + "\n")
        case ["--help"]:
            return _print(program.usage)
        case [option]:
            return _refuse(f"{program.name}: {option!r} is not an option; `{program.name} --help` lists them.")
    return _refuse(f"{program.name}: give one option at most; `{program.name} --help` lists them.")


def _serve(program: Program) -> int:
    if sys.stdin is not None and sys.stdin.isatty():
        return _refuse(program.greeting)
    return program.serve()


def _described(program: Program) -> str:
    import json

    return json.dumps(program.describe(), indent=1) + "\n"


def _print(text: str) -> int:
    sys.stdout.write(text)
    sys.stdout.flush()
    return 0


def _refuse(line: str) -> int:
    sys.stderr.write(line + "\n")
    return 2
