"""Registries and routes: each rule at its edge, accepted on one side and refused by its own sentence on the other."""

import pytest

from contract.core.document import CALL, CATALOG, REGISTRY, Document, read_document
from contract.core.endpoint import Endpoint
from contract.core.identifier import is_identifier
from contract.core.refusal import SENTENCES, Refusal
from contract.core.registry import read_registry, write_registry
from contract.core.route import OutputPolicy
from protocol.values.document import parse
from tests.contract_documents import DELETED, data, edge, many, number, parsed, refusal, registry, route


def refused(value: object) -> Refusal | None:
    return refusal(read_registry, data(value))


def test_every_refusal_has_one_sentence_of_its_own_in_plain_ascii() -> None:
    assert set(SENTENCES) == set(Refusal)
    assert len(set(SENTENCES.values())) == len(SENTENCES)
    assert [text for text in SENTENCES.values() if not text.isascii() or not text.endswith(".") or "\n" in text] == []


@pytest.mark.parametrize("version", [1, 2])
def test_a_registry_is_read_into_routes(version: int) -> None:
    read = read_registry(data(registry(version)))
    assert (read.version, list(read.routes)) == (version, ["desk.comment"])
    found = read.route("desk.comment")
    assert (found.version, found.alias, found.server_id) == (version, "desk.comment", "support-desk")
    assert found.endpoint == Endpoint("mcp.desk.example", "/mcp")
    assert (found.tool, found.credential_binding) == ("add_comment", "desk-writer")
    assert (found.max_request_bytes, found.max_response_bytes, found.timeout_ms) == (2048, 8192, 10_000)
    assert found.output_policy is (OutputPolicy.WITHHOLD if version == 1 else OutputPolicy.TYPED_FIELDS)
    assert (found.projection is None) == (version == 1)
    assert found.value == {"protocol_version": "2025-06-18", **parsed(route(version))}
    assert found.contract_version == version + 1


def test_in_version_1_the_admitted_schema_is_the_pin_and_in_version_2_the_upstream_one() -> None:
    first = read_registry(data(registry(1))).route("desk.comment")
    assert (first.pin, first.upstream) == (first.value["input_schema"], first.admitted)
    second = read_registry(data(registry(2))).route("desk.comment")
    assert second.pin == second.value["upstream_input_schema"] != second.value["input_schema"]
    assert second.upstream != second.admitted


def test_an_alias_that_is_not_there_is_refused() -> None:
    assert refusal(read_registry(data(registry())).route, "desk.other") is Refusal.ROUTE_UNKNOWN


KINDS = [
    (REGISTRY, 1024 * 1024, Refusal.REGISTRY_TOO_LARGE, Refusal.REGISTRY_NOT_JSON, Refusal.REGISTRY_REPEATS),
    (CATALOG, 256 * 1024, Refusal.CATALOG_TOO_LARGE, Refusal.CATALOG_NOT_JSON, Refusal.CATALOG_REPEATS),
    (CALL, 64 * 1024, Refusal.CALL_TOO_LARGE, Refusal.CALL_NOT_JSON, Refusal.CALL_REPEATS),
]


@pytest.mark.parametrize(("kind", "limit", "too_large", "not_json", "repeats"), KINDS, ids=lambda each: str(each)[:8])
def test_a_document_is_strict_json_within_its_bound(
    kind: Document, limit: int, too_large: Refusal, not_json: Refusal, repeats: Refusal
) -> None:
    assert read_document(kind, b"1".rjust(limit)) == number("1")
    assert refusal(read_document, kind, b"1".rjust(limit + 1)) is too_large
    assert read_document(kind, b"[" * 128 + b"]" * 128)
    for text in (
        *(b"", b"{", b"NaN", b"{}{}", b'"\\ud800"', b'"\xff"', b"\xef\xbb\xbf{}", b"'a'", b'"\x01"', b"01"),
        *(b"[" * 129 + b"]" * 129, b"[" * 50_000),
    ):
        assert refusal(read_document, kind, text) is not_json
    for text in (b'{"a":1,"a":1}', b'[{"b":{"a":1,"\\u0061":2}}]'):
        assert refusal(read_document, kind, text) is repeats


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        *edge(Refusal.REGISTRY_MEMBERS, [], None, 1, {}, {"version": 1}, {"routes": []}, registry() | {"more": 1}),
        *edge(Refusal.REGISTRY_VERSION, *(registry() | {"version": each} for each in (0, 3, "1", 1.0, True, None))),
        *edge(Refusal.REGISTRY_ROUTES, *(registry() | {"routes": each} for each in many([], {}, None, "x"))),
        *edge(Refusal.ALIAS_REPEATED, registry() | {"routes": [route(), route(tool="other")]}),
        *edge(Refusal.ROUTE_MEMBERS, registry() | {"routes": [None]}, registry() | {"routes": [[]]}),
    ],
)
def test_a_registry_has_a_version_and_routes_and_nothing_else(value: object, wanted: Refusal) -> None:
    assert refused(value) is wanted


