"""Reads a binding of Browser: the values that may be typed, and how long a command may take."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from host.providers.browser.commands import (
    FIELD_NAME,
    FIELDS,
    PRIVATE_LEAST,
    PRIVATE_LIMIT,
    PRIVATE_MOST,
    TIMEOUT_DEFAULT,
)
from host.providers.fields import read_timeout
from protocol.wire.configuration import invalid, require_object

__all__ = ["Binding", "read_binding"]

_NAME: Final = re.compile(FIELD_NAME)


class Binding(NamedTuple):
    """``private`` is None where the binding has none; ``timeout`` counts seconds. Its repr shows nothing."""

    private: Mapping[str, str] | None
    timeout: float

    def __repr__(self) -> str:
        return "<Binding>"


def read_binding(alias: str, configuration: Any) -> Binding:
    """Read the configuration of ``alias``. Raises Failed (`invalid_binding`) that quotes no value."""
    values = require_object(alias, configuration, FIELDS)
    if values.get("browser", "chromium") != "chromium":
        raise invalid(alias, "browser", "must be `chromium`")
    return Binding(_private(alias, values.get("private")), read_timeout(alias, values, TIMEOUT_DEFAULT))


def _private(alias: str, value: Any) -> Mapping[str, str] | None:
    if value is None:
        return None
    if not isinstance(value, Mapping) or len(value) > PRIVATE_LIMIT:
        raise invalid(alias, "private", f"must be an object of at most {PRIVATE_LIMIT} members")
    for name, text in value.items():
        if not _NAME.fullmatch(name):
            raise invalid(alias, "private", "has a name that is no letter with letters, digits, `_` and `-` after it")
        if not isinstance(text, str) or not PRIVATE_LEAST <= len(text) <= PRIVATE_MOST:
            raise invalid(
                alias,
                "private",
                f"must hold strings of {PRIVATE_LEAST} to {PRIVATE_MOST} characters: a shorter one would be redacted"
                " everywhere",
            )
    return dict(value)
