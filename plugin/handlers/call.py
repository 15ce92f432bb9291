"""Carries out `call` and `call_value`: one tool call, sent once, and what its answer has to be."""

from typing import Any

from plugin.answer import Answer, answer_or_result, display, judge, state
from plugin.checks.observation import Observation
from plugin.checks.selection import Selection, select
from plugin.step import Step, Verdict
from protocol.failures import Code
from protocol.wire.steps import StepResult

__all__ = ["call", "call_tool", "call_value", "told"]


def call(step: Step) -> StepResult:
    """Call the tool; without `expect` the result has to be no error."""
    answer = call_tool(step, step.values["tool"])
    if isinstance(answer, StepResult):
        return answer
    verdict = judge(answer, Code.PROTOCOL_ERROR) or Verdict("succeeded", None, told(answer))
    return step.result(verdict, state(answer), display=display(answer.observation))


def call_value(step: Step) -> StepResult:
    """Call the tool and capture one scalar of its result, which has to be no error whatever `expect` says."""
    answer = call_tool(step, step.values["tool"])
    if isinstance(answer, StepResult):
        return answer
    answer = _positive(answer)
    selection = _select(step, answer.observation)
    verdict = judge(answer, Code.SELECTION_FAILED)
    if verdict is None and selection.reason is not None:
        text = f"The reply holds no public scalar at the pointer ({selection.reason}). The tool is not called again."
        verdict = Verdict("failed", Code.SELECTION_FAILED, text)
    kept: dict[str, Any] = state(answer)
    kept["selection"] = {"captured": verdict is None, "reason": selection.reason}
    return step.result(
        verdict or Verdict("succeeded", None, "The tool answered, and its value was captured."),
        kept,
        capture=selection.capture if verdict is None else None,
        display=display(answer.observation),
    )


def call_tool(step: Step, tool: str) -> Answer | StepResult:
    """Send the one call of a step, if the alias's contract lets it; see :func:`plugin.answer.answer_or_result`."""
    step.facts["tool"] = tool
    arguments = step.values.get("arguments", {})
    if step.alias.binding.contract is not None:
        from plugin.pinning import require_pin  # an alias without a contract does not wait for it

        require_pin(step, tool, arguments)
    return answer_or_result(step, "tools/call", {"name": tool, "arguments": arguments})


def _positive(answer: Answer) -> Answer:
    """Add to the findings what `call_value` always expects, when it has an `expect` that decides alone."""
    kind, findings = answer.observation.kind, answer.findings
    if findings is None or (kind == "result" and not answer.observation.is_error):
        return answer
    reason = {"rpc-error": "refused", "unavailable": "reply-unavailable", "result": "tool-error"}[kind]
    failures = [{"expectation": "result", "reason": reason}, *findings.failures]
    return answer._replace(findings=findings._replace(failures=failures))


def told(answer: Answer) -> str:
    """Say of a call that succeeded what the server said."""
    if answer.observation.kind == "rpc-error":
        return f"The server refused the call with JSON-RPC error {answer.observation.code}, as expected."
    if answer.observation.is_error:
        return "The tool answered with an error, as expected."
    return "The tool answered as expected." if answer.findings is not None else "The tool answered."


def _select(step: Step, observation: Observation) -> Selection:
    if observation.kind != "result" or observation.is_error:
        return Selection(None, "no-result" if observation.kind != "result" else "tool-error")
    return select(observation, step.values["select"], step.context.redactor)
