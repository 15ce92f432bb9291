"""Member names of a JSON object that its plugin's schema does not know: told with everything else that is wrong."""

from collections.abc import Iterator, Mapping
from typing import Any

from host.literals import Misread, Path, read_object
from host.problems import quoted, suggestion

__all__ = ["unknown_members"]


def unknown_members(name: str, text: str, schema: Mapping[str, Any]) -> Iterator[Misread]:
    """Yield what is wrong with the member names of an object's text, the value of the argument ``name``.

    Looked at are the objects whose schema is closed (``additionalProperties`` false), reached by ``properties`` and
    ``items`` alone; the plugin looks at everything else. A text that is no JSON object yields nothing.
    """
    start = len(text) - len(text.lstrip(" \t\r\n"))
    if text[start : start + 1] != "{":
        return
    try:
        _, strings = read_object(text, start)
    except Misread:
        return
    for string in strings:
        if string.member is None:
            continue
        *around, member = string.member
        known = _closed(schema, tuple(around))
        if known is None or member in known or "${" in str(member):
            continue
        message = f"`{_place(name, around)}` takes no member {quoted(str(member))}."
        yield Misread(string.start, string.end - string.start, message, suggestion(str(member), known, "members"))


def _closed(schema: Any, path: Path) -> Mapping[str, Any] | None:
    """Return the members that the object at ``path`` may have; None where others may stand there, or nobody knows."""
    for part in path:
        if not isinstance(schema, dict):
            return None
        schema = schema.get("items") if isinstance(part, int) else _properties(schema).get(part)
    if not isinstance(schema, dict) or schema.get("additionalProperties") is not False:
        return None
    return _properties(schema) if "patternProperties" not in schema else None


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("properties", {})
    return found if isinstance(found, dict) else {}


def _place(name: str, path: list[str | int]) -> str:
    return name + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
