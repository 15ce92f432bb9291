"""`plugin --describe` and the other flags: made from the tables, valid as schemas, and cheap to answer."""

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from plugin.binding import _READERS as FIELD_READERS
from plugin.checks.arguments import _READERS as ARGUMENT_READERS
from plugin.checks.assertions import _EVALUATORS, _OPERANDS
from plugin.checks.expectation import _READERS as EXPECTATION_READERS
from plugin.commands import COMMANDS, resolve
from plugin.configuration import FIELDS, configuration_schema
from plugin.describe import PROTOCOL, describe, expect_schema
from plugin.expectations import EXPECT_EXCLUSIONS, EXPECTATIONS, OPERATORS
from plugin.identity import VERSION
from protocol.failures import CODES, Code
from protocol.wire import messages
from tests.plugin_under_test import program

ROOT = Path(__file__).resolve().parents[1]

#: What answering a flag must not import: each costs more than the answer, or belongs to the host.
HEAVY = ("asyncio", "httpx", "httpcore", "ssl", "click", "authlib", "msgspec", "socket", "threading", "subprocess")


#: What the gateway helpers expect: names, and all that a call can.
GATEWAY_KEYS = {
    "present",
    "absent",
    "only",
    "rpcError",
    "isError",
    "textIncludes",
    "textExcludes",
    "redacted",
    "json",
}


def plugin(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*(options.pop("program", program())), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
        **options,
    )


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    ran = plugin("--describe")
    assert (ran.returncode, ran.stderr) == (0, "")
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


@pytest.mark.requirement("arguments.schema")
def test_the_printed_description_is_made_from_the_tables(described: dict[str, Any]) -> None:
    assert described == json.loads(json.dumps(describe()))
    assert list(described) == ["protocol", "plugin", "configuration", "commands", "codes"]
    assert described["protocol"] == PROTOCOL == messages.PROTOCOL
    assert described["plugin"] == {"name": "assay-mcp", "version": VERSION, "provider": "MCP"}


@pytest.mark.requirement("commands.effects", "command.oauth-begin", "command.oauth-finish")
def test_the_commands_are_those_that_exist(described: dict[str, Any]) -> None:
    seen = {entry["name"]: (entry["effect"], entry["capture"]) for entry in described["commands"]}
    assert seen == {
        "connect": ("observe", False),
        "tools": ("observe", False),
        "resources": ("observe", False),
        "resource_templates": ("observe", False),
        "prompts": ("observe", False),
        "read_resource": ("observe", False),
        "get_prompt": ("observe", False),
        "call": ("mutate", False),
        "call_value": ("mutate", True),
        "servers": ("mutate", False),
        "describe_server": ("mutate", False),
        "describe_tools": ("mutate", False),
        "disconnect": ("mutate", False),
        "oauth_begin": ("mutate", False),
        "oauth_finish": ("mutate", False),
    }


@pytest.mark.requirement("arguments.path-and-token-file", "deadline.no-argument", "capture.command", "arguments.oauth")
@pytest.mark.parametrize(
    ("command", "required", "optional"),
    [
        ("connect", [], ["headers", "expect", "path", "tokenFile"]),
        ("tools", [], ["expect", "path", "tokenFile"]),
        ("resources", [], ["expect", "path", "tokenFile"]),
        ("resource_templates", [], ["expect", "path", "tokenFile"]),
        ("prompts", [], ["expect", "path", "tokenFile"]),
        ("read_resource", ["uri"], ["expect", "http", "path", "tokenFile"]),
        ("get_prompt", ["name"], ["arguments", "expect", "http", "path", "tokenFile"]),
        ("call", ["tool"], ["arguments", "expect", "http", "path", "tokenFile"]),
        ("call_value", ["tool", "select"], ["arguments", "expect", "path", "tokenFile"]),
        ("servers", [], ["tool", "arguments", "expect", "path", "tokenFile"]),
        ("describe_server", [], ["tool", "arguments", "expect", "path", "tokenFile"]),
        ("describe_tools", [], ["tool", "arguments", "expect", "path", "tokenFile"]),
        ("disconnect", [], ["path", "tokenFile"]),
        ("oauth_begin", [], ["path"]),
        ("oauth_finish", [], []),
    ],
)
def test_each_command_takes_the_arguments_of_the_seed(
    described: dict[str, Any], command: str, required: list[str], optional: list[str]
) -> None:
    (entry,) = [entry for entry in described["commands"] if entry["name"] == command]
    assert set(entry["arguments"]["properties"]) == {*required, *optional}
    assert entry["arguments"]["required"] == required
    assert entry["arguments"]["additionalProperties"] is False


