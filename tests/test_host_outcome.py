"""What steps add up to: statuses, decisive codes, and the exit status that wins."""

from typing import Any

import pytest

from host.outcome import StepOutcome, conclude, exit_of_code, gravest
from protocol.failures import CODES, Code, Failure


def step(status: Any, code: str | None = None, name: str = "s/1") -> StepOutcome:
    return StepOutcome(name, "api", "tools", "observe", status, code, f"{status}.", None, 1, None, {})


OK = step("succeeded")
SKIPPED = step("skipped")
FAILED = step("failed", "tool_error")
DOWN = step("failed", "unreachable")
PRIVATE = step("failed", "private_operand")
UNKNOWN = step("unknown", "plugin_died")
BUDGET = Failure(Code.TIMEOUT, "No time.")
LEAK = Failure(Code.EVIDENCE_LEAK, "A leak.")


@pytest.mark.parametrize(
    ("steps", "options", "expected"),
    [
        ([OK], {}, ("succeeded", None, "1 step succeeded.", 0)),
        ([OK, OK], {}, ("succeeded", None, "2 steps succeeded.", 0)),
        ([OK, FAILED, SKIPPED], {}, ("failed", "tool_error", "s/1: failed.", 1)),
        ([PRIVATE, FAILED], {}, ("failed", "private_operand", "s/1: failed.", 2)),
        ([FAILED, UNKNOWN], {}, ("unknown", "plugin_died", "s/1: unknown.", 3)),
        ([UNKNOWN, DOWN], {}, ("error", "unreachable", "s/1: failed.", 4)),
        ([OK, SKIPPED], {"failure": BUDGET}, ("failed", "timeout", "No time.", 1)),
        ([UNKNOWN], {"failure": BUDGET}, ("unknown", "plugin_died", "s/1: unknown.", 3)),
        ([DOWN], {"failure": LEAK}, ("error", "evidence_leak", "A leak.", 5)),
        ([DOWN], {"failure": LEAK, "interrupted": True}, ("interrupted", "cancelled", "Interrupted by the user.", 130)),
    ],
)
def test_a_flow_is_as_good_as_its_gravest_step(
    steps: list[StepOutcome], options: dict[str, Any], expected: tuple[Any, ...]
) -> None:
    assert tuple(conclude(steps, **options)) == expected


def test_the_first_of_equally_grave_steps_is_told() -> None:
    assert conclude([step("failed", "timeout", "a/1"), step("failed", "tool_error", "a/2")]).code == "timeout"


def test_the_gravest_exit_status_wins() -> None:
    assert gravest([]) == 0
    assert [gravest([0, first, second]) for first, second in [(1, 2), (2, 3), (3, 4), (4, 5), (5, 130)]] == [
        2,
        3,
        4,
        5,
        130,
    ]


def test_every_code_of_ours_has_its_own_exit_status() -> None:
    assert {code: exit_of_code(code) for code in CODES} == {code: entry.exit for code, entry in CODES.items()}


def test_a_plugins_own_code_has_the_status_that_it_describes_and_an_unknown_one_is_a_failure() -> None:
    assert exit_of_code("shell_missing", {"shell_missing": 4}) == 4
    assert exit_of_code("nobody_knows") == 1
    assert exit_of_code("timeout", {"timeout": 4}) == 1
    assert exit_of_code("odd", {"odd": 77}) == 1
