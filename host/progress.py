"""Tells a run as it goes: a line for each step, and on a terminal what is running right now."""

import time
from collections.abc import Sequence
from typing import Any, Final

from host.flow import Flow, Section, Step
from host.outcome import FlowOutcome, StepOutcome
from host.problems import render
from host.provider import Progress
from host.terminal import Terminal, block, line

__all__ = ["Teller", "summary"]

_MARKS: Final = {"succeeded": "ok", "failed": "FAILED", "unknown": "UNKNOWN", "skipped": "skipped"}
#: Characters of a captured value that are shown; the evidence has all of it.
_CAPTURE_SHOWN: Final = 200
#: Seconds between two updates of the running line: a page in ten milliseconds needs no picture.
_UPDATE_SECONDS: Final = 0.1


class Teller:
    """A run's listener. Lines go to standard output (``to_error``: to standard error, when that holds a document)."""

    def __init__(self, terminal: Terminal, *, to_error: bool = False, live: Any = None) -> None:
        self._terminal = terminal
        self._to_error = to_error
        self._live = live
        self._shown = 0.0
        self._running = ""

    def flow(self, flow: Flow, folder: str) -> None:
        """Head a flow's lines."""
        self._write(self._paint(f"{line(flow.name)}  ({line(flow.file)})", "heading"))

    def section(self, section: Section) -> None:
        self._write("")
        self._write(self._paint(f"  {line(section.title)}", "heading"))
        for row in section.prose.splitlines():
            self._write(f"  {line(row)}")

    def step_started(self, step: Step) -> None:
        self._running = line(step.id)
        self._show(self._running)

    def progress(self, progress: Progress) -> None:
        """Show how far the running step is. Called on a plugin's reading thread."""
        now = time.monotonic()
        if now - self._shown >= _UPDATE_SECONDS:
            self._shown = now
            total = "" if progress.total is None else f" of {progress.total}"
            self._show(f"{self._running}: {progress.done}{total} {line(progress.unit)}")

    def step_ended(self, step: Step, outcome: StepOutcome) -> None:
        self._show("")
        if self._terminal.quiet and outcome.status in ("succeeded", "skipped"):
            return
        for row in _step_lines(step, outcome):
            self._write(self._paint(row, outcome.status), quiet=False)

    def _show(self, text: str) -> None:
        if self._live is not None:
            self._live.update(text)

    def _write(self, text: str, *, quiet: bool = True) -> None:
        if quiet and self._terminal.quiet:
            return
        if self._to_error:
            self._terminal.problem(text)
        else:
            self._terminal.result(text)

    def _paint(self, text: str, kind: str) -> str:
        return self._terminal.paint(text, kind, error=self._to_error)


def _step_lines(step: Step, outcome: StepOutcome) -> list[str]:
    code = f" [{line(outcome.code)}]" if outcome.code else ""
    took = "" if outcome.milliseconds is None else f" ({outcome.milliseconds} ms)"
    rows = [f"    {_MARKS[outcome.status]:<7} {line(step.id)}{took}{code}"]
    if outcome.message:
        rows.append(f"            {line(outcome.message)}")
    if step.capture is not None and outcome.capture is not None:
        value = outcome.capture[:_CAPTURE_SHOWN]
        more = "…" if len(outcome.capture) > _CAPTURE_SHOWN else ""
        rows.append(f"            {line(step.capture)} = {line(value)}{more}")
    return rows + _comparison_lines(outcome) + _diagnostic_lines(outcome)


def _comparison_lines(outcome: StepOutcome) -> list[str]:
    comparison = outcome.facts.get("comparison")
    if not isinstance(comparison, dict) or outcome.status != "succeeded":
        return []
    with_ = f"baseline {comparison['baseline']}" if "baseline" in comparison else f"run {comparison.get('run')}"
    if "code" in comparison:
        return [f"            could not be compared with {line(with_)} [{line(str(comparison['code']))}]"]
    counted = ", ".join(f"{count} {name}" for name, count in comparison.get("changes", {}).items())
    return [f"            compared with {line(with_)}: {line(counted) or 'no change'}"]


def _diagnostic_lines(outcome: StepOutcome) -> list[str]:
    plugin = outcome.facts.get("plugin")
    diagnostics = plugin.get("diagnostics") if isinstance(plugin, dict) else None
    if not isinstance(diagnostics, str) or not diagnostics:
        return []
    return ["            its last words:", *(f"            | {line(row)}" for row in diagnostics.splitlines())]


def summary(terminal: Terminal, flows: Sequence[FlowOutcome], *, to_error: bool = False) -> None:
    """Tell how the flows went: for each a line with its counts, and where its evidence lies."""
    for flow in flows:
        if flow.problems:
            terminal.problem(render(flow.file, flow.text, flow.problems))
        if terminal.quiet and flow.exit == 0:
            continue
        name = line(flow.flow or flow.file)
        rows = [terminal.paint(f"{flow.status}: {name}", flow.status, error=to_error) + f"  {_counts(flow)}"]
        if flow.exit:
            rows.append(block(f"  {flow.message}"))
        if flow.folder:
            rows.append(f"  evidence: {line(flow.folder)}")
        write = terminal.problem if to_error or flow.status == "refused" else terminal.result
        write("\n".join(rows))


def _counts(flow: FlowOutcome) -> str:
    statuses = [step.status for step in flow.steps]
    counted = [(name, statuses.count(name)) for name in ("succeeded", "failed", "unknown", "skipped")]
    return ", ".join(f"{count} {name}" for name, count in counted if count)
