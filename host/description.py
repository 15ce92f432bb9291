"""A plugin's own description (`--describe`), read strictly: its commands, their arguments, its private fields."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

__all__ = ["ArgumentDescription", "ArgumentKind", "CommandDescription", "Description", "read_description"]

#: `text` takes references; `object` is the text of a JSON object; `program` is text of another language, and takes none.
ArgumentKind: TypeAlias = Literal["text", "object", "program"]


class ArgumentDescription(NamedTuple):
    """One argument of a command; ``schema`` is its JSON Schema as the plugin wrote it."""

    name: str
    kind: ArgumentKind
    required: bool
    summary: str
    schema: Mapping[str, Any]


class CommandDescription(NamedTuple):
    """One command; ``capture`` says whether it may stand before `->`; ``expect`` is the JSON Schema of its `expect`."""

    name: str
    effect: Literal["observe", "mutate"]
    summary: str
    capture: bool
    arguments: Mapping[str, ArgumentDescription]
    expect: Any


class Description(NamedTuple):
    """A whole plugin. ``configuration`` is the JSON Schema of a binding; ``codes`` maps each code to its exit status."""

    name: str
    version: str
    provider: str
    commands: Mapping[str, CommandDescription]
    configuration: Mapping[str, Any]
    codes: Mapping[str, int]


def read_description(data: bytes) -> Description:
    """Read what `--describe` printed. Raises Failed (`plugin_died`) naming the member that is wrong."""
    raise NotImplementedError
