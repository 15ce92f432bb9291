"""What a safe sign-in needs of an authorization server, by the member of its metadata that is wanting."""

from typing import Any

import pytest

from oauth.settings import Settings
from protocol.failures import Code
from tests.fakes.oauth_layouts import AUTH, OPENID_PLACE, PATH_PLACE, SERVER_PLACE, failure, find, resource, server


@pytest.mark.requirement("oauth.needs")
@pytest.mark.parametrize(
    ("change", "settings", "code", "reason"),
    [
        (
            {"code_challenge_methods_supported": ["plain"]},
            Settings(AUTH),
            Code.OAUTH_UNSUPPORTED,
            "`code_challenge_methods_supported` does not list `S256`",
        ),
        (
            {"response_types_supported": ["token", "code token"]},
            Settings(AUTH),
            Code.OAUTH_UNSUPPORTED,
            "`response_types_supported` does not list `code`",
        ),
        (
            {"response_types_supported": None},
            Settings(AUTH),
            Code.OAUTH_UNSUPPORTED,
            "`response_types_supported` does not list `code`",
        ),
        (
            {"grant_types_supported": ["client_credentials"]},
            Settings(AUTH),
            Code.OAUTH_UNSUPPORTED,
            "`grant_types_supported` does not list `authorization_code`",
        ),
        (
            {"token_endpoint_auth_methods_supported": ["client_secret_basic"]},
            Settings(AUTH),
            Code.OAUTH_UNSUPPORTED,
            "`token_endpoint_auth_methods_supported` does not list `none`",
        ),
        (
            {"token_endpoint_auth_methods_supported": None},
            Settings(AUTH),
            Code.OAUTH_UNSUPPORTED,
            "`token_endpoint_auth_methods_supported` is missing, so `none` is not listed",
        ),
        (
            {"token_endpoint_auth_methods_supported": ["private_key_jwt"]},
            Settings(AUTH, any_authentication=True),
            Code.OAUTH_UNSUPPORTED,
            "`token_endpoint_auth_methods_supported` lists no method that works with a client secret in the request",
        ),
        (
            {"token_endpoint_auth_methods_supported": ["client_secret_post"]},
            Settings(AUTH, client_id="client", any_authentication=True),
            Code.OAUTH_UNSUPPORTED,
            "`token_endpoint_auth_methods_supported` does not list `none`",
        ),
        (
            {"authorization_endpoint": None},
            Settings(AUTH),
            Code.OAUTH_UNSUPPORTED,
            "`authorization_endpoint` is missing",
        ),
        (
            {"token_endpoint": "http://auth.example.com/token"},
            Settings(AUTH),
            Code.OAUTH_UNSUPPORTED,
            "`token_endpoint` must be an https URL",
        ),
        (
            {"token_endpoint": "http://169.254.169.254/latest"},
            Settings(AUTH, loopback_http=True),
            Code.OAUTH_UNSUPPORTED,
            "`token_endpoint` must be an https URL",
        ),
        (
            {"authorization_endpoint": "javascript:alert(1)"},
            Settings(AUTH),
            Code.OAUTH_UNSUPPORTED,
            "`authorization_endpoint` is not usable: the URL must begin with http:// or https://",
        ),
        (
            {"token_endpoint": "https://10.0.0.1/token"},
            Settings(AUTH),
            Code.ORIGIN_NOT_ADMITTED,
            "`token_endpoint` is at https://10.0.0.1:443, which is not an admitted origin",
        ),
        (
            {"authorization_endpoint": "https://evil.example/a"},
            Settings(AUTH),
            Code.ORIGIN_NOT_ADMITTED,
            "`authorization_endpoint` is at https://evil.example:443, which is not an admitted origin",
        ),
        (
            {"scopes_supported": "a"},
            Settings(AUTH),
            Code.OAUTH_DISCOVERY_FAILED,
            "`scopes_supported` is not an array of strings",
        ),
    ],
)
def test_an_authorization_server_that_cannot_be_used_safely_is_refused_by_the_member(
    change: dict[str, Any], settings: Settings, code: Code, reason: str
) -> None:
    site = {PATH_PLACE: resource(), SERVER_PLACE: server(**change), OPENID_PLACE: server()}
    found = failure(site, settings=settings)
    assert (found[0], found[2].reason) == (code, reason)


@pytest.mark.requirement("oauth.needs")
@pytest.mark.parametrize(
    ("change", "settings"),
    [
        ({"grant_types_supported": ["authorization_code"]}, Settings(AUTH)),
        ({"response_types_supported": ["code token", "code"]}, Settings(AUTH)),
        ({"token_endpoint_auth_methods_supported": None}, Settings(AUTH, any_authentication=True)),
        (
            {
                "grant_types_supported": ["client_credentials"],
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
                "authorization_endpoint": None,
                "code_challenge_methods_supported": None,
                "response_types_supported": None,
            },
            Settings(AUTH, client_id="c", client_secret="s", any_authentication=True, client_credentials=True),
        ),
    ],
)
def test_what_is_not_needed_is_not_asked_for(change: dict[str, Any], settings: Settings) -> None:
    played, _ = find({PATH_PLACE: resource(), SERVER_PLACE: server(**change)}, settings)
    assert played.failure is None
