"""`assay plan`: checks flows as `run` does, and shows what their steps would do. Contacts no server."""

from typing import Any

import click

from host.board import Board
from host.commands import options
from host.executable import current_environment
from host.flow import Flow
from host.interruption import Interruption, listening
from host.outcome import gravest
from host.preparation import Options, Prepared, prepare
from host.problems import render
from host.progress import Stage
from host.running import Runner
from host.summary import summarize
from host.terminal import Terminal, line

__all__ = ["plan"]


@click.command()
@options.flows
@options.quiet
def plan(quiet: bool, **asked: Any) -> int:
    """Check flows and list their steps, without running them.

    Each command is looked at by its plugin. No secret is needed and no server is contacted. The effect `mutate` marks
    the steps that may change something on the server.
    """
    terminal = Terminal(quiet=quiet)
    interruption = Interruption()
    with listening(interruption), Board(quiet=quiet) as board:
        prepared = prepare(Options(**asked, planning=True), current_environment())
        stage = Stage(terminal, board)
        refused = prepared.refused or Runner(prepared, current_environment(), stage, interruption).check()
    summarize(terminal, refused)
    if not refused:
        _show(terminal, prepared)
    return gravest(outcome.exit for outcome in refused)


def _show(terminal: Terminal, prepared: Prepared) -> None:
    for job in prepared.jobs:
        for told in job.unresolved:
            terminal.progress(f"note: {line(told)} The plan goes on without.")
        if job.flow.warnings:
            terminal.progress(render(job.flow.file, job.flow.text, job.flow.warnings, severity="warning").rstrip())
        if not terminal.quiet:
            for row in _rows(terminal, job.flow):
                terminal.result(row)


def _rows(terminal: Terminal, flow: Flow) -> list[str]:
    effects = [step.effect for step in flow.steps]
    count = (
        f"{len(effects)} step{'' if len(effects) == 1 else 's'}, {effects.count('mutate')} that may change something"
    )
    rows = [terminal.paint(f"{line(flow.name)}  ({line(flow.file)})", "heading") + f": {count}"]
    for section in flow.sections:
        rows += ["", "  " + terminal.paint(line(section.title), "heading")]
        width = max((len(step.id) for step in section.steps), default=0)
        for step in section.steps:
            capture = f"  -> {step.capture}" if step.capture else ""
            command = f"{step.alias}.{step.command}"
            rows.append(line(f"    {step.effect:<8} {step.id:<{width}}  {command}  line {step.line}{capture}"))
    return [*rows, ""]
