"""Reads the values of a binding's configuration by a table of fields, and says what is wrong without quoting any."""

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from protocol.failures import Code, Failed
from protocol.values.document import JsonError, integer, parse
from protocol.wire.fields import Field, Range

__all__ = ["Rule", "invalid", "read_choice", "read_number", "read_object", "read_switch", "require_object"]

_DECIMAL: Final = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z", re.ASCII)
_PLAIN_NAME: Final = re.compile(r"[A-Za-z]{1,24}\Z")


class Rule(ValueError):
    """What a value has to be; its text follows the name of the field."""


def invalid(alias: str, field: str | None, rule: str) -> Failed:
    """Return the failure (`invalid_binding`) that names alias and field. ``rule`` follows the name, quoting nothing."""
    subject = f"`{field}` of the binding `{alias}`" if field else f"The binding `{alias}`"
    return Failed(Code.INVALID_BINDING, f"{subject} {rule}.", where=f"{alias}.{field}" if field else alias)


def require_object(alias: str, configuration: Any, known: Collection[str]) -> Mapping[str, Any]:
    """Return a configuration that is an object of known fields. Raises Failed (`invalid_binding`)."""
    if not isinstance(configuration, Mapping):
        raise invalid(alias, None, "is not an object")
    for name in configuration:
        if name not in known:
            # A long name, or one with digits, may be a value that went astray.
            shown = f" `{name}`" if _PLAIN_NAME.match(name) else ""
            raise invalid(alias, None, f"holds an unknown field{shown}; there are {', '.join(known)}")
    return configuration


def read_number(value: Any, bounds: Range) -> int:
    """Read an integer within ``bounds``, or the decimal string of one. Raises Rule."""
    if isinstance(value, str) and _DECIMAL.match(value):
        value = int(value)
    number = integer(value)
    if number is None or not bounds.least <= number <= bounds.most:
        raise Rule(f"must be an integer from {bounds.least} to {bounds.most}")
    return number


def read_choice(value: Any, field: Field) -> str:
    """Read one of the words of the field's `enum`. Raises Rule."""
    if not isinstance(value, str) or value not in field.schema["enum"]:
        raise Rule("must be " + " or ".join(f"`{choice}`" for choice in field.schema["enum"]))
    return value


def read_switch(value: Any) -> bool:
    """Read true or false, or the string of one. Raises Rule."""
    if isinstance(value, str) and value in ("true", "false"):
        return value == "true"
    if not isinstance(value, bool):
        raise Rule("must be true or false")
    return value


def read_object(text: str) -> Any:
    """Read the JSON text that may stand for an object. Raises Rule."""
    try:
        document = parse(text)
    except JsonError as error:
        raise Rule(f"is a string that is not strict JSON: {error.reason}") from None
    if document.repeated:
        raise Rule("repeats a name")
    return document.value
