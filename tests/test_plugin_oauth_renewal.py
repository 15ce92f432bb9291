"""A token that is about to lapse: renewed once, before the next command."""

from urllib.parse import parse_qs

import pytest

from tests.fakes.authorization_server import (
    ACCESS_TOKEN,
    CLIENT_ID,
    REFRESH_TOKEN,
    AuthorizationServer,
)
from tests.fakes.http_server import Peer, Request
from tests.fakes.plugin_bench import Bench
from tests.fakes.sign_in_bench import SECOND_TOKEN, sign_in, signing_in, tokens_shown


def renewing(server: AuthorizationServer) -> list[dict[str, list[str]]]:
    """Let the first token lapse at once, and give out another for its refresh token. Returns the forms sent for it."""
    forms: list[dict[str, list[str]]] = []
    exchange = server.routes["POST /token"]
    server.tokens |= {"refresh_token": REFRESH_TOKEN, "expires_in": 0}

    def token(request: Request, peer: Peer) -> None:
        form = parse_qs(request.body.decode())
        if form["grant_type"] != ["refresh_token"]:
            exchange(request, peer)
            return
        forms.append(form)
        peer.json({"access_token": SECOND_TOKEN, "token_type": "Bearer", "expires_in": 3600})

    def protected(request: Request, peer: Peer) -> None:
        if request.headers.get("authorization") in (f"Bearer {ACCESS_TOKEN}", f"Bearer {SECOND_TOKEN}"):
            server.mcp(request, peer)
        else:
            peer.json({}, ("WWW-Authenticate", server.challenge), status=401)

    server.routes["POST /token"] = token
    for method in ("POST", "GET", "DELETE"):
        server.routes[f"{method} /mcp"] = protected
    return forms


def age(plugin: Bench, seconds: int) -> None:
    """Let the token of the alias be older than it is."""
    assert plugin.inspector._aliases is not None
    found = plugin.inspector._aliases["api"].sign_in
    assert found is not None
    found._received -= seconds


@pytest.mark.requirement("oauth.refresh")
def test_a_token_that_is_about_to_lapse_is_renewed_before_the_next_command() -> None:
    with AuthorizationServer() as server, signing_in(server, refresh=True) as plugin:
        forms = renewing(server)
        sign_in(plugin)
        listed = plugin.run("tools")
        assert listed["status"] == "succeeded"
        assert [entry["document"] for entry in listed["facts"]["signIn"]] == ["token request"]
        assert listed["facts"]["grant"]["expiresIn"] == 3600
        assert forms == [
            {
                "grant_type": ["refresh_token"],
                "refresh_token": [REFRESH_TOKEN],
                "client_id": [CLIENT_ID],
                "resource": [server.url],
            }
        ]
        assert set(tokens_shown(server)) == {"", SECOND_TOKEN}
        assert SECOND_TOKEN in plugin.learnt
        assert "signIn" not in plugin.run("tools")["facts"]


def test_a_token_is_renewed_in_the_middle_of_a_session() -> None:
    with AuthorizationServer() as server, signing_in(server, refresh=True) as plugin:
        forms = renewing(server)
        server.tokens["expires_in"] = 3600
        sign_in(plugin)
        plugin.run("connect")
        age(plugin, 3599)
        assert plugin.outcome("call", tool="echo") == ("succeeded", None, "open")
        assert len(forms) == 1
        assert server.seen("tools/call")[0].headers["authorization"] == f"Bearer {SECOND_TOKEN}"


@pytest.mark.requirement("oauth.refresh")
def test_a_renewal_that_fails_fails_the_step_and_is_not_tried_again() -> None:
    with AuthorizationServer() as server, signing_in(server, refresh=True) as plugin:
        renewing(server)
        sign_in(plugin)
        server.routes["POST /token"] = lambda _, peer: peer.json({"error": "invalid_grant"}, status=400)
        failed = plugin.run("call", tool="echo")
        assert (failed["status"], failed["code"]) == ("failed", "oauth_exchange_failed")
        assert failed["message"].startswith("The token is about to lapse and was not renewed; nothing else was sent.")
        assert failed["facts"]["signIn"][0]["reason"] == "the error `invalid_grant`"
        assert (server.seen("tools/call"), server.asked.count("POST /token")) == ([], 2)
        assert plugin.outcome("call", tool="echo") == ("succeeded", None, "open")
        assert server.asked.count("POST /token") == 2


@pytest.mark.requirement("oauth.refresh")
def test_a_disconnect_waits_for_a_renewal_no_longer_than_for_its_delete() -> None:
    with AuthorizationServer() as server, signing_in(server, refresh=True, timeout=600_000) as plugin:
        renewing(server)
        server.tokens["expires_in"] = 3600
        sign_in(plugin)
        plugin.run("connect")
        age(plugin, 3599)
        server.routes["POST /token"] = lambda _, peer: peer.hold()
        ended = plugin.run("disconnect")
        (entry,) = ended["facts"]["signIn"]
        assert entry["reason"].startswith("no usable reply: The deadline of 1.5 s passed")
        assert server.asked.count("DELETE /mcp") == 1
        assert ended["status"] == "succeeded"


def test_a_session_is_ended_whether_or_not_its_token_can_be_renewed() -> None:
    with AuthorizationServer() as server, signing_in(server, refresh=True) as plugin:
        renewing(server)
        server.tokens["expires_in"] = 3600
        sign_in(plugin)
        plugin.run("connect")
        age(plugin, 3599)
        server.routes["POST /token"] = lambda _, peer: peer.json({"error": "invalid_grant"}, status=400)
        assert plugin.outcome("disconnect") == ("succeeded", None, "disconnected")
        assert server.seen("DELETE")[0].headers["authorization"] == f"Bearer {ACCESS_TOKEN}"
