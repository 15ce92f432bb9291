"""Which steps run after what happened: a table of flows, outcomes and what is skipped, with the reasons told."""

from typing import Any

import pytest

from host.flow import Flow
from host.outcome import StepOutcome
from host.skipping import Course
from tests.host_flows import flow

FAILED: dict[str, Any] = {"status": "failed", "code": "expectation_failed", "facts": {"connection": "open"}}
REFUSED: dict[str, Any] = {"status": "failed", "code": "unreachable", "facts": {"connection": "refused"}}
UNKNOWN: dict[str, Any] = {"status": "unknown", "code": "reply_lost", "facts": {"connection": "closed"}}


#: How an alias stands after a command that succeeded, where that is not `open`.
AFTER = {"disconnect": "disconnected", "oauth_begin": "none", "oauth_finish": "none"}


def walk(given: Flow, happened: dict[str, dict[str, Any]], **options: Any) -> dict[str, str | None]:
    """Run a flow on paper; return each step's id with the reason why it was skipped, None when it ran."""
    course = Course(**options)
    reasons: dict[str, str | None] = {}
    for section in given.sections:
        for step in section.steps:
            reason = course.reason(section, step)
            after = AFTER.get(step.command, "open")
            result = {
                "status": "skipped" if reason else "succeeded",
                "code": None,
                "facts": {} if reason else {"connection": after},
                "capture": "v" if step.capture and not reason else None,
                **({} if reason else happened.get(step.id, {})),
            }
            outcome = StepOutcome(
                step.id,
                step.alias,
                step.command,
                step.effect,
                result["status"],
                result["code"],
                "",
                result["capture"] if result["status"] == "succeeded" else None,
                step.line,
                None,
                result["facts"],
            )
            course.record(section, step, outcome)
            reasons[step.id] = reason
    return reasons


def ran(reasons: dict[str, str | None]) -> list[str]:
    return [step for step, reason in reasons.items() if reason is None]


def test_every_step_runs_when_all_succeed() -> None:
    reasons = walk(flow(("One", "api.connect\napi.tools"), ("Two", "api.disconnect")), {})
    assert set(reasons.values()) == {None}


def test_a_failed_step_skips_the_rest_of_its_section_and_later_sections_run() -> None:
    given = flow(("One", "api.connect\napi.tools # list\napi.tools # again"), ("Two", "api.tools # more"))
    assert walk(given, {"one/list": FAILED}) == {
        "one/1.api.connect": None,
        "one/list": None,
        "one/again": "`one/list` did not succeed, and this step stands in the same section.",
        "two/more": None,
    }


def test_a_step_that_needs_a_missing_capture_is_skipped_in_any_section() -> None:
    given = flow(
        ("One", 'api.connect\napi.call_value tool="make" select="/id" -> id # make'),
        ("Two", 'api.call tool="get" arguments={"id":"${id}"} # get\napi.tools # list'),
    )
    reasons = walk(given, {"one/make": FAILED})
    assert reasons["two/get"] == "It needs `${id}`, which `one/make` did not give."
    assert reasons["two/list"] is None


def test_a_capture_of_a_skipped_step_is_missing_too() -> None:
    given = flow(
        ("One", 'api.connect\napi.tools # list\napi.call_value tool="make" select="/id" -> id # make'),
        ("Two", 'api.call tool="get" arguments={"id":"${id}"} # get'),
    )
    assert walk(given, {"one/list": FAILED})["two/get"] == "It needs `${id}`, which `one/make` did not give."


def test_the_commands_of_an_alias_that_did_not_connect_are_skipped_and_others_run() -> None:
    given = flow(
        ("One", "api.connect"),
        ("Two", "api.tools # own\nother.tools # other"),
        ("Three", "api.connect # again\napi.disconnect # end"),
        aliases="api other",
    )
    reasons = walk(given, {"one/1.api.connect": REFUSED})
    assert reasons["two/own"] == "`api` did not connect (see `one/1.api.connect`)."
    assert ran(reasons) == ["one/1.api.connect", "two/other"]


