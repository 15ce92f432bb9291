"""Carries out `connect`: initializes a session, or asserts the HTTP status that refuses one."""

from typing import Any

from plugin.opening import open_connection
from plugin.step import Step, Verdict
from protocol.failures import Code
from protocol.mcp.replies import Outcome
from protocol.wire.steps import StepResult

__all__ = ["connect"]


def connect(step: Step) -> StepResult:
    """Open the alias's session with the public headers that the step names."""
    step.alias.headers = step.values.get("headers", {})
    outcome = open_connection(step)
    step.facts["http"] = step.facts["session"]["http"]
    state = _state(step, outcome)
    display = {"result": outcome.value} if outcome.kind == "result" else None
    return step.result(_verdict(step, outcome), state, display=display)


def _verdict(step: Step, outcome: Outcome) -> Verdict:
    if step.expect is not None:
        return _expected(step.expect["status"], outcome) or step.verdict(outcome)
    if outcome.kind == "result":
        connection = step.alias.connection
        assert connection is not None
        return Verdict("succeeded", None, f"Connected with protocol {connection.revision}.")
    return step.verdict(outcome)


def _expected(status: int, outcome: Outcome) -> Verdict | None:
    """Compare with the expected status; None when there was no answer that has one."""
    if outcome.kind == "result":
        text = f"Expected HTTP {status} to refuse the session, and it was initialized."
        return Verdict("failed", Code.EXPECTATION_FAILED, text)
    if outcome.kind not in ("refused", "rpc-error"):
        return None
    seen = outcome.http.get("status")
    if seen != status:
        text = f"Expected HTTP {status} to refuse the session; it was refused with HTTP {seen}."
        return Verdict("failed", Code.EXPECTATION_FAILED, text)
    return Verdict("succeeded", None, f"The session was refused with HTTP {status}, as expected.")


def _state(step: Step, outcome: Outcome) -> Any:
    headers = sorted(step.alias.headers)
    if outcome.kind == "result":
        session = {name: step.facts["session"][name] for name in ("protocol", "server", "capabilities")}
        return {"kind": "initialized", **session, "headers": headers}
    if outcome.kind == "rpc-error":
        refusal = {name: step.facts["refusal"][name] for name in ("code", "message")}
        return {"kind": "rpc-error", "status": outcome.http.get("status"), **refusal, "headers": headers}
    if outcome.kind == "refused":
        return {"kind": "refused", "status": outcome.http.get("status"), "headers": headers}
    return {"kind": "none", "headers": headers}
