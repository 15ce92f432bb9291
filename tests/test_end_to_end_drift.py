"""Two versions of a server compared: run against run, and one run against a baseline that is kept beside the flow."""

import json
from typing import Any

import pytest

from tests.command_line import Assay, Ran

FLOW = """---
name: Inventory
providers:
  api: MCP
---

# Inventory

```rfl
api.connect
api.tools
api.disconnect
```
"""

#: What version 2 of the example server does to the tools of version 1, by class.
ADDED = ["tag_ticket"]
REMOVED = ["list_audit_events"]
CHANGED = {
    "export_report": "breaking",
    "preview_ticket": "risk",
    "search_tickets": "additive",
    "summarize_ticket": "routing",
}


def two_runs(assay: Assay, first: str, second: str) -> tuple[Ran, Ran]:
    flow = assay.write("f.md", FLOW)
    return assay.run(flow, "--target", first), assay.run(flow, "--target", second)


def tool_diff(ran: Ran) -> dict[str, Any]:
    (path,) = [path for run in ran.runs for path in run.rglob("tool-diff.json")]
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.requirement("inspection.drift")
def test_the_second_run_keeps_a_diff_that_names_and_classes_each_change(
    assay: Assay, example_server: str, example_server_2: str
) -> None:
    _, ran = two_runs(assay, example_server, example_server_2)
    diff = tool_diff(ran)
    assert diff["added"] == [{"name": name, "class": "additive"} for name in ADDED]
    assert diff["removed"] == [{"name": name, "class": "breaking"} for name in REMOVED]
    classes = {entry["name"]: {change["class"] for change in entry["changes"]} for entry in diff["changed"]}
    assert classes == {name: {change} for name, change in CHANGED.items()}
    assert diff["summary"] == {"breaking": 2, "unclassified": 0, "risk": 1, "routing": 1, "additive": 2}


def test_two_runs_on_the_same_server_differ_in_nothing(assay: Assay, example_server: str) -> None:
    first, second = two_runs(assay, example_server, example_server)
    compared = assay("diff", first.runs[0], second.runs[0], "--fail-on", "breaking,risk,routing")
    assert compared.exit == 0, compared.err


def test_diff_names_the_changes_and_fails_on_the_classes_it_is_told_to(
    assay: Assay, example_server: str, example_server_2: str
) -> None:
    first, second = two_runs(assay, example_server, example_server_2)
    shown = assay("diff", first.runs[0], second.runs[0])
    assert shown.exit == 0, shown.err
    for name in [*ADDED, *REMOVED, *CHANGED]:
        assert name in shown.out
    assert assay("diff", "latest~1", "latest", "--fail-on", "breaking").exit == 1
    assert assay("diff", first.runs[0], first.runs[0], "--fail-on", "breaking").exit == 0


def test_a_baseline_beside_the_flow_catches_the_change_in_one_run(
    assay: Assay, example_server: str, example_server_2: str
) -> None:
    flow = assay.write("f.md", FLOW)
    made = assay.run(flow, "--target", example_server, "--update-baseline")
    assert made.exit == 0, made.err
    baseline = assay.folder / "f.baseline.json"
    assert baseline.exists()
    same = assay.run(flow, "--target", example_server, "--fail-on", "breaking,risk,routing")
    assert same.exit == 0, same.out + same.err
    changed = assay.run(flow, "--target", example_server_2, "--fail-on", "breaking,risk,routing")
    assert changed.exit == 1
    for name in [*ADDED, *REMOVED, *CHANGED]:
        assert name in changed.out


def test_the_flow_of_init_shows_every_change_of_the_server_also_when_a_tool_that_it_expects_is_gone(
    assay: Assay, example_server: str, example_server_2: str
) -> None:
    assert assay("init", example_server).exit == 0
    made = assay.run("flows", "--update-baseline")
    assert made.exit == 0, made.out + made.err
    changed = assay.run("flows", "--target", example_server_2)
    assert changed.exit == 1
    assert f'present (not-listed: "{REMOVED[0]}")' in changed.out
    for name in [*ADDED, *REMOVED, *CHANGED]:
        assert f"tool `{name}`" in changed.out
    compared = assay("diff", "latest~1", "latest", "--fail-on", "breaking")
    assert compared.exit == 1, compared.err
    for name in [*ADDED, *REMOVED, *CHANGED]:
        assert name in compared.out


def test_a_baseline_of_a_read_only_repository_is_named_with_an_option(
    assay: Assay, example_server: str, example_server_2: str
) -> None:
    flow = assay.write("f.md", FLOW)
    baseline = assay.folder / "kept.json"
    assert assay.run(flow, "--target", example_server, "--baseline", baseline, "--update-baseline").exit == 0
    changed = assay.run(flow, "--target", example_server_2, "--baseline", baseline, "--fail-on", "breaking")
    assert changed.exit == 1
