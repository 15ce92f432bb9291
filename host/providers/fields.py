"""Fields that the bindings of the host's providers share, and how a wrong binding is told."""

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from protocol.failures import Code, Failed
from protocol.values.document import integer

__all__ = ["invalid", "read_timeout", "require_object"]

#: Ends of `timeoutMs`, in milliseconds; the MCP plugin has the same.
TIMEOUT_LEAST: Final = 100
TIMEOUT_MOST: Final = 600_000
_DIGITS: Final = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z", re.ASCII)
_PLAIN_NAME: Final = re.compile(r"[A-Za-z]{1,24}\Z")


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


def read_timeout(alias: str, configuration: Mapping[str, Any], default: int) -> float:
    """Return the deadline of each command in seconds. Raises Failed (`invalid_binding`)."""
    value = configuration.get("timeoutMs", default)
    if isinstance(value, str) and _DIGITS.match(value):
        value = int(value)
    number = integer(value)
    if number is None or not TIMEOUT_LEAST <= number <= TIMEOUT_MOST:
        raise invalid(alias, "timeoutMs", f"must be an integer from {TIMEOUT_LEAST} to {TIMEOUT_MOST}")
    return number / 1000
