"""What became of a step, of a flow and of a whole command line, and the exit status that each leads to."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from host.problems import Problem
from protocol.failures import CODES, Code, Failure

__all__ = [
    "ERROR_EXIT",
    "INTERRUPTED_EXIT",
    "REFUSED_EXIT",
    "UNKNOWN_EXIT",
    "Conclusion",
    "FlowOutcome",
    "FlowStatus",
    "StepOutcome",
    "StepStatus",
    "code_named",
    "code_of_failure",
    "conclude",
    "exit_of_code",
    "exit_of_failure",
    "gravest",
    "may_have_run",
    "remedy",
]

StepStatus: TypeAlias = Literal["succeeded", "failed", "unknown", "skipped"]
FlowStatus: TypeAlias = Literal["succeeded", "failed", "unknown", "error", "refused", "interrupted"]

FAILED_EXIT: Final = 1
REFUSED_EXIT: Final = 2
UNKNOWN_EXIT: Final = 3
ERROR_EXIT: Final = 4
LEAK_EXIT: Final = 5
INTERRUPTED_EXIT: Final = 130
#: Exit statuses from the gravest on: it wins over the others.
_GRAVITY: Final = (INTERRUPTED_EXIT, LEAK_EXIT, ERROR_EXIT, UNKNOWN_EXIT, REFUSED_EXIT, FAILED_EXIT, 0)
_NAMES: Final = frozenset(map(str, Code))
#: Codes of a request that failed without a result: the plugin may have carried it out.
_MAY_HAVE_RUN: Final = frozenset({Code.PLUGIN_DIED, Code.INTERNAL})


class StepOutcome(NamedTuple):
    """One step after its run. ``message`` of a skipped step says why; ``milliseconds`` is None for it.

    ``changes`` (what a comparison found, a line each), ``display`` and ``brief`` (the message where the changes stand
    beside it) are for the terminal: they are written nowhere.
    """

    id: str
    alias: str
    command: str
    effect: str
    status: StepStatus
    code: str | None
    message: str
    capture: str | None
    line: int
    state: Any
    facts: Mapping[str, Any]
    milliseconds: int | None = None
    changes: tuple[str, ...] = ()
    display: Any = None
    brief: str = ""


class FlowOutcome(NamedTuple):
    """One flow. ``run`` is the run id and ``folder`` where its evidence lies; None when nothing was run.

    ``problems`` is what was refused before contact, and ``shown`` how it is printed; ``notes`` are for people as well.
    """

    flow: str | None
    file: str
    run: str | None
    folder: str | None
    status: FlowStatus
    code: str | None
    message: str
    steps: tuple[StepOutcome, ...] = ()
    problems: tuple[Problem, ...] = ()
    shown: str = ""
    exit: int = 0
    notes: tuple[str, ...] = ()


class Conclusion(NamedTuple):
    """What a flow's steps, and what happened around them, add up to."""

    status: FlowStatus
    code: str | None
    message: str
    exit: int


def gravest(exits: Iterable[int]) -> int:
    """Return the exit status that wins: 130, 5, 4, 3, 2, 1, in this order; 0 when there is none."""
    return min((0, *exits), key=_GRAVITY.index)


def code_named(name: str) -> Code | None:
    """Return the code of ours that is written so, or None."""
    return Code(name) if name in _NAMES else None


def exit_of_code(code: str | None, codes: Mapping[str, int] | None = None) -> int:
    """Return the exit status of a failure's code: ours, else what the plugin's description says, else 1."""
    ours = code_named(code or "")
    status = CODES[ours].exit if ours else (codes or {}).get(code or "", FAILED_EXIT)
    return status if status in _GRAVITY[1:-1] else FAILED_EXIT


def code_of_failure(failure: Failure) -> str:
    """Return the code that is told of a failure: what a plugin refused may have one of its own."""
    return str((failure.data or {}).get("ownCode", failure.code))


def exit_of_failure(failure: Failure) -> int:
    """Return the exit status of a failure; of a plugin's own code, what its description says."""
    own: int | None = (failure.data or {}).get("ownExit")
    return exit_of_code(failure.code) if own is None else own


def may_have_run(failure: Failure) -> bool:
    """Tell whether a request that got no result may have been carried out: a mutation is unknown then."""
    return failure.code in _MAY_HAVE_RUN and bool((failure.data or {}).get("sent", False))


def remedy(code: str | None) -> str:
    """Return what to do about a code of ours; nothing for another one."""
    ours = code_named(code or "")
    return CODES[ours].remedy if ours else ""


def exit_of_step(step: StepOutcome, codes: Mapping[str, int] | None = None) -> int:
    """Return a step's exit status: an unknown outcome is 3 whatever its code."""
    if step.status == "unknown":
        return UNKNOWN_EXIT
    return exit_of_code(step.code, codes) if step.status == "failed" else 0


def conclude(
    steps: Sequence[StepOutcome],
    *,
    interrupted: bool = False,
    failure: Failure | None = None,
    codes: Mapping[str, int] | None = None,
) -> Conclusion:
    """Add up a flow that ran. ``failure`` is what befell the flow as a whole: its budget, its evidence."""
    exits = [exit_of_step(step, codes) for step in steps]
    whole = exit_of_code(failure.code, codes) if failure else 0
    worst = gravest([*exits, whole])
    if interrupted:
        return Conclusion("interrupted", Code.CANCELLED, "Interrupted by the user.", INTERRUPTED_EXIT)
    if worst == 0:
        return Conclusion("succeeded", None, _count(steps), 0)
    if failure and whole == worst:
        return Conclusion(_status(worst), str(failure.code), failure.message, worst)
    decisive = steps[exits.index(worst)]
    return Conclusion(_status(worst), decisive.code, f"{decisive.id}: {decisive.message}", worst)


def _status(worst: int) -> FlowStatus:
    statuses: dict[int, FlowStatus] = {UNKNOWN_EXIT: "unknown", ERROR_EXIT: "error", LEAK_EXIT: "error"}
    return statuses.get(worst, "failed")


def _count(steps: Sequence[StepOutcome]) -> str:
    return "1 step succeeded." if len(steps) == 1 else f"{len(steps)} steps succeeded."
