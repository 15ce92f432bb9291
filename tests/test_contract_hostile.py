"""Ten thousand spoilt documents: nothing but the closed set of refusals is ever raised, and none of it quotes them."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from contract.core.call import read_call
from contract.core.catalog import read_catalog
from contract.core.prepared import prepare
from contract.core.projection import Disclosure, project, read_projection
from contract.core.qualification import qualify
from contract.core.refusal import Refusal
from contract.core.registry import read_registry
from protocol.values.document import JsonError, encode, parse
from tests.contract_documents import PROJECTION, UPSTREAM, call, catalog, data, many, parsed, refusal, registry, spoilt

ROUTES = [registry(1), registry(2, protocol_version="2025-06-18")]
LISTED: Any = catalog(
    {"name": "other", "inputSchema": {"type": "object"}}, {"name": "add_comment", "inputSchema": UPSTREAM}
)
LISTS = [LISTED, {"jsonrpc": "2.0", "id": 1, "result": LISTED}]
CALLED = call()
RESULT = {"structuredContent": {"id": 5, "state": "queued"}, "isError": False}

REGISTRY = read_registry(data(registry()))
CALL = read_call(data(CALLED))
#: What a call that was read may be refused for.
OF_CALLS = {each for each in Refusal if each.startswith("arguments_")} | {
    Refusal.ROUTE_UNKNOWN,
    Refusal.CALL_OVER_ROUTE,
}


def seeds(test: Callable[[random.Random], None]) -> Callable[[], None]:
    """A quarter of the ten thousand: 250 seeds from hypothesis, and ten documents of each."""

    @given(st.integers(0, 2**64))
    @settings(deadline=None, max_examples=250)
    def ten(seed: int) -> None:
        chance = random.Random(seed)
        for _ in range(10):
            test(chance)

    ten.__name__ = test.__name__
    return ten


@seeds
def test_a_spoilt_registry_is_read_or_refused(chance: random.Random) -> None:
    text = spoilt(chance.choice(ROUTES), chance)
    if refusal(read_registry, text) is None:
        assert refusal(prepare, read_registry(text), CALL) in {None, *OF_CALLS}


@seeds
def test_a_spoilt_catalog_is_compared_or_refused(chance: random.Random) -> None:
    text = spoilt(chance.choice(LISTS), chance)
    if refusal(read_catalog, text) is None:
        assert len(qualify(REGISTRY, read_catalog(text))) == 1


@seeds
def test_a_spoilt_call_is_prepared_or_refused(chance: random.Random) -> None:
    text = spoilt(CALLED, chance)
    if refusal(read_call, text) is None:
        assert refusal(prepare, REGISTRY, read_call(text)) in {None, *OF_CALLS}


@seeds
def test_a_spoilt_result_is_projected_whole_or_withheld_by_any_projection(chance: random.Random) -> None:
    try:
        projection = parse(spoilt(PROJECTION, chance) if chance.random() < 0.5 else data(PROJECTION))
        result = parse(spoilt(RESULT, chance))
    except JsonError:
        return
    if refusal(read_projection, projection.value) is None:
        found = project(read_projection(projection.value), result)
        assert (found.output is None) == (found.disclosure is not Disclosure.PROJECTED)
        assert found.output is None or len(encode(found.output)) <= 1024


def test_the_spoilt_documents_lead_to_most_refusals_and_many_are_accepted() -> None:
    chance = random.Random(1)
    seen: Counter[Refusal | None] = Counter()
    for _ in range(1000):
        seen[refusal(read_registry, spoilt(chance.choice(ROUTES), chance))] += 1
        seen[refusal(read_catalog, spoilt(chance.choice(LISTS), chance))] += 1
        text = spoilt(CALLED, chance)
        seen[refusal(read_call, text) or refusal(prepare, REGISTRY, read_call(text))] += 1
    assert len(seen) > 45
    assert min(seen[None], 3000 - seen[None]) > 700


def test_texts_that_are_no_json_at_all_are_refused() -> None:
    chance = random.Random(7)
    for read, wanted in (
        (read_registry, Refusal.REGISTRY_NOT_JSON),
        (read_catalog, Refusal.CATALOG_NOT_JSON),
        (read_call, Refusal.CALL_NOT_JSON),
    ):
        for length in range(200):
            assert refusal(read, b"\xff" + chance.randbytes(length)) is wanted


def test_values_that_are_no_json_document_are_refused_by_the_readers_of_parts() -> None:
    for value in many(None, True, "x", [], {}, parsed(1)):
        assert refusal(read_projection, value) is Refusal.PROJECTION_FIELDS
