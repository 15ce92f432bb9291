"""Layouts of metadata without a socket: an endpoint, its authorization server, and a search for the latter."""

from typing import Any

from oauth.challenge import Demand
from oauth.discovery import Target, discover
from oauth.record import Entry
from oauth.settings import Settings
from protocol.failures import Code
from protocol.mcp.origins import origin
from tests.fakes.oauth_script import Page, Played, answer, play

ENDPOINT = "https://mcp.example.com/mcp"
AUTH = "https://auth.example.com"
ADMITTED = frozenset((origin(ENDPOINT), origin(AUTH)))
PATH_PLACE = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
ROOT_PLACE = "https://mcp.example.com/.well-known/oauth-protected-resource"
SERVER_PLACE = f"{AUTH}/.well-known/oauth-authorization-server"
OPENID_PLACE = f"{AUTH}/.well-known/openid-configuration"


def resource(value: str = ENDPOINT, *issuers: str, **more: Any) -> Page:
    return answer({"resource": value, "authorization_servers": list(issuers or (AUTH,)), **more})


def server_document(issuer: str = AUTH, **more: Any) -> dict[str, Any]:
    base = "https://" + issuer.split("/")[2]
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{base}/authorize",
        "token_endpoint": f"{base}/token",
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        **more,
    }


def server(issuer: str = AUTH, **more: Any) -> Page:
    return answer(server_document(issuer, **more))


def find(
    site: dict[str, Page],
    settings: Settings | None = None,
    demand: Demand | None = None,
    endpoint: str = ENDPOINT,
    admitted: frozenset[str] = ADMITTED,
    known: str | None = None,
) -> tuple[Played, list[Entry]]:
    record: list[Entry] = []
    target = Target(endpoint, settings or Settings(AUTH), admitted)
    return play(discover(target, demand, record, known), site), record


def failure(site: dict[str, Page], **options: Any) -> tuple[Code, str, Entry]:
    played, record = find(site, **options)
    assert played.failure is not None
    return played.failure.code, played.failure.message, record[-1]
