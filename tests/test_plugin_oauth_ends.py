"""How a sign-in ends beside the plain ways: given up too late, a renewal that is lost, a token that is not taken."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs

import pytest

from tests.fakes.authorization_server import REFRESH_TOKEN, AuthorizationServer
from tests.fakes.browser import browse
from tests.fakes.http_server import Peer, Request
from tests.fakes.plugin_bench import Bench, bench

OAUTH = {"issuer": "endpoint", "allowLoopbackHttp": True, "consentTimeoutMs": 20_000}


@contextmanager
def signing_in(server: AuthorizationServer, **oauth: Any) -> Iterator[Bench]:
    """A bench whose alias `api` signs in at the server, with a browser that consents at once."""
    with bench(server, oauth=OAUTH | oauth) as plugin:
        plugin.browser = browse
        yield plugin


def sign_in(plugin: Bench) -> None:
    for half in ("oauth_begin", "oauth_finish"):
        result = plugin.run(half)
        assert result["status"] == "succeeded", result


@pytest.mark.parametrize("command", ["connect", "tools"])
def test_a_token_that_the_server_does_not_take_is_no_reason_to_bind_another(command: str) -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        server.tokens["access_token"] = "at-of-no-use-to-anybody"
        sign_in(plugin)
        refused = plugin.run(command)
    assert (refused["status"], refused["code"]) == ("failed", "http_status")
    assert refused["message"].endswith(
        "The server answered HTTP 401 to initialize. It does not take the token that the issuer gave:"
        " compare its scopes and audience (`grant`) with what it asks for."
    )


def test_without_a_sign_in_a_token_is_to_be_bound() -> None:
    with AuthorizationServer() as server, bench(server) as plugin:
        message = plugin.run("connect")["message"]
    assert "`bearerToken` in a binding" in message
    assert "try `assay login URL`, and bind `oauth`" in message


def test_a_sign_in_that_is_given_up_once_its_callback_has_come_is_finished() -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        exchange = server.routes["POST /token"]

        def give_up_and_answer(request: Request, peer: Peer) -> None:
            plugin.inspector.give_up(begun)
            exchange(request, peer)

        server.routes["POST /token"] = give_up_and_answer
        plugin.run("oauth_begin")
        begun = plugin.asked
        assert plugin.outcome("oauth_finish") == ("succeeded", None, "none")
        assert plugin.outcome("tools") == ("succeeded", None, "open")


def test_a_sign_in_that_is_given_up_while_its_callback_is_awaited_is_cancelled() -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        plugin.browser = lambda url: None
        plugin.run("oauth_begin")
        giving_up = threading.Timer(0.05, plugin.inspector.give_up, (plugin.asked,))
        giving_up.start()
        finished = plugin.run("oauth_finish")
        giving_up.join()
        assert finished["status"] == "failed"
        assert finished["code"] in ("cancelled", "oauth_required")
        assert "POST /token" not in server.asked


def test_a_second_sign_in_can_be_given_up_like_the_first() -> None:
    with AuthorizationServer() as server, signing_in(server, stepUp=True) as plugin:
        sign_in(plugin)
        plugin.browser = lambda url: None
        plugin.run("oauth_begin")
        plugin.inspector.give_up(plugin.asked)
        assert plugin.outcome("oauth_finish") == ("failed", "oauth_required", "none")


def test_a_renewal_that_is_lost_on_its_way_fails_the_step_that_it_was_for() -> None:
    with AuthorizationServer() as server, signing_in(server, refresh=True) as plugin:
        exchange = server.routes["POST /token"]
        server.tokens |= {"refresh_token": REFRESH_TOKEN, "expires_in": 0}

        def token(request: Request, peer: Peer) -> None:
            if parse_qs(request.body.decode())["grant_type"] == ["refresh_token"]:
                peer.close()
            else:
                exchange(request, peer)

        server.routes["POST /token"] = token
        sign_in(plugin)
        lost = plugin.run("call", tool="echo")
        assert (lost["status"], lost["code"], lost["state"]) == ("failed", "oauth_exchange_failed", None)
        assert lost["message"].startswith("The token is about to lapse and was not renewed; nothing else was sent.")
        assert lost["message"].endswith("The refresh token is not used again: start the sign-in again.")
        assert server.seen("tools/call") == []