@pytest.mark.requirement("expect.keys", "expect.call", "expect.call-value", "expect.gateway", "expect.reading")
@pytest.mark.parametrize(
    ("command", "keys"),
    [
        ("connect", {"status"}),
        ("tools", {"present", "absent", "only", "count", "noTrueAnnotations"}),
        ("resources", {"present", "absent", "only", "count"}),
        ("resource_templates", {"present", "absent", "only", "count"}),
        ("prompts", {"present", "absent", "only", "count"}),
        ("read_resource", {"rpcError", "textIncludes", "textExcludes", "redacted", "json", "count"}),
        ("get_prompt", {"rpcError", "textIncludes", "textExcludes", "redacted", "json", "count"}),
        ("servers", GATEWAY_KEYS),
        ("describe_server", GATEWAY_KEYS),
        ("describe_tools", GATEWAY_KEYS),
        ("call", {"rpcError", "isError", "textIncludes", "textExcludes", "redacted", "json"}),
        ("call_value", {"textIncludes", "textExcludes", "redacted", "json"}),
        ("disconnect", set()),
        ("oauth_begin", set()),
        ("oauth_finish", set()),
    ],
)
def test_each_command_accepts_the_expectations_of_the_seed(
    described: dict[str, Any], command: str, keys: set[str]
) -> None:
    (entry,) = [entry for entry in described["commands"] if entry["name"] == command]
    assert set(entry["expect"]["properties"]) == keys
    if keys:
        assert entry["arguments"]["properties"]["expect"]["contentSchema"] == entry["expect"]


def test_arguments_are_strings_and_json_arguments_describe_their_object(described: dict[str, Any]) -> None:
    for command in described["commands"]:
        for name, schema in command["arguments"]["properties"].items():
            assert schema["type"] == "string"
            assert ("contentSchema" in schema) == (name in ("headers", "arguments", "expect", "http"))
            assert schema.get("contentMediaType") == ("application/json" if "contentSchema" in schema else None)


@pytest.mark.requirement("arguments.schema")
def test_every_schema_is_a_schema(described: dict[str, Any]) -> None:
    check = jsonschema.Draft202012Validator.check_schema
    check(described["configuration"])
    for command in described["commands"]:
        check(command["expect"])
        check(command["arguments"])
        for argument in command["arguments"]["properties"].values():
            check(argument.get("contentSchema", {}))


def test_the_schema_of_no_expectations_accepts_nothing() -> None:
    validator = jsonschema.Draft202012Validator(expect_schema(()))
    values: list[object] = [{}, {"isError": True}, None, []]
    assert [value for value in values if validator.is_valid(value)] == []


def test_private_fields_and_only_those_are_write_only(described: dict[str, Any]) -> None:
    fields = described["configuration"]["properties"]
    assert {name for name, field in fields.items() if field.get("writeOnly")} == {
        "endpoint",
        "bearerToken",
        "headers",
        "tokenDirectory",
        "caFile",
    }
    assert described["configuration"]["required"] == ["endpoint"]


def test_every_code_is_described(described: dict[str, Any]) -> None:
    assert {entry["code"] for entry in described["codes"]} == set(Code)
    assert all(set(entry) == {"code", "meaning", "remedy", "exit"} for entry in described["codes"])
    assert len(described["codes"]) == len(CODES)


def test_every_handler_resolves() -> None:
    assert [name for name, command in COMMANDS.items() if not callable(resolve(command.handler))] == []


