"""What a safe sign-in needs of an authorization server, held against its metadata: the first need that is not met."""

from collections.abc import Callable, Container
from typing import Final, NamedTuple

from oauth.authentication import usable
from oauth.metadata import ServerMetadata
from oauth.settings import Settings
from oauth.urls import endpoint_fault
from protocol.failures import Code
from protocol.mcp.origins import is_admitted, origin

__all__ = ["Lack", "endpoint_lack", "lack"]


class Lack(NamedTuple):
    """Why an authorization server cannot be used; ``advice`` is what the person who binds it can do."""

    code: Code
    reason: str
    advice: str = ""


def lack(server: ServerMetadata, settings: Settings, admitted: Container[str]) -> Lack | None:
    """Return the first need of the settings' grant that the metadata does not meet, or None."""
    needs = _SECRET_NEEDS if settings.client_credentials else _CODE_NEEDS
    for need in needs:
        found = need(server, settings)
        if found is not None:
            return found
    names = ("token_endpoint",) if settings.client_credentials else ("authorization_endpoint", "token_endpoint")
    for name in names:
        found = endpoint_lack(name, getattr(server, name), settings, admitted)
        if found is not None:
            return found
    return None


def endpoint_lack(name: str, url: str | None, settings: Settings, admitted: Container[str]) -> Lack | None:
    """Say what keeps an endpoint of the metadata from being used: it is missing, no https URL, or not admitted."""
    if url is None:
        return Lack(Code.OAUTH_UNSUPPORTED, f"`{name}` is missing")
    fault = endpoint_fault(url, loopback_http=settings.loopback_http)
    if fault is not None:
        return Lack(Code.OAUTH_UNSUPPORTED, f"`{name}` {fault}")
    if not is_admitted(url, admitted):
        its = origin(url)
        advice = f"Add `--allow-origin {its}` if it is meant."
        return Lack(Code.ORIGIN_NOT_ADMITTED, f"`{name}` is at {its}, which is not an admitted origin", advice)
    return None


def _challenge_method(server: ServerMetadata, _: Settings) -> Lack | None:
    if server.challenge_methods is None:
        return Lack(
            Code.OAUTH_UNSUPPORTED,
            "`code_challenge_methods_supported` is missing, so nothing says that PKCE protects the code",
            "The authorization server has to list `S256`.",
        )
    if "S256" not in server.challenge_methods:
        return Lack(Code.OAUTH_UNSUPPORTED, "`code_challenge_methods_supported` does not list `S256`")
    return None


def _response_type(server: ServerMetadata, _: Settings) -> Lack | None:
    if "code" not in (server.response_types or ()):
        return Lack(Code.OAUTH_UNSUPPORTED, "`response_types_supported` does not list `code`")
    return None


def _grant(server: ServerMetadata, settings: Settings) -> Lack | None:
    grant = "client_credentials" if settings.client_credentials else "authorization_code"
    if server.grant_types is not None and grant not in server.grant_types:
        return Lack(Code.OAUTH_UNSUPPORTED, f"`grant_types_supported` does not list `{grant}`")
    return None


def _token_method(server: ServerMetadata, settings: Settings) -> Lack | None:
    if usable(settings, server.token_methods):
        return None
    name = "`token_endpoint_auth_methods_supported`"
    if not settings.any_authentication:
        missing = "does not list `none`" if server.token_methods is not None else "is missing, so `none` is not listed"
        advice = "Set `clientAuthentication` to `any` to authenticate with a secret."
        return Lack(Code.OAUTH_UNSUPPORTED, f"{name} {missing}", advice)
    if settings.client_id is not None and settings.client_secret is None:
        return Lack(Code.OAUTH_UNSUPPORTED, f"{name} does not list `none`", "Bind the client's `clientSecret` as well.")
    return Lack(Code.OAUTH_UNSUPPORTED, f"{name} lists no method that works with a client secret in the request")


_Need = Callable[[ServerMetadata, Settings], Lack | None]
_CODE_NEEDS: Final[tuple[_Need, ...]] = (_challenge_method, _response_type, _grant, _token_method)
_SECRET_NEEDS: Final[tuple[_Need, ...]] = (_grant, _token_method)
