"""The rows in which `assay inspect` shows the entries of an inventory, which may be of any form."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

__all__ = ["LISTINGS", "Listing"]

#: Hints of a tool as words: hint -> what true and false are called. A hint that is missing is not mentioned.
_HINTS: Final = {
    "readOnlyHint": ("read-only", "writes"),
    "destructiveHint": ("destructive", "not destructive"),
    "idempotentHint": ("idempotent", "not idempotent"),
    "openWorldHint": ("open world", "closed world"),
}


class Listing(NamedTuple):
    """How one inventory is shown: its headings, and the cells of an entry that is an object."""

    headings: tuple[str, ...]
    cells: Callable[[Mapping[str, Any]], list[str]]

    def rows(self, entries: list[Any]) -> list[list[str]]:
        """Return a row for each entry, also for what is no object."""
        unknown = ["?", *[""] * (len(self.headings) - 2), "not an object"]
        return [self.cells(entry) if isinstance(entry, dict) else unknown for entry in entries]


def _tool(entry: Mapping[str, Any]) -> list[str]:
    return [_named(entry, "name"), _hints(entry.get("annotations")), _properties(entry), _described(entry)]


def _resource(key: str) -> Callable[[Mapping[str, Any]], list[str]]:
    return lambda entry: [_named(entry, key), _text(entry.get("name")), _text(entry.get("mimeType")), _described(entry)]


def _prompt(entry: Mapping[str, Any]) -> list[str]:
    return [_named(entry, "name"), _arguments(entry.get("arguments")), _described(entry)]


def _named(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else "?"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _described(entry: Mapping[str, Any]) -> str:
    described = entry.get("description") or entry.get("title") or ""
    return described if isinstance(described, str) else "?"


def _hints(annotations: Any) -> str:
    known = annotations if isinstance(annotations, dict) else {}
    words = [
        words[0] if known[hint] else words[1] for hint, words in _HINTS.items() if isinstance(known.get(hint), bool)
    ]
    return ", ".join(words)


def _properties(entry: Mapping[str, Any]) -> str:
    schema = entry.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    required = schema.get("required") if isinstance(schema, dict) else None
    needed = required if isinstance(required, list) else []
    names = list(properties) if isinstance(properties, dict) else []
    return ", ".join(f"{name}{'*' if name in needed else ''}" for name in names)


def _arguments(value: Any) -> str:
    arguments = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    return ", ".join(f"{_named(each, 'name')}{'*' if each.get('required') is True else ''}" for each in arguments)


#: Inventory -> how it is shown, in the order in which they are read.
LISTINGS: Final[dict[str, Listing]] = {
    "tools": Listing(("name", "hints", "arguments (* required)", "description"), _tool),
    "resources": Listing(("uri", "name", "type", "description"), _resource("uri")),
    "resource_templates": Listing(("uri template", "name", "type", "description"), _resource("uriTemplate")),
    "prompts": Listing(("name", "arguments (* required)", "description"), _prompt),
}
