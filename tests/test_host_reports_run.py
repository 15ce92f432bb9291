"""The run document, read for reports."""

from typing import Any

import msgspec
import pytest

from host.reports.run import EXITS, Flow, Problem, Run, Section, Step, entry, read
from protocol.failures import CODES
from protocol.values.document import encode, parse
from tests.fakes.runs import document, flow, problem, sample, step


def the_flow(*steps: dict[str, Any], **members: Any) -> Flow:
    return read(document(flow(*steps, **members))).flows[0]


def the_step(**members: Any) -> Step:
    return the_flow(step(**members)).steps[0]


def test_a_document_is_read_whole() -> None:
    seen = read(document(flow(step(capture="7"), status="failed", code="timeout", problems=[problem()]), exit_status=1))
    facts: dict[str, Any] = {}
    assert seen == Run(
        1,
        (
            Flow(
                "Support",
                "flows/support.md",
                "r1",
                "failed",
                "timeout",
                "",
                (
                    Step(
                        "look/1.api.tools", "api", "tools", "observe", "succeeded", None, "", "7", 9, None, facts, None
                    ),
                ),
                (Problem(3, 5, "unknown key", "write `name`"),),
            ),
        ),
    )


def test_a_document_from_a_file_is_read_as_one_from_memory() -> None:
    from_file = parse(encode(sample())).value
    assert encode(read(from_file)) == encode(read(sample()))


