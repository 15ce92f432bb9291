"""Tells runs as they go: a line for each step that ended, and on a terminal what is running right now."""

import threading
from collections.abc import Callable, Sequence
from typing import Final

from host.board import Board
from host.flow import Flow, Section, Step
from host.inbox import Progress
from host.outcome import StepOutcome
from host.problems import render
from host.reports.pretty import pretty
from host.sign_in_record import record_rows
from host.terminal import Terminal, line

__all__ = ["MARKS", "Stage", "Teller"]

#: How a step went, in a word for people.
MARKS: Final = {"succeeded": "ok", "failed": "FAILED", "unknown": "UNKNOWN", "skipped": "skipped"}
_INDENT: Final = " " * 12
#: Characters of a captured value that are shown; the evidence has all of it.
_CAPTURE_SHOWN: Final = 200
#: Changes of one comparison that are shown; the diff has all of them.
_CHANGES_SHOWN: Final = 40
#: Lines of the reply to a failed step that are shown, characters of each, and characters that are laid out at all.
_REPLY_SHOWN: Final = 20
_REPLY_WIDTH: Final = 200
_REPLY_LIMIT: Final = 100_000


class Stage:
    """Where the runs of one command line are told: results to standard output, or with ``to_error`` to standard error.

    With ``together``, several flows run at once: the lines of each are kept back until it has ended, so that they stand
    together.
    """

    def __init__(self, terminal: Terminal, board: Board, *, to_error: bool = False, together: bool = False) -> None:
        self.terminal = terminal
        self.board = board
        self.to_error = to_error
        self.together = together
        self._lock = threading.Lock()
        self._told = self._ended = self._total = 0

    def expect(self, flows: int) -> None:
        """Say how many flows are going to run."""
        self._total = flows

    def teller(self) -> "Teller":
        """Return the listener of one more flow."""
        return Teller(self)

    def write(self, rows: Sequence[tuple[str, bool]], *, begins: bool = False) -> None:
        """Write escaped lines, each with whether it is about what went wrong. ``begins``: they begin a flow."""
        result = self.terminal.problem if self.to_error else self.terminal.result
        with self._lock, self.board.aside():
            if begins:
                if self._told:
                    result("")
                self._told += 1
            for text, problem in rows:
                (self.terminal.problem if problem else result)(text)

    def ended(self) -> None:
        """Note that one more flow has ended."""
        with self._lock:
            self._ended += 1
            if self.together:
                self.board.note = f"{self._ended} of {self._total} flows have ended"


class Teller:
    """The listener of one flow. ``redact`` is applied to every text that came from outside; its starter sets it."""

    def __init__(self, stage: Stage) -> None:
        self.redact: Callable[[str], str] = str
        self._stage = stage
        self._quiet = stage.terminal.quiet
        self._row = stage.board.add("starting")
        self._rows: list[tuple[str, bool]] = []
        self._begun = False

    def flow(self, flow: Flow) -> None:
        """Head a flow's lines, its warnings first."""
        if self._stage.together:
            self._row.name = line(flow.name)
        if flow.warnings and not self._quiet:
            shown = render(flow.file, flow.text, flow.warnings, severity="warning", redact=self.redact)
            self._rows.append((shown.rstrip(), True))
        self._write(self._paint(f"{line(flow.name)}  ({line(self.redact(flow.file))})", "heading"))

    def section(self, section: Section) -> None:
        self._write("")
        self._write("  " + self._paint(line(self.redact(section.title)), "heading"))
        for row in section.prose.splitlines():
            self._write(f"  {self._paint(line(self.redact(row)), 'prose')}" if row.strip() else "")

    def step_started(self, step: Step) -> None:
        self._row.doing(line(step.id))

    def progress(self, progress: Progress) -> None:
        """Show how far the running step is. Called on a plugin's reading thread."""
        self._row.progress(progress)

    def step_ended(self, step: Step, outcome: StepOutcome) -> None:
        if self._quiet and outcome.status in ("succeeded", "skipped"):
            return
        rows = [self.redact(row) for row in self._step(step, outcome)]
        mark = f"    {MARKS[outcome.status]:<8}"
        self._write(self._paint(mark, outcome.status) + line(rows[0]), quiet=False)
        for row in rows[1:]:
            self._write(_INDENT + line(row), quiet=False)

    def end(self) -> None:
        """Write what was kept back, and take the flow off the board."""
        self._row.end()
        self._flush()

    def _step(self, step: Step, outcome: StepOutcome) -> list[str]:
        code = f" [{outcome.code}]" if outcome.code else ""
        took = "" if outcome.milliseconds is None else f" ({outcome.milliseconds} ms)"
        rows = [f"{step.id}{took}{code}"]
        if outcome.message:
            rows.append(outcome.brief or outcome.message)
        if step.capture is not None and outcome.capture is not None:
            more = "…" if len(outcome.capture) > _CAPTURE_SHOWN else ""
            rows.append(f"{step.capture} = {outcome.capture[:_CAPTURE_SHOWN]}{more}")
        told = record_rows(outcome.facts) if outcome.status != "succeeded" else []
        return [*rows, *told, *_reply(outcome), *_comparison(outcome), *_diagnostics(outcome)]

    def _write(self, text: str, *, quiet: bool = True) -> None:
        if quiet and self._quiet:
            return
        self._rows.append((text, False))
        if not self._stage.together:
            self._flush()

    def _flush(self) -> None:
        rows, self._rows = self._rows, []
        if rows:
            self._stage.write(rows, begins=not self._begun and not self._quiet)
            self._begun = True

    def _paint(self, text: str, kind: str) -> str:
        return self._stage.terminal.paint(text, kind, error=self._stage.to_error)


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


def _reply(outcome: StepOutcome) -> list[str]:
    """Show what a failed step was answered, as its plugin redacted it: the evidence has hashes of it only."""
    display = outcome.display
    if outcome.status != "failed" or not isinstance(display, dict):
        return []
    kind = next((name for name in ("result", "error") if name in display), None)
    if kind is None:
        return []
    excerpt = pretty(display[kind], _REPLY_LIMIT)
    rows = excerpt.text.split("\n")
    shown = [f"| {row[:_REPLY_WIDTH]}{'…' if len(row) > _REPLY_WIDTH else ''}" for row in rows[:_REPLY_SHOWN]]
    return [f"its {kind}:", *shown, *(["| …"] if len(rows) > _REPLY_SHOWN or not excerpt.whole else [])]


def _diagnostics(outcome: StepOutcome) -> list[str]:
    plugin = outcome.facts.get("plugin")
    diagnostics = plugin.get("diagnostics") if isinstance(plugin, dict) else None
    if not isinstance(diagnostics, str) or not diagnostics:
        return []
    return ["its last words:", *(f"| {row}" for row in diagnostics.splitlines())]
