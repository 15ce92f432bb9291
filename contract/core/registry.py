"""A registry: the routes that an administrator wrote down, by alias."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from contract.core.document import REGISTRY, read_document
from contract.core.members import integer, members
from contract.core.refusal import Refusal, Refused
from contract.core.route import Route, read_route
from protocol.values.document import encode

__all__ = ["ROUTE_LIMIT", "VERSIONS", "Registry", "read_registry", "write_registry"]

#: Routes of a registry: as many as tools of a catalog.
ROUTE_LIMIT: Final = 128
#: In version 1 the admitted schema is the pin; version 2 tells them apart.
VERSIONS: Final = (1, 2)


class Registry(NamedTuple):
    """The routes by alias, in the order of the document."""

    version: int
    routes: Mapping[str, Route]

    def route(self, alias: str) -> Route:
        """Return the route of an alias. Raises Refused (``route_unknown``)."""
        if alias not in self.routes:
            raise Refused(Refusal.ROUTE_UNKNOWN)
        return self.routes[alias]


def read_registry(data: bytes) -> Registry:
    """Read the bytes of a registry, at most 1 MiB, or raise Refused with the rule that they break.

    It is read as a plain document: nothing here says who wrote it.
    """
    document = members(read_document(REGISTRY, data), {"version", "routes"}, set(), Refusal.REGISTRY_MEMBERS)
    version, entries = integer(document["version"]), document["routes"]
    if version not in VERSIONS:
        raise Refused(Refusal.REGISTRY_VERSION)
    if not isinstance(entries, list) or not 1 <= len(entries) <= ROUTE_LIMIT:
        raise Refused(Refusal.REGISTRY_ROUTES)
    routes: dict[str, Route] = {}
    for entry in entries:
        route = read_route(entry, version)
        if route.alias in routes:
            raise Refused(Refusal.ALIAS_REPEATED)
        routes[route.alias] = route
    return Registry(version, routes)


def write_registry(routes: Iterable[Mapping[str, Any]]) -> bytes:
    """Return a registry of version 2 of routes that are JSON values, indented for a person to review if there is room.

    Numbers keep their spelling. Raises Refused when :func:`read_registry` would.
    """
    compact = encode({"version": 2, "routes": [dict(route) for route in routes]})
    indented = msgspec.json.format(compact, indent=2) + b"\n"
    data = indented if len(indented) <= REGISTRY.limit else compact
    read_registry(data)
    return data
