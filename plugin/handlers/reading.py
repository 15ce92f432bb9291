"""Carries out `read_resource` and `get_prompt`: one request that changes nothing, and what its answer has to be."""

from typing import Any

from plugin.answer import Answer, answer_or_result, display, judge, state
from plugin.step import Step, Verdict
from protocol.failures import Code
from protocol.wire.steps import StepResult

__all__ = ["get_prompt", "read_resource"]


def read_resource(step: Step) -> StepResult:
    """Read one resource. Its URI is sent as it is written."""
    step.facts["uri"] = step.values["uri"]
    return _read(step, "resources/read", {"uri": step.values["uri"]}, "resource was read")


def get_prompt(step: Step) -> StepResult:
    """Render one prompt."""
    step.facts["prompt"] = step.values["name"]
    params = {"name": step.values["name"]}
    if "arguments" in step.values:
        params["arguments"] = step.values["arguments"]
    return _read(step, "prompts/get", params, "prompt was rendered")


def _read(step: Step, method: str, params: dict[str, Any], done: str) -> StepResult:
    answer = answer_or_result(step, method, params)
    if isinstance(answer, StepResult):
        return answer
    verdict = judge(answer, Code.PROTOCOL_ERROR) or Verdict("succeeded", None, _told(answer, done))
    return step.result(verdict, state(answer), display=display(answer.observation))


def _told(answer: Answer, done: str) -> str:
    if answer.observation.kind == "rpc-error":
        return f"The server refused with JSON-RPC error {answer.observation.code}, as expected."
    return f"The {done}{' as expected' if answer.findings is not None else ''}."
