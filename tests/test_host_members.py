"""Member names that a closed schema does not know: at any depth, with their place, together with the rest."""

from typing import Any

import pytest

from host.description import read_description
from host.members import unknown_members
from host.reading import check_flow, parse_flow
from plugin.describe import describe
from protocol.values.document import encode

CLOSED = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "open": {"type": "object", "properties": {"a": {}}},
        "json": {
            "type": "array",
            "items": {"type": "object", "properties": {"pointer": {}, "equals": {}}, "additionalProperties": False},
        },
        "either": {"anyOf": [{"type": "object", "properties": {}, "additionalProperties": False}]},
    },
    "additionalProperties": False,
}
MEMBERS = "Known members: `count`, `either`, `json`, `open`."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"count": 1, "open": {"b": 1}, "json": [{"pointer": ""}], "either": {"x": 1}}', []),
        (' {"coumt": 1}', [(2, 7, "`expect` takes no member `coumt`.", f"Did you mean `count`? {MEMBERS}")]),
        (
            '{"zz":{"b":1},"json":[{},{"pointr":""}]}',
            [
                (1, 4, "`expect` takes no member `zz`.", MEMBERS),
                (
                    26,
                    8,
                    "`expect.json[1]` takes no member `pointr`.",
                    "Did you mean `pointer`? Known members: `equals`, `pointer`.",
                ),
            ],
        ),
        ('{"${x}": 1}', []),
        ('{"zz": ', []),
        ("[]", []),
    ],
)
def test_unknown_members_of_closed_objects_are_found(text: str, expected: list[Any]) -> None:
    found = unknown_members("expect", text, CLOSED)
    assert [(wrong.index, wrong.width, wrong.message, wrong.help) for wrong in found] == expected


@pytest.mark.parametrize("schema", [{}, {"additionalProperties": {}}, CLOSED | {"patternProperties": {"^z": {}}}])
def test_an_open_object_takes_any_member(schema: dict[str, Any]) -> None:
    assert list(unknown_members("expect", '{"zz": 1}', schema)) == []


FLOW = r"""---
name: N
providers: {api: MCP}
---

```rfl
api.tools expect={"presnt": ["a"]}
api.call tool="t" arguments={"any": 1} expect="{\"isEror\": true}"
api.tolls
```
"""


def test_they_are_told_in_one_round_with_everything_else() -> None:
    description = read_description(encode(describe()))
    problems = check_flow(parse_flow("a.md", FLOW.encode()), {"MCP": description}, {}).problems
    told = [(problem.line, problem.column, problem.width, problem.message) for problem in problems]
    assert told == [
        (7, 19, 8, "`expect` takes no member `presnt`."),
        (8, 49, 10, "`expect` takes no member `isEror`."),
        (9, 5, 5, "MCP has no command `tolls`."),
    ]
    assert problems[0].help.startswith("Did you mean `present`? Known members: `absent`, ")