def test_every_table_has_a_reader_for_each_of_its_rows() -> None:
    numbers = {name for name, field in FIELDS.items() if field.range}
    assert set(FIELD_READERS) == set(FIELDS) - numbers
    assert {argument.name for command in COMMANDS.values() for argument in command.arguments} == set(ARGUMENT_READERS)
    assert set(EXPECTATION_READERS) == set(EXPECTATIONS)
    assert set(_OPERANDS) == set(OPERATORS) == {"exists", *_EVALUATORS}
    assert {key for command in COMMANDS.values() for key in command.expect} == set(EXPECTATIONS)
    assert {*EXPECT_EXCLUSIONS, *(other for others in EXPECT_EXCLUSIONS.values() for other in others)} <= set(
        EXPECTATIONS
    )


def test_default_values_are_valid_configuration() -> None:
    schema = configuration_schema()
    defaults = {name: field["default"] for name, field in schema["properties"].items() if "default" in field}
    jsonschema.Draft202012Validator(schema).validate({"endpoint": "http://localhost/mcp", **defaults})
    assert defaults == {
        "sessionCleanup": "delete",
        "timeoutMs": 15000,
        "maxResponseBytes": 8 * 1024 * 1024,
        "maxPages": 50,
        "maxItems": 5000,
        "keepText": False,
        "resume": False,
        "elicitation": "off",
    }


@pytest.mark.parametrize("flag", ["--describe", "--version", "--help"])
def test_a_flag_is_answered_without_importing_what_it_does_not_need(flag: str) -> None:
    # Without site-packages nothing but the standard library and the source tree could be imported at all.
    ran = plugin(flag, program=(sys.executable, "-E", "-S", "-X", "importtime", "-m", "plugin"))
    assert ran.returncode == 0, ran.stderr
    imported = set(re.findall(r"\| +([\w.]+)$", ran.stderr, re.MULTILINE))
    assert "plugin.identity" in imported or flag == "--help"
    assert sorted(imported & set(HEAVY)) == []


def test_version_prints_name_and_version() -> None:
    ran = plugin("--version")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"assay-mcp {VERSION}\n", "")


def test_help_names_every_flag() -> None:
    ran = plugin("--help")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert re.findall(r"^  (--\w+)", ran.stdout, re.MULTILINE) == ["--describe", "--version", "--help"]


@pytest.mark.parametrize("arguments", [("--bogus",), ("--describe", "--version"), ("describe",), ("",)])
def test_other_arguments_exit_2_with_one_line(arguments: tuple[str, ...]) -> None:
    ran = plugin(*arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.fullmatch(r"plugin: .*`plugin --help`.*\n", ran.stderr)


def test_on_a_terminal_it_says_what_it_is_and_exits_2() -> None:
    ours, theirs = pty.openpty()
    try:
        ran = plugin(stdin=theirs)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.fullmatch(r"This is the MCP plugin of Assay.*\n", ran.stderr)


def test_without_open_descriptors_it_says_so_and_exits_2() -> None:
    ran = subprocess.run(
        ["/bin/sh", "-c", f"exec {shlex.join(program())} <&- >&-"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ran.returncode == 2
    assert "must be open" in ran.stderr


def test_the_page_on_the_protocol_names_every_method_command_and_fact() -> None:
    page = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
    words = [
        "initialize",
        "check",
        "run",
        "discover",
        "compare",
        "shutdown",
        "cancel",
        "secrets/learnt",
        "progress",
        *COMMANDS,
    ]
    words += ["http", "session", "refusal", "stream", "pages", "tool", "failedExpectations", "recorded", "connection"]
    words += ["consent/open", "signIn", "grant", "facts.found", "facts.demand"]
    words += ["breaking", "unclassified", "risk", "routing", "additive", "catalog.json", "assay-diff/1"]
    assert [word for word in words if f"`{word}" not in page and f'"{word}"' not in page] == []
    for number in (messages.PARSE_ERROR, messages.INVALID_REQUEST, messages.METHOD_NOT_FOUND, messages.INVALID_PARAMS):
        assert f"| {number} |" in page
