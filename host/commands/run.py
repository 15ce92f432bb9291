"""`assay run`: checks flows, runs them, keeps evidence, and says how it went."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from host.commands import options
from host.comparison import FAIL_ON_DEFAULT
from host.documents import STANDARD_OUTPUT, check_place, write_document
from host.evidence import pretty
from host.executable import current_environment
from host.interruption import Interruption, listening
from host.outcome import FlowOutcome, exit_of_code, gravest
from host.preparation import Options, prepare
from host.progress import Teller, summarize
from host.report import run_document
from host.running import Runner, RunOptions
from host.terminal import LiveLine, Terminal
from protocol.failures import Code, Failed

__all__ = ["run"]


@click.command()
@click.argument("flows", nargs=-1, required=True, metavar="FLOW|DIR...")
@options.target
@options.bindings
@options.allow_origins
@options.inputs
@click.option("--fail-fast", is_flag=True, help="Stop a flow at its first failed step. Cleanup still runs.")
@click.option(
    "--baseline", metavar="FILE", help="Compare with this file. Default: <flow>.baseline.json, if there is one."
)
@click.option("--update-baseline", is_flag=True, help="Make the inventories of this run the baseline.")
@options.fail_on("Only a baseline makes a step fail. Default: breaking,risk,routing.")
@click.option("--json", "json_file", metavar="FILE", help="Write one document; `-` is standard output.")
@options.plugin
@click.option("--evidence", metavar="DIR", help="Keep runs in DIR/runs. Default: `evidence` of assay.toml, or .assay.")
@options.quiet
def run(
    flows: tuple[str, ...],
    target: str | None,
    bindings: str | None,
    allow_origins: tuple[str, ...],
    inputs: tuple[str, ...],
    fail_fast: bool,
    baseline: str | None,
    update_baseline: bool,
    fail_on: frozenset[str] | None,
    json_file: str | None,
    plugin: str | None,
    evidence: str | None,
    quiet: bool,
) -> int:
    """Run flows: Markdown files, or all of a folder.

    Every flow is read and checked before anything is contacted; one that is refused refuses all. What each step saw is
    kept under .assay/runs.

    \b
    Exit status: 0 all succeeded, 1 a step failed, 2 refused, 3 an outcome is unknown,
    4 could not be carried out, 5 a private value was about to be kept, 130 interrupted.
    """
    asked = Options(flows, target, bindings, allow_origins, inputs, plugin, evidence)
    how = RunOptions(fail_fast, baseline, update_baseline, FAIL_ON_DEFAULT if fail_on is None else fail_on)
    return _run(asked, how, json_file, Terminal(quiet=quiet))


def _run(asked: Options, how: RunOptions, json_file: str | None, terminal: Terminal) -> int:
    check_place(json_file)
    to_error = json_file == STANDARD_OUTPUT
    interruption = Interruption()
    with listening(interruption), _documented(json_file, terminal):
        environment = current_environment()
        prepared = prepare(asked, environment)
        if how.baseline is not None and len(prepared.jobs) > 1:
            told = "`--baseline` names one file, and there are several flows. Leave it out: each has its own beside it."
            raise Failed(Code.INVALID_ARGUMENTS, told)
        teller = Teller(terminal, LiveLine(quiet=terminal.quiet), to_error=to_error)
        runner = Runner(prepared, environment, teller, interruption)
        outcomes: Sequence[FlowOutcome] = prepared.refused or runner.run(how)
    summarize(terminal, outcomes, to_error=to_error)
    status = gravest(outcome.exit for outcome in outcomes)
    if json_file is not None:
        document = run_document(outcomes, status)
        if runner.leaks(pretty(document)):
            raise Failed(Code.EVIDENCE_LEAK, "The document was not written: it would hold a private value.")
        write_document(json_file, document, terminal)
    return status


@contextmanager
def _documented(json_file: str | None, terminal: Terminal) -> Iterator[None]:
    """Leave no document of an earlier command line behind when this one is refused as a whole."""
    try:
        yield
    except Failed as failed:
        if json_file is not None:
            write_document(json_file, run_document((), exit_of_code(failed.code)), terminal)
        raise
