"""docs/providers.md names every command, argument, field and limit that the host's providers have."""

import json
import re
from pathlib import Path

from host.providers.browser import commands as browser
from host.providers.browser.actions import OPTIONAL_SECONDS, SHOWN_LIMIT
from host.providers.browser.binding import read_binding as read_browser
from host.providers.commands import Command
from host.providers.fields import TIMEOUT_LEAST, TIMEOUT_MOST
from host.providers.shell import commands as shell
from host.providers.shell.report import TEXT_LIMIT
from protocol.failures import Code

PAGE = (Path(__file__).parents[1] / "docs" / "providers.md").read_text(encoding="utf-8")
SHELL, _, BROWSER = PAGE.partition("## Browser")


def rows(part: str) -> dict[str, tuple[str, str]]:
    """Command -> its arguments and its effect, of the first table of a part."""
    found = re.findall(r"^\| `(\w+)` \| (.*) \| (mutate|observe) \|", part, re.MULTILINE)
    return {name: (arguments, effect) for name, arguments, effect in found}


def written(command: Command) -> str:
    arguments = [argument for argument in command.arguments if argument.schema.get("filledBy") is None]
    return ", ".join(f"`{argument.name}`{'*' if argument.required else ''}" for argument in arguments)


def test_every_command_has_its_row_with_its_arguments_and_its_effect() -> None:
    for part, table in ((SHELL, shell.COMMANDS), (BROWSER, browser.COMMANDS)):
        assert rows(part) == {name: (written(command), command.effect) for name, command in table.items()}


def test_every_field_has_its_row_and_says_whether_it_is_private() -> None:
    for part, fields in ((SHELL, shell.FIELDS), (BROWSER, browser.FIELDS)):
        told = dict(re.findall(r"^\| `(\w+)` \| ((?!`).*|`chromium`.*) \|$", part, re.MULTILINE))
        assert {name: "**Private**" in told[name] for name in fields} == {
            name: field.get("writeOnly", False) for name, field in fields.items()
        }


def test_the_bindings_of_the_page_may_be_read() -> None:
    texts = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    configurations = [next(iter(json.loads(text).values()))["configuration"] for text in texts]
    assert set(configurations[0]) <= set(shell.FIELDS)
    configurations[1]["private"] = {"password": "a password"}
    assert read_browser("site", configurations[1]).timeout == 15


def test_limits_are_those_of_the_code() -> None:
    for part, phrases in (
        (
            SHELL,
            (
                f"{shell.COMMAND_LIMIT:,} bytes at most",
                f"({shell.TIMEOUT_DEFAULT}; {TIMEOUT_LEAST} to {TIMEOUT_MOST})",
                f"more than {TEXT_LIMIT:,} characters",
            ),
        ),
        (
            BROWSER,
            (
                f"({browser.TIMEOUT_DEFAULT}; {TIMEOUT_LEAST} to {TIMEOUT_MOST})",
                f"at most {browser.PRIVATE_LIMIT} strings of",
                f"{browser.PRIVATE_LEAST} to {browser.PRIVATE_MOST} characters",
                f"first {SHOWN_LIMIT} characters",
            ),
        ),
    ):
        for phrase in phrases:
            assert phrase in part
    assert OPTIONAL_SECONDS == 2
    assert "within two seconds" in BROWSER


def test_every_code_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`([a-z]+_[a-z_]+|timeout|cancelled|unreachable)`", PAGE))
    words = {name for table in (shell.COMMANDS, browser.COMMANDS) for name in table} | {"oauth_begin", "oauth_finish"}
    assert named - words <= set(Code)
