"""A diff of two inventories (`assay-diff/1`) as rows to show: which entry, what happened, how much it matters."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

__all__ = ["CLASSES", "Change", "Difference", "Diffs", "Row", "read"]

#: Run id and step id -> the `assay-diff/1` document that was kept for the step (its artifact `tool-diff.json`).
Diffs: TypeAlias = Mapping[tuple[str, str], Any]

FORMAT: Final = "assay-diff/1"

#: What each class says, gravest first (docs/protocol.md, the diff).
CLASSES: Final[dict[str, str]] = {
    "breaking": "a caller that worked may fail",
    "unclassified": "changed, and nothing tells how; counts as breaking",
    "risk": "may now write, destroy, reach the open world, or show a private value",
    "routing": "nothing breaks, but a model may choose differently",
    "additive": "only more than before",
}
_ORDER: Final = tuple(CLASSES)
_EVENTS: Final = ("removed", "changed", "added")
#: What an entry is known by, by kind of inventory.
_KEYS: Final = ("name", "uri", "uriTemplate")
#: The class of an entry that says none: one that is gone breaks whoever used it, one that came is only more.
_WHOLE: Final = {"added": "additive", "removed": "breaking"}


class Change(NamedTuple):
    """One classed change of a field. ``location`` is a place in a schema: a pointer, or the hash of one."""

    field: str
    kind: str
    detail: str
    location: str | None


class Row(NamedTuple):
    """One entry of the inventory: ``event`` is added, removed or changed, ``kind`` its gravest class."""

    name: str
    event: str
    kind: str
    changes: tuple[Change, ...]


class Difference(NamedTuple):
    """Every row, removed ones first, then changed, then added; each group in the diff's order.

    ``before`` says what was compared with, such as "the run 20260714-1"; it is empty when the diff does not say.
    """

    inventory: str
    before: str
    rows: tuple[Row, ...]

    @property
    def kinds(self) -> dict[str, int]:
        """How many rows have each class, gravest first, without the classes that do not occur."""
        counted = {kind: sum(row.kind == kind for row in self.rows) for kind in _ORDER}
        return {kind: count for kind, count in counted.items() if count}

    @property
    def events(self) -> str:
        """Such as `1 removed, 2 changed`; "no difference" when there is none."""
        counted = {event: sum(row.event == event for row in self.rows) for event in _EVENTS}
        return ", ".join(f"{count} {event}" for event, count in counted.items() if count) or "no difference"


def read(document: Any) -> Difference:
    """Read a diff. An unknown class counts as unclassified. Raises ValueError naming the member that is wrong."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"`format` must be {FORMAT!r}: this is no diff of two inventories")
    inventory = document.get("inventory")
    if not isinstance(inventory, str):
        raise ValueError("`inventory` must be a string")
    rows = tuple(_row(value, event, at) for event in _EVENTS for at, value in enumerate(_list(document, event, event)))
    return Difference(inventory, _origin(document.get("before")), rows)


def _origin(value: Any) -> str:
    found = [f"the {key} {value[key]}" for key in ("baseline", "run") if isinstance(value, dict) and key in value]
    return found[0] if found else ""


def _row(value: Any, event: str, at: int) -> Row:
    where = f"{event}[{at}]"
    names = [value[key] for key in _KEYS if isinstance(value.get(key), str)] if isinstance(value, dict) else []
    if not names:
        raise ValueError(f"`{where}` must be an object with a string `name`, `uri` or `uriTemplate`")
    changes = tuple(_change(change, f"{where}.changes") for change in _list(value, "changes", f"{where}.changes"))
    kinds = [change.kind for change in changes]
    if "class" in value or not kinds:
        kinds.append(_kind(value.get("class", _WHOLE.get(event))))
    return Row(names[0], event, min(kinds, key=_ORDER.index), changes)


def _change(value: Any, where: str) -> Change:
    if not isinstance(value, dict) or not isinstance(value.get("field"), str):
        raise ValueError(f"`{where}` must hold objects with a string `field`")
    detail, location = value.get("detail"), value.get("location")
    return Change(
        value["field"],
        _kind(value.get("class")),
        detail if isinstance(detail, str) else "changed",
        location if isinstance(location, str) else None,
    )


def _kind(value: Any) -> str:
    return value if isinstance(value, str) and value in CLASSES else "unclassified"


def _list(value: Mapping[str, Any], name: str, where: str) -> list[Any]:
    found = value.get(name, [])
    if not isinstance(found, list):
        raise ValueError(f"`{where}` must be an array")
    return found
