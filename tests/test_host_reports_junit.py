"""JUnit XML: what is written, whether the schema of docs/ describes it, and whether others can read it."""

import xml.etree.ElementTree as ElementTree
from functools import cache
from pathlib import Path
from typing import Any

import junitparser
import msgspec
import pytest
import xmlschema
from hypothesis import given, settings
from hypothesis import strategies as some

from host.reports.junit import render_junit
from tests.fakes.runs import HOSTILE, document, flow, problem, sample, step

SCHEMA = Path(__file__).resolve().parents[1] / "docs" / "junit.xsd"


@cache
def schema() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(str(SCHEMA))


def cases(value: dict[str, Any]) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(render_junit(value)).iter("testcase"))


def verdicts(value: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    """Name, verdict and type of every case."""
    found = []
    for case in cases(value):
        verdict = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        found.append(
            (case.get("name", ""), *(("passed", None) if verdict is None else (verdict.tag, verdict.get("type"))))
        )
    return found


def test_a_run_is_written_whole() -> None:
    http = {"status": 200, "milliseconds": msgspec.Raw(b"12.50")}
    run = document(
        flow(
            step(facts={"http": http}),
            step("look/id", alias="api", command="call_value", effect="mutate", capture="1.10", line=10),
            step("look/3.api.call", "failed", "timeout", message="No reply\nin 15000 ms.", line=11),
            step("look/4.api.call", "skipped", message="An earlier step failed.", line=12),
            status="failed",
        ),
        exit_status=1,
    )
    assert (
        render_junit(run).decode()
        == """<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="assay" tests="4" failures="1" errors="0" skipped="1" time="0.013">
  <testsuite name="Support" tests="4" failures="1" errors="0" skipped="1" time="0.013" file="flows/support.md">
    <properties>
      <property name="run" value="r1" />
      <property name="status" value="failed" />
    </properties>
    <testcase classname="Support.look" name="1.api.tools" file="flows/support.md" line="9" time="0.013">
      <properties>
        <property name="id" value="look/1.api.tools" />
        <property name="command" value="api.tools" />
        <property name="effect" value="observe" />
        <property name="status" value="succeeded" />
      </properties>
      <system-out>http: {"status":200,"milliseconds":12.50}</system-out>
    </testcase>
    <testcase classname="Support.look" name="id (api.call_value)" file="flows/support.md" line="10">
      <properties>
        <property name="id" value="look/id" />
        <property name="command" value="api.call_value" />
        <property name="effect" value="mutate" />
        <property name="status" value="succeeded" />
        <property name="capture" value="1.10" />
      </properties>
      <system-out>capture: 1.10</system-out>
    </testcase>
    <testcase classname="Support.look" name="3.api.call" file="flows/support.md" line="11">
      <properties>
        <property name="id" value="look/3.api.call" />
        <property name="command" value="api.call" />
        <property name="effect" value="observe" />
        <property name="status" value="failed" />
        <property name="code" value="timeout" />
      </properties>
      <failure message="No reply in 15000 ms." type="timeout">No reply
in 15000 ms.
timeout: The reply was not complete within the deadline; keepalives do not extend it.
Raise `timeoutMs` in the binding if the server may take that long.
flows/support.md:11</failure>
    </testcase>
    <testcase classname="Support.look" name="4.api.call" file="flows/support.md" line="12">
      <properties>
        <property name="id" value="look/4.api.call" />
        <property name="command" value="api.call" />
        <property name="effect" value="observe" />
        <property name="status" value="skipped" />
      </properties>
      <skipped message="An earlier step failed." />
    </testcase>
  </testsuite>
</testsuites>
"""
    )


@pytest.mark.parametrize(
    ("status", "code", "verdict"),
    [
        ("succeeded", None, ("passed", None)),
        ("failed", "expectation_failed", ("failure", "expectation_failed")),
        ("failed", "of_another_version", ("failure", "of_another_version")),
        ("failed", "private_operand", ("error", "private_operand")),
        ("failed", "unreachable", ("error", "unreachable")),
        ("failed", "evidence_leak", ("error", "evidence_leak")),
        ("unknown", "reply_lost", ("error", "reply_lost")),
        ("skipped", None, ("skipped", None)),
    ],
)
def test_a_status_becomes_its_verdict(status: str, code: str | None, verdict: tuple[str, str | None]) -> None:
    assert verdicts(document(flow(step(status=status, code=code)))) == [("1.api.tools", *verdict)]


def test_each_refused_problem_is_an_error_of_its_own_with_its_place() -> None:
    problems = [problem(), problem(3, 5, "another"), problem(0, 0, "not UTF-8", "")]
    refused = cases(document(flow(status="refused", run=None, problems=problems), exit_status=2))
    assert [(case.get("classname"), case.get("name"), case.get("line")) for case in refused] == [
        ("Support.refused", "flows/support.md:3:5", "3"),
        ("Support.refused", "flows/support.md:3:5 (2)", "3"),
        ("Support.refused", "flows/support.md", None),
    ]
    assert [(error.get("type"), error.get("message"), error.text) for case in refused for error in case] == [
        ("refused", "unknown key", "flows/support.md:3:5: unknown key\nwrite `name`"),
        ("refused", "another", "flows/support.md:3:5: another\nwrite `name`"),
        ("refused", "not UTF-8", "flows/support.md: not UTF-8"),
    ]


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [("interrupted", None, "interrupted"), ("error", "plugin_died", "plugin_died"), ("failed", None, "failed")],
)
def test_a_flow_whose_steps_show_no_reason_has_a_case_of_its_own(status: str, code: str | None, kind: str) -> None:
    found = cases(document(flow(step(), status=status, code=code, message="Because."), exit_status=4))
    assert [(case.get("classname"), case.get("name"), [child.get("type") for child in case]) for case in found[1:]] == [
        ("Support.flow", status, [kind])
    ]


