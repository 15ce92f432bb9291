"""The table of a refusal test."""

from typing import Any

import msgspec
import pytest

from host.reports.matrix import Cell, matrix, outcome
from host.reports.run import Flow, read
from tests.fakes.runs import document, flow, sample, step

RESULT = {"kind": "result"}
REFUSED = {"kind": "rpc-error", "code": msgspec.Raw(b"-32602")}


def the_flow(*steps: dict[str, Any]) -> Flow:
    return read(document(flow(*steps))).flows[0]


def table(found: Flow) -> list[list[str]] | None:
    shown = matrix(found)
    if shown is None:
        return None
    rows = [[row.label, *(f"{cell.status}: {cell.text}" if cell else "-" for cell in row.cells)] for row in shown.rows]
    return [[shown.by, *shown.columns], *rows]


def call(where: str, tool: str, status: str = "succeeded", state: dict[str, Any] | None = None) -> dict[str, Any]:
    return step(
        where,
        status,
        None if status == "succeeded" else "expectation_failed",
        state=state or RESULT,
        facts={"tool": tool},
    )


def test_identities_are_columns_and_tools_are_rows() -> None:
    assert table(read(sample()).flows[1]) == [
        ["tool", "admin", "viewer"],
        ["search_tickets", "succeeded: result", "succeeded: result"],
        ["create_ticket", "succeeded: result", "succeeded: refused -32602"],
        ["close_ticket", "succeeded: result", "succeeded: refused -32602"],
        ["delete_ticket", "succeeded: result", "failed: result"],
    ]


def test_named_steps_are_rows_when_no_fact_names_a_tool() -> None:
    steps = [
        step("admins/1.admin.connect"),
        step("admins/read", alias="admin", command="call"),
        step("admins/write", alias="admin", command="call"),
        step("guests/read", alias="guest", command="call", status="skipped"),
        step("guests/write", "failed", "tool_error", alias="guest", command="call"),
    ]
    assert table(the_flow(*steps)) == [
        ["step", "admin", "guest"],
        ["read", "succeeded: succeeded", "skipped: skipped"],
        ["write", "succeeded: succeeded", "failed: tool_error"],
    ]


def test_sections_are_rows_when_neither_tools_nor_names_make_a_table() -> None:
    steps = [step(f"{section}/{at}.{alias}.call") for section in ("a", "b") for at, alias in ((1, "x"), (2, "y"))]
    assert table(the_flow(*steps, step("a/3.z.call"))) == [
        ["section", "x", "y", "z"],
        ["a", "succeeded: succeeded", "succeeded: succeeded", "succeeded: succeeded"],
        ["b", "succeeded: succeeded", "succeeded: succeeded", "-"],
    ]


def test_a_cell_of_several_steps_shows_the_gravest() -> None:
    found = the_flow(
        call("a/1.x.call", "read"),
        call("a/2.x.call", "read", "failed", {"kind": "result", "isError": True}),
        call("a/3.y.call", "read"),
        call("a/4.x.call", "write"),
        call("a/5.y.call", "write", state=REFUSED),
    )
    shown = matrix(found)
    assert shown is not None
    assert shown.rows[0].cells[0] == Cell("failed", "tool error (2 steps)", found.steps[:2])


@pytest.mark.parametrize(
    "steps",
    [
        [],
        [step("a/1.x.connect"), step("a/2.y.connect"), step("b/1.x.disconnect"), step("b/2.y.disconnect")],
        [step("a/1.x.call"), step("a/2.y.call"), step("b/1.x.call")],
        [step("a/1.x.call"), step("b/1.x.call"), step("c/1.x.call")],
    ],
)
def test_there_is_no_table_without_two_identities_in_two_rows(steps: list[dict[str, Any]]) -> None:
    assert matrix(the_flow(*steps)) is None


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({"state": {"kind": "result", "isError": False}}, "result"),
        ({"state": {"kind": "result", "isError": True}}, "tool error"),
        ({"state": REFUSED}, "refused -32602"),
        ({"state": {"kind": "rpc-error"}}, "refused"),
        ({"facts": {"http": {"status": 403}}}, "HTTP 403"),
        ({"facts": {"http": {"status": msgspec.Raw(b"307")}}}, "HTTP 307"),
        ({"facts": {"http": {"status": 200}}}, "succeeded"),
        ({"facts": {"http": "?"}, "status": "failed", "code": "timeout"}, "timeout"),
    ],
)
def test_an_outcome_is_said_in_a_few_words(members: dict[str, Any], text: str) -> None:
    assert outcome(the_flow(step(**members)).steps[0]) == text
