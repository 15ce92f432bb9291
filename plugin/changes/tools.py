"""How two records of one tool differ: annotation hints, schemas by their shapes, and texts."""

import hashlib
from collections.abc import Iterator
from typing import Any, Final

from plugin.changes.change import Change, Class, Entry, hashes_are_kept, members_are, metadata, redaction, texts
from protocol.mcp.shapes import HASH_DIGITS, differences, locations, shape

__all__ = ["compare", "is_record"]

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


def is_record(record: Any) -> bool:
    """Tell whether a value is the record of a tool, its name apart."""
    return hashes_are_kept(record) and members_are(record.get("annotations"), bool) and _is_shape(record.get("shape"))


def _is_shape(shape: Any) -> bool:
    if shape is None:
        return True
    return isinstance(shape, dict) and all(isinstance(place, dict) and _has_types(place) for place in shape.values())


def _has_types(place: dict[str, Any]) -> bool:
    types = place.get("types", [])
    return isinstance(types, list) and all(isinstance(name, str) for name in types)


def compare(before: Entry, after: Entry, old: Entry | None, new: Entry | None) -> list[Change]:
    """Compare two records; what was kept of the entries names the locations of schemas and shows texts."""
    return [
        *_hints(before["annotations"], after["annotations"]),
        *_schemas(before, after, _pointers(old) | _pointers(new)),
        *texts(_TEXTS, before, after, _titled(old), _titled(new)),
        *metadata(before, after),
        *redaction(before, after),
    ]


def _titled(entry: Entry | None) -> Entry | None:
    """Return a kept entry with its title where the record takes it from, which may be among the annotations."""
    annotations = entry.get("annotations") if entry is not None else None
    if entry is None or "title" in entry or not isinstance(annotations, dict) or "title" not in annotations:
        return entry
    return {**entry, "title": annotations["title"]}


def _hints(before: Entry, after: Entry) -> Iterator[Change]:
    for hint in sorted(before.keys() | after.keys()):
        old, new = before.get(hint), after.get(hint)
        if old is new:
            continue
        promise, lost = _PROMISES.get(hint, (None, ""))
        field = f"annotations.{hint}"
        if promise is not None and old is promise:
            yield Change(field, Class.RISK, f"{lost}: from {_word(old)} to {_word(new)}")
        else:
            yield Change(field, Class.ROUTING, f"from {_word(old)} to {_word(new)}")


def _word(hint: Any) -> str:
    return {True: "true", False: "false"}.get(hint, "missing")


def _schemas(before: Entry, after: Entry, pointers: dict[str, str]) -> Iterator[Change]:
    changed = [name for name in _SCHEMAS if before["sha256"].get(name) != after["sha256"].get(name)]
    if not changed:
        return
    # A location is known by a hash alone, so which of two changed schemas it belongs to cannot be told.
    field = changed[0] if len(changed) == 1 else "schemas"
    if before.get("shape") is None or after.get("shape") is None:
        yield Change(field, Class.UNCLASSIFIED, "the schema changed, and it is too large for a shape that tells how")
        return
    found = list(_locations(before["shape"], after["shape"]))
    if not found:
        yield Change(field, Class.UNCLASSIFIED, "the schema changed, and no location tells how")
    for location, grade, detail in found:
        pointer = pointers.get(location)
        name = pointer.split("/", 2)[1] if pointer else field
        yield Change(name, grade, detail, pointer or location)


def _locations(before: Entry, after: Entry) -> Iterator[tuple[str, Class, str]]:
    told: set[tuple[str, str]] = set()
    for location, change in differences(before, after):
        grade, detail = _boolean_change(before.get(location), after.get(location)) or _SCHEMA_CHANGES[change]
        if (location, detail) not in told:
            told.add((location, detail))
            yield location, grade, detail


def _boolean_change(before: Entry | None, after: Entry | None) -> tuple[Class, str] | None:
    """Class the coming and going of a boolean schema, `additionalProperties: false` above all."""
    old, new = _without_required(before), _without_required(after)
    if new == _REFUSES:
        return Class.BREAKING, "a location refuses every value now"
    if old == _REFUSES:
        return Class.ADDITIVE, "a location refuses every value no longer"
    if _ACCEPTS in (before, after) and None in (before, after):
        return Class.ADDITIVE, "a location says or no longer says that every value is accepted"
    return None


def _without_required(location: Entry | None) -> Entry | None:
    return location and {name: value for name, value in location.items() if name != "required"}


def _pointers(entry: Entry | None) -> dict[str, str]:
    """Name the locations of a kept entry by the hashes that its record has for them."""
    return {
        hashlib.sha256(pointer.encode()).hexdigest()[:HASH_DIGITS]: pointer
        for name in _SCHEMAS
        if entry and name in entry
        for pointer, _ in locations(entry[name], (name,))
    }
