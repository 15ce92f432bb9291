"""Reports of real runs: JUnit that others read, a page in a real browser, GitHub's, and the same made from evidence."""

import fcntl
import json
import os
import re
import shutil
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import junitparser
import pytest
import xmlschema
from playwright.sync_api import Page, expect, sync_playwright

from host.progress import MARKS
from host.running import Runner
from tests.command_line import Assay, Ran
from tests.host_command import Command
from tests.host_flows import text

ROOT = Path(__file__).resolve().parents[1]
FLOW = text(
    ("Look", "api.connect\napi.tools # list"),
    ("Use", 'api.call_value tool="create_record" arguments={"title":"<b>&"} select="/id" -> id # made'),
    ("Refuse", 'api.call tool="delete_workspace" expect={"isError":false} # allowed\napi.tools # never'),
    ("Cleanup", "api.disconnect"),
)
STATUSES = ["succeeded", "failed", "succeeded", "failed", "skipped", "succeeded"]
FORGED = "::error::forged ##[add-path]/tmp"


class Kept:
    """One real run of a flow against another version of the server than its baseline is of, with every report."""

    def __init__(self, ran: Ran, folder: Path) -> None:
        self.ran = ran
        self.folder = folder

    def read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    @property
    def document(self) -> Any:
        return self.ran.document


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, example_server: str, example_server_2: str) -> Kept:
    folder = tmp_path_factory.mktemp("kept")
    assay = Assay(folder)
    assay.write("f.md", text(("Look", "api.connect\napi.tools # list"), ("Cleanup", "api.disconnect")))
    assert assay("run", "f.md", "--target", example_server, "--update-baseline").exit == 0
    assay.write("f.md", FLOW)
    assay.write("g.md", FLOW.replace("name: A flow", 'name: "Another <flow>"').replace("Look", "Look & see"))
    (folder / "summary.md").write_text("# Before\n")
    words = ["--target", example_server_2, "--junit", "out.xml", "--html", "out.html", "--jobs", "2"]
    ran = assay.run(".", *words, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(folder / "summary.md"))
    return Kept(ran, folder)


def test_the_run_is_the_one_that_was_meant(kept: Kept) -> None:
    assert (kept.ran.exit, [flow["file"] for flow in kept.document["flows"]]) == (1, ["f.md", "g.md"])
    assert [step["status"] for step in kept.document["flows"][0]["steps"]] == STATUSES
    assert [step["status"] for step in kept.document["flows"][1]["steps"]] == [
        "succeeded",
        *STATUSES[:1],
        *STATUSES[2:],
    ]
    assert all(step["milliseconds"] is not None for step in kept.ran.steps if step["status"] != "skipped")


# JUnit


def test_junit_of_a_real_run_is_valid_and_is_read_by_others(kept: Kept) -> None:
    xmlschema.XMLSchema(str(ROOT / "docs" / "junit.xsd")).validate(kept.read("out.xml"))
    report = junitparser.JUnitXml.fromfile(str(kept.folder / "out.xml"))
    assert (report.tests, report.failures, report.errors, report.skipped) == (12, 3, 0, 2)
    assert [suite.name for suite in report] == ["A flow", "Another <flow>"]
    for suite, flow in zip(report, kept.document["flows"], strict=True):
        assert [case.name for case in suite] == [
            "1.api.connect",
            "list (api.tools)",
            "made (api.call_value)",
            "allowed (api.call)",
            "never (api.tools)",
            "1.api.disconnect",
        ]
        for case, step in zip(suite, flow["steps"], strict=True):
            assert case.time is None or round(case.time * 1000) == step["milliseconds"]
        drifted = [*suite][1].result
        assert [result.type for result in drifted] == (["expectation_failed"] if flow["file"] == "f.md" else [])


def test_junit_of_a_real_run_survives_being_read_and_written(kept: Kept) -> None:
    again = junitparser.JUnitXml.fromstring(kept.read("out.xml").encode())
    written = again.tostring()
    xmlschema.XMLSchema(str(ROOT / "docs" / "junit.xsd")).validate(written.decode())
    before, after = (ElementTree.canonicalize(xml, strip_text=True) for xml in (kept.read("out.xml"), written.decode()))
    assert before == after


# The page


@pytest.fixture(scope="module")
def page(kept: Kept) -> Iterator[Page]:
    found = os.environ.get("ASSAY_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", *quiet]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=flags)
        opened = browser.new_page(viewport={"width": 1200, "height": 900})
        opened.goto((kept.folder / "out.html").as_uri())
        yield opened
        browser.close()


