"""The table of a refusal test: what each identity (alias) got, tool by tool, so that a wrong cell stands out."""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from host.reports.pretty import compact
from host.reports.run import STEP_STATUSES, Flow, Step
from host.reports.text import plural

__all__ = ["Cell", "Matrix", "Row", "matrix", "outcome", "tool"]

#: Commands that open and close a session, or sign in: they belong to an identity, not to a row.
_NOT_A_CELL: Final = frozenset({"connect", "disconnect", "oauth_begin", "oauth_finish"})


class Cell(NamedTuple):
    """What one identity got in one row. ``status`` is the gravest of its steps, ``text`` what the server did."""

    status: str
    text: str
    steps: tuple[Step, ...]


class Row(NamedTuple):
    """One row, a cell for each column; None where the identity was not tried."""

    label: str
    cells: tuple[Cell | None, ...]


class Matrix(NamedTuple):
    """``by`` says what a row is (tool, step or section), ``columns`` are the aliases in order of appearance."""

    by: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def matrix(flow: Flow) -> Matrix | None:
    """Find the table in a flow: at least two rows in which at least two identities were tried, else None.

    A row is a tool where facts name it, else the name that a step was given in the flow, else a section.
    """
    steps = [step for step in flow.steps if step.command not in _NOT_A_CELL]
    for by, key in _KEYS.items():
        found = _table(by, ((key(step), step) for step in steps))
        if found:
            return found
    return None


def outcome(step: Step) -> str:
    """Say in a few words what came back, as far as the step's record tells: a result, or which kind of refusal."""
    state = step.state if isinstance(step.state, dict) else {}
    http = step.facts.get("http")
    status = http.get("status") if isinstance(http, dict) else None
    if state.get("kind") == "rpc-error":
        return f"refused {compact(state['code'])}" if "code" in state else "refused"
    if state.get("kind") == "result":
        return "tool error" if state.get("isError") is True else "result"
    if status is not None and compact(status, 3)[:1] in ("3", "4", "5"):
        return f"HTTP {compact(status, 3)}"
    return step.code or step.status


def _table(by: str, keyed: Iterable[tuple[str | None, Step]]) -> Matrix | None:
    grid: dict[str, dict[str, list[Step]]] = {}
    for key, step in keyed:
        if key is not None:
            grid.setdefault(key, {}).setdefault(step.alias, []).append(step)
    compared = {key: row for key, row in grid.items() if len(row) > 1}
    if len(compared) < 2:
        return None
    columns = tuple(dict.fromkeys(alias for row in compared.values() for alias in row))
    rows = (Row(key, tuple(_cell(row.get(alias)) for alias in columns)) for key, row in compared.items())
    return Matrix(by, columns, tuple(rows))


def _cell(steps: list[Step] | None) -> Cell | None:
    if not steps:
        return None
    gravest = min(steps, key=lambda step: STEP_STATUSES.index(step.status))
    text = outcome(gravest) if len(steps) == 1 else f"{outcome(gravest)} ({plural(len(steps), 'step')})"
    return Cell(gravest.status, text, tuple(steps))


def tool(step: Step) -> str | None:
    """Return the name of the tool that a step called, where its facts tell it."""
    found = step.facts.get("tool")
    return found if isinstance(found, str) else None


_KEYS: Final[dict[str, Callable[[Step], str | None]]] = {
    "tool": tool,
    "step": lambda step: step.name,
    "section": lambda step: step.section,
}
