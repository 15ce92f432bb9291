"""A plugin's own description (`--describe`), read strictly: its commands, their arguments, its private fields."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, NoReturn, TypeAlias

from protocol.failures import Code, Failed
from protocol.values.document import JsonError, integer, parse
from protocol.wire.messages import PROTOCOL

__all__ = [
    "DESCRIPTION_LIMIT",
    "ArgumentDescription",
    "ArgumentKind",
    "CommandDescription",
    "Description",
    "read_description",
]

#: Largest description, in bytes: a plugin of fifteen commands needs 30 KB.
DESCRIPTION_LIMIT: Final = 4 * 1024 * 1024
#: Exit statuses that a code may lead to (docs/flows.md, exit codes).
_EXITS: Final = (1, 2, 3, 4, 5)

#: `text` takes references; `object` is the text of a JSON object; `program` is text of another language and takes none.
#: `values` is not written in a flow: the host fills it with every input and capture, for the program to look up.
ArgumentKind: TypeAlias = Literal["text", "object", "program", "values"]
Effect: TypeAlias = Literal["observe", "mutate"]


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
    effect: Effect
    summary: str
    capture: bool
    arguments: Mapping[str, ArgumentDescription]
    expect: Any


class Description(NamedTuple):
    """A whole plugin. ``configuration`` is a binding's JSON Schema; ``codes`` maps each code to its exit status.

    ``document`` is all of it, as the plugin printed it.
    """

    name: str
    version: str
    provider: str
    commands: Mapping[str, CommandDescription]
    configuration: Mapping[str, Any]
    codes: Mapping[str, int]
    document: Mapping[str, Any]


def read_description(data: bytes) -> Description:
    """Read what `--describe` printed: one JSON document (docs/protocol.md).

    Raises Failed (`plugin_died`): more than 4 MiB, no strict JSON, another protocol, a member that is missing, of
    another type or repeated. The message names the member.
    """
    if len(data) > DESCRIPTION_LIMIT:
        _refuse(f"it is longer than {DESCRIPTION_LIMIT} bytes")
    try:
        document = parse(data)
    except JsonError as error:
        _refuse(f"it is not strict JSON: {error.reason}")
    if document.repeated:
        _refuse("an object in it repeats a member")
    root = _object(document.value, "the document")
    protocol = integer(root.get("protocol"))
    if protocol != PROTOCOL:
        _refuse(f"`protocol` has to be {PROTOCOL}")
    plugin = _object(root.get("plugin"), "`plugin`")
    configuration = _object(root.get("configuration"), "`configuration`")
    _object(configuration.get("properties", {}), "`configuration.properties`")
    return Description(
        name=_text(plugin, "name", "plugin"),
        version=_text(plugin, "version", "plugin"),
        provider=_text(plugin, "provider", "plugin"),
        commands=_commands(root.get("commands")),
        configuration=configuration,
        codes=_codes(root.get("codes")),
        document=root,
    )


def _commands(value: Any) -> dict[str, CommandDescription]:
    commands: dict[str, CommandDescription] = {}
    for index, entry in enumerate(_list(value, "`commands`")):
        where = f"commands[{index}]"
        command = _object(entry, f"`{where}`")
        name = _text(command, "name", where)
        if name in commands:
            _refuse(f"`{where}.name` repeats an earlier command")
        effect = command.get("effect")
        if effect not in ("observe", "mutate"):
            _refuse(f'`{where}.effect` has to be "observe" or "mutate"')
        if not isinstance(command.get("capture"), bool):
            _refuse(f"`{where}.capture` has to be true or false")
        arguments = _arguments(command.get("arguments"), f"{where}.arguments")
        commands[name] = CommandDescription(
            name, effect, _text(command, "summary", where), command["capture"], arguments, command.get("expect")
        )
    return commands


def _arguments(value: Any, where: str) -> dict[str, ArgumentDescription]:
    schema = _object(value, f"`{where}`")
    properties = _object(schema.get("properties", {}), f"`{where}.properties`")
    required = _list(schema.get("required", []), f"`{where}.required`")
    if not all(isinstance(name, str) and name in properties for name in required):
        _refuse(f"`{where}.required` names what is not among its properties")
    arguments = {}
    for name, entry in properties.items():
        argument = _object(entry, f"`{where}.properties.{name}`")
        kind = _kind(argument, f"{where}.properties.{name}")
        summary = argument.get("description")
        summary = summary if isinstance(summary, str) else ""
        arguments[name] = ArgumentDescription(name, kind, name in required, summary, argument)
    return arguments


def _kind(argument: dict[str, Any], where: str) -> ArgumentKind:
    media, filled = argument.get("contentMediaType"), argument.get("filledBy")
    if filled not in (None, "host"):
        _refuse(f'`{where}.filledBy` has to be "host" where it is there')
    if argument.get("type", "string") != "string":
        _refuse(f'`{where}.type` has to be "string": every argument is a string')
    if filled and media != "application/json":
        _refuse(f"`{where}` is filled by the host, so its `contentMediaType` has to be application/json")
    if media is None:
        return "text"
    if media != "application/json":
        return "program"
    content = argument.get("contentSchema", {})
    if not isinstance(content, bool) and _object(content, f"`{where}.contentSchema`").get("type", "object") != "object":
        _refuse(f'`{where}.contentSchema.type` has to be "object"')
    return "values" if filled else "object"


def _codes(value: Any) -> dict[str, int]:
    codes: dict[str, int] = {}
    for index, entry in enumerate(_list(value, "`codes`")):
        where = f"codes[{index}]"
        code = _object(entry, f"`{where}`")
        status = integer(code.get("exit"))
        if status not in _EXITS:
            _refuse(f"`{where}.exit` has to be a number from {_EXITS[0]} to {_EXITS[-1]}")
        codes[_text(code, "code", where)] = status
    return codes


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse(f"{where} has to be an object")
    return value


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        _refuse(f"{where} has to be an array")
    return value


def _text(value: dict[str, Any], name: str, where: str) -> str:
    text = value.get(name)
    if not isinstance(text, str) or not text:
        _refuse(f"`{where}.{name}` has to be a string that is not empty")
    return text


def _refuse(reason: str) -> NoReturn:
    raise Failed(
        Code.PLUGIN_DIED,
        f"The plugin's description (`--describe`) cannot be used: {reason}."
        " Install a plugin of this release, or name another one with `--plugin PATH`.",
    )