def test_the_page_of_a_real_run_shows_failures_and_unfolds_a_diff(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("0 of 2 flows succeeded")
    expect(page.get_by_role("heading", name="Another <flow>")).to_be_visible()
    refused = page.locator("details.step.failed", has_text="allowed").first
    expect(refused).to_have_attribute("open", "")
    expect(refused.get_by_text("expectation_failed").first).to_be_visible()
    drifted = page.locator("details.step.failed", has_text="list").first
    expect(drifted.get_by_text("Drift of tools")).to_be_visible()
    gone = drifted.locator("details", has_text="Drift of tools").get_by_text("export_report").first
    expect(gone).to_be_visible()
    drifted.get_by_text("Drift of tools").click()
    expect(gone).to_be_hidden()
    captured = page.locator("details.step.succeeded", has_text="made").first
    value = captured.locator("dd", has_text=re.compile(r"^R-\d+$"))
    expect(value).to_be_hidden()
    captured.locator("summary").first.click()
    expect(value).to_be_visible()


# GitHub


def test_annotations_stand_among_lines_that_are_none_and_the_summary_is_appended(kept: Kept) -> None:
    commands = [row for row in kept.ran.out.splitlines() if row.startswith("::")]
    assert [row.partition("::")[2].partition(" ")[0] for row in commands] == ["error"] * 2 + ["warning"] + [
        "error",
        "warning",
    ]
    assert commands[0].startswith("::error file=f.md,line=11,title=A flow%3A api.tools failed (expectation_failed)::")
    summary = kept.read("summary.md")
    assert summary.startswith("# Before\n## Assay: 0 of 2 flows succeeded\n")
    assert "<code>Another &lt;flow&gt;</code>" in summary


# From evidence


def test_reports_from_evidence_are_those_of_the_run(kept: Kept) -> None:
    assay = Assay(kept.folder)
    runs = [flow["run"] for flow in kept.document["flows"]]
    words = ["--json", "kept.json", "--junit", "kept.xml", "--html", "kept.html"]
    assert assay("report", *runs, *words).exit == 0
    assert json.loads(kept.read("kept.json")) == kept.document
    assert kept.read("kept.xml") == kept.read("out.xml")
    assert kept.read("kept.html") == kept.read("out.html")
    told = assay("report", *runs, GITHUB_ACTIONS="true")
    commands = [row for row in told.out.splitlines() if row.startswith("::")]
    assert commands == [row for row in kept.ran.out.splitlines() if row.startswith("::")]


def test_a_report_goes_to_standard_output_when_no_file_is_named(kept: Kept) -> None:
    assay = Assay(kept.folder)
    run = kept.document["flows"][0]["run"]
    assert json.loads(assay("report", run, "--json").out)["flows"] == kept.document["flows"][:1]
    assert ElementTree.fromstring(assay("report", run, "--junit").out).tag == "testsuites"
    assert assay("report", run, "--html").out.startswith("<!doctype html>")


def test_a_report_without_an_option_shows_the_steps(kept: Kept) -> None:
    done = Assay(kept.folder)("report", kept.document["flows"][0]["run"])
    assert (done.exit, done.err) == (0, "")
    rows = done.out.splitlines()
    assert rows[0] == "A flow  (f.md)"
    marks = [row.split()[0] for row in rows if row.startswith("    ") and "/" in row.split()[1]]
    assert marks == [MARKS[status] for status in STATUSES]
    assert rows[-2].startswith("failed: ")


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"):
        monkeypatch.delenv(name, raising=False)
    command = Command(tmp_path, monkeypatch, capsys)
    command.write(
        "f.md", text(("Look", 'api.connect\napi.tools # list\napi.call tool="t" # use'), ("More", "api.tools"))
    )
    return command


def alter(assay: Command, **members: Any) -> None:
    """Leave the latest run as a host would that was killed in its second step."""
    path = assay.runs[-1] / "run.json"
    record = json.loads(path.read_bytes())
    for step, status in zip(record["steps"], ("succeeded", "running", "pending", "pending"), strict=True):
        step["status"] = status
    path.write_text(json.dumps(record | {"status": "running", "exit": None, "message": ""} | members))


def test_a_run_that_was_killed_is_reported_as_interrupted_where_it_was(assay: Command) -> None:
    assay.run("f.md")
    alter(assay)
    document = assay("report", "latest", "--json").document
    (flow,) = document["flows"]
    assert (document["exit"], flow["status"], flow["code"], flow["message"]) == (
        130,
        "interrupted",
        "cancelled",
        "The run was killed.",
    )
    assert [(step["status"], step["code"]) for step in flow["steps"]] == [
        ("succeeded", None),
        ("failed", "cancelled"),
        ("skipped", None),
        ("skipped", None),
    ]


def test_a_mutation_in_which_a_run_was_killed_is_unknown(assay: Command) -> None:
    assay.run("f.md")
    alter(assay)
    path = assay.runs[-1] / "run.json"
    path.write_text(path.read_text().replace('"effect": "observe"', '"effect": "mutate"'))
    (flow,) = assay("report", "latest", "--json").document["flows"]
    assert flow["steps"][1]["status"] == "unknown"


def test_a_run_that_is_still_going_is_not_reported_on(assay: Command) -> None:
    assay.run("f.md")
    alter(assay)
    descriptor = os.open(assay.runs[-1], os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        done = assay("report", "latest", "--json")
    finally:
        os.close(descriptor)
    assert (done.exit, "is still going" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run.json", '{"format": "assay-evidence/1", "status": "odd", "steps": []}'),
        ("run.json", '{"format": "assay-evidence/1", "status": "failed", "flow": 5, "steps": [{"id": 5}]}'),
        ("run.json", "{"),
        ("run.json", '{"format": "assay-evidence/1", "status": "failed", "flow": {"file": "f.md"}, "steps": 5}'),
        ("run.json", '{"format": "assay-evidence/1", "status": "failed", "flow": {"file": "f.md"}, "exit": 999}'),
    ],
)
def test_evidence_that_is_none_is_refused(assay: Command, name: str, content: str) -> None:
    assay.run("f.md")
    (assay.runs[-1] / name).write_text(content)
    done = assay("report", "latest", "--json")
    assert done.exit == 2
    assert "Traceback" not in done.err


def test_what_is_withheld_is_reported_without_it(assay: Command) -> None:
    assay.behave(commands={"tools": [[{"learn": ["a-learnt-value"]}, {"result": {"message": "a-learnt-value"}}]]})
    assert assay.run("f.md").exit == 5
    (flow,) = assay("report", "latest", "--json").document["flows"]
    step = flow["steps"][1]
    assert (step["code"], step["state"], step["facts"]) == ("evidence_leak", None, {})


@pytest.mark.parametrize("folder", ["\0", "..", "", "a" * 5_000])
def test_a_step_whose_folder_is_no_name_is_reported_without_what_is_kept(assay: Command, folder: str) -> None:
    assay.run("f.md")
    path = assay.runs[-1] / "run.json"
    record = json.loads(path.read_text())
    record["steps"][0]["folder"] = folder
    path.write_text(json.dumps(record))
    (flow,) = assay("report", "latest", "--json", "-", "--html", "o.html").document["flows"]
    assert (flow["steps"][0]["status"], flow["steps"][0]["state"]) == ("succeeded", None)
    assert assay("diff", "latest", "latest").exit in (0, 2)


def test_a_pipe_among_evidence_is_not_waited_for(assay: Command) -> None:
    assay.run("f.md")
    (place, *_) = assay.runs[-1].glob("steps/*/observation.json")
    place.unlink()
    os.mkfifo(place)
    (flow,) = assay("report", "latest", "--json").document["flows"]
    assert flow["steps"][0]["state"] is None


def test_a_diff_that_cannot_be_read_is_left_out(assay: Command) -> None:
    for name in ("a", "b"):
        assay.behave(commands={"tools": [[{"result": {"tools": [name]}}]]})
        assay.run("f.md")
    (path,) = (path for path in assay.runs[-1].rglob("tool-diff.json") if "02" in path.parent.name)
    whole = assay("report", "latest", "--html").out
    path.write_text('{"format": "assay-diff/1"}')
    assert len(assay("report", "latest", "--html").out) < len(whole)


def test_there_has_to_be_a_run(assay: Command) -> None:
    for word in ("latest", "nothing-like-it"):
        done = assay("report", word)
        assert (done.exit, done.out) == (2, "")
    assert "There is no run 'nothing-like-it'." in done.err


# Files


def test_one_document_may_take_standard_output_and_lines_then_go_to_standard_error(assay: Command) -> None:
    done = assay.run("f.md", "--junit", "-", "--json", "out.json", "--github")
    assert ElementTree.fromstring(done.out).tag == "testsuites"
    assert "look/list" in done.err
    assert json.loads((assay.folder / "out.json").read_text())["exit"] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--json", "-", "--junit", "-"], "Two documents would go to one place."),
        (["--json", "out", "--html", "./out"], "Two documents would go to one place."),
        (["--html", "none/out.html"], "does not exist"),
        (["--junit", "."], "it is a folder"),
    ],
)
def test_what_could_not_be_written_is_found_out_before_contact(assay: Command, words: list[str], told: str) -> None:
    done = assay.run("f.md", *words)
    assert (done.exit, assay.plugin.log) == (2, [])
    assert told in done.err


