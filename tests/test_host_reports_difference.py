"""Diffs of inventories, read for reports."""

from typing import Any

import pytest

from host import comparison
from host.reports.difference import CLASSES, Change, Difference, Row, read
from plugin.comparison import compare_states
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


def test_a_change_has_its_detail_and_its_location_in_a_schema() -> None:
    found = read(DIFF)
    assert found.before == "the baseline support.baseline.json"
    assert found.rows[2].changes[0] == Change(
        "inputSchema", "breaking", "a location became required", "/inputSchema/properties/limit"
    )
    assert found.rows[1].changes[0] == Change(
        "annotations.destructive", "risk", "may now be destructive: from false to true", None
    )


def diff(**members: Any) -> dict[str, Any]:
    return {"format": "assay-diff/1", "inventory": "tools", **members}


def test_an_entry_without_a_class_breaks_when_it_went_and_adds_when_it_came() -> None:
    found = read(
        diff(inventory="resources", before={"run": "r0"}, removed=[{"uri": "a:b"}], added=[{"uriTemplate": "c"}])
    )
    assert found == Difference(
        "resources", "the run r0", (Row("a:b", "removed", "breaking", ()), Row("c", "added", "additive", ()))
    )


def test_an_unknown_or_missing_class_counts_as_unclassified() -> None:
    changes = [{"field": "title", "class": "cosmetic"}, {"field": "x"}, {"field": "y", "class": "additive"}]
    row = read(diff(changed=[{"name": "t", "changes": changes}, {"name": "u"}])).rows[0]
    assert (row.kind, [(change.kind, change.detail) for change in row.changes]) == (
        "unclassified",
        [("unclassified", "changed"), ("unclassified", "changed"), ("additive", "changed")],
    )


def test_the_classes_are_those_that_runs_are_judged_by() -> None:
    assert tuple(CLASSES) == comparison.CLASSES


def test_what_a_plugin_finds_is_read() -> None:
    before = {"inventory": "tools", "complete": True, "entries": [record("gone"), record("kept")]}
    after = {"inventory": "tools", "complete": True, "entries": [record("kept", readOnly=False), record("new")]}
    found = read(compare_states("tools", before, after))
    assert found == Difference(
        "tools",
        "",
        (
            Row("gone", "removed", "breaking", ()),
            Row(
                "kept",
                "changed",
                "risk",
                (Change("annotations.readOnly", "risk", "no longer read-only: from true to false", None),),
            ),
            Row("new", "added", "additive", ()),
        ),
    )


def record(name: str, **hints: bool) -> dict[str, Any]:
    return {"name": name, "annotations": {"readOnly": True, **hints}, "sha256": {}, "shape": {}, "redacted": False}


def test_nothing_changed_is_said_so() -> None:
    assert read(diff()).events == "no difference"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "`format` must be 'assay-diff/1': this is no diff of two inventories"),
        ({"format": "assay-diff/1"}, "`inventory` must be a string"),
        (diff(added={}), "`added` must be an array"),
        (
            diff(removed=[{"name": "a"}, {}]),
            "`removed[1]` must be an object with a string `name`, `uri` or `uriTemplate`",
        ),
        (diff(removed=["a"]), "`removed[0]` must be an object with a string `name`, `uri` or `uriTemplate`"),
        (diff(changed=[{"name": "a", "changes": 1}]), "`changed[0].changes` must be an array"),
        (
            diff(changed=[{"name": "a", "changes": [{}]}]),
            "`changed[0].changes` must hold objects with a string `field`",
        ),
    ],
)
def test_another_form_is_refused_with_the_member_that_is_wrong(value: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        read(value)
    assert str(caught.value) == message
