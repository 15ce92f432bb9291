"""Calls and their digests: what a call may be, what its digest covers, and goldens that must never change."""

import hashlib
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contract.core.call import check_arguments, read_call
from contract.core.prepared import Domain, Prepared, prepare
from contract.core.refusal import Refusal, Refused
from contract.core.registry import read_registry
from protocol.values.document import canonical
from tests.contract_documents import (
    ARGUMENTS,
    DELETED,
    at,
    call,
    changed,
    data,
    edge,
    number,
    parsed,
    places,
    refusal,
    registry,
    route,
    shuffled,
)


def prepared(documents: Any, submitted: Any) -> Prepared:
    return prepare(read_registry(data(documents)), read_call(data(submitted)))


def refused(documents: Any, submitted: Any) -> Refusal | None:
    return refusal(prepared, documents, submitted)


#: The fixture that the Opaque project published for version 1.
PUBLIC_ROUTE = {
    "alias": "staging.status",
    "server_id": "release-service",
    "endpoint": {"host": "mcp.example.test", "path": "/mcp"},
    "tool": "release_status",
    "credential_binding": "release-reader",
    "input_schema": {
        "type": "object",
        "properties": {"release": {"type": "string", "minLength": 1, "maxLength": 80}},
        "required": ["release"],
        "additionalProperties": False,
    },
    "output_policy": "withhold",
    "max_request_bytes": 2048,
    "max_response_bytes": 8192,
    "timeout_ms": 10_000,
}
PUBLIC_CALL = {"route": "staging.status", "arguments": {"release": "synthetic-release-1"}}


def test_the_public_digest_of_version_1_comes_out() -> None:
    found = prepared({"version": 1, "routes": [PUBLIC_ROUTE]}, PUBLIC_CALL)
    assert found.action_digest(Domain.OPAQUE) == "19543e78d6776d338d51f3385af57cfec6ac5cd25e4b57d1ba8bd58d88ecffdb"
    assert found.action_digest() == "dd00720f16057311547344e033353d082806643a02c4c7b37c066c5da6bb879a"


@pytest.mark.parametrize(
    ("version", "ours", "theirs"),
    [
        (
            1,
            "9049c66c314bc10542a89c4d69a52922fa2b2075c98220586b1dc7295bd273e2",
            "3669381d5611dadcffc36de3d91307cc046385bd89db0ca30be4a6234c67d3e8",
        ),
        (
            2,
            "2e59a14b4c01cf3c2501ab8618e781066612d4cefe0644df9f2f158d3236f151",
            "723d658e7aaf273e928688520b453998eded6acc661e87a3ff460b65286ee1f0",
        ),
    ],
)
def test_the_digests_of_both_versions_stay_what_they_are(version: int, ours: str, theirs: str) -> None:
    found = prepared(registry(version), call())
    assert (found.action_digest(Domain.ASSAY), found.action_digest(Domain.OPAQUE)) == (ours, theirs)


@pytest.mark.parametrize(("version", "contract_version"), [(1, 2), (2, 3)])
def test_a_digest_covers_the_contract_version_the_route_and_the_arguments(version: int, contract_version: int) -> None:
    found = prepared(registry(version), call())
    covered = {
        "contract_version": number(str(contract_version)),
        "route": {"protocol_version": "2025-06-18", **parsed(route(version))},
        "arguments": parsed(ARGUMENTS),
    }
    assert found.text == canonical(covered)
    for domain in Domain:
        separated = f"{domain}.mcp.prepared-call.v{contract_version}".encode() + b"\0" + found.text
        assert found.action_digest(domain) == hashlib.sha256(separated).hexdigest()


def test_a_protocol_version_that_is_left_out_is_filled_in() -> None:
    named = prepared(registry(protocol_version="2025-06-18"), call())
    assert named.action_digest() == prepared(registry(), call()).action_digest()


@given(st.sampled_from([1, 2]), st.integers(0, 2**64))
@settings(deadline=None, max_examples=200)
def test_a_digest_does_not_depend_on_the_order_of_members(version: int, seed: int) -> None:
    chance = random.Random(seed)
    other = prepared(shuffled(registry(version), chance), shuffled(call(), chance))
    assert other.action_digest() == prepared(registry(version), call()).action_digest()


