"""What a provider's table of commands is made of, and the description that is printed of it.

It is on the path of ``--describe``: it imports no more than it needs.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from protocol.failures import CODES
from protocol.version import VERSION

__all__ = ["PROTOCOL", "About", "Argument", "Command", "configuration_schema", "describe"]

#: Version of the host wire. ``protocol.wire.messages`` has it too, behind an import that costs 60 ms; a test compares.
PROTOCOL: Final = 1


class About(NamedTuple):
    """A provider: its executable's name, and the word that flows use for it."""

    name: str
    provider: str


class Argument(NamedTuple):
    """One argument. Its value is always a string; ``schema`` is what its JSON Schema holds beside that."""

    name: str
    meaning: str
    schema: Mapping[str, Any]
    required: bool = True


class Command(NamedTuple):
    """One command. None captures anything or takes an `expect`."""

    name: str
    effect: Literal["observe", "mutate"]
    summary: str
    arguments: tuple[Argument, ...]


def describe(about: About, configuration: Mapping[str, Any], commands: Sequence[Command]) -> dict[str, Any]:
    """Return the document of `--describe`, as docs/protocol.md explains it."""
    return {
        "protocol": PROTOCOL,
        "plugin": {"name": about.name, "version": VERSION, "provider": about.provider},
        "configuration": configuration,
        "commands": [_command(command) for command in commands],
        "codes": [{"code": str(code), **entry._asdict()} for code, entry in CODES.items()],
    }


def configuration_schema(properties: Mapping[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one binding's configuration."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _command(command: Command) -> dict[str, Any]:
    return {
        "name": command.name,
        "effect": command.effect,
        "summary": command.summary,
        "capture": False,
        "arguments": {
            "type": "object",
            "properties": {
                argument.name: {"description": argument.meaning, "type": "string", **argument.schema}
                for argument in command.arguments
            },
            "required": [argument.name for argument in command.arguments if argument.required],
            "additionalProperties": False,
        },
        # No value satisfies it.
        "expect": {"type": "object", "properties": {}, "minProperties": 1, "additionalProperties": False},
    }
