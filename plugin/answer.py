"""The answer to one request of a step: sent once, observed, compared with what the step expects, and told."""

from typing import Any, Final, NamedTuple

from plugin.checks.names import NAME_KEYS
from plugin.checks.observation import Observation, observe, state_of
from plugin.checks.refusal import Refusal, compare_refusal
from plugin.checks.replies import Findings, compare_reply
from plugin.opening import require_connection
from plugin.step import Step, Verdict
from protocol.failures import Code
from protocol.mcp.replies import Outcome
from protocol.wire.steps import StepResult

__all__ = ["Answer", "answer_or_result", "display", "judge", "state"]

#: Kinds of outcome that are what the server said.
_ANSWERED: Final = ("result", "rpc-error", "unavailable")


class Answer(NamedTuple):
    """What the server said. ``findings`` is None when the step has no `expect`."""

    outcome: Outcome
    observation: Observation
    findings: Findings | None


def answer_or_result(step: Step, method: str, params: dict[str, Any]) -> Answer | StepResult:
    """Send the one request of a step. A result when nothing is left to judge: no answer came, or `http` decides.

    Raises Failed when there is no connection to send it on.
    """
    outcome = require_connection(step).request(method, params)
    step.facts["http"] = step.http(outcome)
    if outcome.kind not in _ANSWERED:
        return _unanswered(step, outcome)
    redactor = step.context.redactor
    observation = observe(outcome, redactor, method)
    if outcome.kind == "rpc-error":
        step.facts["refusal"] = step.refusal(outcome.value)
    if "http" in step.values:
        return _not_refused(step, step.values["http"], observation)
    findings = None
    if step.expect is not None:
        expect = {key: operand for key, operand in step.expect.items() if key not in NAME_KEYS}
        findings = compare_reply(expect, observation, lambda text: redactor.text(text).changed)
    return Answer(outcome, observation, findings)


def _unanswered(step: Step, outcome: Outcome) -> StepResult:
    verdict = step.verdict(outcome)
    if outcome.kind == "refused":
        return _refused(step, outcome, verdict)
    if outcome.kind == "unsent":
        return step.result(verdict)
    return step.result(verdict, {"kind": "unknown", "code": None if outcome.code is None else str(outcome.code)})


def _refused(step: Step, outcome: Outcome, verdict: Verdict) -> StepResult:
    state: dict[str, Any] = {"kind": "refused", "status": outcome.http.get("status")}
    wanted: Refusal | None = step.values.get("http")
    if wanted is None or outcome.code is not Code.HTTP_STATUS:
        return step.result(verdict, state)
    reason = compare_refusal(wanted, outcome.http)
    state["failedExpectations"] = [] if reason is None else [_failure(reason)]
    if reason is None:
        text = f"The server refused the request with HTTP {wanted.status}, as expected."
        return step.result(Verdict("succeeded", None, text), state)
    text = f"The server refused the request with HTTP {outcome.http.get('status')}, but not as expected ({reason})."
    return step.result(Verdict("failed", Code.EXPECTATION_FAILED, text), state)


def _not_refused(step: Step, wanted: Refusal, observation: Observation) -> StepResult:
    """Fail a step that expects an HTTP refusal and was answered by MCP, whatever it says and at whichever status."""
    state = {**state_of(observation), "failedExpectations": [_failure("not-refused")]}
    text = f"Expected HTTP {wanted.status} to refuse the request; the server answered it ({observation.kind})."
    verdict = Verdict("failed", Code.EXPECTATION_FAILED, text)
    return step.result(verdict, state, display=display(observation))


def _failure(reason: str) -> dict[str, Any]:
    return {"expectation": "http", "reason": reason}


def judge(answer: Answer, unavailable: Code) -> Verdict | None:
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


def state(answer: Answer) -> dict[str, Any]:
    """Return the state of a step that was answered."""
    kept = state_of(answer.observation)
    kept["failedExpectations"] = [] if answer.findings is None else answer.findings.failures
    if answer.findings is not None and answer.findings.assertions:
        kept["assertions"] = answer.findings.assertions
    return kept


def display(observation: Observation) -> Any:
    """Return what a terminal may show of an answer."""
    if observation.kind == "unavailable":
        return None
    return {"result" if observation.kind == "result" else "error": observation.whole}
