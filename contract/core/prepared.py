"""A call bound to its route: the one text of both, and its digest. It is prepared, and authorizes nothing."""

import hashlib
from enum import StrEnum, unique
from typing import Final, NamedTuple

from contract.core.call import Call, check_arguments
from contract.core.refusal import Refusal, Refused
from contract.core.registry import Registry
from contract.core.route import Route
from protocol.values.document import canonical

__all__ = ["Domain", "Prepared", "prepare"]


@unique
class Domain(StrEnum):
    """Whose digests are computed: this product's, or those of the Opaque gateway, to compare with."""

    ASSAY = "assay"
    OPAQUE = "opaque"


#: What stands before the canonical text, so that no other hash of the same bytes is an action digest.
_SEPARATION: Final = "{domain}.mcp.prepared-call.v{version}\0"


class Prepared(NamedTuple):
    """A route and the canonical JSON of what a digest covers: contract version, route and arguments."""

    route: Route
    text: bytes

    def action_digest(self, domain: Domain = Domain.ASSAY) -> str:
        """Return the SHA-256 of the domain and the text, in 64 lowercase hexadecimal digits."""
        separation = _SEPARATION.format(domain=domain, version=self.route.contract_version)
        return hashlib.sha256(separation.encode() + self.text).hexdigest()


def prepare(registry: Registry, call: Call) -> Prepared:
    """Bind a call to its route, or raise Refused: an unknown route, too many bytes for it, arguments not admitted."""
    route = registry.route(call.route)
    if call.size > route.max_request_bytes:
        raise Refused(Refusal.CALL_OVER_ROUTE)
    refusal = check_arguments(route, call.arguments)
    if refusal is not None:
        raise Refused(refusal)
    covered = {"contract_version": route.contract_version, "route": route.value, "arguments": call.arguments}
    return Prepared(route, canonical(covered))