@pytest.mark.parametrize("connection", ["none", "refused"])
def test_a_first_command_that_fails_without_a_connection_counts_as_not_connected(connection: str) -> None:
    given = flow(("One", "api.tools # first"), ("Two", "api.tools # second"))
    failed = {**FAILED, "facts": {"connection": connection}}
    assert ran(walk(given, {"one/first": failed})) == ["one/first"]


@pytest.mark.parametrize("code", ["invalid_arguments", "private_operand", "binding_fixed", "oauth_required"])
@pytest.mark.parametrize("facts", [{"connection": "none"}, {}])
def test_a_first_command_that_is_refused_for_itself_leaves_its_alias_to_later_sections(
    code: str, facts: dict[str, Any]
) -> None:
    given = flow(
        ("One", 'api.call tool="t" # first\napi.tools # rest'), ("Two", "api.tools # list"), ("Three", "api.tools")
    )
    refused = {"status": "failed", "code": code, "facts": facts}
    assert ran(walk(given, {"one/first": refused})) == ["one/first", "two/list", "three/1.api.tools"]


def test_a_binding_that_cannot_be_used_closes_its_alias() -> None:
    given = flow(("One", 'api.call tool="t" # first'), ("Two", "api.tools # list"))
    refused = {"status": "failed", "code": "invalid_binding", "facts": {"connection": "refused"}}
    assert walk(given, {"one/first": refused})["two/list"] == "`api` did not connect (see `one/first`)."


def test_an_expected_refusal_skips_nothing_so_that_a_later_command_fails_loudly() -> None:
    given = flow(("One", "api.connect\napi.tools # list"))
    expected = {"status": "succeeded", "facts": {"connection": "refused"}}
    assert walk(given, {"one/1.api.connect": expected})["one/list"] is None


def test_a_closed_connection_is_left_to_the_plugin_to_refuse() -> None:
    given = flow(("One", "api.connect\napi.tools # lost"), ("Two", "api.tools # next"), ("Three", "api.disconnect"))
    closed = {**FAILED, "facts": {"connection": "closed"}}
    assert set(walk(given, {"one/lost": closed}).values()) == {None}


@pytest.mark.parametrize("opening", ["other.connect", 'other.tools tokenFile="key"', 'other.tools path="a"'])
def test_an_alias_whose_opening_step_was_left_out_does_not_connect_as_somebody_else(opening: str) -> None:
    given = flow(
        ("One", f"api.connect # first\n{opening} # opening"), ("Two", "other.tools # later"), aliases="api other"
    )
    reasons = walk(given, {"one/first": REFUSED})
    assert reasons["two/later"] == "`other` did not connect: `one/opening` was left out."


def test_an_alias_that_opens_by_itself_later_runs_though_an_earlier_step_was_skipped() -> None:
    given = flow(
        ("One", "api.tools # first\nother.tools # left-out"),
        ("Two", "other.tools # plain"),
        ("Three", "third.connect\nthird.tools # own"),
        aliases="api other third",
    )
    assert ran(walk(given, {"one/first": FAILED})) == ["one/first", "two/plain", "three/1.third.connect", "three/own"]


def test_a_second_opening_step_may_open_what_the_first_did_not() -> None:
    given = flow(
        ("One", "api.tools # first\nother.connect # left-out"),
        ("Two", "other.connect # own\nother.tools # list"),
        aliases="api other",
    )
    assert ran(walk(given, {"one/first": FAILED})) == ["one/first", "two/own", "two/list"]


def test_an_unknown_outcome_stops_the_flow_but_for_disconnects_and_cleanup() -> None:
    given = flow(
        ("One", 'api.connect\nother.tools # other\napi.call tool="t" # lost\napi.disconnect # end'),
        ("Two", "api.tools # more\nother.disconnect # bye\nlate.disconnect # never"),
        ("Cleanup", 'other.call tool="delete" # tidy\nother.tools # look'),
        aliases="api other late",
    )
    reasons = walk(given, {"one/lost": UNKNOWN})
    assert reasons["two/more"] == "The outcome of `one/lost` is unknown, and the flow stopped there."
    assert ran(reasons) == [
        "one/1.api.connect",
        "one/other",
        "one/lost",
        "one/end",
        "two/bye",
        "cleanup/tidy",
        "cleanup/look",
    ]


