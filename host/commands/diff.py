"""`assay diff`: what changed between two runs, two identities, or a baseline and a run."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import click

from host.commands import options
from host.comparator import diff_document
from host.comparison import Pair, changes, counts, failing, pair, tell
from host.documents import STANDARD_OUTPUT, write_document
from host.executable import current_environment
from host.interruption import Interruption, listening
from host.outcome import FAILED_EXIT
from host.preparation import Options, describe_providers, load_choices
from host.private import Private
from host.running import runs_folder
from host.session import Identities, Session
from host.sides import Side, find_side
from host.terminal import Terminal, line
from protocol.failures import Code, Failed

__all__ = ["diff"]

FORMAT: Final = "assay-comparison/1"


class _Compared(NamedTuple):
    pair: Pair
    diff: dict[str, Any]


@click.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@options.fail_on("Exit status 1 when there is one. Default: none.")
@click.option("--json", "as_json", is_flag=True, help="Write the diffs as one document.")
@click.option("--evidence", metavar="DIR", help="Where runs are kept, in DIR/runs. Default: as for `assay run`.")
@options.plugin
@options.quiet
def diff(
    before: str,
    after: str,
    fail_on: frozenset[str] | None,
    as_json: bool,
    evidence: str | None,
    plugin: str | None,
    quiet: bool,
) -> int:
    """Compare the inventories of A and B.

    Each is `latest` (the latest run), `latest~1` (the run of the same flow before it), a run's folder or id, or a
    baseline file. With an alias (`latest:admin latest:guest`), what two identities saw is compared; else steps of the
    same id are.
    """
    terminal = Terminal(quiet=quiet)
    environment = current_environment()
    _, choices = load_choices(Options((), evidence=evidence), environment)
    root = runs_folder(choices.evidence)
    old, new = find_side(before, root), find_side(after, root)
    pairs = pair(old.entries, new.entries, by_step=old.alias is None and new.alias is None)
    if not pairs:
        told = f"Nothing can be compared: {old.title} has {_steps(old)}, and {new.title} has {_steps(new)}."
        raise Failed(Code.INVALID_ARGUMENTS, told)
    compared = _compare(pairs, plugin, environment)
    wrong = [change for each in compared for change in failing(changes(each.diff), fail_on or frozenset())]
    status = FAILED_EXIT if wrong else 0
    if as_json:
        write_document(STANDARD_OUTPUT, _document(old, new, compared, status), terminal)
    elif not quiet or wrong:
        _show(terminal, old, new, compared)
    return status


def _compare(pairs: Sequence[Pair], plugin: str | None, environment: dict[str, str]) -> list[_Compared]:
    providers = sorted({each.after.provider for each in pairs})
    executables, _, failures = describe_providers(providers, plugin, environment)
    for failure in failures.values():
        raise Failed(failure.code, failure.message, data=failure.data)
    identities = Identities((), {provider: {} for provider in providers}, frozenset())
    private = Private(dict.fromkeys(providers, ()))
    interruption = Interruption()
    with listening(interruption), Session(executables, environment, identities, private, interruption) as session:
        return [_Compared(each, _diff(session, each)) for each in pairs]


def _diff(session: Session, each: Pair) -> dict[str, Any]:
    before, after = each
    both = before.catalog is not None and after.catalog is not None
    catalogs = {"before": before.catalog, "after": after.catalog} if both else None
    provider = session.provider(after.provider)
    return provider.compare(after.name, before.state, after.state, catalogs, session.interrupted)


def _document(old: Side, new: Side, compared: Sequence[_Compared], status: int) -> dict[str, Any]:
    diffs = [
        diff_document(
            old.origin | {"step": each.pair.before.step, "alias": each.pair.before.alias},
            new.origin | {"step": each.pair.after.step, "alias": each.pair.after.alias},
            each.diff,
        )
        for each in compared
    ]
    return {"format": FORMAT, "exit": status, "diffs": diffs}


def _show(terminal: Terminal, old: Side, new: Side, compared: Sequence[_Compared]) -> None:
    terminal.result(f"from {line(old.title)}")
    terminal.result(f"to   {line(new.title)}")
    for each in compared:
        before, after = each.pair
        steps = after.step if before.step == after.step else f"{before.step} -> {after.step}"
        found = changes(each.diff)
        counted = ", ".join(f"{count} {name}" for name, count in counts(found).items())
        terminal.result("")
        terminal.result(terminal.paint(line(f"{after.name} of {steps}"), "heading") + f": {counted or 'no change'}")
        for change in found:
            terminal.result("  " + line(tell(change, after.name)))
    for side, others, name in (
        (old, {each.pair.before.step for each in compared}, "A"),
        (new, {each.pair.after.step for each in compared}, "B"),
    ):
        alone = [entry.step for entry in side.entries if entry.step not in others]
        if alone:
            terminal.progress(f"note: only in {name}: {line(', '.join(alone))}")


def _steps(side: Side) -> str:
    return ", ".join(f"`{entry.step}` ({entry.name})" for entry in side.entries)
