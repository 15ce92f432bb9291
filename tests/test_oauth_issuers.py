"""Which issuer a sign-in means: the listed one, the bound one, the server itself, and the one of 2025-03-26."""

import pytest

from oauth.challenge import Demand
from oauth.settings import Settings
from oauth.steps import NoReply
from protocol.failures import Code
from tests.fakes.oauth_layouts import (
    AUTH,
    ENDPOINT,
    OPENID_PLACE,
    PATH_PLACE,
    SERVER_PLACE,
    failure,
    find,
    resource,
    server,
)
from tests.fakes.oauth_script import NOT_FOUND, UNREACHABLE, answer


@pytest.mark.requirement("oauth.issuer")
def test_an_issuer_that_is_not_listed_is_refused_and_the_listed_ones_are_named() -> None:
    issuers = [f"https://a{number}.example" for number in range(7)]
    code, message, _ = failure({PATH_PLACE: resource(ENDPOINT, *issuers)})
    assert code is Code.OAUTH_ISSUER_MISMATCH
    assert message == (
        f"The protected resource metadata ({PATH_PLACE}) answered HTTP 200: `authorization_servers` does not list "
        "`https://auth.example.com`, but `https://a0.example`, `https://a1.example`, `https://a2.example`, "
        "`https://a3.example`, `https://a4.example` and 2 more. Bind the `issuer` that is meant."
    )


@pytest.mark.requirement("oauth.issuer.endpoint")
@pytest.mark.parametrize(
    "listed",
    ["https://mcp.example.com/tenant", "https://mcp.example.com:8443", "http://mcp.example.com", "https://h?x", AUTH],
)
def test_a_server_is_its_own_issuer_by_its_bare_origin_only(listed: str) -> None:
    code, message, _ = failure({PATH_PLACE: resource(ENDPOINT, listed)}, settings=Settings("endpoint"))
    assert code is Code.OAUTH_ISSUER_MISMATCH
    assert "does not list the server's own origin" in message


def test_the_first_listed_issuer_that_is_admitted_is_taken_when_the_binding_says_so() -> None:
    site = {PATH_PLACE: resource(ENDPOINT, "nonsense", "https://x.example", AUTH), SERVER_PLACE: server()}
    played, _ = find(site, Settings("listed"))
    assert played.result.issuer == AUTH


def test_listed_issuers_that_are_not_admitted_are_named_with_the_way_to_admit_them() -> None:
    site = {PATH_PLACE: resource(ENDPOINT, "https://x.example/t", "https://y.example")}
    code, message, _ = failure(site, settings=Settings("listed"))
    assert code is Code.ORIGIN_NOT_ADMITTED
    assert message.endswith(
        "no listed issuer is at an admitted origin (`https://x.example/t`, `https://y.example`)."
        " Add `--allow-origin https://x.example:443` if it is meant."
    )
    code, _, last = failure({PATH_PLACE: resource(ENDPOINT, "urn:x")}, settings=Settings("listed"))
    assert (code, last.reason) == (
        Code.OAUTH_DISCOVERY_FAILED,
        "`authorization_servers` lists no usable https issuer, but `urn:x`",
    )


@pytest.mark.requirement("oauth.issuer-exact")
@pytest.mark.parametrize("published", [AUTH + "/", AUTH.upper(), "https://AUTH.example.com", "https://evil.example"])
def test_metadata_of_another_issuer_is_never_used_however_similar_its_name(published: str) -> None:
    site = {PATH_PLACE: resource(), SERVER_PLACE: server(published), OPENID_PLACE: NOT_FOUND}
    code, message, _ = failure(site)
    assert code is Code.OAUTH_ISSUER_MISMATCH
    assert message == (
        f"No usable authorization server metadata was found: {SERVER_PLACE} answered HTTP 200: `issuer` is "
        f"`{published}`, not `{AUTH}`: it is not this issuer's; {OPENID_PLACE} answered HTTP 404: not there. "
        "The issuer has to publish its own name."
    )


def test_an_unadmitted_origin_ends_the_sign_in_wherever_it_comes_up() -> None:
    # The transport answers like this for every origin that the host has not admitted.
    refused = NoReply(Code.ORIGIN_NOT_ADMITTED, "The origin https://evil.example:443 is not admitted.", False)
    named = "https://evil.example/prm"
    code, message, last = failure({named: refused, PATH_PLACE: resource()}, demand=Demand(named))
    assert code is Code.ORIGIN_NOT_ADMITTED
    assert message == "The origin https://evil.example:443 is not admitted."
    assert last.url == named


# --- 2025-03-26 ------------------------------------------------------------------------------------------------


def test_default_endpoints_stand_in_for_metadata_that_is_absent_and_for_nothing_else() -> None:
    place = "https://mcp.example.com/.well-known/oauth-authorization-server"
    settings = Settings("endpoint", compat=True)
    for page, code in (
        (server("https://evil.example"), Code.OAUTH_ISSUER_MISMATCH),
        (answer(b"<html>", 200, "text/html"), Code.OAUTH_DISCOVERY_FAILED),
        (answer(b"", 503), Code.OAUTH_DISCOVERY_FAILED),
        (UNREACHABLE, Code.OAUTH_DISCOVERY_FAILED),
    ):
        assert failure({place: page}, settings=settings)[0] is code


def test_default_endpoints_are_held_to_the_same_rules() -> None:
    code, message, _ = failure({}, settings=Settings("endpoint", compat=True), admitted=frozenset())
    assert code is Code.ORIGIN_NOT_ADMITTED
    assert message == (
        "The default endpoints (https://mcp.example.com): `authorization_endpoint` is at https://mcp.example.com:443, "
        "which is not an admitted origin. Add `--allow-origin https://mcp.example.com:443` if it is meant."
    )


@pytest.mark.parametrize("spelled", ["https://mcp.example.com", "https://mcp.example.com/"])
def test_a_server_of_2025_03_26_with_metadata_is_used_by_it(spelled: str) -> None:
    place = "https://mcp.example.com/.well-known/oauth-authorization-server"
    played, _ = find({place: server(spelled)}, Settings("endpoint", compat=True))
    assert played.result.issuer == spelled


def test_a_bound_issuer_is_asked_directly_in_2025_03_26_and_has_no_default_endpoints() -> None:
    settings = Settings(AUTH, compat=True)
    played, _ = find({SERVER_PLACE: server()}, settings)
    assert (played.result.issuer, played.result.resource) == (AUTH, None)
    assert failure({}, settings=settings)[0] is Code.OAUTH_DISCOVERY_FAILED
