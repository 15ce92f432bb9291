"""Makes routes and registries out of what a server lists of a tool: what `assay contract pin` writes. Pure."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from contract.core.document import REGISTRY, read_document
from contract.core.endpoint import read_endpoint
from contract.core.identifier import is_identifier
from contract.core.qualification import pin_equal
from contract.core.refusal import Refusal, Refused
from contract.core.registry import read_registry, write_registry
from contract.core.route import LIMITS
from host.origins import origin
from protocol.wire.steps import StepResult

__all__ = ["CATALOG", "EMPTY", "Order", "add", "listed_schema", "order", "renew", "route_of"]

#: Where the plugin keeps what it read, if its binding says `keepText`.
CATALOG: Final = "catalog.json"
#: A schema of either subset that stands in until the tool's own is known.
EMPTY: Final[Mapping[str, Any]] = {"type": "object", "properties": {}, "additionalProperties": False}
#: What a route of version 2 is read by.
_VERSION: Final = 2


class Order(NamedTuple):
    """What a person said about a route: everything of it but its schemas."""

    alias: str
    server_id: str
    endpoint: Mapping[str, str]
    tool: str
    credential_binding: str
    limits: Mapping[str, int]


def order(
    url: str,
    tool: str,
    *,
    alias: str | None,
    server_id: str | None,
    credential: str | None,
    limits: Mapping[str, int | None],
) -> Order:
    """Fill in what was not said: the tool's name as alias, the host as server and credential, the largest limits.

    ``url`` is the endpoint that the route names. Raises Refused when no route can name it.
    """
    endpoint = _endpoint(url)
    server = endpoint["host"] if server_id is None else server_id
    names = (tool if alias is None else alias, tool, server, server if credential is None else credential)
    if not all(map(is_identifier, names)):
        raise Refused(Refusal.ROUTE_IDENTIFIER)
    chosen = {name: limits.get(name) or largest for name, largest in LIMITS.items()}
    return Order(names[0], server, endpoint, tool, names[3], chosen)


def _endpoint(url: str) -> dict[str, str]:
    """Return host and path of an https URL on port 443 with nothing else in it. Raises Refused."""
    try:
        scheme, host, port = origin(url).split(":", 2)
    except ValueError:
        raise Refused(Refusal.PIN_ENDPOINT) from None
    endpoint = {"host": host.removeprefix("//"), "path": urlsplit(url).path or "/"}
    if (scheme, port) != ("https", "443") or "?" in url or "#" in url:
        raise Refused(Refusal.PIN_ENDPOINT)
    try:
        read_endpoint(endpoint)
    except Refused:
        raise Refused(Refusal.PIN_ENDPOINT) from None
    return endpoint


def route_of(wanted: Order, admitted: Any, upstream: Any) -> dict[str, Any]:
    """Return a route of version 2 as a JSON value. It withholds all output: what to disclose is for a person to say."""
    return {
        "alias": wanted.alias,
        "server_id": wanted.server_id,
        "endpoint": dict(wanted.endpoint),
        "tool": wanted.tool,
        "credential_binding": wanted.credential_binding,
        "input_schema": admitted,
        "upstream_input_schema": upstream,
        "output_policy": "withhold",
        **wanted.limits,
    }


def add(registry: bytes | None, route: Mapping[str, Any]) -> bytes:
    """Return a registry with a route more, or of it alone. The others stay as they are written, but for white space.

    Raises Refused: what was there is no registry of version 2, has that alias, or has no room.
    """
    routes = [] if registry is None else _routes(registry)
    if any(each["alias"] == route["alias"] for each in routes):
        raise Refused(Refusal.PIN_TAKEN)
    return write_registry([*routes, route])


def renew(registry: bytes, alias: str, tool: str, upstream: Any) -> bytes | None:
    """Return a registry in which the route of that alias pins another schema of its tool; None when it pins it already.

    All else of the route stays, its admitted schema too. Raises Refused.
    """
    routes = _routes(registry)
    found = next((each for each in routes if each["alias"] == alias), None)
    if found is None:
        raise Refused(Refusal.ROUTE_UNKNOWN)
    if found["tool"] != tool:
        raise Refused(Refusal.PIN_OTHER)
    if pin_equal(upstream, found["upstream_input_schema"]):
        return None
    return write_registry([{**each, "upstream_input_schema": upstream} if each is found else each for each in routes])


def _routes(registry: bytes) -> list[dict[str, Any]]:
    """Return the routes of a registry of version 2 as they are written. Raises Refused."""
    if read_registry(registry).version != _VERSION:
        raise Refused(Refusal.PIN_VERSION)
    routes: list[dict[str, Any]] = read_document(REGISTRY, registry)["routes"]
    return routes


def listed_schema(step: StepResult, tool: str) -> Any:
    """Return the schema that a tool advertises, out of a `tools` step of an alias that keeps texts.

    Raises Refused: the tool is not listed, or something was taken out of its entry, so that it is not what was sent.
    """
    state = step.state if isinstance(step.state, dict) else {}
    catalog = next((each.json for each in step.artifacts if each.name == CATALOG), None)
    entries = catalog.get("entries") if isinstance(catalog, dict) else None
    pairs = zip(state.get("entries") or [], entries or [], strict=False)  # both are in one order
    found = [(record, entry) for record, entry in pairs if record["name"] == tool]
    if not found:
        raise Refused(Refusal.PIN_MISSING)
    if len(found) > 1 or found[0][0].get("redacted") is not False:
        raise Refused(Refusal.PIN_REDACTED)
    return found[0][1].get("inputSchema")
