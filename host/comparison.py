"""What a diff of two inventories says, counted and told: which changes count as failures, and in which words."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from host.runs import Inventory

__all__ = [
    "CLASSES",
    "FAIL_ON_DEFAULT",
    "Change",
    "Pair",
    "artifact_name",
    "changes",
    "counts",
    "failing",
    "pair",
    "summary",
    "tell",
]

#: Classes of change, the gravest first.
CLASSES: Final = ("breaking", "unclassified", "risk", "routing", "additive")
FAIL_ON_DEFAULT: Final = frozenset({"breaking", "risk", "routing"})
#: Inventory -> what one entry of it is called.
_SINGULAR: Final = {
    "tools": "tool",
    "resources": "resource",
    "resource_templates": "resource_template",
    "prompts": "prompt",
}
#: Changes that a message names one by one; the rest is counted.
_TOLD: Final = 5


class Change(NamedTuple):
    """One classed change. ``kind`` is added, removed or changed; ``field`` and ``detail`` say what of the entry."""

    kind: str
    name: str
    class_: str
    field: str | None
    detail: str | None


class Pair(NamedTuple):
    """Two inventories that are compared with each other."""

    before: Inventory
    after: Inventory


def artifact_name(inventory: str) -> str:
    """Return the name of the diff's artifact: `tool-diff.json` for `tools`, else the inventory's own name."""
    return "tool-diff.json" if inventory == "tools" else f"{inventory}-diff.json"


def changes(diff: Mapping[str, Any]) -> tuple[Change, ...]:
    """Return every classed change of a diff, in its order."""
    return tuple(
        change
        for kind in ("removed", "added", "changed")
        for entry in _list(diff.get(kind))
        for change in _classed(kind, _name(entry), entry)
    )


def counts(found: Sequence[Change]) -> dict[str, int]:
    """Return how many changes each class has, the gravest first; classes without one are left out."""
    counted = Counter(change.class_ for change in found)
    return {name: counted[name] for name in (*CLASSES, *sorted(set(counted) - set(CLASSES))) if counted[name]}


def failing(found: Sequence[Change], fail_on: Collection[str]) -> tuple[Change, ...]:
    """Return the changes that count as failures. What has no known class counts as breaking."""
    known = set(CLASSES) - {"unclassified"}
    return tuple(change for change in found if (change.class_ if change.class_ in known else "breaking") in fail_on)


def summary(found: Sequence[Change], inventory: str) -> str:
    """Tell changes in one line: the first few by name, and how many there are besides."""
    told = [tell(change, inventory) for change in found[:_TOLD]]
    more = len(found) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more else "")


def tell(change: Change, inventory: str) -> str:
    """Tell one change in a few words, its class first."""
    noun = _SINGULAR.get(inventory, inventory).replace("_", " ")
    if change.kind != "changed":
        return f"{change.class_}: {noun} `{change.name}` was {change.kind}"
    detail = f": {change.detail}" if change.detail else ""
    return f"{change.class_}: {noun} `{change.name}` changed its {change.field or 'record'}{detail}"


def pair(before: Sequence[Inventory], after: Sequence[Inventory], *, by_step: bool) -> tuple[Pair, ...]:
    """Say which inventories of two sources are compared: those of the same step, else those of the same place.

    With ``by_step`` false (two identities), or when no step is common, the first reading of each inventory is compared
    with the first, the second with the second.
    """
    steps = {entry.step: entry for entry in before}
    common = tuple(Pair(steps[entry.step], entry) for entry in after if entry.step in steps)
    same = tuple(found for found in common if found.before.name == found.after.name)
    if by_step and same:
        return same
    places = dict(_places(before))
    return tuple(Pair(places[place], entry) for place, entry in _places(after) if place in places)


def _places(entries: Sequence[Inventory]) -> Iterator[tuple[tuple[str, int], Inventory]]:
    seen: Counter[str] = Counter()
    for entry in entries:
        yield (entry.name, seen[entry.name]), entry
        seen[entry.name] += 1


def _classed(kind: str, name: str, value: Any) -> Iterator[Change]:
    if isinstance(value, list):
        for element in value:
            yield from _classed(kind, name, element)
    elif isinstance(value, dict):
        class_ = value.get("class")
        if isinstance(class_, str):
            field = value.get("field")
            detail = value.get("detail")
            yield Change(
                kind,
                name,
                class_,
                field if isinstance(field, str) else None,
                detail if isinstance(detail, str) else None,
            )
        for member in value.values():
            yield from _classed(kind, name, member)


def _name(entry: Any) -> str:
    if isinstance(entry, dict):
        for key in ("name", "uri", "uriTemplate"):
            if isinstance(entry.get(key), str):
                return str(entry[key])
    return entry if isinstance(entry, str) else "?"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
