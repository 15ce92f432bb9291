"""Step results on their way out: limits, the last look for private values, and inventory expectations."""

import json
from typing import Any

import msgspec
import pytest

from plugin.checks.expectation import read_expect
from plugin.checks.inventory import Listing, compare_inventory
from plugin.commands import COMMANDS
from protocol.values.document import parse
from protocol.values.redaction import Redactor
from protocol.wire.params import InvalidParams, read_params
from protocol.wire.results import bounded
from protocol.wire.steps import ARTIFACT_LIMIT, RESULT_LIMIT, Artifact, StepResult

TOKEN = "private-token-1"


def result(**members: Any) -> StepResult:
    defaults: dict[str, Any] = {
        "status": "succeeded",
        "code": None,
        "message": "Fine.",
        "effect": "observe",
        "facts": {"connection": "open"},
    }
    return StepResult(**{**defaults, **members})


def sent(step: StepResult, *secrets: str) -> dict[str, Any]:
    decoded: dict[str, Any] = json.loads(bounded(step, Redactor(secrets)))
    return decoded


def test_a_result_is_encoded_with_every_member() -> None:
    assert sent(result(state={"n": msgspec.Raw(b"1.10")}, artifacts=[Artifact("catalog.json", [1])])) == {
        "status": "succeeded",
        "code": None,
        "message": "Fine.",
        "effect": "observe",
        "state": {"n": 1.1},
        "facts": {"connection": "open"},
        "capture": None,
        "artifacts": [{"name": "catalog.json", "json": [1]}],
        "display": None,
    }


@pytest.mark.parametrize(
    "members",
    [
        {"message": f"x {TOKEN}"},
        {"state": {"a": [TOKEN]}},
        {"state": {TOKEN: 1}},
        {"facts": {"connection": "open", "a": TOKEN}},
        {"capture": TOKEN},
        {"display": {"a": TOKEN}},
        {"artifacts": [Artifact("catalog.json", {"a": TOKEN})]},
    ],
)
def test_what_is_private_is_redacted_on_its_way_out(members: dict[str, Any]) -> None:
    encoded = bounded(result(**members), Redactor([TOKEN]))
    assert TOKEN.encode() not in encoded
    assert b"[redacted]" in encoded


@pytest.mark.parametrize("control", ["\x07", "\x1b", "\x7f", "\x9b"])
def test_terminal_controls_are_stripped_on_their_way_out(control: str) -> None:
    shown = sent(result(message=f"a{control}b", facts={"connection": "open", f"n{control}": [f"{control}\t"]}))
    assert (shown["message"], shown["facts"]) == ("ab", {"connection": "open", "n": ["\t"]})


@pytest.mark.requirement("limits.evidence")
def test_a_state_may_have_7_mib_and_not_a_byte_more() -> None:
    fitting = "x" * (ARTIFACT_LIMIT - 2)
    assert sent(result(state=fitting))["state"] == fitting
    assert sent(result(state=fitting + "x", display="d")) == {
        "status": "failed",
        "code": "evidence_too_large",
        "message": f"The state of the step passes {ARTIFACT_LIMIT} bytes. Ask for less in one step.",
        "effect": "observe",
        "state": None,
        "facts": {"connection": "open"},
        "capture": None,
        "artifacts": [],
        "display": None,
    }


@pytest.mark.requirement("limits.evidence")
def test_an_artifact_may_have_7_mib_and_not_a_byte_more() -> None:
    fitting = "x" * (ARTIFACT_LIMIT - 2)
    assert sent(result(artifacts=[Artifact("catalog.json", fitting)]))["code"] is None
    too_large = sent(result(artifacts=[Artifact("catalog.json", fitting + "x")]))
    assert (too_large["code"], too_large["artifacts"]) == ("evidence_too_large", [])
    assert "catalog.json" in too_large["message"]


def test_a_result_may_have_31_mib_and_not_a_byte_more() -> None:
    room = RESULT_LIMIT - len(bounded(result(display=""), Redactor()))
    assert sent(result(display="x" * room))["code"] is None
    assert sent(result(display="x" * (room + 1)))["code"] == "evidence_too_large"


def test_an_unknown_outcome_stays_unknown_however_large() -> None:
    large = result(status="unknown", code="timeout", effect="mutate", message="Lost.", display="x" * RESULT_LIMIT)
    seen = sent(large)
    assert (seen["status"], seen["code"], seen["message"], seen["display"]) == ("unknown", "timeout", "Lost.", None)


