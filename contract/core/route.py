"""One route of a registry: a tool at an endpoint, what may be submitted to it, and what may come back."""

from enum import StrEnum, unique
from typing import Any, Final, NamedTuple

from contract.core.admitted_schema import read_admitted
from contract.core.endpoint import Endpoint, read_endpoint
from contract.core.identifier import is_identifier
from contract.core.members import integer, members
from contract.core.projection import Projection, read_projection
from contract.core.refusal import Refusal, Refused
from contract.core.schema import Schema
from contract.core.upstream_schema import read_upstream
from protocol.values.hashes import digest

__all__ = ["LIMITS", "PROTOCOL_VERSION", "OutputPolicy", "Route", "read_route"]

#: The one revision of MCP that a route speaks.
PROTOCOL_VERSION: Final = "2025-06-18"
#: The largest value of each limit of a route; the smallest is 1.
LIMITS: Final = {
    "max_request_bytes": 64 * 1024,  # arguments that a person reviewed
    "max_response_bytes": 256 * 1024,  # a few fields are read of it, and a catalog has to fit
    "timeout_ms": 120_000,  # two minutes: a person waits
}

_NAMES: Final = ("alias", "server_id", "tool", "credential_binding")
_REQUIRED: Final = frozenset({*_NAMES, "endpoint", "input_schema", "output_policy", *LIMITS})
#: Version of the registry -> what its routes must have besides, and may have.
_VERSIONS: Final = {
    1: (_REQUIRED, frozenset({"protocol_version"})),
    2: (_REQUIRED | {"upstream_input_schema"}, frozenset({"protocol_version", "output_projection"})),
}
#: Version of the registry -> version of the contract that a prepared call is bound to.
_CONTRACTS: Final = {1: 2, 2: 3}


@unique
class OutputPolicy(StrEnum):
    """What of a result a caller may see."""

    WITHHOLD = "withhold"
    TYPED_FIELDS = "typed_fields"


class Route(NamedTuple):
    """A route as it was read. ``version`` is that of its registry.

    ``value`` is what a digest covers: the members as given, with ``protocol_version`` filled in and without the
    optional ones that are not there. In version 1 the admitted schema is the pin, and ``upstream`` the admitted schema.
    """

    version: int
    alias: str
    server_id: str
    endpoint: Endpoint
    tool: str
    credential_binding: str
    admitted: Schema
    upstream: Schema
    output_policy: OutputPolicy
    projection: Projection | None
    max_request_bytes: int
    max_response_bytes: int
    timeout_ms: int
    value: dict[str, Any]

    @property
    def contract_version(self) -> int:
        """The version of the contract that its prepared calls are bound to: 2 or 3."""
        return _CONTRACTS[self.version]

    @property
    def pin(self) -> Any:
        """The schema that the tool has to advertise, as a JSON value."""
        return self.value.get("upstream_input_schema", self.value["input_schema"])

    @property
    def schema_digest(self) -> str:
        """The SHA-256 of the admitted schema's canonical form, in 64 lowercase hexadecimal digits."""
        return digest(self.value["input_schema"])

    @property
    def upstream_schema_digest(self) -> str | None:
        """The same of the upstream schema; None in version 1."""
        return self._digest("upstream_input_schema")

    @property
    def output_projection_digest(self) -> str | None:
        """The same of the projection; None where there is none."""
        return self._digest("output_projection")

    def _digest(self, name: str) -> str | None:
        return digest(self.value[name]) if name in self.value else None


def read_route(value: Any, version: int) -> Route:
    """Read a route of a registry of version 1 or 2, or raise Refused with the rule that it breaks."""
    route = members(value, *_VERSIONS[version], Refusal.ROUTE_MEMBERS)
    if not all(is_identifier(route[name]) for name in _NAMES):
        raise Refused(Refusal.ROUTE_IDENTIFIER)
    if route.get("protocol_version", PROTOCOL_VERSION) != PROTOCOL_VERSION:
        raise Refused(Refusal.ROUTE_PROTOCOL)
    endpoint = read_endpoint(route["endpoint"])
    requests, responses, milliseconds = (_limit(route, name) for name in LIMITS)
    policy, projection = _output(route, version)
    admitted = read_admitted(route["input_schema"], sized=version > 1)
    return Route(
        version=version,
        alias=route["alias"],
        server_id=route["server_id"],
        endpoint=endpoint,
        tool=route["tool"],
        credential_binding=route["credential_binding"],
        admitted=admitted,
        upstream=read_upstream(route["upstream_input_schema"]) if version > 1 else admitted,
        output_policy=policy,
        projection=projection,
        max_request_bytes=requests,
        max_response_bytes=responses,
        timeout_ms=milliseconds,
        value={"protocol_version": PROTOCOL_VERSION, **route},
    )


def _limit(route: dict[str, Any], name: str) -> int:
    number = integer(route[name], 1, LIMITS[name])
    if number is None:
        raise Refused(Refusal.ROUTE_LIMIT)
    return number


def _output(route: dict[str, Any], version: int) -> tuple[OutputPolicy, Projection | None]:
    policy, projected = route["output_policy"], "output_projection" in route
    if policy == OutputPolicy.WITHHOLD and not projected:
        return OutputPolicy.WITHHOLD, None
    if policy == OutputPolicy.TYPED_FIELDS and projected and version > 1:
        return OutputPolicy.TYPED_FIELDS, read_projection(route["output_projection"])
    raise Refused(Refusal.OUTPUT_POLICY)
