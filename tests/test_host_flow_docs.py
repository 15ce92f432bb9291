"""docs/flows.md says what the code does: its example reads, its refusal is real, its keys and limits are the code's."""

import json
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from host.bindings import BINDINGS_LIMIT, bind, read_bindings
from host.frontmatter import KEYS, MINUTES_DEFAULT, MINUTES_LIMIT, NAME_LIMIT
from host.literals import DEPTH_LIMIT
from host.problems import render
from host.reading import FLOW_LIMIT, PROBLEM_LIMIT, PROVIDERS
from host.rfl import read_block
from host.settings import KEYS as SETTINGS
from host.settings import read_settings
from host.source import Located
from protocol.failures import CODES
from tests.command_line import Assay
from tests.fakes.descriptions import DESCRIPTIONS
from tests.host_flows import read_flow

DOCS = (Path(__file__).parents[1] / "docs" / "flows.md").read_text(encoding="utf-8")
FLOWS = Path(__file__).parent / "flows"


def blocks(tag: str) -> list[str]:
    """The texts of all fenced blocks with this tag."""
    return [
        token.content for token in MarkdownIt("commonmark").parse(DOCS) if (token.type, token.info) == ("fence", tag)
    ]


def test_the_example_reads_and_names_the_steps_that_the_page_names() -> None:
    (text,) = blocks("md")
    reading = read_flow("a.md", text.encode(), DESCRIPTIONS, {})
    assert reading.problems == ()
    assert reading.flow is not None
    assert reading.flow.warnings == ()
    ids = [step.id for step in reading.flow.steps]
    assert "what-this-identity-can-use/inventory" in ids
    assert "cleanup/1.api.disconnect" in ids


def test_both_forms_of_an_object_are_rfl() -> None:
    (text,) = (text for text in blocks("") if text.startswith("api.tools"))
    commands = read_block(Located(text, (0,), (0,)), lambda misread: pytest.fail(repr(misread)))
    assert len({command.arguments[0].value.text for command in commands}) == 1


def test_the_refusal_is_what_is_really_printed() -> None:
    (text,) = (text for text in blocks("") if text.startswith("names.md"))
    name = "names.md"
    reading = read_flow(name, (FLOWS / name).read_bytes(), DESCRIPTIONS, {})
    assert text in render(name, reading.text, reading.problems)


def test_the_bindings_may_be_read_once_their_endpoint_is_a_reference() -> None:
    (text,) = blocks("json")
    names = {"SUPPORT_TOKEN": "t0ken-value", "SUPPORT_API_KEY": "key-value"}
    bindings = read_bindings(text.encode(), DESCRIPTIONS, trusted=True)
    assert bindings.names == set(names)
    assert set(bind({"api": "MCP"}, bindings, None, names, DESCRIPTIONS).private["MCP"]) > set(names.values())
    document = json.loads(text)
    del document["api"]["configuration"]["endpoint"]
    read_bindings(json.dumps(document).encode(), DESCRIPTIONS, trusted=False)


def test_the_example_runs_on_the_example_server_as_the_page_says(assay: Assay, example_server: str) -> None:
    (text,) = blocks("md")
    assay.write("desk.md", text)
    ran = assay("run", "desk.md", "--target", example_server)
    assert ran.exit == 0, ran.out + ran.err


def test_the_settings_read_and_are_all_there_are() -> None:
    (text,) = blocks("toml")
    settings, problems = read_settings("assay.toml", text.encode())
    assert problems == ()
    assert None not in settings
    assert re.findall(r"^(\w+) =", text, re.MULTILINE) == list(SETTINGS)


def test_every_key_of_the_frontmatter_has_its_row() -> None:
    table = DOCS.partition("## Frontmatter")[2].partition("## ")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == set(KEYS)
    for provider in PROVIDERS:
        assert f"`{provider}`" in table


def test_limits_are_those_of_the_code() -> None:
    assert (FLOW_LIMIT, BINDINGS_LIMIT) == (1024 * 1024, 1024 * 1024)
    for phrase in (
        f"at most {NAME_LIMIT} characters",
        f"{MINUTES_DEFAULT:.0f} without it, a fraction is allowed, {MINUTES_LIMIT} is the most",
        f"at most {DEPTH_LIMIT} objects and arrays",
        f"up to {PROBLEM_LIMIT} in a file",
    ):
        assert phrase in DOCS


def test_the_codes_of_each_exit_status_are_the_tables() -> None:
    rows = dict(re.findall(r"^\| ([45]) \| (.*) \|$", DOCS, re.MULTILINE))
    for status, text in rows.items():
        expected = {str(code) for code, entry in CODES.items() if entry.exit == int(status)}
        assert set(re.findall(r"`(\w+)`", text)) == expected