def test_no_report_of_an_earlier_run_stays_behind_when_a_command_line_is_refused(assay: Command) -> None:
    words = ["--json", "o.json", "--junit", "o.xml", "--html", "o.html"]
    assert assay.run("f.md", *words).exit == 0
    assert assay.run("f.md", *words, "--input", "nobody=takes it").exit == 2
    assert json.loads((assay.folder / "o.json").read_text()) == {"format": "assay-run/1", "exit": 2, "flows": []}
    assert ElementTree.fromstring((assay.folder / "o.xml").read_text()).get("tests") == "0"
    assert "No flow was run" in (assay.folder / "o.html").read_text()


def test_a_report_that_would_hold_a_private_value_is_not_written(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Runner, "leaks", lambda _self, content: b"look/list" in content)
    done = assay.run("f.md", "--json", "o.json", "--junit", "o.xml", "--html", "o.html", "--github")
    assert done.exit == 5
    assert "No report was written: it would hold a private value." in done.err
    for name in ("o.json", "o.xml", "o.html"):
        assert "look/list" not in (assay.folder / name).read_text()
    assert json.loads((assay.folder / "o.json").read_text())["exit"] == 5
    assert "::" not in [row[:2] for row in done.out.splitlines()]


def test_nothing_is_left_beside_a_file_that_cannot_be_written(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: Any, **_named: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    done = assay.run("f.md", "--html", "o.html")
    assert (done.exit, "No space left on device" in done.err) == (2, True)
    assert [path.name for path in assay.folder.iterdir() if "o.html" in path.name] == []


# Workflow commands


def forging(assay: Command) -> None:
    front = f'name: "{FORGED}"\nproviders:\n  api: MCP\n'
    assay.write("f.md", f"---\n{front}---\n\n# {FORGED}\n\n{FORGED}\n\n```rfl\napi.tools # list\n```\n")
    result = {"status": "failed", "code": "timeout", "message": f"{FORGED}\n{FORGED}", "facts": {"a": f"\n{FORGED}"}}
    assay.behave(commands={"tools": [[{"result": result}]]})


@pytest.mark.parametrize("words", [[], ["--json", "-"], ["--junit", "-"], ["--html", "-"], ["-q"]])
def test_on_github_nothing_foreign_is_a_workflow_command(
    assay: Command, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    forging(assay)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    done = assay.run("f.md", *words)
    assert done.exit == 1
    rows = (done.out + done.err).splitlines()
    commands = [row for row in rows if row.lstrip().startswith("::") or "##[" in row]
    assert len(commands) == 1
    assert commands[0].startswith("::error file=f.md,line=12,title=")
    if words == ["--json", "-"]:
        assert done.document["flows"][0]["steps"][0]["message"] == f"{FORGED}\n{FORGED}"
    if words == ["--junit", "-"]:
        assert FORGED in (ElementTree.fromstring(done.out).findtext(".//failure") or "")


def test_github_is_told_where_it_runs_and_where_it_is_asked_for(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    forging(assay)
    assert "::error file=" not in assay.run("f.md").out
    assert "::error file=" in assay.run("f.md", "--github").out
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert "::error file=" in assay.run("f.md").out
    assert "::error file=" not in assay.run("f.md", "--no-github").out


def test_annotations_name_files_by_their_place_in_the_repository(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    forging(assay)
    assay.write("deep/g.md", (assay.folder / "f.md").read_text())
    monkeypatch.setenv("GITHUB_WORKSPACE", str(assay.folder))
    monkeypatch.chdir(assay.folder / "deep")
    done = assay.run("g.md", "../f.md", "--github")
    assert "::error file=deep/g.md,line=12" in done.out
    assert "::error file=f.md,line=12" in done.out
    monkeypatch.setenv("GITHUB_WORKSPACE", str(assay.folder / "elsewhere"))
    assert "::error file=g.md,line=12" in assay.run("g.md", "--github").out


@pytest.mark.parametrize(
    ("before", "told"), [(b"x" * (1024 * 1024 - 10), "the job's summary is full"), (None, "cannot be written")]
)
def test_a_summary_that_cannot_be_written_is_a_note(
    assay: Command, monkeypatch: pytest.MonkeyPatch, before: bytes | None, told: str
) -> None:
    path = assay.folder / "summary.md"
    if before is None:
        path.mkdir()
    else:
        path.write_bytes(before)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    done = assay.run("f.md", "--github")
    assert (done.exit, told in done.err) == (0, True)
    assert before is None or path.read_bytes() == before