def test_a_registry_has_1_to_128_routes() -> None:
    routes = [route(alias=f"r{index}") for index in range(129)]
    assert refused({"version": 2, "routes": routes[:1]}) is None
    assert refused({"version": 2, "routes": routes[:128]}) is None
    assert refused({"version": 2, "routes": routes}) is Refusal.REGISTRY_ROUTES


@pytest.mark.parametrize("version", [1, 2])
def test_a_route_has_every_member_of_its_version_and_no_other(version: int) -> None:
    for name in route(version).keys() - {"output_projection"}:
        assert refused(registry(version, **{name: DELETED})) is Refusal.ROUTE_MEMBERS, name
    assert refused(registry(version, more=1)) is Refusal.ROUTE_MEMBERS


def test_version_1_knows_no_upstream_schema_and_no_projection() -> None:
    assert refused(registry(1, upstream_input_schema=route()["upstream_input_schema"])) is Refusal.ROUTE_MEMBERS
    assert refused(registry(1, output_projection=route()["output_projection"])) is Refusal.ROUTE_MEMBERS
    assert refused(registry(1, upstream_input_schema=None)) is Refusal.ROUTE_MEMBERS


def test_a_route_may_name_the_one_protocol_version() -> None:
    assert refused(registry(protocol_version="2025-06-18")) is None
    for other in ("2025-11-25", "", None, number("2025"), ["2025-06-18"]):
        assert refused(registry(protocol_version=other)) is Refusal.ROUTE_PROTOCOL


@pytest.mark.parametrize("name", ["alias", "server_id", "tool", "credential_binding"])
def test_the_names_of_a_route_are_identifiers(name: str) -> None:
    for good in many("a", "Z", "0", "_", ".", "-", "a" * 64, "A.b_c-9"):
        assert refused(registry(**{name: good})) is None
    for bad in many("", "a" * 65, "a b", "a/b", "é", "a\n", "\n", None, 1, ["a"]):
        assert refused(registry(**{name: bad})) is Refusal.ROUTE_IDENTIFIER


def test_an_identifier_is_made_of_the_characters_of_its_set() -> None:
    allowed = {chr(code) for code in range(0x250) if is_identifier(chr(code))}
    assert allowed == set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")


@pytest.mark.parametrize(
    ("name", "largest"), [("max_request_bytes", 65_536), ("max_response_bytes", 262_144), ("timeout_ms", 120_000)]
)
def test_the_limits_of_a_route_have_ranges(name: str, largest: int) -> None:
    for good in many(1, largest):
        assert refused(registry(**{name: good})) is None
    for bad in many(0, -1, largest + 1, "1", None, True, number("1.0"), number("1e2"), number("-0"), number("9" * 400)):
        assert refused(registry(**{name: bad})) is Refusal.ROUTE_LIMIT


LABEL = "a" * 63
HOST_253 = ".".join([LABEL, LABEL, LABEL, "a" * 61])


@pytest.mark.parametrize("host", ["a.b", "0.a", "x--y.example", f"{LABEL}.{LABEL}", HOST_253, "1.2.3.4a", "local.test"])
def test_a_host_is_a_public_name(host: str) -> None:
    assert refused(registry(endpoint={"host": host, "path": "/"})) is None


