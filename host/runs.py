"""Kept runs, read back: which there are, what became of them, and the inventories that they hold."""

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from host.evidence import RUN_ID
from protocol.failures import Code, Failed
from protocol.values.document import JsonError, parse

__all__ = [
    "CATALOG",
    "Inventory",
    "Run",
    "earlier_runs",
    "find_inventory",
    "inventories",
    "inventory_read",
    "list_readable",
    "list_runs",
    "read_diffs",
    "read_document",
    "read_observation",
    "read_run",
]

#: Largest file of evidence that is read back, in bytes: a step result of 31 MiB, indented.
READ_LIMIT: Final = 128 * 1024 * 1024
#: Bytes of a file's name that file systems take.
NAME_LIMIT: Final = 255
#: The artifact that holds an inventory's redacted entries.
CATALOG: Final = "catalog.json"
#: Earlier runs that are looked at for a step to compare with; older ones are as good as forgotten.
EARLIER_LIMIT: Final = 200


class Run(NamedTuple):
    """One kept run. ``record`` is its `run.json`; ``status`` is "interrupted" when the run was killed."""

    folder: Path
    record: dict[str, Any]
    status: str

    @property
    def id(self) -> str:
        return self.folder.name


class Inventory(NamedTuple):
    """The state of one step that read an inventory to its end. ``name`` is the inventory's (`tools`).

    ``catalog`` is its artifact `catalog.json`, where the binding keeps texts. ``succeeded`` tells whether the plugin
    found the step as expected, too.
    """

    step: str
    alias: str
    provider: str
    name: str
    state: Any
    catalog: Any = None
    succeeded: bool = True


def inventory_read(status: object, state: object) -> str | None:
    """Return the name of the inventory that a step read to its end; None when it read none.

    A step that fails by its expectation has read its inventory all the same, and its state says so (`complete`).
    """
    if not isinstance(state, dict) or not (status == "succeeded" or state.get("complete") is True):
        return None
    name = state.get("inventory")
    return name if isinstance(name, str) else None


def list_runs(root: Path) -> list[Path]:
    """Return the folders of all runs under ``root``, the latest first; none when there is no such folder."""
    try:
        with os.scandir(root) as entries:
            names = [entry.name for entry in entries if RUN_ID.fullmatch(entry.name) and entry.is_dir()]
    except OSError:
        return []
    return [root / name for name in sorted(names, reverse=True)]


def read_run(folder: Path) -> Run:
    """Read one run. Raises Failed (``invalid_arguments``) when the folder holds no readable run."""
    record = read_document(folder / "run.json", "assay-evidence/1")
    status = record.get("status")
    if status == "running" and not _locked(folder):
        status = "interrupted"
    return Run(folder, record, str(status))


def list_readable(folders: Iterable[Path]) -> list[Run]:
    """Read runs, leaving out what cannot be read."""
    runs = []
    for folder in folders:
        with contextlib.suppress(Failed):
            runs.append(read_run(folder))
    return runs


def inventories(run: Run) -> Iterator[Inventory]:
    """Give every inventory that a run's steps read to its end, in the order of the steps."""
    providers = run.record.get("providers")
    for step in _steps(run):
        with contextlib.suppress(Failed):
            snapshot = read_document(run.folder / "steps" / step["folder"] / "snapshot.json", "assay-snapshot/1")
            state = snapshot.get("state")
            status = snapshot.get("status")
            name = inventory_read(status, state)
            if name is not None:
                provider = providers.get(step["alias"]) if isinstance(providers, dict) else None
                catalog = _catalog(run.folder / "steps" / step["folder"] / CATALOG)
                yield Inventory(step["id"], step["alias"], str(provider), name, state, catalog, status == "succeeded")


def earlier_runs(root: Path, file: str, before: str) -> Iterator[Run]:
    """Give the runs of a flow that are earlier than the run ``before``, the latest first, some hundred at most."""
    earlier = [folder for folder in list_runs(root) if folder.name < before]
    for folder in earlier[:EARLIER_LIMIT]:
        with contextlib.suppress(Failed):
            run = read_run(folder)
            flow = run.record.get("flow")
            if isinstance(flow, dict) and flow.get("file") == file:
                yield run


def find_inventory(run: Run, step: str, inventory: str) -> Inventory | None:
    """Return what one step of a run read, if it read this inventory and succeeded."""
    steps = run.record.get("steps")
    listed = steps if isinstance(steps, list) else []
    wanted = [entry for entry in listed if isinstance(entry, dict) and entry.get("id") == step]
    found = inventories(run._replace(record=run.record | {"steps": wanted}))
    return next((entry for entry in found if entry.name == inventory and entry.succeeded), None)


def read_observation(run: Run, folder: Any) -> dict[str, Any]:
    """Return what is kept of a step in ``folder``; nothing for a step that was skipped, or that is withheld."""
    if not isinstance(folder, str) or not _is_name(folder):
        return {}
    with contextlib.suppress(Failed):
        return read_document(run.folder / "steps" / folder / "observation.json", "assay-observation/1")
    return {}


def read_diffs(run: Run) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give every diff that a run's steps hold, by the id of the step."""
    for step in _steps(run):
        for path in sorted((run.folder / "steps" / step["folder"]).glob("*-diff.json")):
            with contextlib.suppress(Failed):
                yield step["id"], read_document(path, "assay-diff/1")


def read_document(path: Path, form: str) -> dict[str, Any]:
    """Read a JSON document of ours. Raises Failed (``invalid_arguments``) when it is missing or of another format."""
    if path.exists() and not path.is_file() and not path.is_dir():
        # Reading a pipe would wait for ever.
        raise Failed(Code.INVALID_ARGUMENTS, f"{path} cannot be read: it is no file.")
    try:
        with path.open("rb") as file:
            data = file.read(READ_LIMIT + 1)
    except OSError as error:
        reason = error.strerror or "the system refused"
        raise Failed(Code.INVALID_ARGUMENTS, f"{path} cannot be read: {reason}.") from None
    try:
        value = parse(data).value
    except JsonError as error:
        raise Failed(Code.INVALID_ARGUMENTS, f"{path} is not strict JSON: {error.reason}.") from None
    if not isinstance(value, dict) or value.get("format") != form:
        raise Failed(Code.INVALID_ARGUMENTS, f"{path} is not a document of the format {form}.")
    return value


def _catalog(path: Path) -> Any:
    """Return a kept catalog; a tombstone or anything else in its place is none."""
    if not path.is_file():
        return None
    try:
        value = parse(path.read_bytes()).value
    except (OSError, JsonError):
        return None
    return value if isinstance(value, dict) and "inventory" in value else None


def _steps(run: Run) -> Iterator[dict[str, str]]:
    steps = run.record.get("steps")
    for step in steps if isinstance(steps, list) else []:
        found = [step.get(key) for key in ("id", "alias", "folder")] if isinstance(step, dict) else []
        texts = [text for text in found if isinstance(text, str)]
        if len(texts) == 3 and _is_name(texts[2]):
            yield dict(zip(("id", "alias", "folder"), texts, strict=True))


def _is_name(text: str) -> bool:
    """Tell whether a record that may be damaged names a folder of a step: one that a system can look up."""
    return text not in ("", ".", "..") and not set("/\0") & set(text) and len(os.fsencode(text)) <= NAME_LIMIT


def _locked(folder: Path) -> bool:
    """Tell whether a run is still going: its process holds a lock on the folder, and the system ends locks with it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False
