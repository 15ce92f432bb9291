"""Reads a binding of LocalBash: where its commands run, and for how long."""

import os
from typing import Any, Final, NamedTuple

from host.providers.fields import read_timeout
from host.providers.shell.commands import FIELDS, PATH_LIMIT, TIMEOUT_DEFAULT
from protocol.wire.configuration import invalid, require_object

__all__ = ["Binding", "read_binding"]

#: A shorter path would be redacted everywhere, as every private value of a binding is.
PATH_MINIMUM: Final = 4


class Binding(NamedTuple):
    """``real`` is ``cwd`` without symbolic links in it; ``timeout`` counts seconds. Its repr shows nothing."""

    cwd: str
    real: str
    timeout: float

    def __repr__(self) -> str:
        return "<Binding>"


def read_binding(alias: str, configuration: Any) -> Binding:
    """Read the configuration of ``alias``. Raises Failed (`invalid_binding`) that quotes no value."""
    values = require_object(alias, configuration, FIELDS)
    cwd = values.get("cwd")
    if cwd is None:
        raise invalid(alias, "cwd", "is required")
    if not isinstance(cwd, str) or not PATH_MINIMUM <= len(cwd) <= PATH_LIMIT or "\0" in cwd:
        raise invalid(alias, "cwd", f"must be a path of {PATH_MINIMUM} to {PATH_LIMIT} characters")
    if not os.path.isabs(cwd):
        raise invalid(alias, "cwd", "must be an absolute path")
    if not os.path.isdir(cwd):
        raise invalid(alias, "cwd", "must name a directory that exists")
    cwd = cwd.rstrip("/")
    return Binding(cwd, os.path.realpath(cwd), read_timeout(alias, values, TIMEOUT_DEFAULT))
