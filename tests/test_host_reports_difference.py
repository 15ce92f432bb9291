"""Diffs of inventories, read for reports."""

from typing import Any

import pytest

from host.reports.difference import Change, Difference, Row, read
from tests.fakes.runs import DIFF


def test_a_diff_is_rows_with_their_gravest_class() -> None:
    found = read(DIFF)
    assert [(row.event, row.name, row.kind, len(row.changes)) for row in found.rows] == [
        ("removed", "list_queues", "breaking", 0),
        ("changed", "delete_ticket", "risk", 2),
        ("changed", "search_tickets", "breaking", 2),
        ("added", "export_report", "additive", 0),
    ]
    assert found.kinds == {"breaking": 2, "risk": 1, "additive": 1}
    assert found.events == "1 removed, 2 changed, 1 added"


def test_a_change_has_both_values_or_none_and_keeps_the_rest() -> None:
    schema, _ = read(DIFF).rows[2].changes
    assert schema == Change(
        "inputSchema", "breaking", None, {"location": "/properties/limit", "reason": "became required"}
    )
    hint, _ = read(DIFF).rows[1].changes
    assert hint == Change("annotations.destructive", "risk", (False, True), {})


def test_a_bare_name_breaks_when_it_went_and_adds_when_it_came() -> None:
    found = read({"format": "assay-diff/1", "inventory": "prompts", "removed": ["old"], "added": ["new"]})
    assert found == Difference("prompts", (Row("old", "removed", "breaking", ()), Row("new", "added", "additive", ())))


def test_an_unknown_or_missing_class_counts_as_unclassified() -> None:
    changes = [{"field": "title", "class": "cosmetic"}, {"field": "x"}, {"field": "y", "class": "additive"}]
    row = read({"format": "assay-diff/1", "changed": [{"name": "t", "changes": changes}]}).rows[0]
    assert (row.kind, [change.kind for change in row.changes]) == (
        "unclassified",
        ["unclassified", "unclassified", "additive"],
    )


def test_nothing_changed_is_said_so() -> None:
    assert read({"format": "assay-diff/1"}).events == "no difference"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "`format` must be 'assay-diff/1': this is no diff of two inventories"),
        ({"format": "assay-diff/1", "inventory": 1}, "`inventory` must be a string"),
        ({"format": "assay-diff/1", "added": {}}, "`added` must be an array"),
        (
            {"format": "assay-diff/1", "removed": ["a", {}]},
            "`removed[1]` must be a name, or an object with a string `name`",
        ),
        ({"format": "assay-diff/1", "changed": [{"name": "a", "changes": 1}]}, "`changed[0].changes` must be an array"),
        (
            {"format": "assay-diff/1", "changed": [{"name": "a", "changes": [{}]}]},
            "`changed[0].changes` must hold objects with a string `field`",
        ),
    ],
)
def test_another_form_is_refused_with_the_member_that_is_wrong(value: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        read(value)
    assert str(caught.value) == message
