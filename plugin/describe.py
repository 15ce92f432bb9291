"""Makes the document of `plugin --describe` from the tables that the code runs on."""

from typing import Any, Final

from plugin.commands import COMMANDS, Argument, Command
from plugin.configuration import configuration_schema
from plugin.expectations import EXPECT_EXCLUSIONS, EXPECTATIONS
from plugin.identity import NAME, PROVIDER, VERSION
from protocol.failures import CODES

__all__ = ["PROTOCOL", "describe", "expect_schema"]

#: Version of the host wire. ``protocol.wire.messages`` has it too, behind an import that costs 60 ms; a test compares.
PROTOCOL: Final = 1


def describe() -> dict[str, Any]:
    """Return the whole description, as docs/protocol.md explains it."""
    return {
        "protocol": PROTOCOL,
        "plugin": {"name": NAME, "version": VERSION, "provider": PROVIDER},
        "configuration": configuration_schema(),
        "commands": [_command(command) for command in COMMANDS.values()],
        "codes": [{"code": str(code), **entry._asdict()} for code, entry in CODES.items()],
    }


def expect_schema(keys: tuple[str, ...]) -> dict[str, Any]:
    """Return the JSON Schema of an `expect` that accepts ``keys``; with none, no value is valid."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {key: EXPECTATIONS[key] for key in keys},
        "minProperties": 1,
        "additionalProperties": False,
    }
    excluded = {
        key: {"properties": {other: False for other in others if other in keys}}
        for key, others in EXPECT_EXCLUSIONS.items()
        if key in keys
    }
    return schema | ({"dependentSchemas": excluded} if excluded else {})


def _command(command: Command) -> dict[str, Any]:
    return {
        "name": command.name,
        "effect": command.effect,
        "summary": command.summary,
        "capture": command.capture,
        "arguments": {
            "type": "object",
            "properties": {argument.name: _argument(argument, command) for argument in command.arguments},
            "required": [argument.name for argument in command.arguments if argument.required],
            "additionalProperties": False,
        },
        "expect": expect_schema(command.expect),
    }


def _argument(argument: Argument, command: Command) -> dict[str, Any]:
    described: dict[str, Any] = {"description": argument.meaning, "type": "string"}
    if not argument.json:
        return described | (argument.schema or {})
    content = expect_schema(command.expect) if argument.name == "expect" else argument.schema
    return described | {"contentMediaType": "application/json", "contentSchema": content}
