"""Captures and exact numbers, from a reply into later calls and into the evidence, on a real server."""

import json

import pytest

from tests.command_line import Assay

HEAD = """---
name: Values
providers:
  api: MCP
---

# Values

```rfl
"""

#: The second seed's example, its tools being the example server's own.
CAPTURE = r"""
api.call_value tool="create_record" arguments="{\"title\":\"test record\"}" select="/id" -> record_id
api.call tool="get_record" arguments="{\"id\":\"${record_id}\"}" expect="{\"isError\":false,\"json\":[{\"pointer\":\"/id\",\"equals\":\"${record_id}\"}]}"
api.call tool="get_record" arguments="{\"id\":\"${record_id}\"}" expect="{\"isError\":false,\"json\":[{\"pointer\":\"/enabled\",\"equals\":true},{\"pointer\":\"/members\",\"count\":2},{\"pointer\":\"/deleted_at\",\"equals\":null}]}"
"""  # noqa: E501

#: Pointer into the reply of read_numbers -> the number as it is spelled there.
SPELLINGS = {
    "/large": "9007199254740993",
    "/price": "1.10",
    "/tiny": "1e-400",
    "/zero": "-0",
    "/digits": "1234567890" * 40,
}


def flow(commands: str) -> str:
    return f"{HEAD}{commands.strip()}\napi.disconnect\n```\n"


@pytest.mark.requirement("command.call-value", "capture.public", "capture.command", "capture.example")
def test_the_second_seeds_example_runs(assay: Assay, example_server: str) -> None:
    ran = assay.run(assay.write("f.md", flow(CAPTURE)), "--target", example_server)
    assert ran.statuses == ["call_value succeeded", "call succeeded", "call succeeded", "disconnect succeeded"], ran.out
    assert ran.captures[0].startswith("R-")
    assert ran.exit == 0


@pytest.mark.requirement("capture.example")
def test_the_second_seeds_example_runs_on_a_fastmcp_server(assay: Assay, fastmcp_server: str) -> None:
    text = flow(CAPTURE).replace("create_record", "create_entry").replace("get_record", "get_entry")
    ran = assay.run(assay.write("f.md", text), "--target", fastmcp_server)
    assert ran.captures == ["entry-11"], ran.out
    assert ran.exit == 0


@pytest.mark.requirement("capture.evidence", "capture.spelling")
def test_numbers_are_captured_as_they_are_spelled(assay: Assay, example_server: str) -> None:
    commands = "\n".join(
        f'api.call_value tool="read_numbers" select="{pointer}" -> n{index}' for index, pointer in enumerate(SPELLINGS)
    )
    ran = assay.run(assay.write("f.md", flow(commands)), "--target", example_server)
    assert ran.captures == list(SPELLINGS.values()), ran.out
    observations = [json.loads(path.read_text()) for path in ran.kept if path.name == "observation.json"]
    assert ran.exit == 0
    assert len(observations) == len(SPELLINGS) + 1
    kept = [entry["capture"] for entry in observations if entry["command"] == "call_value"]
    assert kept == list(SPELLINGS.values())


@pytest.mark.requirement("json.equals", "json.original-spelling")
@pytest.mark.parametrize(
    ("pointer", "operand", "holds"),
    [
        ("/large", "9007199254740991", False),
        ("/price", "1.1", True),
        ("/price", "1.10", True),
        ("/price", "11e-1", True),
        ("/price", "1.2", False),
        ("/price", '"1.10"', False),
        ("/tiny", "1e-400", True),
        ("/tiny", "10e-401", True),
        ("/tiny", "0", False),
        ("/zero", "0", True),
        ("/zero", "-0", True),
        ("/zero", "-0.0", True),
        ("/digits", "1", False),
    ],
)
def test_numbers_compare_as_exact_decimals(
    assay: Assay, example_server: str, pointer: str, operand: str, holds: bool
) -> None:
    command = f'api.call tool="read_numbers" expect={{"json":[{{"pointer":"{pointer}","equals":{operand}}}]}}'
    ran = assay.run(assay.write("f.md", flow(command)), "--target", example_server)
    assert ran.statuses[0] == ("call succeeded" if holds else "call failed expectation_failed"), ran.out


@pytest.mark.requirement("json.admission")
def test_an_operand_past_what_hosts_admit_is_refused_before_contact(assay: Assay, example_server: str) -> None:
    command = 'api.call tool="read_numbers" expect={"json":[{"pointer":"/large","equals":9007199254740993}]}'
    ran = assay.run(assay.write("f.md", flow(command)), "--target", example_server)
    assert ran.exit == 2
    assert ran.document["flows"][0]["status"] == "refused"


def test_a_captured_number_enters_a_later_call_as_a_number(assay: Assay, example_server: str) -> None:
    commands = """
api.call_value tool="read_numbers" select="/price" -> price
api.call tool="read_numbers" expect={"json":[{"pointer":"/price","equals":"${price:number}"}]}
api.call tool="read_numbers" expect={"json":[{"pointer":"/price","equals":"${price}"}]} # a string is no number
"""
    ran = assay.run(assay.write("f.md", flow(commands)), "--target", example_server)
    assert ran.statuses[:3] == [
        "call_value succeeded",
        "call succeeded",
        "call failed expectation_failed",
    ], ran.out


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (
            'api.call tool="read_twice" expect={"json":[{"pointer":"/id","exists":true}]}',
            "call failed expectation_failed",
        ),
        ('api.call_value tool="read_twice" select="/id" -> id', "call_value failed selection_failed"),
        ('api.call tool="read_twice"', "call succeeded"),
    ],
)
def test_a_repeated_member_in_a_text_block_fails_what_has_to_read_it(
    assay: Assay, example_server: str, command: str, status: str
) -> None:
    ran = assay.run(assay.write("f.md", flow(command)), "--target", example_server)
    assert ran.statuses[0] == status, ran.out


@pytest.mark.requirement("capture.repeated")
def test_a_repeated_member_is_named_as_the_reason(assay: Assay, example_server: str) -> None:
    command = 'api.call tool="read_twice" expect={"json":[{"pointer":"/id","exists":true}]}'
    ran = assay.run(assay.write("f.md", flow(command)), "--target", example_server)
    assert "source-unavailable" in json.dumps(ran.steps[0])


@pytest.mark.parametrize("pointer", ["/nowhere", ""])
def test_a_selection_that_finds_no_scalar_captures_nothing_and_skips_what_needs_it(
    assay: Assay, example_server: str, pointer: str
) -> None:
    commands = f"""
api.call_value tool="create_record" arguments={{"title":"x"}} select="{pointer}" -> id
api.call tool="get_record" arguments={{"id":"${{id}}"}}
"""
    ran = assay.run(assay.write("f.md", flow(commands)), "--target", example_server)
    assert ran.statuses[:2] == ["call_value failed selection_failed", "call skipped"], ran.out
    assert ran.captures == []
    assert ran.exit == 1
