"""The outcomes of flows that are not run: refused for what is in them, for what is around them, or for another one."""

from collections.abc import Callable, Sequence

from host.flow import Flow
from host.outcome import ERROR_EXIT, REFUSED_EXIT, FlowOutcome, code_of_failure, exit_of_failure
from host.problems import Problem, render
from protocol.failures import Code, Failure

__all__ = ["innocent", "is_innocent", "refuse", "refuse_flow"]


def refuse(
    flow: str | None,
    file: str,
    text: str,
    problems: Sequence[Problem],
    failure: Failure | None = None,
    *,
    redact: Callable[[str], str] = str,
) -> FlowOutcome:
    """Return the outcome of a flow that is not run: for problems in it, or for a failure around it.

    ``redact`` sees every text of it, its name and its file's included.
    """
    status = exit_of_failure(failure) if failure else REFUSED_EXIT
    told = failure.message if failure else _count(problems)
    diagnostics = (failure.data or {}).get("diagnostics") if failure else None
    return FlowOutcome(
        flow=flow and redact(flow),
        file=redact(file),
        run=None,
        folder=None,
        status="error" if status >= ERROR_EXIT else "refused",
        code=code_of_failure(failure) if failure else None,
        message=redact(told),
        problems=tuple(each._replace(message=redact(each.message), help=redact(each.help)) for each in problems),
        shown=render(redact(file), text, problems, redact=redact) if problems else "",
        exit=status if status >= ERROR_EXIT else REFUSED_EXIT,
        notes=(f"its last words: {redact(diagnostics)}",) if diagnostics else (),
    )


def refuse_flow(flow: Flow, failure: Failure | None, problems: Sequence[Problem] = ()) -> FlowOutcome:
    """Return the same for a flow that was read."""
    return refuse(flow.name, flow.file, flow.text, problems, failure)


def innocent(flow: Flow) -> FlowOutcome:
    """Return the outcome of a flow that is not run because of another one."""
    outcome = refuse_flow(flow, Failure(Code.CANCELLED, "Not run: another flow was refused."))
    return outcome._replace(code=None, status="refused", exit=REFUSED_EXIT)


def is_innocent(outcome: FlowOutcome) -> bool:
    """Tell whether an outcome is such a one: refused, and for nothing of its own."""
    return outcome.status == "refused" and outcome.code is None and not outcome.problems


def _count(problems: Sequence[Problem]) -> str:
    return f"{len(problems)} problem{'' if len(problems) == 1 else 's'}; nothing was contacted."
