"""The documents of kept runs: what `assay run` would have written of them, and the diffs that their steps hold."""

from collections.abc import Sequence
from typing import Any, Final

from host.outcome import INTERRUPTED_EXIT, gravest
from host.reports.difference import Diffs
from host.reports.difference import read as read_difference
from host.reports.run import EXITS, read
from host.runs import Run, read_diffs, read_observation
from protocol.failures import Code, Failed
from protocol.values.document import integer

__all__ = ["kept_diffs", "kept_document"]

#: What is told of a step that a killed run did not end, by how the record left it: status and message.
_LEFT: Final = {
    "pending": ("skipped", None, "The run was killed before this step."),
    "running": ("unknown", Code.CANCELLED, "The run was killed in this step; nobody knows what became of it."),
}


def kept_document(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the `assay-run/1` document of kept runs, in their order.

    Raises Failed (``invalid_arguments``) for a run that is still going, and for evidence that is not of that form.
    """
    flows = [_flow(run) for run in runs]
    exits = [INTERRUPTED_EXIT if run.status == "interrupted" else integer(run.record.get("exit")) or 0 for run in runs]
    try:
        if not EXITS.keys() >= set(exits):
            raise ValueError("`exit` must be an exit status of `assay run`")
        document = {"format": "assay-run/1", "exit": gravest(exits), "flows": flows}
        read(document)
    except ValueError as error:
        raise Failed(Code.INVALID_ARGUMENTS, f"The evidence is no record of a run: {error}.") from None
    return document


def kept_diffs(runs: Sequence[Run]) -> Diffs:
    """Return the diffs that were kept, by run id and step id; what is none is left out."""
    return {(run.id, step): diff for run in runs for step, diff in read_diffs(run) if _is_diff(diff)}


def _is_diff(document: Any) -> bool:
    try:
        read_difference(document)
    except ValueError:
        return False
    return True


def _flow(run: Run) -> dict[str, Any]:
    record, interrupted = run.record, run.status == "interrupted"
    if run.status == "running":
        raise Failed(Code.INVALID_ARGUMENTS, f"The run {run.id} is still going. Report on it when it has ended.")
    flow = record.get("flow")
    named = flow if isinstance(flow, dict) else {}
    steps = record.get("steps") or []
    ended = record.get("status") != "running"
    return {
        "flow": named.get("name"),
        "file": named.get("file"),
        "run": run.id,
        "status": run.status,
        "code": str(Code.CANCELLED) if interrupted else record.get("code"),
        "message": record.get("message") if ended else "The run was killed.",
        "steps": _steps(run, steps) if isinstance(steps, list) else steps,
        "problems": [],
    }


def _steps(run: Run, records: list[Any]) -> list[dict[str, Any]]:
    return [_step(run, record) for record in records if isinstance(record, dict)]


def _step(run: Run, record: dict[str, Any]) -> dict[str, Any]:
    status, code, message = _LEFT.get(
        str(record.get("status")), (record.get("status"), record.get("code"), record.get("message"))
    )
    if status == "unknown" and record.get("effect") == "observe":
        status = "failed"
    observation = read_observation(run, record.get("folder"))
    facts = observation.get("facts")
    kept = {name: record.get(name) for name in ("id", "alias", "command", "effect", "capture", "line", "milliseconds")}
    return {
        **kept,
        "status": status,
        "code": None if code is None else str(code),
        "message": message,
        "state": observation.get("state"),
        "facts": facts if isinstance(facts, dict) else {},
    }
