"""Tells how the flows of a command line went, once all of them have ended."""

from collections import Counter
from collections.abc import Sequence

from host.outcome import ERROR_EXIT, FlowOutcome, remedy
from host.refusals import is_innocent
from host.terminal import Terminal, line

__all__ = ["summarize"]


def summarize(terminal: Terminal, flows: Sequence[FlowOutcome], *, to_error: bool = False) -> None:
    """Tell how the flows went: for each a line with its counts, why it did not succeed, and where its evidence lies.

    Flows that are not run for the sake of another come last: what is wrong stands before what follows from it.
    """
    for flow in sorted(flows, key=is_innocent):
        if flow.shown:
            terminal.problem(flow.shown.rstrip())
        if terminal.quiet and flow.exit == 0:
            continue
        write = terminal.problem if to_error or flow.run is None else terminal.result
        if flow.run is not None and not terminal.quiet:
            write("")
        for row in _flow(terminal, flow, to_error=to_error):
            write(row)
    if len(flows) > 1 and not terminal.quiet:
        counted = Counter(flow.status for flow in flows)
        total = ", ".join(f"{count} {status}" for status, count in counted.items())
        write = terminal.problem if to_error or all(flow.run is None for flow in flows) else terminal.result
        write(f"\n{len(flows)} flows: {total}")


def _flow(terminal: Terminal, flow: FlowOutcome, *, to_error: bool) -> list[str]:
    counts = _counts(flow)
    status = terminal.paint(flow.status, flow.status, error=to_error or flow.run is None)
    rows = [f"{status}: {line(flow.flow or flow.file)}" + (f" ({counts})" if counts else "")]
    if flow.exit:
        code = f" [{line(flow.code)}]" if flow.code else ""
        rows.append(f"  {line(_message(flow))}{code}")
    wrong = [step.id for step in flow.steps if step.status in ("failed", "unknown")]
    if len(wrong) > 1:
        rows.append(f"  {len(wrong)} steps did not succeed; the first is {line(wrong[0])}")
    if flow.exit == ERROR_EXIT and remedy(flow.code):
        rows.append(f"  help: {remedy(flow.code)}")
    rows += [f"  {line(note)}" for note in flow.notes]
    if flow.folder is not None:
        rows.append(f"  evidence: {line(flow.folder)}")
    return rows


def _message(flow: FlowOutcome) -> str:
    """Say why a flow did not succeed; changes against a baseline were told with their step and are only counted."""
    briefs = {f"{step.id}: {step.message}": f"{step.id}: {step.brief}" for step in flow.steps if step.brief}
    return briefs.get(flow.message, flow.message)


def _counts(flow: FlowOutcome) -> str:
    statuses = [step.status for step in flow.steps]
    counted = [(name, statuses.count(name)) for name in ("succeeded", "failed", "unknown", "skipped")]
    return ", ".join(f"{count} {name}" for name, count in counted if count)
