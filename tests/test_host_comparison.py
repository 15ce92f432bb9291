"""What a diff says in words and counts, which changes fail a step, and which inventories are compared."""

from typing import Any

import pytest

from host.comparison import FAIL_ON_DEFAULT, Change, artifact_name, changes, counts, failing, pair, summary
from host.runs import Inventory

DIFF: dict[str, Any] = {
    "format": "assay-diff/1",
    "inventory": "tools",
    "added": [{"name": "new", "class": "additive"}],
    "removed": [{"name": "old", "class": "breaking"}],
    "changed": [
        {
            "name": "kept",
            "fields": ["description", "_meta"],
            "changes": [
                {"field": "description", "class": "routing", "detail": "the text changed"},
                {"field": "_meta", "class": "unclassified", "detail": "only a hash is kept"},
            ],
        }
    ],
}


def inventory(step: str, alias: str = "api", name: str = "tools") -> Inventory:
    return Inventory(step, alias, "MCP", name, {"inventory": name})


def pairs(before: list[Inventory], after: list[Inventory], *, by_step: bool = True) -> list[tuple[str, str]]:
    return [(found.before.step, found.after.step) for found in pair(before, after, by_step=by_step)]


def test_every_classed_change_of_a_diff_is_found() -> None:
    assert changes(DIFF) == (
        Change("removed", "old", "breaking", None, None),
        Change("added", "new", "additive", None, None),
        Change("changed", "kept", "routing", "description", "the text changed"),
        Change("changed", "kept", "unclassified", "_meta", "only a hash is kept"),
    )


def test_a_diff_that_is_no_diff_has_no_changes() -> None:
    assert changes({"added": 5, "removed": None, "changed": [7, {"name": 3, "class": 9}]}) == ()


def test_counts_name_the_gravest_class_first_and_leave_out_the_others() -> None:
    assert list(counts(changes(DIFF)).items()) == [
        ("breaking", 1),
        ("unclassified", 1),
        ("routing", 1),
        ("additive", 1),
    ]
    assert counts(()) == {}


@pytest.mark.parametrize(
    ("fail_on", "names"),
    [
        (FAIL_ON_DEFAULT, ["old", "kept", "kept"]),
        (frozenset({"breaking"}), ["old", "kept"]),
        (frozenset({"additive"}), ["new"]),
        (frozenset({"risk"}), []),
        (frozenset(), []),
    ],
)
def test_the_named_classes_fail_and_what_has_no_known_class_counts_as_breaking(
    fail_on: frozenset[str], names: list[str]
) -> None:
    assert [change.name for change in failing(changes(DIFF), fail_on)] == names


def test_a_class_of_a_later_plugin_counts_as_breaking() -> None:
    found = (Change("changed", "x", "cosmic", None, None),)
    assert failing(found, frozenset({"breaking"})) == found


def test_a_summary_names_the_first_changes_and_counts_the_rest() -> None:
    many = tuple(Change("removed", f"t{number}", "breaking", None, None) for number in range(7))
    assert summary(many, "tools").startswith("breaking: tool `t0` was removed; breaking: tool `t1` was removed")
    assert summary(many, "tools").endswith("; and 2 more")
    assert summary(changes(DIFF)[2:3], "tools") == "routing: tool `kept` changed its description: the text changed"


@pytest.mark.requirement("diff.artifact")
def test_artifacts_have_singular_names() -> None:
    names = ["tools", "resources", "resource_templates", "prompts", "volumes"]
    assert [artifact_name(name) for name in names] == [
        "tool-diff.json",
        "resources-diff.json",
        "resource_templates-diff.json",
        "prompts-diff.json",
        "volumes-diff.json",
    ]


def test_steps_of_one_id_are_compared() -> None:
    before, after = [inventory("a/1"), inventory("a/2")], [inventory("a/2"), inventory("a/3")]
    assert pairs(before, after) == [("a/2", "a/2")]


def test_without_a_common_step_the_first_reading_of_an_inventory_is_compared_with_the_first() -> None:
    before = [inventory("a/1"), inventory("a/p", name="prompts"), inventory("a/2")]
    after = [inventory("b/p", name="prompts"), inventory("b/1"), inventory("b/2"), inventory("b/3")]
    assert pairs(before, after) == [("a/p", "b/p"), ("a/1", "b/1"), ("a/2", "b/2")]


def test_two_identities_are_compared_by_place_although_a_step_is_common() -> None:
    before, after = [inventory("a/1"), inventory("a/2")], [inventory("a/2"), inventory("a/1")]
    assert pairs(before, after, by_step=False) == [("a/1", "a/2"), ("a/2", "a/1")]


def test_other_inventories_are_never_compared() -> None:
    assert pairs([inventory("a/1")], [inventory("a/1", name="prompts")]) == []
