"""docs/mcp.md names every command, argument, expectation, operator, reason and binding field that the plugin has."""

import re
from pathlib import Path

from plugin.commands import COMMANDS
from plugin.configuration import FIELDS
from plugin.expectations import EXPECTATIONS, OPERATORS

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
CELL = re.compile(r"`([^`]+)`(\*?)")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table that begins with this row."""
    _, found, rest = PAGE.partition(f"\n{heading}\n")
    assert found, heading
    lines = rest.partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def names(heading: str) -> list[str]:
    return [name for row in rows(heading) for name, _ in CELL.findall(row[0])]


def test_every_command_stands_there_with_its_arguments_and_expectations() -> None:
    told = {
        CELL.findall(row[0])[0][0]: (CELL.findall(row[1]), [name for name, _ in CELL.findall(row[2])])
        for row in rows("| command | arguments (* required) | keys of `expect` | |")
    }
    assert told == {
        command.name: (
            [(argument.name, "*" if argument.required else "") for argument in command.arguments],
            list(command.expect),
        )
        for command in COMMANDS.values()
    }


def test_every_argument_is_explained() -> None:
    known = {argument.name for command in COMMANDS.values() for argument in command.arguments}
    assert set(names("| argument | |")) == known


def test_every_expectation_is_explained() -> None:
    told = re.findall(r"^\| `(\w+)` \| ", PAGE.partition("## `expect` of `tools`")[2], re.MULTILINE)
    assert set(EXPECTATIONS) <= {*told, "status"}
    assert '`{"status": 401}`' in PAGE


def test_every_operator_is_explained() -> None:
    assert names("| operator | operand | holds when the value at the pointer |") == list(OPERATORS)


def test_every_field_of_a_binding_is_explained_with_its_default() -> None:
    told = {name: row[1] for row in rows("| field | default | |") for name, _ in CELL.findall(row[0])}
    assert list(told) == list(FIELDS)
    for field in FIELDS.values():
        default = field.schema.get("default")
        if default is not None:
            assert told[field.name].strip("`") == str(default).lower()


def test_every_reason_that_the_checks_give_is_explained() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "plugin" / "checks").glob("*.py")))
    given = set(re.findall(r'"([a-z]+(?:-[a-z]+)+)"', source)) - {"rpc-error"}  # a kind of reply
    told = set(names("| reason | |"))
    assert "not-a-string" in given
    assert given <= told
    assert {"missing", "present", "refused", "included", "redacted", "listed"} <= told
