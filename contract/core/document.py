"""The three documents that are read, each within a bound of bytes: a registry, a catalog, a call."""

from typing import Any, Final, NamedTuple

from contract.core.refusal import Refusal, Refused
from protocol.values.document import JsonError, parse

__all__ = ["CALL", "CATALOG", "REGISTRY", "Document", "read_document"]


class Document(NamedTuple):
    """A kind of document: its name, its largest size in bytes, and how it is refused before its members are read."""

    name: str
    limit: int
    unreadable: Refusal
    too_large: Refusal
    changed: Refusal
    not_json: Refusal
    repeats: Refusal


REGISTRY: Final = Document(
    "registry",
    1024 * 1024,  # 128 routes with two schemas of a few KiB; a person reviews every one of them
    Refusal.REGISTRY_UNREADABLE,
    Refusal.REGISTRY_TOO_LARGE,
    Refusal.REGISTRY_CHANGED,
    Refusal.REGISTRY_NOT_JSON,
    Refusal.REGISTRY_REPEATS,
)
CATALOG: Final = Document(
    "catalog",
    256 * 1024,  # as large as the largest response that a route admits
    Refusal.CATALOG_UNREADABLE,
    Refusal.CATALOG_TOO_LARGE,
    Refusal.CATALOG_CHANGED,
    Refusal.CATALOG_NOT_JSON,
    Refusal.CATALOG_REPEATS,
)
CALL: Final = Document(
    "call",
    64 * 1024,  # as large as the largest request that a route admits
    Refusal.CALL_UNREADABLE,
    Refusal.CALL_TOO_LARGE,
    Refusal.CALL_CHANGED,
    Refusal.CALL_NOT_JSON,
    Refusal.CALL_REPEATS,
)


def read_document(kind: Document, data: bytes) -> Any:
    """Return the value of strict JSON text, with every number in its own spelling as a ``msgspec.Raw``.

    Depth is counted before anything recurses. Raises Refused for too many bytes, for what is not strict JSON (lone
    surrogates and more than 128 levels included), and for a member that repeats at any depth.
    """
    if len(data) > kind.limit:
        raise Refused(kind.too_large)
    try:
        document = parse(data)
    except JsonError:
        raise Refused(kind.not_json) from None
    if document.repeated:
        raise Refused(kind.repeats)
    return document.value
