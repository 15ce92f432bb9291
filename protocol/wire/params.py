"""Strict reading of the params of the host's requests, by one table."""

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from protocol.values.document import integer

__all__ = ["InvalidParams", "read_params"]

_ALIAS: Final = re.compile(r"[a-z][a-z0-9_]{0,63}\Z")


class InvalidParams(ValueError):
    """The params are not those of the method. The text names the member and quotes nothing of it."""


class _Param(NamedTuple):
    read: Callable[[Any], Any]
    form: str
    default: Any = None
    required: bool = True


def read_params(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return every param of ``method``, defaults filled in. Raises InvalidParams."""
    table = _PARAMS[method]
    for name in params:
        if name not in table:
            known = ", ".join(f"`{name}`" for name in table) or "none"
            raise InvalidParams(f"`{method}` has a param that it does not take; it takes {known}.")
    values = {}
    for name, param in table.items():
        if name not in params and param.required:
            raise InvalidParams(f"`{method}` needs the param `{name}`.")
        try:
            values[name] = param.read(params[name]) if name in params else param.default
        except ValueError:
            raise InvalidParams(f"The param `{name}` of `{method}` must be {param.form}.") from None
    return values


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _array(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError
    return value


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError
    return value


def _strings(value: Any) -> list[str]:
    return [_string(entry) for entry in _array(value)]


def _string_members(value: Any) -> dict[str, str]:
    return {name: _string(member) for name, member in _object(value).items()}


def _number(value: Any) -> int:
    number = integer(value)
    if number is None:
        raise ValueError
    return number


def _host(value: Any) -> dict[str, Any]:
    _string(_object(value).get("name"))
    _string(value.get("version"))
    return _object(value)


def _aliases(value: Any) -> dict[str, Any]:
    if not all(_ALIAS.match(name) for name in _object(value)):
        raise ValueError
    return _object(value)


_COMMAND: Final = {
    "alias": _Param(_string, "a string"),
    "command": _Param(_string, "a string"),
    "arguments": _Param(_string_members, "an object whose members are strings", {}, required=False),
}

_PARAMS: Final[dict[str, dict[str, _Param]]] = {
    "initialize": {
        "protocol": _Param(_number, "an integer"),
        "host": _Param(_host, "an object with a string `name` and a string `version`"),
        "origins": _Param(_strings, "an array of strings"),
        "bindings": _Param(
            _aliases, "an object; its names are aliases (a-z, then a-z, 0-9 or _, 64 characters at most)"
        ),
    },
    "check": {**_COMMAND, "open": _Param(_strings, "an array of strings", [], required=False)},
    "run": _COMMAND,
    "discover": {"alias": _Param(_string, "a string")},
    "compare": {
        "inventory": _Param(_string, "a string"),
        "before": _Param(_object, "the state of a succeeded step"),
        "after": _Param(_object, "the state of a succeeded step"),
        "catalogs": _Param(_object, "an object with `before` and `after`", None, required=False),
    },
    "consent/show": {"alias": _Param(_string, "a string"), "url": _Param(_string, "a string")},
    "consent/close": {"alias": _Param(_string, "a string")},
    "shutdown": {},
    "secrets/learnt": {"values": _Param(_strings, "an array of strings")},
    "cancel": {"id": _Param(lambda value: _identity(value), "the id of a request")},
}


def _identity(value: Any) -> str | int:
    return value if isinstance(value, str) else _number(value)