def test_every_step_of_cleanup_is_tried() -> None:
    given = flow(("Work", "api.connect"), ("Cleanup", 'api.call tool="a" # a\napi.call tool="b" # b'))
    assert set(walk(given, {"cleanup/a": FAILED}).values()) == {None}
    assert set(walk(given, {"cleanup/a": UNKNOWN}).values()) == {None}


def test_cleanup_that_needs_a_missing_capture_is_skipped() -> None:
    given = flow(
        ("Work", 'api.connect\napi.call_value tool="make" select="/id" -> id # make'),
        ("Cleanup", 'api.call tool="delete" arguments={"id":"${id}"} # delete'),
    )
    assert "did not give" in str(walk(given, {"work/make": FAILED})["cleanup/delete"])


def test_a_disconnect_runs_once_its_alias_has_a_session_also_in_a_failed_section() -> None:
    given = flow(("One", "api.connect\napi.tools # list\napi.disconnect # end\napi.disconnect # twice"))
    reasons = walk(given, {"one/list": FAILED})
    assert ran(reasons) == ["one/1.api.connect", "one/list", "one/end"]


def test_fail_fast_stops_at_the_first_failure_and_still_cleans_up() -> None:
    given = flow(("One", "api.connect\napi.tools # list"), ("Two", "api.tools # more"), ("Cleanup", "api.disconnect"))
    reasons = walk(given, {"one/list": FAILED}, fail_fast=True)
    assert reasons["two/more"] == "`one/list` failed, and --fail-fast stopped the flow there."
    assert reasons["cleanup/1.api.disconnect"] is None


def test_nothing_of_a_plugin_that_is_gone_runs_not_even_cleanup() -> None:
    given = flow(("Cleanup", "api.disconnect"))
    course = Course()
    course.lose("MCP", "one/lost")
    section = given.sections[0]
    assert course.reason(section, section.steps[0]) == "The MCP plugin is gone since `one/lost`."


def test_the_first_stop_is_the_one_that_is_told() -> None:
    given = flow(("One", "api.tools"))
    course = Course()
    course.stop("first")
    course.stop("second")
    assert course.reason(given.sections[0], given.steps[0]) == "first"


SIGNING_IN = (
    ("Sign in", 'api.oauth_begin\nsite.click selector="x"\napi.oauth_finish'),
    ("Look", "api.tools # list\nanon.connect"),
    ("End", "api.disconnect"),
)
BROWSER_FAILED: dict[str, Any] = {"status": "failed", "code": "timeout", "facts": {}}
NOT_SIGNED_IN: dict[str, Any] = {"status": "failed", "code": "oauth_consent_denied", "facts": {"connection": "none"}}


@pytest.mark.parametrize(
    ("happened", "left_out"),
    [
        ({"sign-in/1.api.oauth_begin": NOT_SIGNED_IN}, "did not connect (see `sign-in/1.api.oauth_begin`)"),
        ({"sign-in/2.site.click": BROWSER_FAILED}, "did not connect: `sign-in/3.api.oauth_finish` was left out"),
        ({"sign-in/3.api.oauth_finish": NOT_SIGNED_IN}, "did not connect (see `sign-in/3.api.oauth_finish`)"),
    ],
)
def test_an_alias_that_did_not_sign_in_is_left_out_and_others_go_on(
    happened: dict[str, dict[str, Any]], left_out: str
) -> None:
    reasons = walk(flow(*SIGNING_IN, aliases="api anon site:Browser"), happened)
    assert left_out in (reasons["look/list"] or "")
    assert {step: bool(reason) for step, reason in reasons.items() if not step.startswith("sign-in")} == {
        "look/list": True,
        "look/2.anon.connect": False,
        "end/1.api.disconnect": True,
    }


def test_a_second_beginning_after_one_that_was_left_out_lets_the_alias_go_on() -> None:
    halves = "api.oauth_begin\napi.oauth_finish"
    given = flow(
        ("One", f"anon.connect\n{halves}"), ("Two", f"{halves}\napi.tools # list"), aliases="api anon site:Browser"
    )
    reasons = walk(given, {"one/1.anon.connect": REFUSED})
    assert ran(reasons) == ["one/1.anon.connect", "two/1.api.oauth_begin", "two/2.api.oauth_finish", "two/list"]
