"""Metadata documents, read strictly."""

from typing import Any

import pytest

from oauth.metadata import (
    MetadataError,
    ResourceMetadata,
    ServerMetadata,
    read_object,
    read_resource,
    read_server,
)

RESOURCE = {"resource": "https://h/mcp", "authorization_servers": ["https://a"]}


def test_resource_metadata_is_taken_as_it_is_published() -> None:
    document = {**RESOURCE, "scopes_supported": ["a", "b", "a"], "resource_name": 7}
    assert read_resource(document) == ResourceMetadata("https://h/mcp", ("https://a",), ("a", "b"))
    assert read_resource({**RESOURCE, "scopes_supported": []}).scopes == ()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"resource": None}, "`resource` is missing"),
        ({"resource": ["https://h"]}, "`resource` is not a string"),
        ({"authorization_servers": None}, "`authorization_servers` is missing or empty"),
        ({"authorization_servers": []}, "`authorization_servers` is missing or empty"),
        ({"authorization_servers": "https://a"}, "`authorization_servers` is not an array of strings"),
        ({"authorization_servers": [1]}, "`authorization_servers` is not an array of strings"),
        ({"scopes_supported": "a b"}, "`scopes_supported` is not an array of strings"),
        ({"scopes_supported": ["a b"]}, "`scopes_supported` holds a text that is no scope"),
        ({"scopes_supported": [""]}, "`scopes_supported` holds a text that is no scope"),
    ],
)
def test_what_is_wrong_with_resource_metadata_is_named(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(MetadataError) as refused:
        read_resource({**RESOURCE, **change})
    assert refused.value.reason == reason


def test_server_metadata_keeps_what_is_absent_apart_from_what_is_empty() -> None:
    assert read_server(
        {"issuer": "https://a", "scopes_supported": None, "grant_types_supported": []}
    ) == ServerMetadata(
        issuer="https://a",
        authorization_endpoint=None,
        token_endpoint=None,
        registration_endpoint=None,
        scopes=None,
        response_types=None,
        grant_types=(),
        token_methods=None,
        challenge_methods=None,
        issuer_in_callback=False,
        metadata_documents=False,
    )


@pytest.mark.parametrize(
    ("member", "value", "kind"),
    [
        ("issuer", 1, "a string"),
        ("authorization_endpoint", [], "a string"),
        ("token_endpoint", {}, "a string"),
        ("registration_endpoint", False, "a string"),
        ("scopes_supported", "openid", "an array of strings"),
        ("response_types_supported", {"code": 1}, "an array of strings"),
        ("grant_types_supported", [None], "an array of strings"),
        ("token_endpoint_auth_methods_supported", "none", "an array of strings"),
        ("code_challenge_methods_supported", "S256", "an array of strings"),
        ("authorization_response_iss_parameter_supported", "true", "a boolean"),
        ("client_id_metadata_document_supported", 1, "a boolean"),
    ],
)
def test_a_member_of_another_type_is_named(member: str, value: object, kind: str) -> None:
    with pytest.raises(MetadataError) as refused:
        read_server({"issuer": "https://a", member: value})
    assert refused.value.reason == f"`{member}` is not {kind}"


def test_server_metadata_without_an_issuer_is_refused() -> None:
    with pytest.raises(MetadataError, match="`issuer` is missing"):
        read_server({})


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "the body is not strict JSON: a value is expected"),
        (b"<html>", "the body is not strict JSON: a value is expected"),
        (b"\xef\xbb\xbf{}", "the body is not strict JSON: a value is expected"),
        (b'{"a":NaN}', "the body is not strict JSON: NaN and Infinity are not JSON"),
        (b"[1]", "the body is not a JSON object"),
        (b'{"a":{"b":1,"b":1}}', "the document repeats a member"),
    ],
)
def test_a_body_is_one_json_object_without_repeated_members(body: bytes, reason: str) -> None:
    with pytest.raises(MetadataError) as refused:
        read_object(body)
    assert refused.value.reason == reason
