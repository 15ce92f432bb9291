"""Rows of tables for entries of any form, as servers send them."""

from typing import Any

import pytest

from host.listing import LISTINGS


@pytest.mark.parametrize(
    ("inventory", "entry", "row"),
    [
        (
            "tools",
            {
                "name": "a",
                "annotations": {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": "yes"},
                "inputSchema": {"properties": {"x": {}, "y": {}}, "required": ["y"]},
                "description": "Does a.",
            },
            ["a", "read-only, not destructive", "x, y*", "Does a."],
        ),
        ("tools", {"name": 5, "inputSchema": [], "description": 7, "annotations": []}, ["?", "", "", "?"]),
        ("tools", {"name": "a", "title": "A"}, ["a", "", "", "A"]),
        ("tools", "a", ["?", "", "", "not an object"]),
        ("resources", {"uri": "u", "name": "n", "mimeType": "t"}, ["u", "n", "t", ""]),
        ("resources", {"name": 5}, ["?", "", "", ""]),
        ("resource_templates", {"uriTemplate": "u/{a}", "description": "d"}, ["u/{a}", "", "", "d"]),
        ("prompts", {"name": "p", "arguments": [{"name": "a", "required": True}, {"name": 5}, 7]}, ["p", "a*, ?", ""]),
        ("prompts", {"name": "p", "arguments": {}}, ["p", "", ""]),
        ("prompts", None, ["?", "", "not an object"]),
    ],
)
def test_an_entry_of_any_form_has_a_row(inventory: str, entry: Any, row: list[str]) -> None:
    assert LISTINGS[inventory].rows([entry]) == [row]
    assert len(row) == len(LISTINGS[inventory].headings)
