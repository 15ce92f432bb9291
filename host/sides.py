"""What `assay diff` compares: a run by its place (`latest~1`), by its folder, or a baseline; all of it or one alias."""

import os
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

from host.baseline import read_baseline
from host.runs import Inventory, Run, inventories, list_runs, read_run
from protocol.failures import Code, Failed

__all__ = ["Side", "find_run", "find_side"]

_PLACE: Final = re.compile(r"latest(?:~([0-9]{1,4}))?")
_ALIAS: Final = re.compile(r"(.+):([a-z][a-z0-9_]*)")
_HELP: Final = "Write `latest`, `latest~1`, `latest:alias`, a run's folder or id, or a baseline file."


class Side(NamedTuple):
    """One side of a comparison. ``origin`` says in documents what it is, ``title`` says it to people."""

    title: str
    origin: dict[str, str]
    alias: str | None
    entries: tuple[Inventory, ...]


def find_side(text: str, root: Path) -> Side:
    """Return what ``text`` stands for; runs lie in ``root``. Raises Failed (``invalid_arguments``)."""
    alias = None
    found = _ALIAS.fullmatch(text)
    if found and not os.path.exists(text):
        text, alias = found[1], found[2]
    origin, entries = _read(text, root)
    if alias is not None:
        known = ", ".join(sorted({entry.alias for entry in entries})) or "none"
        entries = tuple(entry for entry in entries if entry.alias == alias)
        if not entries:
            told = f"`{alias}` read no inventory to its end in {_named(origin)}; aliases that did: {known}."
            raise Failed(Code.INVALID_ARGUMENTS, told)
    if not entries:
        raise Failed(Code.INVALID_ARGUMENTS, f"No inventory was read to its end in {_named(origin)}.")
    title = _named(origin) + (f", alias {alias}" if alias else "")
    return Side(title, origin, alias, entries)


def find_run(text: str, root: Path) -> Run | None:
    """Return the kept run that ``text`` names by its place, folder, id or `run.json`; None when it names none.

    Runs lie in ``root``. Raises Failed (``invalid_arguments``).
    """
    place = _PLACE.fullmatch(text)
    if place:
        return _latest(root, int(place[1] or 0))
    path = Path(text)
    if path.name == "run.json" and os.path.isfile(path):
        return read_run(path.parent)
    return next((read_run(folder) for folder in (path, root / text) if os.path.isdir(folder)), None)


def _read(text: str, root: Path) -> tuple[dict[str, str], tuple[Inventory, ...]]:
    run = find_run(text, root)
    if run is not None:
        return {"run": run.id}, tuple(inventories(run))
    path = Path(text)
    if os.path.isfile(path):
        baseline = read_baseline(path)
        return {"baseline": path.name}, baseline.entries
    raise Failed(Code.INVALID_ARGUMENTS, f"There is no run and no baseline {text!r}. {_HELP}")


def _latest(root: Path, back: int) -> Run:
    """Return the latest run, or the one that is ``back`` runs of the same flow before it."""
    folders = list_runs(root)
    if not folders:
        raise Failed(Code.INVALID_ARGUMENTS, f"There are no runs in {root}. `assay run` makes them.")
    latest = read_run(folders[0])
    same = [latest]
    for folder in folders[1:]:
        if len(same) > back:
            break
        try:
            run = read_run(folder)
        except Failed:
            continue
        if _file(run) == _file(latest):
            same.append(run)
    if len(same) <= back:
        told = f"The flow of the latest run was run {len(same)} times, so there is no `latest~{back}`."
        raise Failed(Code.INVALID_ARGUMENTS, told)
    return same[back]


def _file(run: Run) -> Any:
    flow = run.record.get("flow")
    return flow.get("file") if isinstance(flow, dict) else None


def _named(origin: dict[str, str]) -> str:
    return f"the baseline {origin['baseline']}" if "baseline" in origin else f"the run {origin['run']}"
