"""The diff of two states of an inventory: what was added, removed and changed, and how grave each change is. Pure."""

import hashlib
from collections.abc import Callable, Iterator
from enum import StrEnum, unique
from typing import Any, Final, NamedTuple

from protocol.mcp.shapes import HASH_DIGITS, differences, locations, shape
from protocol.values.document import canonical
from protocol.values.pointer import MISSING
from protocol.wire.params import InvalidParams

__all__ = ["FORMAT", "Class", "compare_states"]

#: Name and version of the diff's format.
FORMAT: Final = "assay-diff/1"


@unique
class Class(StrEnum):
    """How grave a change is, the gravest first. An unclassified change counts as breaking."""

    BREAKING = "breaking"
    UNCLASSIFIED = "unclassified"
    RISK = "risk"
    ROUTING = "routing"
    ADDITIVE = "additive"


class _Change(NamedTuple):
    field: str
    grade: Class
    detail: str
    location: str | None = None


#: Change of a schema location (protocol.mcp.shapes) -> class and what it means.
_SCHEMA_CHANGES: Final = {
    "gone": (Class.BREAKING, "a location is gone"),
    "required": (Class.BREAKING, "a location became required"),
    "type-lost": (Class.BREAKING, "a location lost a type"),
    "added-required": (Class.BREAKING, "a required location was added"),
    "added": (Class.ADDITIVE, "a location was added"),
    "type-added": (Class.ADDITIVE, "a location gained a type"),
    "optional": (Class.ADDITIVE, "a location is no longer required"),
    "text": (Class.ROUTING, "a title, description or example in the schema changed"),
    "rest": (Class.UNCLASSIFIED, "a keyword of a location changed"),
}
#: What a shape keeps of the schemas `false` and `true`: the one refuses every value, the other says nothing.
_REFUSES: Final = next(iter((shape({"": False}) or {}).values()))
_ACCEPTS: Final = next(iter((shape({"": True}) or {}).values()))
#: Hint -> the value that promises the most, and what losing it means. MCP assumes the worse where a hint is missing.
_PROMISES: Final = {
    "readOnly": (True, "no longer read-only"),
    "destructive": (False, "may now be destructive"),
    "openWorld": (False, "may now reach an open world"),
}
_TEXTS: Final = ("title", "description")
_SCHEMAS: Final = ("inputSchema", "outputSchema")


def compare_states(inventory: str, before: Any, after: Any, catalogs: Any = None) -> dict[str, Any]:
    """Compare two succeeded states of ``inventory``.

    ``catalogs`` may hold the artifacts ``catalog.json`` of both as ``before`` and ``after``: changes then show the
    pointers of schema locations, and texts. Raises InvalidParams when something is not what it has to be.
    """
    if inventory not in _COMPARERS:
        raise InvalidParams(f"This plugin compares {', '.join(_COMPARERS)}.")
    old, new = _entries(inventory, before, "before"), _entries(inventory, after, "after")
    old_texts, new_texts = _catalog(inventory, catalogs, "before"), _catalog(inventory, catalogs, "after")
    changed = []
    for name in sorted(old.keys() & new.keys()):
        changes = _COMPARERS[inventory](old[name], new[name], old_texts.get(name), new_texts.get(name))
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


def _entries(inventory: str, state: Any, side: str) -> dict[tuple[str, int], dict[str, Any]]:
    """Return the records of a state by name; names that redact alike are told apart by their order."""
    if not isinstance(state, dict) or state.get("inventory") != inventory or state.get("complete") is not True:
        raise InvalidParams(f"`{side}` is not the state of a succeeded `{inventory}` step.")
    records = state.get("entries")
    if not isinstance(records, list) or not all(_is_record(record) for record in records):
        raise InvalidParams(f"`{side}` holds entries that are not records of `{inventory}`.")
    return _by_name(records)


def _by_name(entries: list[dict[str, Any]]) -> dict[tuple[str, int], dict[str, Any]]:
    seen: dict[str, int] = {}
    found = {}
    for entry in entries:
        name = entry["name"]
        found[name, seen.get(name, 0)] = entry
        seen[name] = seen.get(name, 0) + 1
    return found


def _is_record(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("name"), str)
        and _holds(record.get("annotations"), bool)
        and _holds(record.get("sha256"), str)
        and _is_shape(record.get("shape"))
    )


def _holds(members: Any, kind: type) -> bool:
    """Tell whether a value is an object whose members are of one kind, or null."""
    return isinstance(members, dict) and all(value is None or isinstance(value, kind) for value in members.values())


def _is_shape(shape: Any) -> bool:
    if shape is None:
        return True
    return isinstance(shape, dict) and all(isinstance(place, dict) and _has_types(place) for place in shape.values())


def _has_types(place: dict[str, Any]) -> bool:
    types = place.get("types", [])
    return isinstance(types, list) and all(isinstance(name, str) for name in types)


