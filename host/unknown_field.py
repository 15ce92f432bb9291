"""Finds a field of a binding that its plugin does not know: most often a slip, and told before its value is judged."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from host.problems import closest

__all__ = ["UnknownField", "is_plain", "unknown_field"]

_PLAIN_NAME: Final = re.compile(r"[A-Za-z]{1,24}")


class UnknownField(NamedTuple):
    """Where the first unknown field is, from the configuration on, and the fields that there are in its place."""

    path: tuple[str, ...]
    known: tuple[str, ...]

    def reason(self, alias: str) -> str:
        """Say what is wrong, in words that quote no value."""
        *within, name = self.path
        holder = "".join(f"`{each}` of " for each in reversed(within)) + f"the binding `{alias}`"
        return f"{holder} holds an unknown field" + (f" `{name}`" if is_plain(name) else "")

    @property
    def advice(self) -> str:
        name = self.path[-1]
        meant = closest(name, self.known) if is_plain(name) else None
        return (f"Did you mean `{meant}`? " if meant else "") + f"There are {', '.join(self.known)}."


def is_plain(name: str) -> bool:
    """Tell whether a name that is not known may be shown: a long one, or one with digits, may be a strayed value."""
    return _PLAIN_NAME.fullmatch(name) is not None


def unknown_field(configuration: Any, schema: Any) -> UnknownField | None:
    """Return the first member that an object's schema does not take, at any depth; None when all are known.

    Only a schema that closes itself (`additionalProperties: false`) refuses a member; what JSON text holds, and what
    stands in arrays, is the plugin's to look at.
    """
    return _find(configuration, schema, ())


def _find(value: Any, schema: Any, path: tuple[str, ...]) -> UnknownField | None:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(value, dict) or not isinstance(properties, Mapping) or (path and value.keys() == {"env"}):
        return None
    closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    for name, member in value.items():
        if name not in properties and closed:
            return UnknownField((*path, name), tuple(properties))
        found = _find(member, properties.get(name), (*path, name))
        if found is not None:
            return found
    return None