@pytest.mark.parametrize(
    "host",
    [
        *("", "a", "localhost", "a.localhost", "a.local", "a.internal", "1.2.3.4", "a.1", "a.1-2", "A.b", "a.b."),
        *(".a.b", "a..b", "-a.b", "a-.b", "a.-b", "a.b-", "a_b.c", "a.b:443", "u@a.b", "a.b/", "é.example", "a.b\n"),
        *("[::1]", f"{LABEL}a.b", f"{HOST_253}a", None, 1, ["a.b"]),
    ],
)
def test_other_hosts_are_refused(host: object) -> None:
    assert refused(registry(endpoint={"host": host, "path": "/"})) is Refusal.ENDPOINT_HOST


@pytest.mark.parametrize("path", ["/", "/a/", "/" + "a" * 255, "/A-z_0.9~/x", "/...", "/.a/b.", "/a..b"])
def test_a_path_is_plain(path: str) -> None:
    assert refused(registry(endpoint={"host": "a.b", "path": path})) is None


@pytest.mark.parametrize(
    "path",
    [
        *(
            "",
            "a",
            "//",
            "/a//b",
            "/.",
            "/..",
            "/a/./b",
            "/a/../b",
            "/a/..",
            "/a?b",
            "/a#b",
            "/%41",
            "/a b",
            "/é",
            "/\n",
        ),
        *("/" + "a" * 256, "/a\\b", None, 1, ["/"]),
    ],
)
def test_other_paths_are_refused(path: object) -> None:
    assert refused(registry(endpoint={"host": "a.b", "path": path})) is Refusal.ENDPOINT_PATH


@pytest.mark.parametrize("value", [None, "https://a.b/", {}, {"host": "a.b"}, {"host": "a.b", "path": "/", "port": 1}])
def test_an_endpoint_has_a_host_and_a_path_and_nothing_else(value: object) -> None:
    assert refused(registry(endpoint=value)) is Refusal.ENDPOINT_MEMBERS


def test_a_projection_stands_where_and_only_where_the_policy_says_so() -> None:
    assert refused(registry(output_policy="withhold", output_projection=DELETED)) is None
    assert refused(registry(output_policy="typed_fields")) is None
    for members in (
        {"output_policy": "withhold"},
        {"output_policy": "typed_fields", "output_projection": DELETED},
        {"output_policy": "everything"},
        {"output_policy": None},
        {"output_policy": ["withhold"], "output_projection": DELETED},
    ):
        assert refused(registry(**members)) is Refusal.OUTPUT_POLICY
    assert refused(registry(1, output_policy="typed_fields")) is Refusal.OUTPUT_POLICY


def test_the_digests_of_a_route_are_those_of_its_schemas_and_its_projection() -> None:
    first = read_registry(data(registry(1))).route("desk.comment")
    assert len(first.schema_digest) == 64
    assert (first.upstream_schema_digest, first.output_projection_digest) == (None, None)
    second = read_registry(data(registry(2))).route("desk.comment")
    assert second.schema_digest == first.schema_digest
    digests = {second.schema_digest, second.upstream_schema_digest, second.output_projection_digest}
    assert len(digests - {None}) == 3


def test_a_registry_is_written_for_a_person_and_read_back_the_same() -> None:
    upstream = route()["upstream_input_schema"] | {"title": "é"}
    upstream["properties"]["ticket"]["minimum"] = number("0.50")
    routes = [route(alias="a", upstream_input_schema=upstream), route(alias="b")]
    written = write_registry(routes)
    assert written.startswith(b'{\n  "version": 2,\n  "routes": [\n    {\n')
    assert b'"minimum": 0.50,' in written
    assert parse(written).value == parsed({"version": 2, "routes": routes})
    assert [each.value for each in read_registry(written).routes.values()] == [
        {"protocol_version": "2025-06-18", **parsed(each)} for each in routes
    ]


def test_a_registry_that_would_not_be_read_is_not_written() -> None:
    assert refusal(write_registry, [route(tool="")]) is Refusal.ROUTE_IDENTIFIER
    assert refusal(write_registry, []) is Refusal.REGISTRY_ROUTES


def test_a_registry_that_fits_without_indentation_only_is_written_so() -> None:
    deep = {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}
    wide = {"type": "object", "properties": {f"p{index}": deep for index in range(64)}}
    routes = [route(alias=f"a{index}", upstream_input_schema=wide) for index in range(128)]
    written = write_registry(routes)
    assert b"\n" not in written
    assert parse(written).value == parsed({"version": 2, "routes": routes})