def failures(expect: Any, *keys: str, annotations: Any = None) -> list[tuple[str, str, list[str], int]]:
    read = read_expect(parse(json.dumps(expect)).value, COMMANDS["tools"].expect)
    records = [{"annotations": (annotations or {}).get(key, dict.fromkeys(HINTS))} for key in keys]
    return [tuple(failure) for failure in compare_inventory(read, Listing(list(keys), records))]  # type: ignore[misc]


HINTS = ("readOnly", "destructive", "idempotent", "openWorld")


@pytest.mark.requirement("expect.inventories")
def test_present_names_what_is_not_listed() -> None:
    assert failures({"present": ["a", "b"]}, "b", "a") == []
    assert failures({"present": ["a", "x", "A"]}, "a") == [("present", "not-listed", ["x", "A"], 0)]


@pytest.mark.requirement("expect.inventories")
def test_absent_names_what_is_listed() -> None:
    assert failures({"absent": ["x"]}, "a") == []
    assert failures({"absent": ["x", "a"]}, "a") == [("absent", "listed", ["a"], 0)]


@pytest.mark.requirement("expect.inventories")
def test_only_is_an_exact_set() -> None:
    assert failures({"only": ["b", "a"]}, "a", "b") == []
    assert failures({"only": []}) == []
    assert failures({"only": []}, "a") == [("only", "listed-too", ["a"], 0)]
    assert failures({"only": ["a", "c"]}, "a", "b") == [
        ("only", "not-listed", ["c"], 0),
        ("only", "listed-too", ["b"], 0),
    ]


@pytest.mark.requirement("expect.inventories")
def test_count_counts_entries() -> None:
    assert failures({"count": 0}) == []
    assert failures({"count": 2}, "a", "b") == []
    assert failures({"count": 1}, "a", "b") == [("count", "count-is-2", [], 0)]


@pytest.mark.requirement("expect.no-true-annotations")
def test_no_true_annotations_lets_false_and_missing_hints_pass() -> None:
    annotations = {
        "a": {"readOnly": True, "destructive": True, "idempotent": None, "openWorld": False},
        "b": {"readOnly": True, "destructive": None, "idempotent": None, "openWorld": None},
    }
    assert failures({"noTrueAnnotations": ["idempotent", "openWorld"]}, "a", "b", annotations=annotations) == []
    assert failures({"noTrueAnnotations": ["readOnly", "destructive"]}, "a", "b", annotations=annotations) == [
        ("noTrueAnnotations", "readOnly-is-true", ["a", "b"], 0),
        ("noTrueAnnotations", "destructive-is-true", ["a"], 0),
    ]


def test_a_failure_lists_twenty_names_and_counts_the_rest() -> None:
    (failure,) = compare_inventory({"only": ()}, Listing([f"t{number:02}" for number in range(25)], []))
    assert (len(failure.names), failure.more) == (20, 5)
    assert failure.message.endswith('"t19" and 5 more)')


@pytest.mark.parametrize(
    ("method", "params", "text"),
    [
        ("initialize", {}, "`initialize` needs the param `protocol`."),
        ("run", {"alias": "a"}, "`run` needs the param `command`."),
        ("run", {"alias": "a", "command": 1}, "The param `command` of `run` must be a string."),
        ("run", {"alias": "a", "command": "c", "arguments": {"a": 1}}, "must be an object whose members are strings."),
        ("run", {"alias": "a", "command": "c", "x": 1}, "`run` has a param that it does not take;"),
        ("check", {"alias": "a", "command": "c", "open": "x"}, "must be an array of strings."),
        ("shutdown", {"x": 1}, "it takes none."),
        ("cancel", {"id": None}, "must be the id of a request."),
        ("cancel", {"id": msgspec.Raw(b"1.5")}, "must be the id of a request."),
        ("secrets/learnt", {"values": [1]}, "must be an array of strings."),
    ],
)
def test_params_are_read_strictly(method: str, params: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        read_params(method, params)
    assert text in str(caught.value)


def test_params_that_may_be_left_out_have_defaults() -> None:
    assert read_params("check", {"alias": "a", "command": "c"}) == {
        "alias": "a",
        "command": "c",
        "arguments": {},
        "open": [],
    }
    assert read_params("cancel", {"id": msgspec.Raw(b"7")}) == {"id": 7}


@pytest.mark.parametrize("alias", ["", "A", "1a", "a-b", "a b", "ä", "a\n", "a" * 65])
def test_an_alias_is_a_lower_case_word(alias: str) -> None:
    params = {
        "protocol": msgspec.Raw(b"1"),
        "host": {"name": "h", "version": "1"},
        "origins": [],
        "bindings": {alias: {}},
    }
    with pytest.raises(InvalidParams, match="aliases"):
        read_params("initialize", params)
