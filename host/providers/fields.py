"""The deadline that the bindings of the host's providers share."""

from collections.abc import Mapping
from typing import Any, Final

from protocol.wire.configuration import Rule, invalid, read_number
from protocol.wire.fields import Range

__all__ = ["TIMEOUT_LEAST", "TIMEOUT_MOST", "read_timeout"]

#: Ends of `timeoutMs`, in milliseconds; the MCP plugin has the same.
TIMEOUT_LEAST: Final = 100
TIMEOUT_MOST: Final = 600_000


def read_timeout(alias: str, configuration: Mapping[str, Any], default: int) -> float:
    """Return the deadline of each command in seconds. Raises Failed (`invalid_binding`)."""
    bounds = Range(default, TIMEOUT_LEAST, TIMEOUT_MOST)
    try:
        return read_number(configuration.get("timeoutMs", default), bounds) / 1000
    except Rule as rule:
        raise invalid(alias, "timeoutMs", str(rule)) from None
