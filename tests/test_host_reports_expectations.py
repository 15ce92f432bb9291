"""What did not hold, read for reports."""

from typing import Any

import pytest

from host.reports.expectations import Miss, misses
from host.reports.run import read
from tests.fakes.runs import document, flow, step


def found(state: Any = None, facts: Any = None) -> tuple[Miss, ...]:
    return misses(read(document(flow(step(state=state, facts=facts or {})))).flows[0].steps[0])


def test_a_reply_has_places_and_reasons() -> None:
    state = {
        "failedExpectations": [
            {"expectation": "isError", "reason": "is-error"},
            {"expectation": "textIncludes", "index": 1, "reason": "not-included"},
            {"expectation": "json", "index": 1, "reason": "missing"},
            {"expectation": "json", "index": 0, "reason": "source-unavailable"},
            {"expectation": "json", "index": 2, "reason": "not-equal"},
        ],
        "assertions": [{"pointer": "", "operator": "type"}, {"pointer": "/a~1b", "operator": "equals"}],
    }
    assert [str(miss) for miss in found(state)] == [
        "isError: is-error",
        "textIncludes[1]: not-included",
        "json[1]: /a~1b equals: missing",
        "json[0]: the whole type: source-unavailable",
        "json[2]: not-equal",
    ]


def test_an_inventory_has_names() -> None:
    missed = [
        {"expectation": "only", "reason": "listed-too", "names": ["a", "b"], "more": 0},
        {"expectation": "only", "reason": "not-listed", "names": ["c"], "more": 4},
        {"expectation": "count", "reason": "count-is-3", "names": [], "more": 0},
    ]
    assert found(facts={"failedExpectations": missed}) == (
        Miss("only", "listed-too (a, b)"),
        Miss("only", "not-listed (c and 4 more)"),
        Miss("count", "count-is-3"),
    )


@pytest.mark.parametrize("state", [None, [], {}, {"failedExpectations": None}, {"failedExpectations": [1, "x"]}])
def test_another_form_holds_nothing_to_list(state: Any) -> None:
    assert found(state) == ()
