"""Carries out `call` and `call_value`: one tool call, sent once, and what its answer has to be."""

from typing import Any, Final, NamedTuple

from plugin.checks.observation import Observation, observe, state_of
from plugin.checks.replies import Findings, compare_reply
from plugin.checks.selection import Selection, select
from plugin.opening import require_connection
from plugin.step import Step, Verdict
from protocol.failures import Code
from protocol.mcp.replies import Outcome
from protocol.wire.steps import StepResult

__all__ = ["call", "call_value"]

_ANSWERED: Final = ("result", "rpc-error", "unavailable")


class _Answer(NamedTuple):
    outcome: Outcome
    observation: Observation
    findings: Findings | None


def call(step: Step) -> StepResult:
    """Call the tool; without `expect` the result has to be no error."""
    outcome = _send(step)
    if outcome.kind not in _ANSWERED:
        return _unanswered(step, outcome)
    answer = _look(step, outcome)
    verdict = _judge(answer, Code.PROTOCOL_ERROR) or Verdict("succeeded", None, _success(answer))
    return step.result(verdict, _state(answer), display=_display(answer.observation))


def call_value(step: Step) -> StepResult:
    """Call the tool and capture one scalar of its result, which has to be no error whatever `expect` says."""
    outcome = _send(step)
    if outcome.kind not in _ANSWERED:
        return _unanswered(step, outcome)
    answer = _positive(_look(step, outcome))
    selection = _select(step, answer.observation)
    verdict = _judge(answer, Code.SELECTION_FAILED)
    if verdict is None and selection.reason is not None:
        text = f"The reply holds no public scalar at the pointer ({selection.reason}). The tool is not called again."
        verdict = Verdict("failed", Code.SELECTION_FAILED, text)
    state = _state(answer) | {"selection": {"captured": verdict is None, "reason": selection.reason}}
    return step.result(
        verdict or Verdict("succeeded", None, "The tool answered, and its value was captured."),
        state,
        capture=selection.capture if verdict is None else None,
        display=_display(answer.observation),
    )


def _send(step: Step) -> Outcome:
    connection = require_connection(step)
    step.facts["tool"] = step.values["tool"]
    params = {"name": step.values["tool"], "arguments": step.values.get("arguments", {})}
    outcome = connection.request("tools/call", params)
    step.facts["http"] = step.http(outcome)
    return outcome


def _unanswered(step: Step, outcome: Outcome) -> StepResult:
    verdict = step.verdict(outcome)
    if outcome.kind == "refused":
        return step.result(verdict, {"kind": "refused", "status": outcome.http.get("status")})
    if outcome.kind == "unsent":
        return step.result(verdict)
    return step.result(verdict, {"kind": "unknown", "code": None if outcome.code is None else str(outcome.code)})


def _look(step: Step, outcome: Outcome) -> _Answer:
    redactor = step.context.redactor
    observation = observe(outcome, redactor)
    if outcome.kind == "rpc-error":
        step.facts["refusal"] = step.refusal(outcome.value)
    findings = None
    if step.expect is not None:
        findings = compare_reply(step.expect, observation, lambda text: redactor.text(text).changed)
    return _Answer(outcome, observation, findings)


def _positive(answer: _Answer) -> _Answer:
    """Add to the findings what `call_value` always expects, when it has an `expect` that decides alone."""
    kind, findings = answer.observation.kind, answer.findings
    if findings is None or (kind == "result" and not answer.observation.is_error):
        return answer
    reason = {"rpc-error": "refused", "unavailable": "reply-unavailable", "result": "tool-error"}[kind]
    failures = [{"expectation": "result", "reason": reason}, *findings.failures]
    return answer._replace(findings=findings._replace(failures=failures))


def _judge(answer: _Answer, unavailable: Code) -> Verdict | None:
    """Return why the step failed, or None. With `expect` only its keys decide."""
    outcome, observation, findings = answer
    if findings is not None:
        return Verdict("failed", Code.EXPECTATION_FAILED, findings.message) if findings.failures else None
    if observation.kind == "unavailable":
        return Verdict("failed", unavailable, outcome.message)
    if observation.kind == "rpc-error":
        return Verdict("failed", Code.UNEXPECTED_REFUSAL, outcome.message)
    if observation.is_error:
        return Verdict("failed", Code.TOOL_ERROR, f"The tool answered with an error: {observation.text}")
    return None


def _success(answer: _Answer) -> str:
    if answer.observation.kind == "rpc-error":
        return f"The server refused the call with JSON-RPC error {answer.observation.code}, as expected."
    if answer.observation.is_error:
        return "The tool answered with an error, as expected."
    return "The tool answered as expected." if answer.findings is not None else "The tool answered."


def _select(step: Step, observation: Observation) -> Selection:
    if observation.kind != "result" or observation.is_error:
        return Selection(None, "no-result" if observation.kind != "result" else "tool-error")
    return select(observation, step.values["select"], step.context.redactor)


def _state(answer: _Answer) -> dict[str, Any]:
    state = state_of(answer.observation)
    if answer.findings is not None:
        state["failedExpectations"] = answer.findings.failures
        if answer.findings.assertions:
            state["assertions"] = answer.findings.assertions
    else:
        state["failedExpectations"] = []
    return state


def _display(observation: Observation) -> Any:
    if observation.kind == "unavailable":
        return None
    return {"result" if observation.kind == "result" else "error": observation.whole}
