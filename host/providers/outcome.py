"""A provider's command as it is asked for, and how it came out, before that is redacted and encoded."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from protocol.failures import Code
from protocol.wire.steps import Artifact, Status

__all__ = ["Asked", "Outcome"]


class Asked(NamedTuple):
    """One command to carry out. ``cancelled`` tells whether the host has given it up."""

    alias: str
    command: str
    values: Mapping[str, Any]
    cancelled: Callable[[], bool]


class Outcome(NamedTuple):
    """What becomes a step result. ``code`` is None exactly when the command succeeded."""

    message: str
    status: Status = "succeeded"
    code: Code | None = None
    state: Any = None
    facts: Mapping[str, Any] = MappingProxyType({})
    artifacts: tuple[Artifact, ...] = ()
    display: Any = None
