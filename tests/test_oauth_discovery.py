"""Discovery against the layouts that servers have, with the whole text of the sign-in record of each."""

from typing import Any

import pytest

from oauth.challenge import Demand
from oauth.discovery import Found
from oauth.record import Entry, as_facts
from oauth.settings import Settings
from oauth.steps import Fetch
from protocol.failures import Code
from tests.fakes.oauth_layouts import (
    AUTH,
    ENDPOINT,
    OPENID_PLACE,
    PATH_PLACE,
    ROOT_PLACE,
    SERVER_PLACE,
    failure,
    find,
    resource,
    server,
    server_document,
)
from tests.fakes.oauth_script import LATE, answer, shown


def text(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


# --- ten layouts that are found, or not, with the record that a person reads ------------------------------------


@pytest.mark.requirement("oauth.resource-places")
def test_metadata_that_the_challenge_names_is_read_first() -> None:
    named = "https://mcp.example.com/custom/location.json"
    site = {named: resource(scopes_supported=["a"]), PATH_PLACE: resource("https://wrong"), SERVER_PLACE: server()}
    played, record = find(site, demand=Demand(named))
    assert played.result.resource == ENDPOINT
    assert played.result.resource_scopes == ("a",)
    assert shown(record) == text(
        "+ protected resource metadata: https://mcp.example.com/custom/location.json",
        "    HTTP 200: taken",
        "+ authorization server metadata: https://auth.example.com/.well-known/oauth-authorization-server",
        "    HTTP 200: taken",
    )


@pytest.mark.requirement("oauth.resource-places")
def test_without_resource_metadata_in_the_challenge_the_path_is_asked_before_the_root() -> None:
    played, record = find({PATH_PLACE: resource(), ROOT_PLACE: resource("https://x"), SERVER_PLACE: server()})
    assert played.result == Found(played.result.server, ENDPOINT, None, PATH_PLACE)
    assert shown(record) == text(
        "+ protected resource metadata: https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
        "    HTTP 200: taken",
        "+ authorization server metadata: https://auth.example.com/.well-known/oauth-authorization-server",
        "    HTTP 200: taken",
    )


@pytest.mark.requirement("oauth.discovery", "oauth.resource-places")
def test_metadata_at_the_root_only_stands_for_the_whole_origin() -> None:
    played, record = find({ROOT_PLACE: resource("https://mcp.example.com"), SERVER_PLACE: server()})
    assert played.result.resource == "https://mcp.example.com"
    assert shown(record) == text(
        "- protected resource metadata: https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
        "    HTTP 404: not there",
        "+ protected resource metadata: https://mcp.example.com/.well-known/oauth-protected-resource",
        "    HTTP 200: taken",
        "+ authorization server metadata: https://auth.example.com/.well-known/oauth-authorization-server",
        "    HTTP 200: taken",
    )


@pytest.mark.requirement("oauth.discovery")
def test_an_issuer_with_a_path_has_its_well_known_name_inserted_before_the_path() -> None:
    issuer = f"{AUTH}/tenant/1"
    place = f"{AUTH}/.well-known/oauth-authorization-server/tenant/1"
    site = {PATH_PLACE: resource(ENDPOINT, issuer), place: server(issuer), SERVER_PLACE: server()}
    played, record = find(site, Settings(issuer))
    assert played.result.issuer == issuer
    assert shown(record) == text(
        "+ protected resource metadata: https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
        "    HTTP 200: taken",
        "+ authorization server metadata: https://auth.example.com/.well-known/oauth-authorization-server/tenant/1",
        "    HTTP 200: taken",
    )


@pytest.mark.requirement("oauth.discovery")
def test_an_openid_provider_with_a_realm_is_found_at_the_last_place() -> None:
    issuer = f"{AUTH}/realms/acme"
    site = {
        PATH_PLACE: resource(ENDPOINT, issuer),
        f"{AUTH}/.well-known/oauth-authorization-server/realms/acme": answer(b"Forbidden", 403, "text/plain"),
        f"{issuer}/.well-known/openid-configuration": server(issuer, subject_types_supported=["public"]),
    }
    played, record = find(site, Settings(issuer))
    assert played.result.issuer == issuer
    assert shown(record) == text(
        "+ protected resource metadata: https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
        "    HTTP 200: taken",
        "- authorization server metadata: https://auth.example.com/.well-known/oauth-authorization-server/realms/acme",
        "    HTTP 403: refused",
        "- authorization server metadata: https://auth.example.com/.well-known/openid-configuration/realms/acme",
        "    HTTP 404: not there",
        "+ authorization server metadata: https://auth.example.com/realms/acme/.well-known/openid-configuration",
        "    HTTP 200: taken",
    )


def test_an_openid_provider_at_the_root_needs_to_list_pkce() -> None:
    document = server_document()
    del document["code_challenge_methods_supported"]
    played, record = find({PATH_PLACE: resource(), OPENID_PLACE: answer(document)})
    assert shown(record) == text(
        "+ protected resource metadata: https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
        "    HTTP 200: taken",
        "- authorization server metadata: https://auth.example.com/.well-known/oauth-authorization-server",
        "    HTTP 404: not there",
        "- authorization server metadata: https://auth.example.com/.well-known/openid-configuration",
        "    HTTP 200: `code_challenge_methods_supported` is missing, so nothing says that PKCE protects the code",
    )
    assert played.failure is not None
    assert played.failure.code is Code.OAUTH_UNSUPPORTED
    assert played.failure.message == (
        "The authorization server metadata (https://auth.example.com/.well-known/openid-configuration) answered "
        "HTTP 200: `code_challenge_methods_supported` is missing, so nothing says that PKCE protects the code. "
        "The authorization server has to list `S256`."
    )


def test_metadata_on_another_admitted_origin_is_read_there() -> None:
    named = "https://auth.example.com/resources/mcp"
    played, record = find({named: resource(), SERVER_PLACE: server()}, demand=Demand(named))
    assert played.failure is None
    assert shown(record) == text(
        "+ protected resource metadata: https://auth.example.com/resources/mcp",
        "    HTTP 200: taken",
        "+ authorization server metadata: https://auth.example.com/.well-known/oauth-authorization-server",
        "    HTTP 200: taken",
    )


def test_a_trailing_slash_in_resource_is_kept_and_one_in_the_issuer_is_another_issuer() -> None:
    played, record = find({PATH_PLACE: resource(ENDPOINT + "/", AUTH + "/"), SERVER_PLACE: server(AUTH + "/")})
    assert shown(record) == text(
        "- protected resource metadata: https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
        "    HTTP 200: `authorization_servers` does not list `https://auth.example.com`, but"
        " `https://auth.example.com/`",
    )
    assert played.failure is not None
    assert played.failure.code is Code.OAUTH_ISSUER_MISMATCH
    assert played.failure.message.endswith(
        "Issuers are compared character by character: bind `https://auth.example.com/` if it is meant."
    )
    site = {PATH_PLACE: resource(ENDPOINT + "/", AUTH + "/"), SERVER_PLACE: server(AUTH + "/")}
    played, _ = find(site, Settings(AUTH + "/"))
    assert (played.result.resource, played.result.issuer) == (ENDPOINT + "/", AUTH + "/")


@pytest.mark.requirement("oauth.issuer.endpoint")
def test_a_server_that_is_its_own_issuer_may_write_its_origin_with_a_slash() -> None:
    own = "https://mcp.example.com/"
    place = "https://mcp.example.com/.well-known/oauth-authorization-server"
    site = {PATH_PLACE: resource(ENDPOINT, "https://elsewhere.example/", own), place: server(own)}
    played, record = find(site, Settings("endpoint"))
    assert played.result.issuer == own
    assert shown(record) == text(
        "+ protected resource metadata: https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
        "    HTTP 200: taken",
        "+ authorization server metadata: https://mcp.example.com/.well-known/oauth-authorization-server",
        "    HTTP 200: taken",
    )


def test_a_site_that_answers_every_path_with_its_page_has_no_metadata() -> None:
    page = answer(b"<!doctype html><title>App</title>", 200, "text/html; charset=utf-8")
    played, record = find({PATH_PLACE: page, ROOT_PLACE: page})
    assert shown(record) == text(
        "- protected resource metadata: https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
        "    HTTP 200: the body is not strict JSON: a value is expected (content type `text/html`)",
        "- protected resource metadata: https://mcp.example.com/.well-known/oauth-protected-resource",
        "    HTTP 200: the body is not strict JSON: a value is expected (content type `text/html`)",
    )
    assert played.failure is not None
    assert played.failure.code is Code.OAUTH_DISCOVERY_FAILED
    assert played.failure.message == (
        "No usable protected resource metadata was found: "
        "https://mcp.example.com/.well-known/oauth-protected-resource/mcp answered HTTP 200: the body is not strict "
        "JSON: a value is expected (content type `text/html`); "
        "https://mcp.example.com/.well-known/oauth-protected-resource answered HTTP 200: the body is not strict "
        "JSON: a value is expected (content type `text/html`). "
        "Set `compat` to `2025-03-26` for a server of that revision."
    )


def test_a_provider_of_many_tenants_that_answers_with_its_root_is_passed_over_until_the_right_document() -> None:
    issuer = f"{AUTH}/tenant"
    site = {
        PATH_PLACE: resource(ENDPOINT, issuer),
        f"{AUTH}/.well-known/oauth-authorization-server/tenant": server(AUTH),
        f"{AUTH}/.well-known/openid-configuration/tenant": answer({"error": "no such page"}),
        f"{issuer}/.well-known/openid-configuration": server(issuer),
    }
    played, record = find(site, Settings(issuer))
    assert played.result.issuer == issuer
    assert shown(record[1:]) == text(
        "- authorization server metadata: https://auth.example.com/.well-known/oauth-authorization-server/tenant",
        "    HTTP 200: `issuer` is `https://auth.example.com`, not `https://auth.example.com/tenant`: it is not this"
        " issuer's",
        "- authorization server metadata: https://auth.example.com/.well-known/openid-configuration/tenant",
        "    HTTP 200: `issuer` is missing, or not a string",
        "+ authorization server metadata: https://auth.example.com/tenant/.well-known/openid-configuration",
        "    HTTP 200: taken",
    )


def test_a_server_of_2025_03_26_has_no_metadata_and_three_default_endpoints() -> None:
    played, record = find({}, Settings("endpoint", compat=True))
    assert played.result.resource is None
    assert played.result.server.authorization_endpoint == "https://mcp.example.com/authorize"
    assert played.result.server.token_endpoint == "https://mcp.example.com/token"
    assert played.result.server.registration_endpoint == "https://mcp.example.com/register"
    assert {step.headers for step in played.steps if isinstance(step, Fetch)} == {
        (("Accept", "application/json"), ("MCP-Protocol-Version", "2025-03-26"))
    }
    assert shown(record) == text(
        "- authorization server metadata: https://mcp.example.com/.well-known/oauth-authorization-server",
        "    HTTP 404: not there",
        "- authorization server metadata: https://mcp.example.com/.well-known/openid-configuration",
        "    HTTP 404: not there",
        "+ default endpoints: https://mcp.example.com",
        "    no metadata: /authorize, /token and /register are used",
    )


def test_a_host_that_gives_no_reply_is_asked_once() -> None:
    named = "https://auth.example.com/prm"
    played, record = find({named: LATE, PATH_PLACE: resource(), SERVER_PLACE: server()}, demand=Demand(named))
    assert shown(record) == text(
        "- protected resource metadata: https://auth.example.com/prm",
        "    no usable reply: The deadline passed before the reply was complete",
        "+ protected resource metadata: https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
        "    HTTP 200: taken",
        "- authorization server metadata: https://auth.example.com/.well-known/oauth-authorization-server",
        "    not asked for: its origin gave no reply before",
        "- authorization server metadata: https://auth.example.com/.well-known/openid-configuration",
        "    not asked for: its origin gave no reply before",
    )
    assert played.failure is not None
    assert played.failure.code is Code.OAUTH_DISCOVERY_FAILED


def test_where_the_metadata_was_before_is_asked_after_the_challenge_and_before_the_well_known_places() -> None:
    named, known = "https://mcp.example.com/new", "https://mcp.example.com/custom"
    for site, demand, asked in (
        ({known: resource()}, None, [known]),
        ({known: resource()}, Demand(None, ("a",)), [known]),
        ({known: resource()}, Demand(named), [named, known]),
        ({PATH_PLACE: resource()}, Demand(named), [named, known, PATH_PLACE]),
    ):
        played, _ = find({**site, SERVER_PLACE: server()}, demand=demand, known=known)
        assert played.fetched[:-1] == [f"GET {url}" for url in asked]
        assert played.result.metadata_url == asked[-1]


def test_a_well_known_place_where_the_metadata_was_before_keeps_its_turn() -> None:
    site = {ROOT_PLACE: resource("https://mcp.example.com"), SERVER_PLACE: server()}
    played, _ = find(site, known=ROOT_PLACE)
    assert played.fetched[:-1] == [f"GET {PATH_PLACE}", f"GET {ROOT_PLACE}"]
    assert played.result.metadata_url == ROOT_PLACE


# --- the resource ----------------------------------------------------------------------------------------------


@pytest.mark.requirement("oauth.resource-covers")
@pytest.mark.parametrize(
    ("published", "reason"),
    [
        ("https://evil.example/mcp", "has another origin than the endpoint"),
        ("https://mcp.example.com/other", "names another path than the endpoint's"),
        ("https://mcp.example.com/mcp?a=1", "has a query that is not the endpoint's"),
        ("mcp", "is not usable: the URL must begin with http:// or https://"),
    ],
)
def test_a_resource_that_does_not_cover_the_endpoint_ends_the_sign_in(published: str, reason: str) -> None:
    code, message, last = failure({PATH_PLACE: resource(published), ROOT_PLACE: resource(), SERVER_PLACE: server()})
    assert code is Code.OAUTH_DISCOVERY_FAILED
    assert last == Entry(
        "protected resource metadata", PATH_PLACE, 200, f"`resource` is `{published}`, which {reason}", False
    )
    assert message == (
        f"The protected resource metadata ({PATH_PLACE}) answered HTTP 200: {last.reason}. The server has to change it."
    )


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"authorization_servers": [AUTH]}, "`resource` is missing"),
        ({"resource": ENDPOINT}, "`authorization_servers` is missing or empty"),
        ({"resource": ENDPOINT, "authorization_servers": AUTH}, "`authorization_servers` is not an array of strings"),
    ],
)
def test_malformed_resource_metadata_ends_the_sign_in(document: dict[str, Any], reason: str) -> None:
    code, _, last = failure({PATH_PLACE: answer(document), ROOT_PLACE: resource()})
    assert (code, last.reason) == (Code.OAUTH_DISCOVERY_FAILED, reason)


