"""A diff of two inventories (`assay-diff/1`) as rows to show: which entry, what happened, how much it matters."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

__all__ = ["CLASSES", "Change", "Difference", "Diffs", "Row", "read"]

#: Run id and step id -> the `assay-diff/1` document that was kept for the step.
Diffs: TypeAlias = Mapping[tuple[str, str], Any]

FORMAT: Final = "assay-diff/1"

#: What each class says, gravest first (host-protocol.md, the diff).
CLASSES: Final[dict[str, str]] = {
    "breaking": "a caller that worked may fail",
    "unclassified": "changed, and no shape tells how; counts as breaking",
    "risk": "may now write, destroy, or reach the open world",
    "routing": "nothing breaks, but a model may choose differently",
    "additive": "only more than before",
}
_ORDER: Final = tuple(CLASSES)
# An entry that is gone breaks whoever used it; one that came is only more.
_WHOLE: Final = {"added": "additive", "removed": "breaking"}
_KNOWN: Final = ("field", "class", "before", "after")


class Change(NamedTuple):
    """One changed field. ``values`` holds before and after when the diff has both, else None; ``more`` the rest."""

    field: str
    kind: str
    values: tuple[Any, Any] | None
    more: dict[str, Any]


class Row(NamedTuple):
    """One entry of the inventory: ``event`` is added, removed or changed, ``kind`` its gravest class."""

    name: str
    event: str
    kind: str
    changes: tuple[Change, ...]


class Difference(NamedTuple):
    """Every row, removed ones first, then changed, then added; each group in the diff's order."""

    inventory: str
    rows: tuple[Row, ...]

    @property
    def kinds(self) -> dict[str, int]:
        """How many rows have each class, gravest first, without the classes that do not occur."""
        counted = {kind: sum(row.kind == kind for row in self.rows) for kind in _ORDER}
        return {kind: count for kind, count in counted.items() if count}

    @property
    def events(self) -> str:
        """Such as `1 removed, 2 changed`; "no difference" when there is none."""
        counted = {event: sum(row.event == event for row in self.rows) for event in ("removed", "changed", "added")}
        return ", ".join(f"{count} {event}" for event, count in counted.items() if count) or "no difference"


def read(document: Any) -> Difference:
    """Read a diff. An unknown class counts as unclassified. Raises ValueError naming the member that is wrong."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(f"`format` must be {FORMAT!r}: this is no diff of two inventories")
    inventory = document.get("inventory", "tools")
    if not isinstance(inventory, str):
        raise ValueError("`inventory` must be a string")
    events = ("removed", "changed", "added")
    rows = tuple(_row(value, event, at) for event in events for at, value in enumerate(_list(document, event, "")))
    return Difference(inventory, rows)


def _row(value: Any, event: str, at: int) -> Row:
    if isinstance(value, str):
        value = {"name": value}
    where = f"{event}[{at}]"
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise ValueError(f"`{where}` must be a name, or an object with a string `name`")
    changes = tuple(_change(change, f"{where}.changes") for change in _list(value, "changes", where))
    kinds = [change.kind for change in changes]
    if "class" in value or not kinds:
        kinds.append(_kind(value.get("class", _WHOLE.get(event))))
    return Row(value["name"], event, min(kinds, key=_ORDER.index), changes)


def _change(value: Any, where: str) -> Change:
    if not isinstance(value, dict) or not isinstance(value.get("field"), str):
        raise ValueError(f"`{where}` must hold objects with a string `field`")
    both = (value["before"], value["after"]) if "before" in value and "after" in value else None
    more = {name: member for name, member in value.items() if name not in _KNOWN}
    return Change(value["field"], _kind(value.get("class")), both, more)


def _kind(value: Any) -> str:
    return value if isinstance(value, str) and value in CLASSES else "unclassified"


def _list(value: Mapping[str, Any], name: str, where: str) -> list[Any]:
    found = value.get(name, [])
    if not isinstance(found, list):
        raise ValueError(f"`{where}{'.' if where else ''}{name}` must be an array")
    return found
