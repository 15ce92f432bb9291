"""A plugin's description: read whole, and refused by the member that is wrong."""

from pathlib import Path
from typing import Any

import pytest

from host.description import DESCRIPTION_LIMIT, ArgumentDescription, CommandDescription, read_description
from plugin.describe import describe
from protocol.failures import Code, Failed
from protocol.values.document import encode, parse
from tests.fakes.descriptions import mcp_document, shell_document
from tests.host_flows import read_flow

FLOWS = Path(__file__).parent / "flows"


def refused(data: bytes) -> str:
    with pytest.raises(Failed) as caught:
        read_description(data)
    assert caught.value.code == Code.PLUGIN_DIED
    head, _, rest = caught.value.failure.message.partition("cannot be used: ")
    assert head == "The plugin's description (`--describe`) "
    reason, _, advice = rest.partition(". Install")
    assert advice == " a plugin of this release, or name another one with `--plugin PATH`."
    return reason


def test_a_description_is_read_whole() -> None:
    document = mcp_document()
    found = read_description(encode(document))
    assert (found.name, found.version, found.provider) == ("assay-mcp", "1.2.3", "MCP")
    assert list(found.commands) == ["connect", "tools", "call", "call_value", "disconnect"]
    assert found.commands["tools"] == CommandDescription(
        "tools",
        "observe",
        "Does tools.",
        False,
        {
            "expect": ArgumentDescription(
                "expect",
                "object",
                False,
                "",
                {"type": "string", "contentMediaType": "application/json", "contentSchema": {"type": "object"}},
            ),
            "path": ArgumentDescription(
                "path", "text", False, "Some text.", {"type": "string", "description": "Some text."}
            ),
            "tokenFile": ArgumentDescription(
                "tokenFile", "text", False, "Some text.", {"type": "string", "description": "Some text."}
            ),
        },
        {"type": "object"},
    )
    assert found.commands["call_value"].capture
    assert found.commands["call"].arguments["tool"].required
    assert found.configuration == document["configuration"]
    assert found.codes == {"timeout": 1}


def test_text_of_another_language_is_a_program() -> None:
    found = read_description(encode(shell_document()))
    assert found.commands["bash"].arguments["command"].kind == "program"


@pytest.mark.parametrize("content", [{}, True, {"type": "object", "properties": {}}])
def test_a_json_argument_is_an_object_whatever_else_its_schema_says(content: object) -> None:
    document = mcp_document()
    document["commands"][1]["arguments"]["properties"]["expect"]["contentSchema"] = content
    assert read_description(encode(document)).commands["tools"].arguments["expect"].kind == "object"


def test_the_mcp_plugin_describes_itself_so_and_its_flows_read_with_it() -> None:
    found = read_description(encode(describe()))
    assert found.provider == "MCP"
    assert found.commands["call_value"].capture
    assert found.commands["call"].arguments["expect"].kind == "object"
    for name in ("inspection.md", "capture.md"):
        assert read_flow(name, (FLOWS / name).read_bytes(), {"MCP": found}, {}).problems == ()


def put(document: Any, path: tuple[str | int, ...], value: Any) -> bytes:
    """Set a member deep in the document, or take it out when the value is ``...``."""
    inner = document
    for part in path[:-1]:
        inner = inner[part]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return encode(document)


OBJECT_SCHEMA = ("commands", 2, "arguments", "properties", "expect")


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("protocol",), 2, "`protocol` has to be 1"),
        (("protocol",), "1", "`protocol` has to be 1"),
        (("protocol",), ..., "`protocol` has to be 1"),
        (("plugin",), [], "`plugin` has to be an object"),
        (("plugin", "name"), ..., "`plugin.name` has to be a string that is not empty"),
        (("plugin", "version"), 1, "`plugin.version` has to be a string that is not empty"),
        (("plugin", "provider"), "", "`plugin.provider` has to be a string that is not empty"),
        (("configuration",), True, "`configuration` has to be an object"),
        (("configuration", "properties"), [], "`configuration.properties` has to be an object"),
        (("commands",), {}, "`commands` has to be an array"),
        (("commands", 1), "tools", "`commands[1]` has to be an object"),
        (("commands", 1, "name"), ..., "`commands[1].name` has to be a string that is not empty"),
        (("commands", 1, "name"), "connect", "`commands[1].name` repeats an earlier command"),
        (("commands", 1, "effect"), "read", '`commands[1].effect` has to be "observe" or "mutate"'),
        (("commands", 1, "summary"), ..., "`commands[1].summary` has to be a string that is not empty"),
        (("commands", 1, "capture"), 0, "`commands[1].capture` has to be true or false"),
        (("commands", 1, "arguments"), ..., "`commands[1].arguments` has to be an object"),
        (("commands", 1, "arguments", "properties"), [], "`commands[1].arguments.properties` has to be an object"),
        (("commands", 1, "arguments", "required"), {}, "`commands[1].arguments.required` has to be an array"),
        (
            ("commands", 1, "arguments", "required"),
            ["x"],
            "`commands[1].arguments.required` names what is not among its properties",
        ),
        (
            ("commands", 1, "arguments", "required"),
            [1],
            "`commands[1].arguments.required` names what is not among its properties",
        ),
        (OBJECT_SCHEMA, [], "`commands[2].arguments.properties.expect` has to be an object"),
        (
            (*OBJECT_SCHEMA, "type"),
            "object",
            '`commands[2].arguments.properties.expect.type` has to be "string": every argument is a string',
        ),
        (
            (*OBJECT_SCHEMA, "contentSchema"),
            [],
            "`commands[2].arguments.properties.expect.contentSchema` has to be an object",
        ),
        (
            (*OBJECT_SCHEMA, "contentSchema", "type"),
            "array",
            '`commands[2].arguments.properties.expect.contentSchema.type` has to be "object"',
        ),
        (("codes",), ..., "`codes` has to be an array"),
        (("codes", 0), 1, "`codes[0]` has to be an object"),
        (("codes", 0, "code"), "", "`codes[0].code` has to be a string that is not empty"),
        (("codes", 0, "exit"), 0, "`codes[0].exit` has to be a number from 1 to 5"),
        (("codes", 0, "exit"), 130, "`codes[0].exit` has to be a number from 1 to 5"),
        (("codes", 0, "exit"), True, "`codes[0].exit` has to be a number from 1 to 5"),
    ],
)
def test_a_member_that_is_wrong_is_named(path: tuple[str | int, ...], value: Any, reason: str) -> None:
    assert refused(put(mcp_document(), path, value)) == reason


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is not strict JSON: a value is expected"),
        (b"Usage: plugin", "it is not strict JSON: a value is expected"),
        (b"[]", "the document has to be an object"),
        (b'{"a":1,"a":2}', "an object in it repeats a member"),
        (b" " * (DESCRIPTION_LIMIT + 1), f"it is longer than {DESCRIPTION_LIMIT} bytes"),
    ],
)
def test_what_is_no_description_is_refused(data: bytes, reason: str) -> None:
    assert refused(data) == reason


def test_numbers_in_schemas_keep_their_spelling() -> None:
    document = mcp_document()
    document["configuration"]["properties"]["timeoutMs"]["maximum"] = parse("600000").value
    found = read_description(encode(document))
    assert bytes(found.configuration["properties"]["timeoutMs"]["maximum"]) == b"600000"
