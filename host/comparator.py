"""Compares each inventory of a run with its baseline, else with the latest earlier run, and judges what changed."""

from pathlib import Path
from typing import Any, Final, NamedTuple

from host.baseline import Baseline
from host.comparison import artifact_name, changes, counts, failing, summary, tell
from host.flow import Step
from host.provider import Provider
from host.runs import Inventory, Run, earlier_runs, find_inventory
from protocol.failures import Code, Failed, Failure

__all__ = ["Comparator", "Compared", "diff_document"]

FORMAT: Final = "assay-diff/1"
_TAKE_IN: Final = "If this is right, take it in with `--update-baseline`."
_MEND_FIRST: Final = "If this is right, change what the step expects, and then take it in with `--update-baseline`."


class Compared(NamedTuple):
    """The outcome of one comparison.

    ``facts`` joins the step's facts; ``artifact`` and ``document`` are the diff's name and text, when there is one;
    ``failure`` is why the step fails by it; ``told`` has a line for each change, and ``brief`` is the
    failure where those lines stand beside it.
    """

    facts: dict[str, Any]
    artifact: str | None = None
    document: dict[str, Any] | None = None
    failure: Failure | None = None
    told: tuple[str, ...] = ()
    brief: str = ""


class Comparator:
    """Knows what the steps of one run of one flow are compared with. ``file`` is the flow's, as runs record it.

    Changes fail a step only against a baseline, only when their class is in ``fail_on``, and not while the baseline is
    being updated.
    """

    def __init__(
        self, baseline: Baseline | None, fail_on: frozenset[str], *, update: bool, root: Path, file: str, run: str
    ) -> None:
        self._baseline = baseline
        self._fail_on = frozenset() if update else fail_on
        self._update = update
        self._root = root
        self._file = file
        self._run = run
        self._earlier: list[Run] | None = None

    def compare(
        self, provider: Provider, step: Step, state: Any, catalog: Any = None, *, succeeded: bool = True
    ) -> Compared | None:
        """Compare the state of a step that read an inventory to its end; None when there is nothing to compare with.

        ``catalog`` is the artifact `catalog.json` of a step that keeps texts: with it on both sides texts are shown.
        ``succeeded``: the step has not failed by itself; one that has keeps its flow from updating the baseline.
        """
        inventory = state["inventory"]
        found = self._before(step, inventory)
        if found is None:
            return self._uncovered(step)
        origin, before = found
        try:
            diff = provider.compare(inventory, before.state, state, _catalogs(before.catalog, catalog))
        except Failed as failed:
            told = f"The comparison with {_named(origin)} could not be made: {failed}"
            failure = Failure(failed.code, told, None, failed.failure.data)
            needed = self._baseline is not None or not provider.alive
            return Compared({**origin, "code": str(failed.code)}, failure=failure if needed else None)
        return self._judge(inventory, origin, diff, _TAKE_IN if succeeded else _MEND_FIRST)

    def _before(self, step: Step, inventory: str) -> tuple[dict[str, Any], Inventory] | None:
        if self._baseline is not None:
            kept = self._baseline.find(step.id, inventory)
            return None if kept is None else ({"baseline": self._baseline.name}, kept)
        if self._earlier is None:
            self._earlier = list(earlier_runs(self._root, self._file, self._run))
        found = ((run.id, find_inventory(run, step.id, inventory)) for run in self._earlier)
        return next((({"run": run}, entry) for run, entry in found if entry is not None), None)

    def _uncovered(self, step: Step) -> Compared | None:
        if self._baseline is None:
            return None
        facts = {"baseline": self._baseline.name, "missing": True}
        told = (
            f"The baseline {self._baseline.name} has no step `{step.id}`, so nothing was compared. Take it in with"
            " `--update-baseline`."
        )
        return Compared(facts, failure=Failure(Code.EXPECTATION_FAILED, told) if self._fail_on else None)

    def _judge(self, inventory: str, origin: dict[str, Any], diff: dict[str, Any], advice: str) -> Compared:
        found = changes(diff)
        artifact = artifact_name(inventory)
        facts = {**origin, "changes": counts(found), "artifact": artifact}
        document = diff_document(origin, {"run": self._run}, diff)
        told = tuple(tell(change, inventory) for change in found)
        wrong = failing(found, self._fail_on) if self._baseline is not None else ()
        if not wrong:
            return Compared(facts, artifact, document, told=told)
        noun = "change counts as a failure" if len(wrong) == 1 else "changes count as failures"
        counted = f"{len(wrong)} {noun} against the baseline {origin['baseline']}"
        failure = Failure(Code.EXPECTATION_FAILED, f"{counted}: {summary(wrong, inventory)}. {advice}")
        return Compared(facts, artifact, document, failure, told, f"{counted}. {advice}")


def diff_document(before: dict[str, Any], after: dict[str, Any], diff: dict[str, Any]) -> dict[str, Any]:
    """Return the document of one diff (docs/diff.schema.json): whose states were compared, and the plugin's diff."""
    return {**diff, "format": FORMAT, "before": before, "after": after}


def _catalogs(before: Any, after: Any) -> dict[str, Any] | None:
    return None if before is None or after is None else {"before": before, "after": after}


def _named(origin: dict[str, Any]) -> str:
    return f"the baseline {origin['baseline']}" if "baseline" in origin else f"the run {origin['run']}"
