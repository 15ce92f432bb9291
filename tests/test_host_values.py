"""Inputs and captures for a program: handed over as values, found where its text looks them up, never put into it."""

import json
from typing import Any

import pytest

from host.bindings import Binding, stand_in
from host.description import read_description
from host.flow import Flow, Reading
from host.providers.shell.commands import described
from host.references import Values
from protocol.failures import Failed
from protocol.values.document import encode
from tests.fakes.descriptions import mcp_document
from tests.host_flows import read_flow

DESCRIPTIONS = {
    "LocalBash": read_description(encode(described())),
    "MCP": read_description(encode(mcp_document())),
}
HEAD = """---
name: f
providers:
  shell: LocalBash
  api: MCP
inputs:
  who: {default: "Ada"}
  count: {default: "3"}
---

# One

```rfl
"""
CALL = 'api.call_value tool="make" select="/id" -> id'


def reading(*commands: str) -> Reading:
    return read_flow("f.md", (HEAD + "\n".join(commands) + "\n```\n").encode(), DESCRIPTIONS, {})


def flow(*commands: str) -> Flow:
    read = reading(*commands)
    assert read.flow is not None, read.problems
    return read.flow


def problems(*commands: str) -> list[tuple[str, str, str]]:
    """What is refused: the marked text, the message and the advice."""
    read = reading(*commands)
    lines = read.text.split("\n")
    return [
        (lines[each.line - 1][each.column - 1 : each.column - 1 + each.width], each.message, each.help)
        for each in read.problems
    ]


def test_a_command_is_given_every_input_and_every_capture_so_far() -> None:
    step = flow(CALL, 'shell.bash command="echo ${x} $who $${y}"').steps[1]
    arguments = step.substitute({"who": 'A "da"\n', "count": "3", "id": "9007199254740993"})
    assert arguments["command"] == "echo ${x} $who $${y}"
    assert json.loads(arguments["environment"]) == {"who": 'A "da"\n', "count": "3", "id": "9007199254740993"}
    assert list(json.loads(arguments["environment"])) == ["count", "id", "who"]


def test_no_input_and_no_capture_is_an_empty_object() -> None:
    assert Values().substitute({}) == Values.source == "{}"


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("echo $RFL_ID", ("id",)),
        ("echo ${RFL_ID:-none} ${#RFL_WHO} ${!RFL_ID}", ("id", "who")),
        ("printenv RFL_ID", ("id",)),
        ("RFL_OTHER=1; echo RFL_OTHER", ()),
        ("echo XRFL_ID $XRFL_ID RFLID", ()),
        ("echo '$RFL_ID'", ("id",)),
        ("./script", ()),
    ],
)
def test_a_command_needs_what_its_text_looks_up(text: str, needs: tuple[str, ...]) -> None:
    step = flow(CALL, f"shell.bash command={json.dumps(text)}").steps[1]
    assert step.needs == needs
    assert step.substitute({"id": "1"})["command"] == text


def test_a_plan_checks_a_command_whose_capture_is_not_there_yet_by_its_form() -> None:
    step = flow(CALL, 'shell.bash command="echo $RFL_ID"').steps[1]
    ready, still_open = step.prepare({"who": "Ada", "count": "3"})
    assert still_open == ("command",)
    assert ready == {"command": "echo $RFL_ID", "environment": '{"count": "3", "who": "Ada"}'}


def test_a_name_that_is_looked_up_and_does_not_exist_is_refused_where_it_stands() -> None:
    assert problems('shell.bash command="echo \\"$RFL_WHOM\\" ${RFL_COUNT}"') == [
        (
            "RFL_WHOM",
            "There is no input or capture `whom`.",
            (
                "Did you mean `who`? Known names: `count`, `who`."
                " `RFL_<NAME>` is an input or a capture, its name in capitals."
            ),
        )
    ]


def test_a_capture_that_is_looked_up_before_it_exists_is_refused() -> None:
    assert problems('shell.bash command="printenv RFL_ID"', CALL) == [
        (
            "RFL_ID",
            "The capture `id` is used before it exists: it is made on line 15.",
            "Move this command below that one.",
        )
    ]


def test_a_variable_of_ours_is_written_in_capitals() -> None:
    assert problems('shell.bash command="echo $RFL_who"') == [
        (
            "RFL_who",
            "A variable `RFL_<NAME>` is written in capitals.",
            "Write `RFL_` and the name of an input or capture in capitals.",
        )
    ]


def test_what_the_host_fills_in_cannot_be_written_in_a_flow() -> None:
    ((marked, message, _advice),) = problems('shell.bash command="true" environment={"A":"b"}')
    assert (marked, message) == ("environment", "`bash` takes no argument `environment`.")


def test_an_input_that_only_a_script_may_use_is_no_warning() -> None:
    assert [each.message for each in flow('shell.bash command="./script"', "api.connect").warnings] == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"filledBy": "plugin"}, '`commands[0].arguments.properties.environment.filledBy` has to be "host"'),
        ({"contentMediaType": "text/plain"}, "has to be application/json"),
        ({"contentMediaType": None}, "has to be application/json"),
    ],
)
def test_a_description_says_rightly_what_the_host_fills_in(change: dict[str, Any], words: str) -> None:
    document = json.loads(json.dumps(described()))
    argument = document["commands"][0]["arguments"]["properties"]["environment"]
    argument |= change
    with pytest.raises(Failed) as raised:
        read_description(json.dumps(document).encode())
    assert words in raised.value.failure.message


def test_a_plan_that_does_not_know_a_binding_takes_the_example_of_a_required_field() -> None:
    empty = Binding("shell", "LocalBash", {"timeoutMs": 500}, ())
    assert stand_in(empty, DESCRIPTIONS).configuration == {"cwd": "/usr/bin", "timeoutMs": 500}
    known = Binding("shell", "LocalBash", {"cwd": "/srv/app"}, ("/srv/app",))
    assert stand_in(known, DESCRIPTIONS).configuration == {"cwd": "/srv/app"}
    assert stand_in(known, DESCRIPTIONS).private == ("/srv/app",)
    assert stand_in(empty, {}).configuration == {"timeoutMs": 500}
