"""docs/oauth.md shows flows and bindings that are right, every field of `oauth`, and every code of a sign-in."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from host.bindings import read_bindings
from host.consent import read_grant
from host.description import Description, read_description
from host.providers.browser.commands import described
from host.reading import check_flow, parse_flow
from oauth.fields import FIELDS
from plugin.binding import read_binding
from plugin.describe import describe
from protocol.failures import Code, Failed
from protocol.values.document import encode, parse

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "oauth.md").read_text(encoding="utf-8")


@cache
def descriptions() -> dict[str, Description]:
    return {
        "MCP": read_description(encode(describe())),
        "Browser": read_description(encode(described())),
    }


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^(?:````|```){kind}\n(.*?)^(?:````|```)$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_flow_reads_as_it_stands_there() -> None:
    (text,) = re.findall(r"^````md\n(.*?)^````$", PAGE, re.MULTILINE | re.DOTALL)
    reading = check_flow(parse_flow("oauth.md", text.encode()), descriptions(), {})
    assert reading.problems == ()
    assert reading.flow is not None
    assert len(reading.flow.steps) == 7


def test_the_commands_of_a_step_up_read_as_they_stand_there() -> None:
    commands = PAGE.partition("## More scopes later")[2].partition("```rfl\n")[2].partition("```")[0]
    front = "---\nname: More\nproviders:\n  api: MCP\n  site: Browser\n---\n"
    assert check_flow(parse_flow("a.md", f"{front}```rfl\n{commands}```\n".encode()), descriptions(), {}).problems == ()


@pytest.mark.parametrize(("place", "grant"), [(0, "consent"), (1, "secret")])
def test_the_bindings_are_right(place: int, grant: str) -> None:
    configuration = json.loads(blocks("json")[place])["api"]["configuration"]
    environment = {"CI_CLIENT_ID": "ci-client", "CI_CLIENT_SECRET": "ci-secret"}
    assert read_grant(configuration, environment) == grant
    text = re.sub(r'\{"env": "(\w+)"\}', lambda found: json.dumps(environment[found[1]]), json.dumps(configuration))
    resolved = parse(text).value | {"endpoint": "https://mcp.example.com/mcp"}
    assert read_binding("api", resolved).oauth is not None


def test_the_first_bindings_are_refused_from_a_file_that_others_may_read_until_the_endpoint_goes_as_the_page_says() -> (
    None
):
    text = blocks("json")[0]
    with pytest.raises(Failed) as refused:
        read_bindings(text.encode(), descriptions(), trusted=False)
    assert refused.value.failure.code == Code.INVALID_BINDING
    document = json.loads(text)
    del document["api"]["configuration"]["endpoint"]
    read_bindings(json.dumps(document).encode(), descriptions(), trusted=False)
    assert "chmod 600 bindings.json" in PAGE


def test_every_field_is_explained_with_its_default() -> None:
    table = PAGE.partition("| field | default | |\n|---|---|---|\n")[2].partition("\n\n")[0]
    told = dict(re.findall(r"^\| `(\w+)` \| `?([^`|]*?)`? \| ", table, re.MULTILINE))
    assert list(told) == list(FIELDS)
    for field in FIELDS.values():
        default = field.schema.get("default")
        if default is not None:
            assert told[field.name] == str(default).lower(), field.name
    assert told["issuer"] == "required"
    assert told["callbackPath"] == "/callback"


def test_every_code_of_a_sign_in_is_explained() -> None:
    codes = [str(code) for code in Code if str(code).startswith("oauth_")]
    assert [code for code in codes if f"`{code}`" not in PAGE] == []
