"""Whether what a server lists is what each route pins. It says nothing about who the server is."""

from collections.abc import Iterable
from enum import StrEnum, unique
from typing import Any, NamedTuple

from contract.core.catalog import Tool
from contract.core.registry import Registry
from contract.core.route import Route
from protocol.values.document import canonical

__all__ = ["Diagnostic", "Qualified", "diagnose", "pin_equal", "qualify"]


@unique
class Diagnostic(StrEnum):
    """What a catalog says of a route's pin. Only the first of them is a match."""

    MATCHES = "pinned_schema_matches"
    MISSING = "tool_missing"
    DUPLICATE = "duplicate_tool"
    DRIFT = "upstream_schema_drift"


class Qualified(NamedTuple):
    """A route's alias and its diagnostic."""

    route: str
    diagnostic: Diagnostic

    @property
    def compatible(self) -> bool:
        return self.diagnostic is Diagnostic.MATCHES


def pin_equal(live: Any, pinned: Any) -> bool:
    """Tell whether two parsed JSON values are the same but for the order of members.

    Numbers are compared by their spelling (``1`` is not ``1.0``), strings by code points, and a changed description is
    a change. Members that repeated in the text are not seen here: whoever parsed it has to look at that.
    """
    return canonical(live) == canonical(pinned)


def diagnose(route: Route, tools: Iterable[Tool]) -> Diagnostic:
    """Compare the pin of a route with the tools that a server lists. Two of its name are no match, even if equal."""
    named = [tool for tool in tools if tool.name == route.tool]
    if len(named) != 1:
        return Diagnostic.DUPLICATE if named else Diagnostic.MISSING
    return Diagnostic.MATCHES if pin_equal(named[0].schema, route.pin) else Diagnostic.DRIFT


def qualify(registry: Registry, catalog: tuple[Tool, ...]) -> tuple[Qualified, ...]:
    """Compare every route with a catalog, in the order of the registry."""
    return tuple(Qualified(route.alias, diagnose(route, catalog)) for route in registry.routes.values())
