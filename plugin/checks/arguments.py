"""Checks the arguments of one command before anything is contacted, and reads them into what its handler takes."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from plugin.checks.expectation import Expect, read_expect
from plugin.checks.refusal import Refusal, read_refusal
from plugin.checks.texts import has_terminal_control
from plugin.commands import COMMANDS, TEXT_LIMIT, URI_LIMIT, Argument, Command
from plugin.headers import CREDENTIAL, HEADERS_TEXT_LIMIT, HeaderError, read_headers
from protocol.failures import Code, Failed
from protocol.values.document import JsonError, parse
from protocol.values.pointer import PointerError, parse_pointer

__all__ = ["Checked", "Surroundings", "check_arguments", "find_command"]

_PATH: Final = re.compile(r"[A-Za-z0-9._~-]+(?:/[A-Za-z0-9._~-]+)*\Z")
PATH_LIMIT: Final = 256
#: Arguments that say what has to hold.
_EXPECTING: Final = ("expect", "http")
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,128}\Z")


class Checked(NamedTuple):
    """A command that may be run: ``values`` holds each given argument as its handler takes it."""

    command: Command
    values: dict[str, Any]


class Surroundings(NamedTuple):
    """What a check has to know of the alias.

    ``holds`` tells whether a value holds a private value in any form; ``header_names`` are the canonical names of the
    binding's own headers; ``has_query`` says that the endpoint has a query string.
    """

    holds: Callable[[Any], bool]
    header_names: frozenset[str]
    has_query: bool


def find_command(name: str) -> Command:
    """Return the command of that name. Raises Failed (`invalid_arguments`)."""
    if name not in COMMANDS:
        commands = ", ".join(f"`{command}`" for command in COMMANDS)
        raise Failed(Code.INVALID_ARGUMENTS, f"There is no command `{name}`; there are {commands}.")
    return COMMANDS[name]


def check_arguments(
    command: Command, arguments: Mapping[str, str], surroundings: Surroundings, still_open: frozenset[str] = frozenset()
) -> Checked:
    """Check every argument of ``command``. Pure: contacts nothing and reads no file.

    Of arguments in ``still_open``, whose references are not filled in yet, only the name and the JSON syntax are
    checked. Raises Failed with `invalid_arguments`, `invalid_expectation` or `private_operand`; ``where`` names the
    place and no value is quoted.
    """
    known = {argument.name: argument for argument in command.arguments}
    for name in arguments:
        if name not in known:
            names = ", ".join(f"`{one}`" for one in known) or "none"
            text = f"`{command.name}` takes no argument `{name}`; it takes {names}."
            raise Failed(Code.INVALID_ARGUMENTS, text)
    for name, argument in known.items():
        if argument.required and name not in arguments:
            raise _invalid(name, f"is required by `{command.name}`")
    if all(name in arguments for name in _EXPECTING):
        raise _invalid("http", "stands in place of `expect`; keep one of the two", Code.INVALID_EXPECTATION)
    values = {}
    for name, text in arguments.items():
        parsed = _object(known[name], text) if known[name].json else text
        if name in still_open:
            continue
        if surroundings.holds(parsed):
            raise _private(name)
        values[name] = _READERS[name](parsed, command, surroundings)
    return Checked(command, values)


def _invalid(name: str, rule: str, code: Code = Code.INVALID_ARGUMENTS) -> Failed:
    return Failed(code, f"`{name}` {rule}.", where=name)


def _private(name: str) -> Failed:
    return _invalid(name, "holds a private value of a binding; arguments are kept as evidence", Code.PRIVATE_OPERAND)


def _object(argument: Argument, text: str) -> Any:
    code = Code.INVALID_EXPECTATION if argument.name in _EXPECTING else Code.INVALID_ARGUMENTS
    try:
        document = parse(text)
    except JsonError as error:
        place = f" at character {error.offset + 1}" if error.offset is not None else ""
        raise _invalid(argument.name, f"is not strict JSON: {error.reason}{place}", code) from None
    if not isinstance(document.value, dict):
        raise _invalid(argument.name, "must be a JSON object", code)
    if document.repeated:
        raise _invalid(argument.name, "repeats a member of an object", code)
    return document.value


def _path(value: str, _command: Command, surroundings: Surroundings) -> str:
    if len(value) > PATH_LIMIT or not _PATH.match(value) or any(part in (".", "..") for part in value.split("/")):
        raise _invalid(
            "path",
            f"is 1 to {PATH_LIMIT} characters: segments of letters, digits, `.`, `_`, `~` and `-` joined by `/`,"
            " none of them `.` or `..`",
        )
    if surroundings.has_query:
        raise _invalid("path", "cannot be appended: the bound endpoint has a query string")
    return value


def _token_file(value: str, _command: Command, _surroundings: Surroundings) -> str:
    if not _FILE_NAME.match(value) or value in (".", ".."):
        raise _invalid("tokenFile", "is a file name of 1 to 128 letters, digits, dots, underscores or hyphens")
    return value


def _text(name: str, most: int) -> Callable[[str, Command, Surroundings], str]:
    def read(value: str, _command: Command, _surroundings: Surroundings) -> str:
        if not 1 <= len(value) <= most:
            raise _invalid(name, f"has 1 to {most} characters")
        return value

    return read


def _any_object(value: dict[str, Any], _command: Command, _surroundings: Surroundings) -> dict[str, Any]:
    return value


def _select(value: str, _command: Command, surroundings: Surroundings) -> tuple[str, ...]:
    if has_terminal_control(value):
        raise _invalid("select", "holds a terminal control")
    try:
        tokens = parse_pointer(value)
    except PointerError as error:
        raise _invalid("select", f"is not usable: {error.reason}") from None
    if surroundings.holds(_decoded(tokens)):
        raise _private("select")
    return tokens


def _headers(value: Any, _command: Command, surroundings: Surroundings) -> dict[str, str]:
    if not value:
        raise _invalid("headers", "names no header; leave it out")
    if sum(len(name) + len(text) for name, text in value.items() if isinstance(text, str)) > HEADERS_TEXT_LIMIT:
        raise _invalid("headers", f"holds more than {HEADERS_TEXT_LIMIT} characters")
    try:
        return read_headers(value, refused=CREDENTIAL | surroundings.header_names)
    except HeaderError as error:
        raise _invalid("headers", f"is not usable: {error.reason}; credentials belong in the binding") from None


def _expect(value: Any, command: Command, surroundings: Surroundings) -> Expect:
    expect = read_expect(value, command.expect)
    if surroundings.holds([_decoded(assertion.tokens) for assertion in expect.get("json", ())]):
        raise _private("expect")
    return expect


def _decoded(tokens: tuple[str, ...]) -> list[str]:
    """Return what a pointer says: a private value with `/` or `~` in it is spelled otherwise in the pointer itself."""
    return [*tokens, "/".join(tokens)]


def _http(value: Any, _command: Command, _surroundings: Surroundings) -> Refusal:
    return read_refusal(value)


_READERS: Final[dict[str, Callable[[Any, Command, Surroundings], Any]]] = {
    "path": _path,
    "tokenFile": _token_file,
    "tool": _text("tool", TEXT_LIMIT),
    "name": _text("name", TEXT_LIMIT),
    "uri": _text("uri", URI_LIMIT),
    "arguments": _any_object,
    "select": _select,
    "headers": _headers,
    "expect": _expect,
    "http": _http,
}
