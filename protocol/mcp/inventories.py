"""The inventories of a server as one table: how each is listed, which entries are malformed, what a record keeps."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from protocol.mcp.shapes import shape
from protocol.values.document import Members
from protocol.values.hashes import digest, text_digest

__all__ = ["HINTS", "KINDS", "Kind", "record"]


class Kind(NamedTuple):
    """One kind of inventory.

    ``method`` lists it, ``member`` holds a page's entries, ``key`` names an entry among the others, ``capability`` is
    what a server declares for it. ``fault`` gives the fixed reason why an entry is malformed, ``record`` its state.
    """

    name: str
    method: str
    member: str
    key: str
    capability: str
    fault: Callable[[Any], str | None]
    record: Callable[[dict[str, Any]], dict[str, Any]]


#: Name of an annotation hint in a record, and its member in ``annotations``.
HINTS: Final = {
    "readOnly": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "openWorld": "openWorldHint",
}


def record(kind: Kind, entry: dict[str, Any] | Members, redacted: bool) -> dict[str, Any]:
    """Return what the state keeps of a redacted entry that ``kind.fault`` let pass; ``redacted``: it was changed.

    Hashes are over the redacted form. A tool: ``name``, ``annotations`` (a hint that is missing or no boolean is null),
    ``sha256`` of its schemas and texts (null when absent), ``shape`` (see :mod:`protocol.mcp.shapes`), ``redacted``.
    """
    members = dict(reversed(entry.pairs)) if isinstance(entry, Members) else entry
    return {kind.key: members[kind.key], **kind.record(members), "redacted": redacted}


def _tool_fault(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return "entry-not-an-object"
    if not isinstance(entry.get("name"), str):
        return "name-not-a-string"
    schema = entry.get("inputSchema")
    if not isinstance(schema, dict):
        return "input-schema-not-an-object"
    return None if schema.get("type") == "object" else "input-schema-not-of-type-object"


def _tool_record(entry: dict[str, Any]) -> dict[str, Any]:
    annotations = entry.get("annotations")
    hints = annotations if isinstance(annotations, dict) else {}
    schemas: dict[str, Any] = {name: entry[name] for name in ("inputSchema", "outputSchema") if name in entry}
    return {
        "annotations": {name: _hint(hints.get(member)) for name, member in HINTS.items()},
        "sha256": {
            "inputSchema": _digest(entry.get("inputSchema")),
            "outputSchema": _digest(entry.get("outputSchema")),
            "description": _digest(entry.get("description")),
            # Until 2025-03-26 a title stood among the annotations only; it is shown the same way.
            "title": _digest(entry.get("title", hints.get("title"))),
            "_meta": _digest(entry.get("_meta")),
        },
        "shape": shape(schemas),
    }


def _hint(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _digest(value: Any) -> str | None:
    if value is None:
        return None
    return text_digest(value) if isinstance(value, str) else digest(value)


#: Kind by its name, which is the name of the command that lists it.
KINDS: Final = {
    kind.name: kind for kind in (Kind("tools", "tools/list", "tools", "name", "tools", _tool_fault, _tool_record),)
}
