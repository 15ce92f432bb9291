"""A second sign-in beside a token: what it asks for, and which token is used after it."""

from urllib.parse import parse_qs

import pytest

from tests.fakes.authorization_server import (
    ACCESS_TOKEN,
    RESOURCE_PATH,
    AuthorizationServer,
)
from tests.fakes.http_server import Peer, Request
from tests.fakes.sign_in_bench import BEGUN, SECOND_TOKEN, sign_in, signing_in, tokens_shown


def asking_for_more(server: AuthorizationServer, scope: str = "tools.write") -> None:
    """Let the server refuse tool calls to the first token, and give out a second one after that."""

    def protected(request: Request, peer: Peer) -> None:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in (ACCESS_TOKEN, SECOND_TOKEN):
            peer.json({}, ("WWW-Authenticate", server.challenge), status=401)
        elif token == ACCESS_TOKEN and request.rpc == "tools/call":
            server.tokens["access_token"] = SECOND_TOKEN
            challenge = f'Bearer error="insufficient_scope", scope="{scope}"'
            peer.json({"error": "insufficient_scope"}, ("WWW-Authenticate", challenge), status=403)
        else:
            server.mcp(request, peer)

    for method in ("POST", "GET", "DELETE"):
        server.routes[f"{method} /mcp"] = protected


def scopes_asked_for(server: AuthorizationServer) -> list[str]:
    queries = [request.path.partition("?")[2] for request in server.requests if request.path.startswith("/authorize")]
    return [parse_qs(query).get("scope", [""])[0] for query in queries]


@pytest.mark.requirement("oauth.step-up")
def test_a_step_up_asks_for_the_union_and_the_session_goes_on_with_the_new_token() -> None:
    with AuthorizationServer() as server, signing_in(server, stepUp=True) as plugin:
        asking_for_more(server)
        sign_in(plugin)
        refused = plugin.run("call", tool="echo")
        assert (refused["status"], refused["code"]) == ("failed", "http_status")
        assert refused["facts"]["http"]["challenge"][0]["parameters"]["scope"] == "tools.write"
        sign_in(plugin)
        assert plugin.outcome("call", tool="echo") == ("succeeded", None, "open")
        assert scopes_asked_for(server) == ["tools.read", "tools.read tools.write"]
        # One session, one challenge: the second sign-in already knew what was asked for.
        assert len([request for request in server.seen("initialize") if "authorization" in request.headers]) == 1
        assert tokens_shown(server).count("") == 1
        plugin.run("disconnect")
        assert server.seen("DELETE")[0].headers["authorization"] == f"Bearer {SECOND_TOKEN}"


@pytest.mark.requirement("oauth.step-up")
def test_a_step_up_finds_the_metadata_where_the_first_challenge_said_it_was() -> None:
    with AuthorizationServer() as server, signing_in(server, stepUp=True) as plugin:
        server.routes["GET /custom"] = server.routes.pop(f"GET {RESOURCE_PATH}")
        server.challenge = f'Bearer resource_metadata="{server.origin}/custom", scope="tools.read"'
        asking_for_more(server)  # by a refusal that does not say it again
        sign_in(plugin)
        plugin.run("call", tool="echo")
        sign_in(plugin)
        assert plugin.outcome("call", tool="echo") == ("succeeded", None, "open")
        assert [asked for asked in server.asked if "custom" in asked or "protected" in asked] == ["GET /custom"] * 2


@pytest.mark.requirement("oauth.step-up")
def test_without_step_up_a_second_sign_in_beside_a_token_is_refused() -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        asking_for_more(server)
        sign_in(plugin)
        plugin.run("call", tool="echo")
        asked = len(server.requests)
        assert plugin.outcome("oauth_begin") == ("failed", "invalid_binding", "open")
        assert len(server.requests) == asked
        assert plugin.outcome("tools") == ("succeeded", None, "open")


def test_a_denied_step_up_leaves_the_first_token_in_use() -> None:
    with AuthorizationServer() as server, signing_in(server, stepUp=True) as plugin:
        asking_for_more(server)
        sign_in(plugin)
        plugin.run("call", tool="echo")
        server.callback = lambda good: [("error", "access_denied"), ("state", good["state"]), ("iss", good["iss"])]
        plugin.run("oauth_begin")
        assert plugin.outcome("oauth_finish") == ("failed", "oauth_consent_denied", "open")
        assert plugin.outcome("tools") == ("succeeded", None, "open")
        assert tokens_shown(server)[-1] == ACCESS_TOKEN


def test_a_connection_that_was_refused_for_its_token_is_opened_anew_after_a_step_up() -> None:
    def protected(request: Request, peer: Peer) -> None:
        if request.headers.get("authorization") == f"Bearer {SECOND_TOKEN}":
            server.mcp(request, peer)
            return
        if "authorization" in request.headers:
            server.tokens["access_token"] = SECOND_TOKEN
        peer.json({}, ("WWW-Authenticate", 'Bearer error="invalid_token"'), status=401)

    with AuthorizationServer() as server, signing_in(server, stepUp=True) as plugin:
        server.routes["POST /mcp"] = protected
        sign_in(plugin)
        assert plugin.outcome("connect") == ("failed", "http_status", "refused")
        assert plugin.outcome("tools") == ("failed", "not_connected", "refused")
        assert plugin.outcome("oauth_begin") == ("succeeded", None, "refused")
        assert plugin.outcome("oauth_finish") == BEGUN
        assert plugin.outcome("tools") == ("succeeded", None, "open")


def test_a_connection_that_was_refused_for_something_else_is_no_reason_to_sign_in_again() -> None:
    with AuthorizationServer() as server, signing_in(server, stepUp=True) as plugin:
        sign_in(plugin)
        server.routes["POST /mcp"] = lambda _, peer: peer.reply(500, b"", kind="text/plain")
        assert plugin.outcome("connect") == ("failed", "http_status", "refused")
        assert plugin.outcome("oauth_begin") == ("failed", "not_connected", "refused")
