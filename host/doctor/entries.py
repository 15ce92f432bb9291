"""What may be wrong with the entries of an inventory, one by one: pure finders over what the server sent, redacted."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from host.inventories import INVENTORIES, Inventory, entry_name

__all__ = ["REASONS", "Finder", "Finding", "Reason", "finders"]

#: Stands in redacted texts; two names that redact alike may differ.
_REDACTED: Final = "[redacted]"
#: Names of tools that model APIs take: others are refused by clients, or are changed on the way to the model.
_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+")
_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
#: Objects and arrays of one schema that are looked through for references; the rest of a larger one is not.
_SCHEMA_LIMIT: Final = 20_000


class Finding(NamedTuple):
    """One entry, by its place in the list, and what is wrong with it: a fixed word of :data:`REASONS`."""

    at: int
    name: str | None
    reason: str


class Reason(NamedTuple):
    """How much it matters, how it is said of the entries that have it, and what to do."""

    status: str
    words: str
    help: str


_SCHEMA_HELP: Final = "Mend the schema: clients check what they send and get by it."

REASONS: Final = {
    "entry-not-an-object": Reason("problem", "not an object", "Every entry is an object."),
    "name-not-a-string": Reason("problem", "without a string that names it", "Give every entry its name."),
    "name-empty": Reason("problem", "with an empty name", "Give every entry a name."),
    "input-schema-not-an-object": Reason("problem", "without an object as `inputSchema`", _SCHEMA_HELP),
    "input-schema-not-of-type-object": Reason(
        "problem", 'whose `inputSchema` is not of `"type": "object"`', _SCHEMA_HELP
    ),
    "arguments-malformed": Reason(
        "problem", "whose `arguments` are malformed", "Each argument is an object with a name."
    ),
    "repeated": Reason("problem", "with a name that came before", "Give every entry a name of its own."),
    "name-refused-elsewhere": Reason(
        "warning",
        "with a name that other clients refuse",
        "Keep to 1 to 64 letters, digits, `_` and `-`: model APIs take no others.",
    ),
    "differs-by-case": Reason(
        "warning", "with a name that differs from another by case only", "Tell them apart by more."
    ),
    "uri-without-scheme": Reason("warning", "whose URI has no scheme", "Write absolute URIs, such as `docs://guide`."),
    "template-without-variable": Reason(
        "warning", "without a `{variable}`", "List it as a resource, or add a variable."
    ),
    "description-missing": Reason("warning", "without a description", "Say what it is for: models choose by it."),
    "output-schema-not-of-type-object": Reason(
        "problem", 'whose `outputSchema` is not of `"type": "object"`', _SCHEMA_HELP
    ),
    "properties-not-an-object": Reason("problem", "whose `properties` are no object", _SCHEMA_HELP),
    "required-malformed": Reason("problem", "whose `required` is no list of names", _SCHEMA_HELP),
    "required-unknown": Reason("warning", "requiring what is not among the properties", _SCHEMA_HELP),
    "refers-outside": Reason(
        "warning", "whose schema refers to another document", "Put it in: clients do not fetch it."
    ),
    "annotations-not-an-object": Reason(
        "problem", "whose `annotations` are no object", "Write the hints into an object."
    ),
    "hint-not-a-boolean": Reason("problem", "with a hint that is neither true nor false", "Hints are booleans."),
    "read-only-and-destructive": Reason(
        "problem", "read-only and destructive at once", "One of both is wrong; clients ask, or do not, by them."
    ),
}

#: Gives the reasons that hold of one entry.
_Look: TypeAlias = Callable[[Any], Iterator[str]]


class Finder(NamedTuple):
    """One check of an inventory. ``fine`` is said when it finds nothing; ``find`` sees all entries at once."""

    name: str
    fine: str
    find: Callable[[Sequence[Any], Inventory], list[Finding]]


def finders(inventory: str) -> Sequence[Finder]:
    """Return the checks for the entries of an inventory."""
    return _FINDERS[inventory]


def _each(look: _Look) -> Callable[[Sequence[Any], Inventory], list[Finding]]:
    """Look at each entry by itself."""

    def find(entries: Sequence[Any], inventory: Inventory) -> list[Finding]:
        return [
            Finding(index, entry_name(entry, inventory), reason)
            for index, entry in enumerate(entries)
            if isinstance(entry, dict)
            for reason in look(entry)
        ]

    return find


def _malformed(entries: Sequence[Any], inventory: Inventory) -> list[Finding]:
    """Find what no client can use: what makes an inventory invalid, in every entry and not the first alone."""
    found: list[Finding] = []
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        name = entry_name(entry, inventory)
        reason = _fault(entry, name, inventory)
        if reason is None and name in seen and _REDACTED not in str(name):
            reason = "repeated"
        if name is not None:
            seen.add(name)
        if reason is not None:
            found.append(Finding(index, name, reason))
    return found


def _fault(entry: Any, name: str | None, inventory: Inventory) -> str | None:
    if not isinstance(entry, dict):
        return "entry-not-an-object"
    if name is None:
        return "name-not-a-string"
    if not name.strip():
        return "name-empty"
    if inventory.name == "tools":
        schema = entry.get("inputSchema")
        if not isinstance(schema, dict):
            return "input-schema-not-an-object"
        return None if schema.get("type") == "object" else "input-schema-not-of-type-object"
    if inventory.name == "prompts" and not _has_arguments(entry.get("arguments")):
        return "arguments-malformed"
    return None


def _has_arguments(arguments: Any) -> bool:
    if arguments is None:
        return True
    names = (
        [each.get("name") if isinstance(each, dict) else None for each in arguments]
        if isinstance(arguments, list)
        else [None]
    )
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


def _names(entries: Sequence[Any], inventory: Inventory) -> list[Finding]:
    names = [(index, name) for index, entry in enumerate(entries) if (name := entry_name(entry, inventory))]
    cases: dict[str, set[str]] = {}
    for _, name in names:
        cases.setdefault(name.casefold(), set()).add(name)
    found = []
    for index, name in names:
        if not _TOOL_NAME.fullmatch(name) and _REDACTED not in name:
            found.append(Finding(index, name, "name-refused-elsewhere"))
        if len(cases[name.casefold()]) > 1:
            found.append(Finding(index, name, "differs-by-case"))
    return found


def _description(entry: Mapping[str, Any]) -> Iterator[str]:
    description = entry.get("description")
    if not isinstance(description, str) or not description.strip():
        yield "description-missing"


def _uri(entry: Mapping[str, Any]) -> Iterator[str]:
    uri = entry.get("uri")
    if isinstance(uri, str) and _REDACTED not in uri and not _URI.fullmatch(uri):
        yield "uri-without-scheme"


def _template(entry: Mapping[str, Any]) -> Iterator[str]:
    template = entry.get("uriTemplate")
    if isinstance(template, str) and _REDACTED not in template and not re.search(r"\{[^{}]+\}", template):
        yield "template-without-variable"


def _schemas(entry: Mapping[str, Any]) -> Iterator[str]:
    output = entry.get("outputSchema")
    if output is not None and (not isinstance(output, dict) or output.get("type") != "object"):
        yield "output-schema-not-of-type-object"
    schemas = [schema for schema in (entry.get("inputSchema"), output) if isinstance(schema, dict)]
    for look in (_properties, _required, _references):
        yield from dict.fromkeys(reason for schema in schemas for reason in look(schema))


def _properties(schema: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(schema.get("properties", {}), dict):
        yield "properties-not-an-object"


def _required(schema: Mapping[str, Any]) -> Iterator[str]:
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield "required-malformed"
        return
    properties = schema.get("properties", {})
    combined = any(word in schema for word in ("allOf", "anyOf", "oneOf", "$ref", "patternProperties"))
    if isinstance(properties, dict) and not combined and not set(required) <= set(properties):
        yield "required-unknown"


def _references(schema: Mapping[str, Any]) -> Iterator[str]:
    waiting: list[Any] = [schema]
    for _ in range(_SCHEMA_LIMIT):
        if not waiting:
            return
        value = waiting.pop()
        if isinstance(value, dict):
            reference = value.get("$ref")
            if isinstance(reference, str) and not reference.startswith("#"):
                yield "refers-outside"
                return
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _hints(entry: Mapping[str, Any]) -> Iterator[str]:
    annotations = entry.get("annotations")
    if annotations is None:
        return
    if not isinstance(annotations, dict):
        yield "annotations-not-an-object"
        return
    if any(hint in annotations and not isinstance(annotations[hint], bool) for hint in _HINTS):
        yield "hint-not-a-boolean"
    if annotations.get("readOnlyHint") is True and annotations.get("destructiveHint") is True:
        yield "read-only-and-destructive"


_ENTRIES: Final = Finder("entries", "Each is well-formed, and no name comes twice.", _malformed)
_DESCRIPTIONS: Final = Finder("descriptions", "Each has a description.", _each(_description))
_FINDERS: Final[Mapping[str, Sequence[Finder]]] = {
    "tools": (
        _ENTRIES,
        Finder("names", "Every client takes their names.", _names),
        _DESCRIPTIONS,
        Finder("schemas", "Their schemas are objects that hold together.", _each(_schemas)),
        Finder("hints", "Their hints do not contradict one another.", _each(_hints)),
    ),
    "resources": (_ENTRIES, Finder("uris", "Each URI is absolute.", _each(_uri))),
    "resource_templates": (
        _ENTRIES,
        Finder("templates", "Each has a variable.", _each(_template)),
        _DESCRIPTIONS,
    ),
    "prompts": (_ENTRIES, _DESCRIPTIONS),
}
assert _FINDERS.keys() == INVENTORIES.keys()
