"""A baseline file: the inventories that a flow is expected to find, kept beside it and committed with it."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from host.documents import replace_file
from host.runs import Inventory, read_document
from protocol.failures import Code, Failed
from protocol.values.document import canonical

__all__ = ["FORMAT", "Baseline", "default_baseline", "read_baseline", "write_baseline"]

FORMAT: Final = "assay-baseline/1"


class Baseline(NamedTuple):
    """What was read: ``flow`` is the name of the flow that it was made from, ``entries`` its inventory steps."""

    path: Path
    flow: str
    entries: tuple[Inventory, ...]

    @property
    def name(self) -> str:
        """The file's name; bytes of it that are not UTF-8 are replaced."""
        return os.fsencode(self.path.name).decode("utf-8", "replace")

    def find(self, step: str, inventory: str) -> Inventory | None:
        """Return what a step is compared with, or None when the baseline has no such step."""
        return next((entry for entry in self.entries if (entry.step, entry.name) == (step, inventory)), None)


def default_baseline(flow: Path) -> Path:
    """Return where a flow's baseline lies: `<flow>.baseline.json` beside `<flow>.md`."""
    return flow.with_name(f"{flow.stem}.baseline.json")


def read_baseline(path: Path) -> Baseline:
    """Read a baseline file. Raises Failed (``invalid_arguments``) when it is missing or of another form."""
    document = read_document(path, FORMAT)
    steps, flow = document.get("steps"), document.get("flow")
    if not isinstance(steps, dict) or not isinstance(flow, str):
        raise _malformed(path)
    return Baseline(path, flow, tuple(_entry(path, step, value) for step, value in steps.items()))


def write_baseline(path: Path, flow: str, entries: Sequence[Inventory], leaks: Callable[[bytes], bool]) -> None:
    """Write a baseline, whole or not at all: members sorted and indented, so that a change reads well in a review.

    Raises Failed: ``evidence_leak`` when it would hold a private value, ``internal`` when it cannot be written.
    """
    steps = {
        entry.step: {
            "alias": entry.alias,
            "provider": entry.provider,
            "inventory": entry.name,
            "state": entry.state,
        }
        for entry in entries
    }
    content = msgspec.json.format(canonical({"format": FORMAT, "flow": flow, "steps": steps}), indent=2) + b"\n"
    if leaks(content):
        raise Failed(Code.EVIDENCE_LEAK, f"The baseline {path} was not written: it would hold a private value.")
    try:
        replace_file(path, content)
    except OSError as error:
        reason = error.strerror or "the system refused"
        raise Failed(Code.INTERNAL, f"The baseline {path} could not be written: {reason}.") from None


def _entry(path: Path, step: str, value: Any) -> Inventory:
    if isinstance(value, dict):
        texts = [value.get(key) for key in ("alias", "provider", "inventory")]
        if all(isinstance(text, str) for text in texts) and isinstance(value.get("state"), dict):
            alias, provider, inventory = map(str, texts)
            return Inventory(step, alias, provider, inventory, value["state"])
    raise _malformed(path)


def _malformed(path: Path) -> Failed:
    return Failed(
        Code.INVALID_ARGUMENTS,
        f"{path} is not a whole baseline. Take it from version control again, or make it anew: `--update-baseline`.",
    )
