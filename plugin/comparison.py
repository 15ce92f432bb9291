"""The diff of two states of an inventory: what was added, removed and changed, and how grave each change is. Pure."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from plugin.changes import prompts, resources, tools
from plugin.changes.change import Change, Class, Entry, numbered
from protocol.mcp.inventories import KINDS
from protocol.wire.params import InvalidParams

__all__ = ["FORMAT", "Class", "compare_states"]

#: Name and version of the diff's format.
FORMAT: Final = "assay-diff/1"


class _Comparer(NamedTuple):
    """How records of one kind are checked and compared."""

    is_record: Callable[[Any], bool]
    compare: Callable[[Entry, Entry, Entry | None, Entry | None], list[Change]]


_COMPARERS: Final = {
    "tools": _Comparer(tools.is_record, tools.compare),
    "resources": _Comparer(resources.is_record, resources.compare),
    "resource_templates": _Comparer(resources.is_record, resources.compare),
    "prompts": _Comparer(prompts.is_record, prompts.compare),
}


def compare_states(inventory: str, before: Any, after: Any, catalogs: Any = None) -> dict[str, Any]:
    """Compare two succeeded states of ``inventory``. Entries go by what names them: name, URI or URI template.

    ``catalogs`` may hold the artifacts ``catalog.json`` of both as ``before`` and ``after``: changes then show the
    pointers of schema locations, and texts. Raises InvalidParams when something is not what it has to be.
    """
    if inventory not in _COMPARERS:
        raise InvalidParams(f"This plugin compares {', '.join(_COMPARERS)}.")
    old, new = _entries(inventory, before, "before"), _entries(inventory, after, "after")
    old_texts, new_texts = _catalog(inventory, catalogs, "before"), _catalog(inventory, catalogs, "after")
    changed = []
    for name in sorted(old.keys() & new.keys()):
        changes = _COMPARERS[inventory].compare(old[name], new[name], old_texts.get(name), new_texts.get(name))
        if changes:
            fields = list(dict.fromkeys(change.field for change in changes))
            changed.append({"name": name[0], "fields": fields, "changes": [_shown(change) for change in changes]})
    removed = [name for name, _ in sorted(old.keys() - new.keys())]
    added = [name for name, _ in sorted(new.keys() - old.keys())]
    return {
        "format": FORMAT,
        "inventory": inventory,
        "added": [{"name": name, "class": str(Class.ADDITIVE)} for name in added],
        "removed": [{"name": name, "class": str(Class.BREAKING)} for name in removed],
        "changed": changed,
        "summary": _summary(added, removed, changed),
    }


def _entries(inventory: str, state: Any, side: str) -> dict[tuple[str, int], Entry]:
    """Return the records of a state by name."""
    if not isinstance(state, dict) or state.get("inventory") != inventory or state.get("complete") is not True:
        raise InvalidParams(f"`{side}` is not the state of a succeeded `{inventory}` step.")
    records = state.get("entries")
    if not isinstance(records, list) or not all(_is_record(inventory, record) for record in records):
        raise InvalidParams(f"`{side}` holds entries that are not records of `{inventory}`.")
    return numbered(records, KINDS[inventory].key)


def _is_record(inventory: str, record: Any) -> bool:
    return _COMPARERS[inventory].is_record(record) and isinstance(record.get(KINDS[inventory].key), str)


def _catalog(inventory: str, catalogs: Any, side: str) -> dict[tuple[str, int], Entry]:
    if catalogs is None:
        return {}
    catalog = catalogs.get(side)
    entries = catalog.get("entries") if isinstance(catalog, dict) and catalog.get("inventory") == inventory else None
    if not isinstance(entries, list):
        raise InvalidParams(f"`catalogs.{side}` is not a catalog of `{inventory}`.")
    key = KINDS[inventory].key
    return numbered([entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get(key), str)], key)


def _shown(change: Change) -> dict[str, Any]:
    shown = {"field": change.field, "class": str(change.grade), "detail": change.detail}
    return shown if change.location is None else shown | {"location": change.location}


def _summary(added: list[str], removed: list[str], changed: list[dict[str, Any]]) -> dict[str, Any]:
    """Count changes by class; an added tool is one change, and so is a removed one."""
    counts = dict.fromkeys((str(grade) for grade in Class), 0)
    counts[Class.ADDITIVE] += len(added)
    counts[Class.BREAKING] += len(removed)
    for entry in changed:
        for change in entry["changes"]:
            counts[change["class"]] += 1
    return counts
