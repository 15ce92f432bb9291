"""Carries out `servers`, `describe_server` and `describe_tools`: one call of a gateway, and the names that it lists."""

from typing import Any

from plugin.answer import Answer, display, judge, state
from plugin.checks.expectation import Expect
from plugin.checks.inventory import Listing, compare_inventory
from plugin.checks.names import NAME_KEYS, Names, read_names
from plugin.handlers.call import call_tool, told
from plugin.step import Step, Verdict
from protocol.failures import Code
from protocol.wire.steps import StepResult

__all__ = ["describe_server", "describe_tools", "servers"]


def servers(step: Step) -> StepResult:
    """List the slugs of a gateway's member servers."""
    return _list(step, "list_servers")


def describe_server(step: Step) -> StepResult:
    """List the tool names of one member server, which the arguments name."""
    return _list(step, "describe_server")


def describe_tools(step: Step) -> StepResult:
    """List the names of a gateway's tools."""
    return _list(step, "describe_tools")


def _list(step: Step, tool: str) -> StepResult:
    answer = call_tool(step, step.values.get("tool", tool))
    if isinstance(answer, StepResult):
        return answer
    redactor = step.context.redactor
    names = read_names(answer.observation)
    wanted: Expect = {key: operand for key, operand in (step.expect or {}).items() if key in NAME_KEYS}
    failures = _failures(step, wanted, names)
    if answer.findings is not None:
        both = answer.findings._replace(failures=[*failures, *answer.findings.failures])
        answer = answer._replace(findings=both)
    needed = bool(wanted) or step.expect is None
    verdict = _unreadable(answer, names) if needed and names.reason is not None else _judged(answer)
    listed = None if names.names is None else sorted(redactor.redact(names.names).value)
    kept = state(answer) | {"names": listed, "namesUnavailable": names.reason}
    return step.result(verdict, kept, display=display(answer.observation))


def _failures(step: Step, wanted: Expect, names: Names) -> list[dict[str, Any]]:
    """Compare names with what is wanted of them. Which ones failed stands in the facts, as for inventories."""
    if names.names is None:
        return [{"expectation": key, "reason": "names-unavailable"} for key in wanted]
    found = compare_inventory(wanted, Listing(names.names, []))
    if found:
        step.facts["failedExpectations"] = [failure._asdict() for failure in found]
    return [{"expectation": failure.expectation, "reason": failure.reason} for failure in found]


def _unreadable(answer: Answer, names: Names) -> Verdict:
    detail = answer.outcome.message or (f"It says: {answer.observation.text}" if names.reason == "tool-error" else "")
    text = f"The gateway's reply lists no names that can be relied on ({names.reason}). {detail}".rstrip()
    return Verdict("failed", Code.GATEWAY_NAMES_UNAVAILABLE, text)


def _judged(answer: Answer) -> Verdict:
    return judge(answer, Code.GATEWAY_NAMES_UNAVAILABLE) or Verdict("succeeded", None, told(answer))
