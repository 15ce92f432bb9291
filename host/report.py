"""The `assay-run/1` document: what a whole command line ran and refused, for programs."""

from collections.abc import Sequence
from typing import Any

from host.outcome import FlowOutcome, StepOutcome
from host.problems import Problem

__all__ = ["run_document"]


def run_document(flows: Sequence[FlowOutcome], exit_status: int) -> dict[str, Any]:
    """Return the document that `--json F` writes (docs/report.schema.json)."""
    return {"format": "assay-run/1", "exit": exit_status, "flows": [_flow(flow) for flow in flows]}


def _flow(flow: FlowOutcome) -> dict[str, Any]:
    return {
        "flow": flow.flow,
        "file": flow.file,
        "run": flow.run,
        "status": flow.status,
        "code": flow.code,
        "message": flow.message,
        "steps": [_step(step) for step in flow.steps],
        "problems": [_problem(problem) for problem in flow.problems],
    }


def _step(step: StepOutcome) -> dict[str, Any]:
    return {
        "id": step.id,
        "alias": step.alias,
        "command": step.command,
        "effect": step.effect,
        "status": step.status,
        "code": step.code,
        "message": step.message,
        "capture": step.capture,
        "line": step.line,
        "milliseconds": step.milliseconds,
        "state": step.state,
        "facts": dict(step.facts),
    }


def _problem(problem: Problem) -> dict[str, Any]:
    return {"line": problem.line, "column": problem.column, "message": problem.message, "help": problem.help}