def _catalog(inventory: str, catalogs: Any, side: str) -> dict[tuple[str, int], dict[str, Any]]:
    if catalogs is None:
        return {}
    catalog = catalogs.get(side)
    entries = catalog.get("entries") if isinstance(catalog, dict) and catalog.get("inventory") == inventory else None
    if not isinstance(entries, list):
        raise InvalidParams(f"`catalogs.{side}` is not a catalog of `{inventory}`.")
    return _by_name([entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("name"), str)])


def _shown(change: _Change) -> dict[str, Any]:
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


_Entry = dict[str, Any]


def _compare_tools(before: _Entry, after: _Entry, old: _Entry | None, new: _Entry | None) -> list[_Change]:
    return [
        *_hints(before["annotations"], after["annotations"]),
        *_schemas(before, after, _pointers(old) | _pointers(new)),
        *_texts(before["sha256"], after["sha256"], old, new),
        *_meta(before["sha256"], after["sha256"]),
        *_redaction(before.get("redacted"), after.get("redacted")),
    ]


_COMPARERS: Final[dict[str, Callable[[_Entry, _Entry, _Entry | None, _Entry | None], list[_Change]]]] = {
    "tools": _compare_tools
}


def _hints(before: _Entry, after: _Entry) -> Iterator[_Change]:
    for hint in sorted(before.keys() | after.keys()):
        old, new = before.get(hint), after.get(hint)
        if old is new:
            continue
        promise, lost = _PROMISES.get(hint, (None, ""))
        field = f"annotations.{hint}"
        if promise is not None and old is promise:
            yield _Change(field, Class.RISK, f"{lost}: from {_word(old)} to {_word(new)}")
        else:
            yield _Change(field, Class.ROUTING, f"from {_word(old)} to {_word(new)}")


def _word(hint: Any) -> str:
    return {True: "true", False: "false"}.get(hint, "missing")


def _schemas(before: _Entry, after: _Entry, pointers: dict[str, str]) -> Iterator[_Change]:
    changed = [name for name in _SCHEMAS if before["sha256"].get(name) != after["sha256"].get(name)]
    if not changed:
        return
    # A location is known by a hash alone, so which of two changed schemas it belongs to cannot be told.
    field = changed[0] if len(changed) == 1 else "schemas"
    if before.get("shape") is None or after.get("shape") is None:
        yield _Change(field, Class.UNCLASSIFIED, "the schema changed, and it is too large for a shape that tells how")
        return
    found = list(_locations(before["shape"], after["shape"]))
    if not found:
        yield _Change(field, Class.UNCLASSIFIED, "the schema changed, and no location tells how")
    for location, grade, detail in found:
        pointer = pointers.get(location)
        name = pointer.split("/", 2)[1] if pointer else field
        yield _Change(name, grade, detail, pointer or location)


def _locations(before: _Entry, after: _Entry) -> Iterator[tuple[str, Class, str]]:
    told: set[tuple[str, str]] = set()
    for location, change in differences(before, after):
        grade, detail = _boolean_change(before.get(location), after.get(location)) or _SCHEMA_CHANGES[change]
        if (location, detail) not in told:
            told.add((location, detail))
            yield location, grade, detail


def _boolean_change(before: _Entry | None, after: _Entry | None) -> tuple[Class, str] | None:
    """Class the coming and going of a boolean schema, `additionalProperties: false` above all."""
    old, new = _without_required(before), _without_required(after)
    if new == _REFUSES:
        return Class.BREAKING, "a location refuses every value now"
    if old == _REFUSES:
        return Class.ADDITIVE, "a location refuses every value no longer"
    if _ACCEPTS in (before, after) and None in (before, after):
        return Class.ADDITIVE, "a location says or no longer says that every value is accepted"
    return None


def _without_required(location: _Entry | None) -> _Entry | None:
    return location and {name: value for name, value in location.items() if name != "required"}


def _pointers(entry: _Entry | None) -> dict[str, str]:
    """Name the locations of a kept entry by the hashes that its record has for them."""
    return {
        hashlib.sha256(pointer.encode()).hexdigest()[:HASH_DIGITS]: pointer
        for name in _SCHEMAS
        if entry and name in entry
        for pointer, _ in locations(entry[name], (name,))
    }


def _texts(before: _Entry, after: _Entry, old: _Entry | None, new: _Entry | None) -> Iterator[_Change]:
    for name in _TEXTS:
        if before.get(name) != after.get(name):
            detail = "the text changed"
            if old is not None and new is not None:
                detail = f"from {_quoted(old.get(name, MISSING))} to {_quoted(new.get(name, MISSING))}"
            yield _Change(name, Class.ROUTING, detail)


def _quoted(value: Any) -> str:
    return "nothing" if value is MISSING else canonical(value).decode()


def _meta(before: _Entry, after: _Entry) -> Iterator[_Change]:
    if before.get("_meta") != after.get("_meta"):
        yield _Change("_meta", Class.UNCLASSIFIED, "the metadata changed, and only a hash of it is kept")


def _redaction(before: Any, after: Any) -> Iterator[_Change]:
    if before is after:
        return
    if after is True:
        yield _Change("redacted", Class.RISK, "a private value or terminal control now stands in the entry")
    else:
        yield _Change("redacted", Class.ROUTING, "no private value or terminal control stands in the entry any more")
