"""The offline verbs as a table: the documents that each takes, what it answers, and what its help says."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from contract.core.call import read_call
from contract.core.catalog import read_catalog
from contract.core.document import CALL, CATALOG, REGISTRY, Document
from contract.core.prepared import Domain
from contract.core.prepared import prepare as prepare_call
from contract.core.qualification import qualify as qualify_registry
from contract.core.registry import read_registry

__all__ = ["DOMAIN_HELP", "INTRODUCTION", "VERBS", "Answer", "Verb"]

#: What every answer says: nothing of this enables the gateway that would make calls.
_MODE: Final = {"mode": "offline_contract"}
_DISABLED: Final = {"runtime_gateway_enabled": False}

INTRODUCTION: Final = (
    "Qualify one third-party tool: reads files only, contacts nothing, and answers with one JSON object on one line."
    " Exit status 0, or 2 with one sentence on standard error."
)
DOMAIN_HELP: Final = "Whose digest: `assay` (the default), or `opaque` to compare with an Opaque gateway."


class Answer(NamedTuple):
    """One JSON object, and the exit status: 0, or 2 where the answer is no."""

    document: dict[str, Any]
    exit: int = 0


class Verb(NamedTuple):
    """``answer`` takes the bytes of the documents in order, and raises Refused. ``domain``: it takes `--domain`."""

    documents: tuple[Document, ...]
    answer: Callable[[Sequence[bytes], Domain], Answer]
    summary: str
    explanation: str
    domain: bool = False


def _validate(documents: Sequence[bytes], _domain: Domain) -> Answer:
    registry = read_registry(documents[0])
    return Answer({**_MODE, "registry_valid": True, "route_count": len(registry.routes), **_DISABLED})


def _qualify(documents: Sequence[bytes], _domain: Domain) -> Answer:
    qualified = qualify_registry(read_registry(documents[0]), read_catalog(documents[1]))
    compatible = all(each.compatible for each in qualified)
    document = {
        **_MODE,
        "scope": "catalog_pin_match_only",
        "compatible": compatible,
        "routes": [
            {"route": each.route, "compatible": each.compatible, "diagnostic": each.diagnostic} for each in qualified
        ],
        **_DISABLED,
    }
    return Answer(document, 0 if compatible else 2)


def _prepare(documents: Sequence[bytes], domain: Domain) -> Answer:
    prepared = prepare_call(read_registry(documents[0]), read_call(documents[1]))
    document = {
        **_MODE,
        "status": "prepared_not_authorized",
        **_DISABLED,
        "route": prepared.route.alias,
        "prepared_contract_version": prepared.route.contract_version,
        "action_digest": prepared.action_digest(domain),
        "output_policy": prepared.route.output_policy,
    }
    return Answer(document)


VERBS: Final = {
    "validate": Verb(
        (REGISTRY,),
        _validate,
        "Check a registry against every rule.",
        "Says nothing about who wrote the registry: it is not signed, not enrolled, and enables no call.",
    ),
    "qualify": Verb(
        (REGISTRY, CATALOG),
        _qualify,
        "Compare the pins of a registry with a captured catalog.",
        "The catalog is the result of `tools/list`, or the JSON-RPC response that holds it, as one whole page. Where a"
        " pin does not match, the answer says which, and the exit status is 2. It compares files: who the server was,"
        " and whether a call is allowed, it does not tell.",
    ),
    "prepare": Verb(
        (REGISTRY, CALL),
        _prepare,
        "Check a call against its route and print the digest that an approval would cover.",
        'The call is {"route": ALIAS, "arguments": OBJECT} and nothing else. Its arguments have to pass the admitted'
        " schema and the tool's own. Nothing is sent, reserved or authorized.",
        domain=True,
    ),
}