def test_a_document_that_repeats_a_member_is_passed_over() -> None:
    twice = b'{"resource":"https://a","resource":"https://mcp.example.com/mcp","authorization_servers":["https://a"]}'
    _, record = find({PATH_PLACE: answer(twice), ROOT_PLACE: resource(), SERVER_PLACE: server()})
    assert [attempt.reason for attempt in record] == [
        "the document repeats a member (content type `application/json`)",
        "taken",
        "taken",
    ]


def test_a_redirected_document_is_not_followed() -> None:
    moved = answer(b"", 302, "text/html")
    played, record = find({PATH_PLACE: moved, ROOT_PLACE: resource(), SERVER_PLACE: server()})
    assert record[0].reason == "a redirect, which is not followed"
    assert played.failure is None


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("http://mcp.example.com/prm", "the URL must be an https URL"),
        ("http://127.0.0.1/prm", "the URL must be an https URL, or set `allowLoopbackHttp`"),
        ("/prm", "the URL is not usable: the URL must begin with http:// or https://"),
    ],
)
def test_a_challenge_that_names_an_unusable_url_is_passed_over(named: str, reason: str) -> None:
    played, record = find({PATH_PLACE: resource(), SERVER_PLACE: server()}, demand=Demand(named))
    assert record[0] == Entry("protected resource metadata", named, None, reason, False)
    assert played.failure is None


@pytest.mark.requirement("oauth.record")
def test_facts_hold_every_entry_by_name() -> None:
    _, record = find({ROOT_PLACE: resource("https://mcp.example.com"), SERVER_PLACE: server()})
    assert as_facts(record)[0] == {
        "document": "protected resource metadata",
        "url": PATH_PLACE,
        "status": 404,
        "reason": "not there",
        "taken": False,
    }
    assert len(as_facts(record)) == 3
