"""What the providers of the host say about themselves: valid, complete, and answered without their heavy parts."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from host.description import read_description
from host.executable import PROVIDERS
from host.providers.browser.actions import ACTIONS
from host.providers.browser.commands import COMMANDS as BROWSER_COMMANDS
from host.providers.commands import PROTOCOL
from protocol.failures import Code
from protocol.version import VERSION
from protocol.wire import messages

ROOT = Path(__file__).resolve().parents[1]
MODULES = {"LocalBash": "host.providers.shell", "Browser": "host.providers.browser"}
#: What a flag must not import.
HEAVY = ("asyncio", "playwright", "msgspec", "threading", "subprocess", "socket", "ssl", "click")


def provider(name: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *options.pop("interpreter", ()), "-m", MODULES[name], *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False, **options)


@pytest.mark.parametrize("name", MODULES)
def test_a_description_is_one_that_the_host_reads_and_every_schema_in_it_is_one(name: str) -> None:
    ran = provider(name, "--describe")
    assert (ran.returncode, ran.stderr) == (0, "")
    description = read_description(ran.stdout.encode())
    assert (description.provider, description.version) == (name, VERSION)
    document = json.loads(ran.stdout)
    check = jsonschema.Draft202012Validator.check_schema
    check(document["configuration"])
    for command in document["commands"]:
        check(command["arguments"])
        check(command["expect"])
        nothing = jsonschema.Draft202012Validator(command["expect"])
        values: tuple[Any, ...] = ({}, {"isError": True}, None, [])
        assert [value for value in values if nothing.is_valid(value)] == []
    assert {entry["code"] for entry in document["codes"]} == set(Code)


def test_the_host_brings_all_three_providers_on_one_version_of_the_wire() -> None:
    assert PROVIDERS == ("MCP", "LocalBash", "Browser")
    assert PROTOCOL == messages.PROTOCOL


def test_the_commands_of_both_have_these_arguments_and_effects() -> None:
    seen: dict[str, Any] = {}
    for name in MODULES:
        description = read_description(provider(name, "--describe").stdout.encode())
        for command in description.commands.values():
            arguments = {argument.name: (argument.kind, argument.required) for argument in command.arguments.values()}
            seen[command.name] = (command.effect, arguments)
    text, selector = ("text", True), {"selector": ("text", True)}
    assert seen == {
        "bash": ("mutate", {"command": ("program", True), "environment": ("values", False)}),
        "open": ("observe", {"url": text}),
        "click": ("mutate", selector | {"optional": ("text", False)}),
        "fill": ("mutate", selector | {"value": text}),
        "press": ("mutate", selector | {"key": text}),
        "wait": ("observe", selector),
        "expect_text": ("observe", selector | {"includes": text}),
        "screenshot": ("observe", {"name": text}),
        "fill_private": ("mutate", selector | {"field": text}),
    }


def test_private_fields_and_only_those_are_write_only() -> None:
    fields = {}
    for name in MODULES:
        description = read_description(provider(name, "--describe").stdout.encode())
        fields[name] = {
            field: schema.get("writeOnly", False) for field, schema in description.configuration["properties"].items()
        }
    assert fields == {
        "LocalBash": {"cwd": True, "timeoutMs": False},
        "Browser": {"browser": False, "private": True, "timeoutMs": False},
    }


def test_every_command_of_the_browser_is_carried_out_by_something() -> None:
    assert set(ACTIONS) == set(BROWSER_COMMANDS)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("flag", ["--describe", "--version", "--help"])
def test_a_flag_is_answered_without_importing_what_it_does_not_need(name: str, flag: str) -> None:
    ran = provider(name, flag, interpreter=("-E", "-S", "-X", "importtime"))
    assert ran.returncode == 0, ran.stderr
    imported = set(re.findall(r"\| +([\w.]+)$", ran.stderr, re.MULTILINE))
    assert "protocol.wire.command_line" in imported
    assert sorted(imported & set(HEAVY)) == []


@pytest.mark.parametrize("name", MODULES)
def test_other_arguments_exit_2_with_one_line(name: str) -> None:
    ran = provider(name, "--bogus")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.fullmatch(rf"python -m {MODULES[name]}: '--bogus' is not an option; .* lists them.\n", ran.stderr)


@pytest.mark.parametrize("name", MODULES)
def test_on_a_terminal_it_says_what_it_is_and_exits_2(name: str) -> None:
    ours, theirs = pty.openpty()
    try:
        ran = provider(name, stdin=theirs)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert re.fullmatch(rf"This is the {name} plugin of Assay.*\n", ran.stderr)
