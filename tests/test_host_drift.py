"""Runs compared with earlier runs and with baselines, and `assay diff`: what is compared, what fails, what is said."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.host_command import Command
from tests.host_flows import text

FLOW = text(("Look", "api.connect\napi.tools # list\napi.disconnect"))
TWO = text(
    ("Look", "admin.tools # admin\nguest.tools # guest"),
    aliases="admin guest",
)
OLD = ["gone", "kept"]
NEW = [{"name": "kept", "description": "other"}, "fresh"]
DIFF: dict[str, Any] = {
    "format": "assay-diff/1",
    "inventory": "tools",
    "added": [{"name": "fresh", "class": "additive"}],
    "removed": [{"name": "gone", "class": "breaking"}],
    "changed": [{"name": "kept", "changes": [{"field": "description", "class": "routing"}]}],
}
TOLD = [
    "breaking: tool `gone` was removed",
    "additive: tool `fresh` was added",
    "routing: tool `kept` changed its description",
]


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    command = Command(tmp_path, monkeypatch, capsys)
    command.write("f.md", FLOW)
    return command


def listing(tools: list[Any], **more: Any) -> dict[str, Any]:
    return {"commands": {"tools": [[{"result": {"tools": tools, **more}}]]}}


def run(assay: Command, tools: list[Any], *words: str, flow: str = "f.md", **more: Any) -> Any:
    assay.behave(**listing(tools, **more))
    return assay.document(flow, *words)


def step(document: Any) -> Any:
    return document["flows"][0]["steps"][1]


def diff(assay: Command, *words: str) -> Any:
    return assay("diff", *words, "--plugin", str(assay.plugin.path))


def test_a_first_run_has_nothing_to_compare_with(assay: Command) -> None:
    assert "comparison" not in step(run(assay, OLD))["facts"]
    assert "steps/02-api.tools/tool-diff.json" not in assay.kept()


@pytest.mark.requirement("diff.artifact")
def test_a_later_run_keeps_the_diff_to_the_latest_earlier_one_and_does_not_fail(assay: Command) -> None:
    run(assay, ["older"])
    run(assay, OLD)
    document = run(assay, NEW)
    first, second, third = (path.name for path in assay.runs)
    assert document["exit"] == 0
    assert step(document)["facts"]["comparison"] == {
        "run": second,
        "changes": {"breaking": 1, "routing": 1, "additive": 1},
        "artifact": "tool-diff.json",
    }
    assert assay.kept()["steps/02-api.tools/tool-diff.json"] == {
        **DIFF,
        "before": {"run": second},
        "after": {"run": third},
    }
    assert first < second


@pytest.mark.requirement("diff.succeeded")
def test_a_run_in_which_the_step_failed_is_passed_over(assay: Command) -> None:
    run(assay, OLD)
    assay.behave(commands={"tools": [[{"result": {"status": "failed", "code": "timeout", "tools": ["half"]}}]]})
    assay.run("f.md")
    document = run(assay, NEW)
    assert step(document)["facts"]["comparison"]["run"] == assay.runs[0].name


def test_a_run_of_another_flow_is_no_earlier_run(assay: Command) -> None:
    assay.write("g.md", FLOW)
    run(assay, OLD, flow="g.md")
    assert "comparison" not in step(run(assay, NEW))["facts"]


def test_the_same_flow_is_found_again_from_another_folder(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assay.write("assay.toml", "")
    run(assay, OLD)
    (assay.folder / "sub").mkdir()
    monkeypatch.chdir(assay.folder / "sub")
    assert step(run(assay, NEW, flow="../f.md"))["facts"]["comparison"]["run"] == assay.runs[0].name


def test_changes_are_printed_with_their_class(assay: Command) -> None:
    run(assay, OLD)
    assay.behave(**listing(NEW))
    done = assay.run("f.md")
    for told in [f"compared with run {assay.runs[0].name}: 1 breaking, 1 routing, 1 additive", *TOLD]:
        assert told in done.out
    assert "no change" in assay.run("f.md").out


def test_a_comparison_that_cannot_be_made_fails_nothing_without_a_baseline(assay: Command) -> None:
    run(assay, OLD)
    refusal = {"code": -32602, "message": "These are no states."}
    assay.behave(**listing(NEW), compare=[{"error": refusal}])
    done = assay.run("f.md")
    assert done.exit == 0
    assert f"not compared with run {assay.runs[0].name} [invalid_arguments]" in done.out


def test_a_plugin_that_dies_while_it_compares_fails_the_step(assay: Command) -> None:
    run(assay, OLD)
    assay.behave(**listing(NEW), compare=[{"exit": 3}])
    document = assay.document("f.md")
    assert (step(document)["code"], document["exit"]) == ("plugin_died", 4)


def test_kept_texts_of_both_runs_reach_the_comparison(assay: Command) -> None:
    catalog = {"name": "catalog.json", "json": {"inventory": "tools", "entries": []}}
    run(assay, OLD)
    run(assay, OLD, artifacts=[catalog])
    run(assay, NEW, artifacts=[catalog])
    assert assay.plugin.sent("compare")[0]["catalogs"] == {"before": catalog["json"], "after": catalog["json"]}
    run(assay, OLD)
    assert "catalogs" not in assay.plugin.sent("compare")[0]


# Baselines


def test_a_baseline_is_written_beside_the_flow_and_read_from_there(assay: Command) -> None:
    assay.behave(**listing(OLD))
    done = assay.run("f.md", "--update-baseline")
    assert done.exit == 0
    assert "baseline: f.baseline.json (1 inventory)" in done.out
    kept = json.loads((assay.folder / "f.baseline.json").read_text())
    assert (kept["flow"], list(kept["steps"])) == ("A flow", ["look/list"])
    same = run(assay, OLD)
    assert same["exit"] == 0
    assert step(same)["facts"]["comparison"] == {
        "baseline": "f.baseline.json",
        "changes": {},
        "artifact": "tool-diff.json",
    }


@pytest.mark.parametrize(
    ("words", "failures"),
    [
        ((), ["gone", "kept"]),
        (("--fail-on", "breaking"), ["gone"]),
        (("--fail-on", "additive,routing"), ["fresh", "kept"]),
        (("--fail-on", "risk"), []),
        (("--fail-on", "none"), []),
    ],
)
def test_a_change_against_the_baseline_fails_the_step_when_its_class_counts(
    assay: Command, words: tuple[str, ...], failures: list[str]
) -> None:
    run(assay, OLD, "--update-baseline")
    document = run(assay, NEW, *words)
    found = step(document)
    if not failures:
        assert (document["exit"], found["status"]) == (0, "succeeded")
        return
    assert (document["exit"], found["status"], found["code"]) == (1, "failed", "expectation_failed")
    assert "against the baseline f.baseline.json: " in found["message"]
    assert [name for name in ("fresh", "gone", "kept") if f"`{name}`" in found["message"]] == failures
    assert "--update-baseline" in found["message"]


def test_a_step_that_a_change_fails_keeps_its_state_and_skips_the_rest_of_its_section(assay: Command) -> None:
    run(assay, OLD, "--update-baseline")
    run(assay, NEW)
    kept = assay.kept()
    assert kept["steps/02-api.tools/observation.json"]["status"] == "failed"
    assert kept["steps/02-api.tools/snapshot.json"]["status"] == "succeeded"
    assert kept["run.json"]["steps"][1]["code"] == "expectation_failed"
    assert assay.plugin.ran == ["api.connect", "api.tools", "api.disconnect"]
    assert diff(assay, "latest", "latest").exit == 0


def failing(tools: list[Any]) -> dict[str, Any]:
    failed = {"status": "failed", "code": "expectation_failed", "message": "1 expectation failed: `gone` is missing."}
    return listing(tools, **failed)


def test_a_whole_inventory_is_compared_with_the_baseline_when_its_expectation_failed_as_well(assay: Command) -> None:
    run(assay, OLD, "--update-baseline")
    assay.behave(**failing(NEW))
    document = assay.document("f.md")
    found = step(document)
    assert (document["exit"], found["status"], found["code"]) == (1, "failed", "expectation_failed")
    assert found["message"].startswith("1 expectation failed: `gone` is missing. 2 changes count as failures against")
    assert found["message"].endswith("change what the step expects, and then take it in with `--update-baseline`.")
    assert found["facts"]["comparison"]["changes"] == {"breaking": 1, "routing": 1, "additive": 1}
    assert assay.kept()["steps/02-api.tools/snapshot.json"]["status"] == "failed"
    told = assay.run("f.md").out
    assert [told.count(each) for each in (*TOLD, "1 expectation failed")] == [1, 1, 1, 2]


def test_a_failed_expectation_keeps_its_own_message_when_no_change_counts(assay: Command) -> None:
    run(assay, OLD, "--update-baseline")
    assay.behave(**failing(NEW))
    found = step(assay.document("f.md", "--fail-on", "none"))
    assert (found["status"], found["message"]) == ("failed", "1 expectation failed: `gone` is missing.")
    assert "changes" in found["facts"]["comparison"]


def test_a_failed_expectation_keeps_its_code_when_the_comparison_cannot_be_made(assay: Command) -> None:
    run(assay, OLD, "--update-baseline")
    assay.behave(**failing(NEW), compare=[{"error": {"code": -32602, "message": "These are no states."}}])
    found = step(assay.document("f.md"))
    assert found["code"] == "expectation_failed"
    assert "The comparison with the baseline f.baseline.json could not be made" in found["message"]


def test_a_part_of_an_inventory_is_compared_with_nothing(assay: Command) -> None:
    run(assay, OLD, "--update-baseline")
    state = {"inventory": "tools", "declared": True, "complete": False, "count": 1}
    failed = {"status": "failed", "code": "inventory_incomplete", "message": "Half of it.", "state": state}
    assay.behave(commands={"tools": [[{"result": failed}]]})
    assert "comparison" not in step(assay.document("f.md"))["facts"]
    assert "No inventory was read to its end" in diff(assay, "latest", "latest").err


def test_a_failed_expectation_leaves_the_baseline_alone(assay: Command) -> None:
    run(assay, OLD, "--update-baseline")
    before = (assay.folder / "f.baseline.json").read_bytes()
    assay.behave(**failing(NEW))
    assert "not written: the flow did not succeed" in assay.run("f.md", "--update-baseline").out
    assert (assay.folder / "f.baseline.json").read_bytes() == before


def test_diff_takes_a_whole_inventory_of_a_step_whose_expectation_failed(assay: Command) -> None:
    run(assay, OLD)
    assay.behave(**failing(NEW))
    assay.run("f.md")
    done = diff(assay, "latest~1", "latest")
    assert (done.exit, [told in done.out for told in TOLD]) == (0, [True, True, True])


def test_an_unclassified_change_counts_as_breaking(assay: Command) -> None:
    run(assay, OLD, "--update-baseline")
    document = run(
        assay, ["gone", {"name": "kept", "description": "x", "class": "unclassified"}], "--fail-on", "breaking"
    )
    assert document["exit"] == 1


def test_a_step_that_the_baseline_does_not_have_is_not_silently_passed(assay: Command) -> None:
    run(assay, OLD, "--update-baseline")
    assay.write("f.md", FLOW.replace("# list", "# inventory"))
    document = run(assay, OLD)
    assert document["exit"] == 1
    assert "has no step `look/inventory`" in step(document)["message"]
    assay.behave(**listing(OLD))
    done = assay.run("f.md", "--fail-on", "none")
    assert done.exit == 0
    assert "the baseline f.baseline.json holds `look/list`, which the flow has no more" in done.out


def test_an_update_takes_changes_in_and_fails_nothing(assay: Command) -> None:
    run(assay, OLD, "--update-baseline")
    assert run(assay, NEW, "--update-baseline")["exit"] == 0
    assert run(assay, NEW)["exit"] == 0


def test_a_flow_that_fails_leaves_the_baseline_alone(assay: Command) -> None:
    run(assay, OLD, "--update-baseline")
    before = (assay.folder / "f.baseline.json").read_bytes()
    assay.behave(commands={"disconnect": [[{"result": {"status": "failed", "code": "cleanup_unconfirmed"}}]]})
    done = assay.run("f.md", "--update-baseline")
    assert done.exit == 1
    assert "not written: the flow did not succeed" in done.out
    assert (assay.folder / "f.baseline.json").read_bytes() == before


def test_a_flow_without_an_inventory_has_no_baseline(assay: Command) -> None:
    assay.write("f.md", text(("Look", "api.connect")))
    assert "not written: the flow read no inventory" in assay.run("f.md", "--update-baseline").out
    assert not (assay.folder / "f.baseline.json").exists()


def test_a_baseline_can_be_named(assay: Command) -> None:
    run(assay, OLD, "--update-baseline", "--baseline", "kept.json")
    assert not (assay.folder / "f.baseline.json").exists()
    assert run(assay, NEW, "--baseline", "kept.json")["exit"] == 1
    assert run(assay, NEW)["exit"] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--baseline", "none.json"), "none.json cannot be read"),
        (("--baseline", "f.md"), "is not strict JSON"),
        (("--baseline", "none/kept.json", "--update-baseline"), "its folder does not exist"),
        (("g.md", "--baseline", "kept.json"), "names one file"),
    ],
)
def test_a_baseline_that_cannot_be_used_is_found_out_before_contact(
    assay: Command, words: tuple[str, ...], told: str
) -> None:
    assay.write("g.md", FLOW)
    done = assay.run("f.md", *words)
    assert done.exit == 2
    assert told in done.err
    assert assay.plugin.log == []


def test_a_baseline_beside_a_flow_that_could_not_be_written_is_found_out_before_contact(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.documents.os.access", lambda _path, mode: mode != os.W_OK)
    done = assay.run("f.md", "--update-baseline")
    assert (done.exit, assay.plugin.log) == (2, [])
    assert "f.baseline.json cannot be written: its folder may not be written to." in done.err


# assay diff


def test_diff_compares_the_latest_run_with_the_one_before(assay: Command) -> None:
    run(assay, OLD)
    run(assay, NEW)
    done = diff(assay, "latest~1", "latest")
    assert done.exit == 0
    assert done.out.splitlines()[:4] == [
        f"from the run {assay.runs[0].name}",
        f"to   the run {assay.runs[1].name}",
        "",
        "tools of look/list: 1 breaking, 1 routing, 1 additive",
    ]
    assert [line.strip() for line in done.out.splitlines()[4:]] == TOLD
    assert "tools of look/list: no change" in diff(assay, "latest", "latest").out


@pytest.mark.parametrize("side", ["x" * 300, "x" * 5000 + ":api", "latest~" + "9" * 300])
def test_a_side_that_can_be_no_name_of_a_file_is_refused(assay: Command, side: str) -> None:
    done = diff(assay, side, "latest")
    assert done.exit == 2
    assert "There is no run and no baseline" in done.err


def test_diff_initializes_a_plugin_without_bindings_or_origins(assay: Command) -> None:
    run(assay, OLD)
    assay.behave()
    diff(assay, "latest", "latest")
    initialized = assay.plugin.sent("initialize")[0]
    assert (initialized["bindings"], initialized["origins"]) == ({}, [])


@pytest.mark.parametrize(("fail_on", "status"), [("breaking", 1), ("routing", 1), ("risk", 0), ("none", 0)])
def test_diff_exits_1_on_the_classes_that_it_is_told_to(assay: Command, fail_on: str, status: int) -> None:
    run(assay, OLD)
    run(assay, NEW)
    assert diff(assay, "latest~1", "latest", "--fail-on", fail_on).exit == status
    assert diff(assay, "latest~1", "latest", "--fail-on", fail_on, "-q").out.count("gone") == status


def test_diff_writes_a_document(assay: Command) -> None:
    run(assay, OLD, "--update-baseline")
    run(assay, NEW)
    document = diff(assay, "f.baseline.json", "latest", "--json", "--fail-on", "breaking").document
    assert document == {
        "format": "assay-comparison/1",
        "exit": 1,
        "diffs": [
            {
                **DIFF,
                "before": {"baseline": "f.baseline.json", "step": "look/list", "alias": "api"},
                "after": {"run": assay.runs[1].name, "step": "look/list", "alias": "api"},
            }
        ],
    }


def test_two_identities_of_one_run_are_compared(assay: Command) -> None:
    assay.write("f.md", TWO)
    assay.behave(
        commands={"admin.tools": [[{"result": {"tools": OLD}}]], "guest.tools": [[{"result": {"tools": ["kept"]}}]]}
    )
    assay.run("f.md")
    done = diff(assay, "latest:admin", "latest:guest")
    assert "tools of look/admin -> look/guest: 1 breaking" in done.out


def test_a_run_is_found_by_folder_by_id_and_by_its_record(assay: Command) -> None:
    run(assay, OLD)
    run(assay, NEW)
    folder = assay.runs[0]
    for name in (str(folder), folder.name, f"{folder}/run.json", f"{folder.name}:api", f".assay/runs/{folder.name}"):
        assert "1 breaking" in diff(assay, name, "latest").out, name


def test_latest_counts_runs_of_one_flow(assay: Command) -> None:
    assay.write("g.md", FLOW)
    run(assay, OLD)
    run(assay, ["elsewhere"], flow="g.md")
    run(assay, NEW)
    assert f"from the run {assay.runs[0].name}" in diff(assay, "latest~1", "latest").out


def test_steps_that_only_one_side_has_are_told(assay: Command) -> None:
    assay.write("f.md", text(("Look", "api.tools # one\napi.tools # two")))
    assay.run("f.md")
    assay.write("f.md", text(("Look", "api.tools # two\napi.tools # three")))
    assay.run("f.md")
    done = diff(assay, "latest~1", "latest")
    assert "tools of look/two: no change" in done.out
    assert done.err == "note: only in A: look/one\nnote: only in B: look/three\n"


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("latest~7", "so there is no `latest~7`"),
        ("latest:nobody", "aliases that did: api"),
        ("nothing", "There is no run and no baseline 'nothing'"),
        ("f.md", "is not strict JSON"),
        ("plugins", "cannot be read"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_what_can(assay: Command, first: str, told: str) -> None:
    run(assay, OLD)
    done = diff(assay, first, "latest")
    assert done.exit == 2
    assert told in done.err


def test_without_runs_and_without_inventories_there_is_nothing_to_compare(assay: Command) -> None:
    assert "There are no runs" in diff(assay, "latest", "latest").err
    assay.write("f.md", text(("Look", "api.connect")))
    assay.run("f.md")
    assert "No inventory was read to its end" in diff(assay, "latest", "latest").err


def test_a_tombstone_in_place_of_a_snapshot_is_passed_over(assay: Command) -> None:
    run(assay, OLD)
    snapshot = assay.runs[0] / "steps" / "02-api.tools" / "snapshot.json"
    snapshot.write_text(json.dumps({"format": "assay-tombstone/1"}))
    assert "comparison" not in step(run(assay, NEW))["facts"]


def test_each_change_against_a_baseline_is_printed_once(assay: Command) -> None:
    run(assay, OLD, "--update-baseline")
    assay.behave(**listing(NEW))
    done = assay.run("f.md")
    assert done.exit == 1
    assert [(done.out + done.err).count(told) for told in TOLD] == [1, 1, 1]
    assert done.out.count("count as failures against the baseline") == 2