def test_what_may_be_null_may_be_missing() -> None:
    bare = {"id": "a/b", "alias": "x", "command": "y", "status": "skipped"}
    found = the_flow(bare, run=None, message=None)
    assert found.steps == (Step("a/b", "x", "y", "", "skipped", None, "", None, 0, None, {}),)
    assert (found.run, found.message) == (None, "")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "the document must be an object"),
        ({"format": "assay-run/2"}, "`format` must be 'assay-run/1': this is no document of `assay run --json`"),
        ({"format": "assay-run/1", "exit": 0}, "`flows` must be an array"),
        ({"format": "assay-run/1", "exit": msgspec.Raw(b"1.5"), "flows": []}, "`exit` must be a whole number"),
        (document("x"), "flows[0] must be an object"),  # type: ignore[arg-type]
        (document(flow(flow=None, file=None)), "`flows[0].file` must be a string"),
        (document(flow(flow=3)), "`flows[0].flow` must be a string or null"),
        (document(flow(file=3)), "`flows[0].file` must be a string or null"),
        (
            document(flow(status="fine")),
            "`flows[0].status` must be one of succeeded, failed, unknown, error, refused, interrupted",
        ),
        (document(flow(step(), step(line=-1))), "`flows[0].steps[1].line` must be a whole number"),
        (document(flow(step(facts=[]))), "flows[0].steps[0].facts must be an object"),
        (document(flow(problems=[problem(advice=4)])), "`flows[0].problems[0].help` must be a string or null"),  # type: ignore[arg-type]
    ],
)
def test_another_form_is_refused_with_the_member_that_is_wrong(value: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        read(value)
    assert str(caught.value) == message


def test_a_named_step_is_labelled_by_its_name_and_a_counted_one_by_its_number() -> None:
    named, counted = the_flow(step("look/inventory", alias="api", command="tools"), step("look/12.api.tools")).steps
    assert [(each.section, each.name, each.label) for each in (named, counted)] == [
        ("look", "inventory", "inventory (api.tools)"),
        ("look", None, "12.api.tools"),
    ]


def test_steps_are_grouped_by_section_in_the_order_of_the_file() -> None:
    found = the_flow(
        step("see-it/1.api.tools"), step("see-it/2.api.call"), step("-/1.api.call"), step("see-it/3.api.call")
    )
    assert [(section.slug, section.title, len(section.steps)) for section in found.sections] == [
        ("see-it", "See it", 2),
        ("-", "-", 1),
        ("see-it", "See it", 1),
    ]
    assert found.sections[0] == Section("see-it", "See it", found.steps[:2])


@pytest.mark.parametrize(
    ("status", "code", "is_error"),
    [
        ("succeeded", None, False),
        ("skipped", None, False),
        ("failed", "expectation_failed", False),
        ("failed", "of_another_version", False),
        ("failed", "invalid_arguments", True),
        ("failed", "unreachable", True),
        ("failed", "evidence_leak", True),
        ("unknown", "reply_lost", True),
    ],
)
def test_a_step_is_an_error_when_it_says_nothing_certain_about_the_server(
    status: str, code: str | None, is_error: bool
) -> None:
    assert the_step(status=status, code=code).is_error is is_error


@pytest.mark.parametrize(
    ("facts", "milliseconds"),
    [
        ({}, None),
        ({"http": {"milliseconds": msgspec.Raw(b"12.5")}}, 12.5),
        ({"milliseconds": 3, "http": {"milliseconds": 2}}, 3),
        ({"http": None}, None),
        ({"http": {"milliseconds": msgspec.Raw(b"1e999")}}, None),
        ({"http": {"milliseconds": msgspec.Raw(b"-1")}}, None),
        ({"http": {"milliseconds": "12"}}, None),
        ({"http": {"milliseconds": True}}, None),
        ({"http": {"milliseconds": 10**400}}, None),
        ({"http": {"milliseconds": msgspec.Raw(b"null")}}, None),
    ],
)
def test_a_duration_is_read_where_the_facts_have_one(facts: dict[str, Any], milliseconds: float | None) -> None:
    assert the_step(facts=facts).milliseconds == milliseconds


def test_the_duration_that_the_host_took_comes_first() -> None:
    assert the_step(milliseconds=40, facts={"http": {"milliseconds": 2}}).milliseconds == 40


def test_drift_is_read_from_the_facts() -> None:
    changes = {"breaking": msgspec.Raw(b"2"), "routing": 0, "additive": 1, "odd": "x"}
    assert the_step(facts={"comparison": {"run": "r0", "changes": changes}}).drift == {"breaking": 2, "additive": 1}
    assert the_step(facts={"comparison": {"baseline": "b", "missing": True}}).drift == {}
    assert the_step(facts={"comparison": {"changes": [1]}}).drift == {}


def test_a_flow_without_a_readable_name_goes_by_its_file() -> None:
    assert the_flow(flow=None).name == "flows/support.md"


@pytest.mark.parametrize(
    ("members", "innocent"),
    [
        ({"status": "refused", "code": None}, True),
        ({"status": "refused", "code": "invalid_binding"}, False),
        ({"status": "refused", "code": None, "problems": [problem()]}, False),
        ({"status": "succeeded", "code": None}, False),
    ],
)
def test_a_flow_is_innocent_when_only_another_one_was_refused(members: dict[str, Any], innocent: bool) -> None:
    assert read(document({**flow(), **members})).flows[0].is_innocent is innocent


def test_a_flow_takes_as_long_as_its_steps_together() -> None:
    timed = {"http": {"milliseconds": 2}}
    assert the_flow(step(facts=timed), step(), step(facts=timed)).milliseconds == 4
    assert the_flow(step()).milliseconds is None


@pytest.mark.parametrize(
    ("members", "needed"),
    [
        ({"status": "succeeded", "code": None}, False),
        ({"status": "failed", "code": None, "steps": [step(status="failed", code="timeout")]}, False),
        ({"status": "failed", "code": None, "steps": [step()]}, True),
        ({"status": "unknown", "code": None, "steps": [step(status="unknown", code="reply_lost")]}, False),
        ({"status": "refused", "code": None, "problems": [problem()]}, False),
        ({"status": "refused", "code": "invalid_binding"}, True),
        ({"status": "interrupted", "code": "cancelled", "steps": [step(status="failed", code="cancelled")]}, True),
        ({"status": "error", "code": "plugin_died", "steps": [step(status="failed", code="plugin_died")]}, False),
        ({"status": "failed", "code": "timeout", "steps": [step(status="failed", code="cancelled")]}, True),
        ({"status": "error", "code": "evidence_leak", "steps": [step(status="failed", code="timeout")]}, True),
    ],
)
def test_a_flow_needs_a_word_of_its_own_when_no_step_and_no_problem_shows_why(
    members: dict[str, Any], needed: bool
) -> None:
    assert read(document({**flow(), **members})).flows[0].needs_a_word is needed


def test_a_code_is_explained_from_the_closed_set() -> None:
    assert all(entry(str(code)) == known for code, known in CODES.items())
    assert entry(None) is None
    assert entry("of_another_version") is None


def test_every_exit_status_of_a_code_is_explained() -> None:
    assert {known.exit for known in CODES.values()} <= set(EXITS)
