"""Which values of a binding are private: those whose field carries `writeOnly` in the plugin's JSON Schema."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from protocol.values.document import JsonError, parse
from protocol.values.urls import url_secrets

__all__ = ["Leaf", "private_leaves", "private_values"]

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]* +([^ ]+)")
_COMBINED: Final = ("allOf", "anyOf", "oneOf")
#: Schemas that may refer to one another before the rest is taken for private.
_REFERENCE_LIMIT: Final = 16


class Leaf(NamedTuple):
    """A string or number inside a private field; ``path`` leads to it from the configuration."""

    path: tuple[str | int, ...]
    value: str


def private_leaves(configuration: Any, schema: Mapping[str, Any] | None) -> Iterator[Leaf]:
    """Yield every string and number of a configuration that is private.

    A member that the schema does not know is private, and without a schema everything is: a plugin refuses the member
    later, but its value may be a secret under a mistyped name.
    """
    if schema is None:
        yield from _everything(configuration, ())
    else:
        yield from _walk(configuration, _Schemas(schema, (schema,)), ())


def private_values(configuration: Any, schema: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return each private value once, with what is private within it.

    Within a URL: what :func:`protocol.values.urls.url_secrets` says. Within a header's value: what follows a scheme
    word. Within JSON text: its strings and numbers.
    """
    values = [part for leaf in private_leaves(configuration, schema) for part in _parts(leaf.value)]
    return tuple(dict.fromkeys(value for value in values if value))


class _Schemas(NamedTuple):
    """The schemas that apply to one value at once, with the root that their `$ref` point into."""

    root: Mapping[str, Any]
    all: tuple[Mapping[str, Any], ...]

    def expanded(self) -> "_Schemas":
        """Return these with everything that they combine or refer to."""
        found: list[Mapping[str, Any]] = []
        waiting = list(self.all)
        while waiting and len(found) < _REFERENCE_LIMIT * 8:
            schema = waiting.pop()
            found.append(schema)
            waiting += [entry for word in _COMBINED for entry in _sequence(schema.get(word)) if isinstance(entry, dict)]
            referred = self._referred(schema.get("$ref"))
            waiting += [referred] if referred is not None and referred not in found else []
        return _Schemas(self.root, tuple(found))

    def _referred(self, reference: Any) -> Mapping[str, Any] | None:
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return None
        value: Any = self.root
        for token in reference[2:].split("/"):
            value = value.get(token.replace("~1", "/").replace("~0", "~")) if isinstance(value, dict) else None
        return value if isinstance(value, dict) else None

    def member(self, name: str) -> "_Schemas":
        """Return the schemas of a member; none when no schema knows it."""
        found = []
        for schema in self.all:
            known = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
            found += [known] if isinstance(known, dict) else [{}] if known is True else []
        return _Schemas(self.root, tuple(found))

    def entry(self) -> "_Schemas":
        """Return the schemas of an array's entries; an array without any is as private as itself."""
        found = [schema["items"] for schema in self.all if isinstance(schema.get("items"), dict)]
        return _Schemas(self.root, tuple(found) or ({},))


def _sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _walk(value: Any, schemas: _Schemas, path: tuple[str | int, ...]) -> Iterator[Leaf]:
    schemas = schemas.expanded()
    if not schemas.all or any(schema.get("writeOnly") is True for schema in schemas.all):
        yield from _everything(value, path)
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _walk(member, schemas.member(name), (*path, name))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _walk(entry, schemas.entry(), (*path, index))
    elif isinstance(value, str):
        yield from _walk_text(value, schemas, path)


def _walk_text(value: str, schemas: _Schemas, path: tuple[str | int, ...]) -> Iterator[Leaf]:
    """Look into JSON text whose field says what it may hold."""
    content = _container(value)
    contents = [schema.get("contentSchema", schema) for schema in schemas.all if "contentMediaType" in schema]
    known = tuple(schema for schema in contents if isinstance(schema, dict))
    if content is not None and known:
        yield from _walk(content, _Schemas(schemas.root, known), path)


def _everything(value: Any, path: tuple[str | int, ...]) -> Iterator[Leaf]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _everything(member, (*path, name))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _everything(entry, (*path, index))
    elif isinstance(value, str):
        yield Leaf(path, value)
    elif isinstance(value, msgspec.Raw):
        yield Leaf(path, bytes(value).decode("ascii"))


def _container(text: str) -> Any:
    """Return the object or array that a text spells, else None."""
    if not text.lstrip(" \t\r\n").startswith(("{", "[")):
        return None
    try:
        return parse(text).value
    except JsonError:
        return None


def _parts(value: str) -> Iterator[str]:
    yield value
    if scheme := _SCHEME.fullmatch(value):
        yield scheme[1]
    content = _container(value)
    if content is not None:
        for leaf in _everything(content, ()):
            yield from _parts(leaf.value)
    elif value.lower().startswith(("http://", "https://")):
        yield from url_secrets(value)