def test_a_flow_that_another_one_kept_from_running_is_skipped() -> None:
    (case,) = cases(
        document(flow(status="refused", run=None, message="Not run: another flow was refused."), exit_status=2)
    )
    assert [(child.tag, child.get("message")) for child in case] == [("skipped", "Not run: another flow was refused.")]


def test_a_failure_lists_what_did_not_hold() -> None:
    missed = [
        {"expectation": "json", "index": 0, "reason": "missing"},
        {"expectation": "isError", "reason": "is-error"},
    ]
    state = {"failedExpectations": missed, "assertions": [{"pointer": "/id", "operator": "equals"}]}
    (case,) = cases(document(flow(step(status="failed", code="expectation_failed", message="2 failed.", state=state))))
    failure = case.find("failure")
    assert failure is not None
    assert failure.text == (
        "2 failed.\njson[0]: /id equals: missing\nisError: is-error\n"
        "expectation_failed: The reply is known and is not what the step expects.\n"
        "Compare the reply (`assay call` shows it) with what failed: mend the server,"
        " or the step's `expect`.\nflows/support.md:9"
    )


def test_flows_of_one_name_are_told_apart_by_their_files() -> None:
    run = document(flow(step()), flow(step(), file="flows/other.md"), flow(step(), flow="Third"))
    assert [case.get("classname") for case in cases(run)] == [
        "Support (flows/support.md).look",
        "Support (flows/other.md).look",
        "Third.look",
    ]


def test_times_are_left_out_where_no_fact_has_one() -> None:
    assert b"time=" not in render_junit(document(flow(step())))


def test_the_schema_describes_a_run_of_everything() -> None:
    schema().validate(render_junit(sample()).decode())
    schema().validate(render_junit(document()).decode())


@pytest.mark.parametrize(
    "wrong",
    ['<testsuites name="assay"/>', '<testsuites name="assay" tests="1" failures="-1" errors="0" skipped="0"/>'],
)
def test_the_schema_refuses_another_form(wrong: str) -> None:
    assert not schema().is_valid(wrong)


def test_a_common_reader_reads_back_what_was_written() -> None:
    run = junitparser.JUnitXml.fromstring(render_junit(sample()))
    assert (run.tests, run.failures, run.errors, run.skipped) == (21, 2, 4, 1)
    suites = list(run)
    assert [(suite.name, suite.tests, suite.failures, suite.errors, suite.skipped) for suite in suites] == [
        ("Inspect the support MCP server", 7, 1, 1, 1),
        ("What each role may do", 8, 1, 0, 0),
        ("Nightly drift", 2, 0, 2, 0),
        ("Billing gateway", 1, 0, 1, 0),
        ("Smoke", 3, 0, 0, 0),
    ]
    lost = [case for case in suites[0] if case.is_error]
    assert [(case.name, case.classname, case.time, case.result[0].type) for case in lost] == [
        ("1.api.call", "Inspect the support MCP server.close", 15.0, "reply_lost")
    ]


def test_what_a_common_reader_writes_again_is_the_same_run() -> None:
    run = junitparser.JUnitXml.fromstring(render_junit(sample()))
    again = run.tostring()
    schema().validate(again.decode())
    assert canonical(again) == canonical(render_junit(sample()))
    run.update_statistics()
    assert (run.tests, run.failures, run.errors, run.skipped) == (21, 2, 4, 1)


def canonical(text: bytes) -> str:
    return ElementTree.canonicalize(text.decode(), strip_text=True)


def test_hostile_texts_stay_texts() -> None:
    bad = step(HOSTILE, "failed", HOSTILE, message=HOSTILE, capture=HOSTILE, facts={"http": {HOSTILE: HOSTILE}})
    run = document(flow(bad, flow=HOSTILE, file=HOSTILE, status="failed", problems=[problem(1, 1, HOSTILE, HOSTILE)]))
    written = render_junit(run)
    schema().validate(written.decode())
    tame = step("a/b", "failed", "c", message="m", capture="c", facts={"http": {"a": "b"}})
    same = render_junit(document(flow(tame, status="failed", problems=[problem(1, 1)])))
    assert shape(written) == shape(same)
    for forbidden in (
        b"\x1b",
        b"\x00",
        b"\x0b",
        "\u202e".encode(),
        "\u2028".encode(),
        b"[[ATTACHMENT",
        b"[[attachment",
    ):
        assert forbidden not in written


def shape(text: bytes) -> list[tuple[str, list[str]]]:
    return [(element.tag, sorted(element.attrib)) for element in ElementTree.fromstring(text).iter()]


ANY_TEXT = some.text(some.characters(exclude_categories=()))


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
@settings(deadline=None)
def test_any_text_gives_a_valid_file_that_a_common_reader_reads(name: str, message: str, code: str) -> None:
    bad = step(status="failed", code=code, message=message, capture=message)
    skipped = step(status="skipped", message=message)
    written = render_junit(document(flow(bad, skipped, flow=name, file=name, status="failed"), exit_status=1))
    schema().validate(written.decode())
    (suite,) = junitparser.JUnitXml.fromstring(written)
    assert [len(case.result) for case in suite] == [1, 1]


def test_a_long_text_is_cut() -> None:
    written = render_junit(
        document(flow(step(status="failed", code="timeout", message="x" * 100_000), status="failed"))
    )
    assert len(written) < 20_000