def another(value: Any, chance: random.Random) -> Any:
    """Something near a value, which may well be as valid in its place."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + chance.choice((-1, 1))
    if isinstance(value, str):
        return chance.choice((value + "x", value[:-1], "note", "withhold"))
    return DELETED


@given(st.sampled_from([1, 2]), st.integers(0, 2**64))
@settings(deadline=None, max_examples=800)
def test_a_digest_changes_with_everything_that_it_covers(version: int, seed: int) -> None:
    chance = random.Random(seed)
    inner, arguments = route(version), ARGUMENTS
    if chance.random() < 0.7:
        path = chance.choice(list(places(inner))[1:])
        inner = changed(inner, path, another(at(inner, path), chance))
    else:
        path = chance.choice(list(places(arguments))[1:])
        arguments = changed(arguments, path, another(at(arguments, path), chance))
    documents, submitted = {"version": version, "routes": [inner]}, call(route=inner.get("alias"), arguments=arguments)
    if (inner, arguments) == (route(version), ARGUMENTS):
        return
    try:
        other = prepared(documents, submitted)
    except Refused:
        return
    assert other.action_digest() != prepared(registry(version), call()).action_digest()


#: A change of each setting of a route that leaves it valid.
SETTINGS: dict[str, Any] = {
    "alias": "desk.other",
    "server_id": "other",
    "endpoint": {"host": "mcp.desk.example", "path": "/"},
    "tool": "other",
    "credential_binding": "other",
    "input_schema": route()["input_schema"] | {"required": ["body"]},
    "upstream_input_schema": route()["upstream_input_schema"] | {"title": "Add another comment"},
    "output_policy": "withhold",
    "output_projection": {"fields": route()["output_projection"]["fields"][:1]},
    "max_request_bytes": 2047,
    "max_response_bytes": 8193,
    "timeout_ms": 1,
}


def test_each_setting_of_a_route_changes_the_digest() -> None:
    assert SETTINGS.keys() == route().keys()
    digests = {prepared(registry(), call()).action_digest()}
    for name, value in SETTINGS.items():
        members = {name: value} | ({"output_projection": DELETED} if name == "output_policy" else {})
        submitted = call(route="desk.other") if name == "alias" else call()
        digests.add(prepared(registry(**members), submitted).action_digest())
    assert len(digests) == 1 + len(SETTINGS)


def test_the_same_number_in_another_spelling_is_another_digest_of_the_pin() -> None:
    digests = {
        prepared(
            registry(upstream_input_schema=changed(route()["upstream_input_schema"], path, number(spelling))), call()
        ).action_digest()
        for path in [("properties", "ticket", "minimum")]
        for spelling in ("0.5", "0.50", "5e-1")
    }
    assert len(digests) == 3


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        *edge(Refusal.CALL_MEMBERS, None, [], "x", {}, call(route=DELETED), call(arguments=DELETED)),
        *edge(Refusal.CALL_MEMBERS, call(endpoint={"host": "a.b", "path": "/"}), call(output_projection={})),
        *edge(Refusal.CALL_MEMBERS, call(route=1), call(route=None), call(route=["desk.comment"])),
        *edge(Refusal.CALL_MEMBERS, call(arguments=None), call(arguments=[]), call(arguments="{}")),
        *edge(Refusal.ROUTE_UNKNOWN, call(route=""), call(route="desk"), call(route="\x1b")),
        *edge(Refusal.ARGUMENTS_NOT_ADMITTED, call(arguments={}), call(arguments=ARGUMENTS | {"more": 1})),
    ],
)
def test_a_call_is_a_route_and_arguments_and_nothing_else(value: Any, wanted: Refusal) -> None:
    assert refused(registry(), value) is wanted


@pytest.mark.parametrize("spelling", ["2.0", "2e0", "-0", "0.5", str(2**63), str(-(2**63) - 1), "1" * 400, "1E400"])
def test_a_number_that_is_no_64_bit_integer_is_refused_wherever_it_stands(spelling: str) -> None:
    for path in (("ticket",), ("tags", 0), ("body",), ("rank",)):
        submitted = call(arguments=changed(ARGUMENTS, path, number(spelling)))
        assert refused(registry(), submitted) is Refusal.ARGUMENTS_NUMBER
    assert refused(registry(), call(arguments=ARGUMENTS | {"x": [{"y": number(spelling)}]})) is Refusal.ARGUMENTS_NUMBER


def test_an_upstream_number_lets_an_admitted_integer_through_and_widens_nothing() -> None:
    for ticket, wanted in ((1, None), (999, None), (0, False), (1000, False)):
        found = refused(registry(), call(arguments=ARGUMENTS | {"ticket": ticket}))
        assert found is (Refusal.ARGUMENTS_NOT_ADMITTED if wanted is False else None)


def test_arguments_have_to_pass_the_tools_own_schema_too() -> None:
    assert refused(registry(), call(arguments=ARGUMENTS | {"tags": [""]})) is Refusal.ARGUMENTS_NOT_UPSTREAM
    assert refused(registry(1), call(arguments=ARGUMENTS | {"tags": [""]})) is None


def test_why_arguments_are_not_admitted_is_told_without_raising() -> None:
    found = read_registry(data(registry())).route("desk.comment")
    assert check_arguments(found, parsed(ARGUMENTS)) is None
    assert check_arguments(found, parsed({"ticket": 1.5})) is Refusal.ARGUMENTS_NUMBER
    assert check_arguments(found, parsed({})) is Refusal.ARGUMENTS_NOT_ADMITTED
    assert check_arguments(found, parsed(ARGUMENTS | {"tags": [""]})) is Refusal.ARGUMENTS_NOT_UPSTREAM


def test_the_bytes_of_a_call_count_against_its_route_white_space_included() -> None:
    text = data(call())
    for limit, wanted in ((len(text), None), (len(text) - 1, Refusal.CALL_OVER_ROUTE)):
        documents = read_registry(data(registry(max_request_bytes=limit)))
        assert refusal(prepare, documents, read_call(text)) is wanted
    documents = read_registry(data(registry(max_request_bytes=len(text))))
    assert refusal(prepare, documents, read_call(text + b" ")) is Refusal.CALL_OVER_ROUTE
