"""`assay run`: checks flows, runs them, keeps evidence, and says how it went."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from host.board import Board
from host.commands import options
from host.comparison import FAIL_ON_DEFAULT
from host.documents import check_place
from host.executable import current_environment
from host.interruption import Interruption, listening
from host.kept import kept_diffs
from host.outcome import FlowOutcome, exit_of_code, gravest
from host.outputs import Outputs
from host.preparation import Options, Prepared, prepare
from host.progress import Stage
from host.report import run_document
from host.reports.difference import Diffs
from host.running import Runner, RunOptions
from host.runs import list_readable
from host.summary import summarize
from host.terminal import Terminal, on_github
from protocol.failures import Code, Failed

__all__ = ["run"]


@click.command()
@options.flows
@click.option("--jobs", metavar="N", type=click.IntRange(1, 64), default=1, help="Run N flows at once. Default: 1.")
@click.option(
    "--wait",
    metavar="SECONDS",
    type=click.FloatRange(0, 3600),
    help="Wait this long at most until the target's port takes connections.",
)
@click.option("--fail-fast", is_flag=True, help="Stop a flow at its first failed step. Cleanup still runs.")
@click.option(
    "--baseline", metavar="FILE", help="Compare with this file. Default: <flow>.baseline.json, if there is one."
)
@click.option("--update-baseline", is_flag=True, help="Make the inventories of this run the baseline.")
@options.fail_on("Only a baseline makes a step fail. Default: breaking,risk,routing.")
@click.option("--json", metavar="FILE", help="Write one document; `-` is standard output.")
@click.option("--junit", metavar="FILE", help="Write a JUnit XML report; `-` is standard output.")
@click.option("--html", metavar="FILE", help="Write one self-contained page; `-` is standard output.")
@options.github
@click.option("--evidence", metavar="DIR", help="Keep runs in DIR/runs. Default: `evidence` of assay.toml, or .assay.")
@options.quiet
def run(
    jobs: int,
    wait: float | None,
    fail_fast: bool,
    baseline: str | None,
    update_baseline: bool,
    fail_on: frozenset[str] | None,
    json: str | None,
    junit: str | None,
    html: str | None,
    github: bool | None,
    quiet: bool,
    **asked: Any,
) -> int:
    """Run flows: Markdown files, or all of a folder.

    Every flow is read and checked before anything is contacted; one that is refused refuses all. What each step saw is
    kept under .assay/runs.

    \b
    Exit status: 0 all succeeded, 1 a step failed, 2 refused, 3 an outcome is unknown,
    4 could not be carried out, 5 a private value was about to be kept, 130 interrupted.
    """
    classes = FAIL_ON_DEFAULT if fail_on is None else fail_on
    how = RunOptions(fail_fast, baseline, update_baseline, classes, jobs, wait)
    outputs = Outputs(json, junit, html, on_github() if github is None else github)
    terminal = Terminal(quiet=quiet)
    terminal.github = terminal.github or outputs.github
    return _Command(Options(**asked), how, outputs, terminal).run()


class _Command:
    """One command line under way."""

    def __init__(self, asked: Options, how: RunOptions, outputs: Outputs, terminal: Terminal) -> None:
        self._asked = asked
        self._how = how
        self._outputs = outputs
        self._terminal = terminal
        self._environment = current_environment()
        self._runner: Runner | None = None

    def run(self) -> int:
        self._outputs.check()
        if self._how.update_baseline:
            check_place(self._how.baseline)
        try:
            outcomes = self._outcomes()
        except Failed as failed:
            # No document of an earlier command line may stay behind when this one is refused as a whole.
            self._write((), exit_of_code(failed.code))
            raise
        summarize(self._terminal, outcomes, to_error=self._outputs.to_output)
        status = gravest(outcome.exit for outcome in outcomes)
        self._write(outcomes, status)
        return status

    def _outcomes(self) -> Sequence[FlowOutcome]:
        interruption = Interruption()
        with listening(interruption), Board(quiet=self._terminal.quiet) as board:
            prepared = prepare(self._asked, self._environment)
            self._require_fitting(prepared)
            together = self._how.jobs > 1 and len(prepared.jobs) > 1
            stage = Stage(self._terminal, board, to_error=self._outputs.to_output, together=together)
            self._runner = Runner(prepared, self._environment, stage, interruption)
            return prepared.refused or self._runner.run(self._how)

    def _require_fitting(self, prepared: Prepared) -> None:
        """Refuse options that do not go with the flows that there are."""
        if self._how.baseline is not None and len(prepared.jobs) > 1:
            told = "`--baseline` names one file, and there are several flows. Leave it out: each has its own beside it."
            raise Failed(Code.INVALID_ARGUMENTS, told)
        if self._how.wait is not None and prepared.choices.target is None:
            told = "`--wait` waits for the target, and there is none. Name it with `--target URL`."
            raise Failed(Code.INVALID_ARGUMENTS, told)

    def _write(self, outcomes: Sequence[FlowOutcome], status: int) -> None:
        folders = [Path(outcome.folder) for outcome in outcomes if outcome.folder is not None]
        diffs = kept_diffs(list_readable(folders)) if self._outputs.shows_diffs else {}
        try:
            self._put(run_document(outcomes, status), diffs)
        except Failed as failed:
            if failed.code is Code.EVIDENCE_LEAK:
                self._put(run_document((), exit_of_code(failed.code)), {})
            raise

    def _put(self, document: Any, diffs: Diffs) -> None:
        terminal, environment = self._terminal, self._environment
        self._outputs.write(document, diffs, terminal, self._leaks, folder=Path(), environment=environment)

    def _leaks(self, content: bytes) -> bool:
        return self._runner is not None and self._runner.leaks(content)
