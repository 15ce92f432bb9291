"""`assay report`: the reports of `assay run`, made later from what runs kept."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from host.commands import options
from host.documents import STANDARD_OUTPUT
from host.executable import current_environment
from host.kept import kept_diffs, kept_document
from host.outputs import Outputs
from host.preparation import Options, load_choices
from host.progress import MARKS
from host.reports.run import Flow, Step, read
from host.running import runs_folder
from host.runs import Run
from host.sides import find_run
from host.terminal import Terminal, line, on_github
from protocol.failures import Code, Failed

__all__ = ["report"]

_Command = TypeVar("_Command", bound=Callable[..., Any])
_HELP: Final = "Write `latest`, `latest~1`, a run's folder or its id."


def _file(name: str, what: str) -> Callable[[_Command], _Command]:
    """Make an option that takes a file, and without one means standard output."""
    told = f"Write {what} to FILE; without FILE, to standard output."
    return click.option(f"--{name}", metavar="FILE", is_flag=False, flag_value=STANDARD_OUTPUT, help=told)


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@_file("json", "the document of `assay run --json`")
@_file("junit", "JUnit XML")
@_file("html", "one self-contained page")
@options.github
@click.option("--evidence", metavar="DIR", help="Where runs are kept, in DIR/runs. Default: as for `assay run`.")
@options.quiet
def report(
    runs: tuple[str, ...],
    json: str | None,
    junit: str | None,
    html: str | None,
    github: bool | None,
    evidence: str | None,
    quiet: bool,
) -> int:
    """Report on kept runs, as `assay run` would have done.

    Each RUN is `latest`, `latest~1` (the run of the same flow before it), a run's folder or its id. Without an option,
    the steps are shown. The exit status is 0 whatever became of the runs.
    """
    terminal = Terminal(quiet=quiet)
    environment = current_environment()
    outputs = Outputs(json, junit, html, on_github() if github is None else github)
    terminal.github = terminal.github or outputs.github
    outputs.check()
    folder, choices = load_choices(Options((), evidence=evidence), environment)
    found = [_find(text, runs_folder(choices.evidence)) for text in runs]
    document = kept_document(found)
    # What is kept was scanned when it was written; what was private then is known to nobody any more.
    outputs.write(document, kept_diffs(found), terminal, lambda _: False, folder=Path(folder), environment=environment)
    if not outputs.files and not quiet:
        for flow in read(document).flows:
            for row in _flow(terminal, flow):
                terminal.result(row)
    return 0


def _find(text: str, root: Path) -> Run:
    run = find_run(text, root)
    if run is None:
        raise Failed(Code.INVALID_ARGUMENTS, f"There is no run {text!r}. {_HELP}")
    return run


def _flow(terminal: Terminal, flow: Flow) -> Sequence[str]:
    rows = [terminal.paint(f"{line(flow.name)}  ({line(flow.file)})", "heading")]
    for section in flow.sections:
        rows += ["", "  " + terminal.paint(line(section.title), "heading")]
        for step in section.steps:
            rows += _step(terminal, step)
    code = f" [{line(flow.code)}]" if flow.code else ""
    return [*rows, "", f"{terminal.paint(flow.status, flow.status)}: {line(flow.message)}{code}", ""]


def _step(terminal: Terminal, step: Step) -> list[str]:
    took = "" if step.milliseconds is None else f" ({step.milliseconds:.0f} ms)"
    code = f" [{line(step.code)}]" if step.code else ""
    mark = terminal.paint(f"    {MARKS.get(step.status, step.status):<8}", step.status)
    told = [f"{' ' * 12}{line(step.message)}"] if step.message else []
    return [f"{mark}{line(step.id)}{took}{code}", *told]
