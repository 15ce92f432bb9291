"""The inventories of a server as one table: how each is listed, which entries are malformed, what a record keeps."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from protocol.mcp.shapes import shape
from protocol.values.document import Members
from protocol.values.hashes import digest, text_digest
from protocol.values.patterns import MARKER

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

    Hashes are over the redacted form, null for what is absent. A tool: ``name``, ``annotations`` (a hint that is
    missing or no boolean is null), ``sha256`` of its schemas and texts, ``shape`` (see :mod:`protocol.mcp.shapes`). A
    resource or template: ``uri`` or ``uriTemplate``, and ``sha256`` of what else it says; not of its size and time, for
    they change with the content. A prompt: ``name``, ``sha256`` of its texts, ``arguments``. Each has ``redacted``.
    """
    members = _members(entry)
    return {kind.key: _name(members, kind.key), **kind.record(members), "redacted": redacted}


def _members(entry: dict[str, Any] | Members) -> dict[str, Any]:
    """Return an object's members; of names that redact alike, the first one's."""
    return dict(reversed(entry.pairs)) if isinstance(entry, Members) else entry


def _name(members: dict[str, Any], key: str) -> str:
    """Return what names an entry. It is missing only where a private value is the very name of the member."""
    name = members.get(key)
    return name if isinstance(name, str) else MARKER


def _key_fault(key: str, reason: str, entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return "entry-not-an-object"
    return None if isinstance(entry.get(key), str) else reason


_name_fault: Final = partial(_key_fault, "name", "name-not-a-string")
_uri_fault: Final = partial(_key_fault, "uri", "uri-not-a-string")
_template_fault: Final = partial(_key_fault, "uriTemplate", "uri-template-not-a-string")


def _tool_fault(entry: Any) -> str | None:
    if fault := _name_fault(entry):
        return fault
    schema = entry.get("inputSchema")
    if not isinstance(schema, dict):
        return "input-schema-not-an-object"
    return None if schema.get("type") == "object" else "input-schema-not-of-type-object"


def _tool_record(entry: dict[str, Any]) -> dict[str, Any]:
    annotations = entry.get("annotations")
    hints = annotations if isinstance(annotations, dict) else {}
    hashes: dict[str, str] = {name: digest(entry[name]) for name in _SCHEMAS if name in entry}
    return {
        "annotations": {name: _hint(hints.get(member)) for name, member in HINTS.items()},
        "sha256": {
            "inputSchema": hashes.get("inputSchema"),
            "outputSchema": hashes.get("outputSchema") if entry.get("outputSchema") is not None else None,
            "description": _digest(entry.get("description")),
            # Until 2025-03-26 a title stood among the annotations only; it is shown the same way.
            "title": _digest(entry.get("title", hints.get("title"))),
            "_meta": _digest(entry.get("_meta")),
        },
        "shape": _SHAPES.of(entry, hashes),
    }


_SCHEMAS: Final = ("inputSchema", "outputSchema")


class _Shapes:
    """The shapes of tools by the hashes of their schemas. Many servers generate tools whose schemas are the same."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, str], ...], dict[str, dict[str, Any]] | None] = {}

    def of(self, entry: dict[str, Any], hashes: dict[str, str]) -> dict[str, dict[str, Any]] | None:
        key = tuple(hashes.items())
        if key not in self._known:
            if len(self._known) >= _SHAPES_LIMIT:
                self._known.clear()
            self._known[key] = shape({name: entry[name] for name in hashes})
        return self._known[key]


#: Shapes that are remembered: at most 512 locations each, so some ten megabytes.
_SHAPES_LIMIT: Final = 256
_SHAPES: Final = _Shapes()


def _hint(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _digest(value: Any) -> str | None:
    if value is None:
        return None
    return text_digest(value) if isinstance(value, str) else digest(value)


def _resource_record(entry: dict[str, Any]) -> dict[str, Any]:
    annotations = entry.get("annotations")
    if isinstance(annotations, dict):
        annotations = {name: value for name, value in annotations.items() if name != "lastModified"} or None
    hashes = {name: _digest(entry.get(name)) for name in _RESOURCE_TEXTS}
    return {"sha256": {**hashes, "annotations": _digest(annotations)}}


#: Members of a resource or template of which a hash is kept. Its size and its time change whenever its content does.
_RESOURCE_TEXTS: Final = ("name", "title", "description", "mimeType", "_meta")


def _prompt_fault(entry: Any) -> str | None:
    if fault := _name_fault(entry):
        return fault
    arguments = entry.get("arguments")
    if arguments is None:
        return None
    if not isinstance(arguments, list):
        return "arguments-not-an-array"
    names = [argument.get("name") if isinstance(argument, dict) else None for argument in arguments]
    if not all(isinstance(name, str) for name in names):
        return "argument-without-a-name"
    return "argument-repeated" if len(set(names)) != len(names) else None


def _prompt_record(entry: dict[str, Any]) -> dict[str, Any]:
    arguments = [_argument_record(_members(argument)) for argument in entry.get("arguments") or []]
    return {
        "arguments": sorted(arguments, key=lambda argument: str(argument["name"])),
        "sha256": {name: _digest(entry.get(name)) for name in ("title", "description", "_meta")},
    }


def _argument_record(argument: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": _name(argument, "name"),
        "required": argument.get("required") is True,
        "sha256": {name: _digest(argument.get(name)) for name in ("title", "description")},
    }


#: Kind by its name, which is the name of the command that lists it.
KINDS: Final = {
    kind.name: kind
    for kind in (
        Kind("tools", "tools/list", "tools", "name", "tools", _tool_fault, _tool_record),
        Kind("resources", "resources/list", "resources", "uri", "resources", _uri_fault, _resource_record),
        Kind(
            "resource_templates",
            "resources/templates/list",
            "resourceTemplates",
            "uriTemplate",
            "resources",
            _template_fault,
            _resource_record,
        ),
        Kind("prompts", "prompts/list", "prompts", "name", "prompts", _prompt_fault, _prompt_record),
    )
}
