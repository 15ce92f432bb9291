"""Tells a run as it goes: a line for each step, and on a terminal what is running right now."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from host.flow import Flow, Section, Step
from host.inbox import Progress
from host.outcome import ERROR_EXIT, FlowOutcome, StepOutcome, remedy
from host.problems import render
from host.sign_in_record import record_rows
from host.terminal import LiveLine, Terminal, line

__all__ = ["Teller", "summarize"]

_MARKS: Final = {"succeeded": "ok", "failed": "FAILED", "unknown": "UNKNOWN", "skipped": "skipped"}
_INDENT: Final = " " * 12
#: Characters of a captured value that are shown; the evidence has all of it.
_CAPTURE_SHOWN: Final = 200
#: Changes of one comparison that are shown; the diff has all of them.
_CHANGES_SHOWN: Final = 40
#: Seconds between two updates of the running line: a page in ten milliseconds needs no picture.
_UPDATE_SECONDS: Final = 0.1


class Teller:
    """A run's listener. Lines go to standard output, or with ``to_error`` to standard error.

    ``redact`` is applied to every text that came from outside; whoever starts a flow's plugins sets it.
    """

    def __init__(self, terminal: Terminal, live: LiveLine, *, to_error: bool = False) -> None:
        self.redact: Callable[[str], str] = str
        self._terminal = terminal
        self._to_error = to_error
        self._live = live
        self._flows = 0
        self._shown = 0.0
        self._running = ""

    def flow(self, flow: Flow) -> None:
        """Head a flow's lines, its warnings first."""
        if flow.warnings and not self._terminal.quiet:
            shown = render(flow.file, flow.text, flow.warnings, severity="warning", redact=self.redact)
            self._terminal.problem(shown.rstrip())
        if self._flows:
            self._write("")
        self._flows += 1
        self._write(self._paint(f"{line(flow.name)}  ({line(self.redact(flow.file))})", "heading"))

    def section(self, section: Section) -> None:
        self._write("")
        self._write("  " + self._paint(line(self.redact(section.title)), "heading"))
        for row in section.prose.splitlines():
            self._write(f"  {self._paint(line(self.redact(row)), 'prose')}" if row.strip() else "")

    def step_started(self, step: Step) -> None:
        self._running = line(step.id)
        self._live.show(f"    running {self._running}")

    def progress(self, progress: Progress) -> None:
        """Show how far the running step is. Called on a plugin's reading thread."""
        now = time.monotonic()
        if now - self._shown >= _UPDATE_SECONDS:
            self._shown = now
            total = "" if progress.total is None else f" of {progress.total}"
            self._live.show(f"    running {self._running}: {progress.done}{total} {line(progress.unit)}")

    def step_ended(self, step: Step, outcome: StepOutcome) -> None:
        if self._terminal.quiet and outcome.status in ("succeeded", "skipped"):
            self._live.clear()
            return
        rows = [self.redact(row) for row in self._step(step, outcome)]
        mark = f"    {_MARKS[outcome.status]:<8}"
        self._write(self._paint(mark, outcome.status) + line(rows[0]), quiet=False)
        for row in rows[1:]:
            self._write(_INDENT + line(row), quiet=False)

    def _step(self, step: Step, outcome: StepOutcome) -> list[str]:
        code = f" [{outcome.code}]" if outcome.code else ""
        took = "" if outcome.milliseconds is None else f" ({outcome.milliseconds} ms)"
        rows = [f"{step.id}{took}{code}"]
        if outcome.message:
            rows.append(outcome.message)
        if step.capture is not None and outcome.capture is not None:
            more = "…" if len(outcome.capture) > _CAPTURE_SHOWN else ""
            rows.append(f"{step.capture} = {outcome.capture[:_CAPTURE_SHOWN]}{more}")
        told = record_rows(outcome.facts) if outcome.status != "succeeded" else []
        return [*rows, *told, *_comparison(outcome), *_diagnostics(outcome)]

    def _write(self, text: str, *, quiet: bool = True) -> None:
        if quiet and self._terminal.quiet:
            return
        self._live.clear()
        write = self._terminal.problem if self._to_error else self._terminal.result
        write(text)

    def _paint(self, text: str, kind: str) -> str:
        return self._terminal.paint(text, kind, error=self._to_error)


def _comparison(outcome: StepOutcome) -> list[str]:
    comparison = outcome.facts.get("comparison")
    if not isinstance(comparison, dict) or "missing" in comparison:
        return []
    other = f"baseline {comparison['baseline']}" if "baseline" in comparison else f"run {comparison.get('run')}"
    if "code" in comparison:
        return [f"not compared with {other} [{comparison['code']}]"]
    counted = ", ".join(f"{count} {name}" for name, count in comparison.get("changes", {}).items())
    rows = [f"compared with {other}: {counted or 'no change'}", *outcome.changes[:_CHANGES_SHOWN]]
    more = len(outcome.changes) - _CHANGES_SHOWN
    return rows if more <= 0 else [*rows, f"and {more} more, in {comparison['artifact']}"]


def _diagnostics(outcome: StepOutcome) -> list[str]:
    plugin = outcome.facts.get("plugin")
    diagnostics = plugin.get("diagnostics") if isinstance(plugin, dict) else None
    if not isinstance(diagnostics, str) or not diagnostics:
        return []
    return ["its last words:", *(f"| {row}" for row in diagnostics.splitlines())]


def summarize(terminal: Terminal, flows: Sequence[FlowOutcome], *, to_error: bool = False) -> None:
    """Tell how the flows went: for each a line with its counts, why it did not succeed, and where its evidence lies."""
    for flow in flows:
        if flow.shown:
            terminal.problem(flow.shown.rstrip())
        if terminal.quiet and flow.exit == 0:
            continue
        write = terminal.problem if to_error or flow.run is None else terminal.result
        if flow.run is not None and not terminal.quiet:
            write("")
        for row in _flow(terminal, flow, to_error=to_error):
            write(row)


def _flow(terminal: Terminal, flow: FlowOutcome, *, to_error: bool) -> list[str]:
    counts = _counts(flow)
    status = terminal.paint(flow.status, flow.status, error=to_error or flow.run is None)
    rows = [f"{status}: {line(flow.flow or flow.file)}" + (f" ({counts})" if counts else "")]
    if flow.exit:
        code = f" [{line(flow.code)}]" if flow.code else ""
        rows.append(f"  {line(flow.message)}{code}")
    if flow.exit == ERROR_EXIT and remedy(flow.code):
        rows.append(f"  help: {remedy(flow.code)}")
    rows += [f"  {line(note)}" for note in flow.notes]
    if flow.folder is not None:
        rows.append(f"  evidence: {line(flow.folder)}")
    return rows


def _counts(flow: FlowOutcome) -> str:
    statuses = [step.status for step in flow.steps]
    counted = [(name, statuses.count(name)) for name in ("succeeded", "failed", "unknown", "skipped")]
    return ", ".join(f"{count} {name}" for name, count in counted if count)
