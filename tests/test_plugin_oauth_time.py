"""How long a sign-in may take: each of its requests, the person at the consent page, and what it leaves behind."""

import pytest

from tests.fakes.authorization_server import RESOURCE_PATH, AuthorizationServer
from tests.fakes.browser import listens
from tests.fakes.http_server import Peer, Request
from tests.fakes.processes import until
from tests.fakes.sign_in_bench import BEGUN, port, signing_in


@pytest.mark.requirement("oauth.request-time")
@pytest.mark.parametrize("route", ["POST /mcp", f"GET {RESOURCE_PATH}", "POST /register"])
def test_each_request_of_a_sign_in_has_the_time_of_the_binding(route: str) -> None:
    with AuthorizationServer() as server, signing_in(server, timeout=1_000) as plugin:
        server.routes[route] = lambda _, peer: peer.hold()
        record = plugin.run("oauth_begin")["facts"]["signIn"]
        assert next(entry["reason"] for entry in record if not entry["taken"]).startswith(
            "no usable reply: The deadline of 1 s passed"
        )


@pytest.mark.requirement("oauth.consent-time")
def test_the_time_for_consent_begins_when_the_page_is_open() -> None:
    with AuthorizationServer() as server, signing_in(server, consentTimeoutMs=100) as plugin:
        register = server.routes["POST /register"]

        def slow(request: Request, peer: Peer) -> None:
            server.stopping.wait(0.3)
            register(request, peer)

        server.routes["POST /register"] = slow
        assert plugin.outcome("oauth_begin") == BEGUN
        assert plugin.outcome("oauth_finish") == BEGUN


@pytest.mark.requirement("oauth.consent-time")
def test_a_listener_leaves_at_the_end_of_its_time_when_nobody_finishes() -> None:
    with AuthorizationServer() as server, signing_in(server, consentTimeoutMs=100) as plugin:
        ports: list[int] = []
        plugin.browser = lambda url: ports.append(port(url))
        assert plugin.outcome("oauth_begin") == BEGUN
        until(lambda: not listens(ports[0]))
        late = plugin.run("oauth_finish")
        assert (late["status"], late["code"], late["message"]) == (
            "failed",
            "oauth_consent_timeout",
            "No callback came within 100 ms of opening the consent page (`consentTimeoutMs`).",
        )


def test_a_callback_in_time_is_good_for_a_finish_that_comes_later() -> None:
    with AuthorizationServer() as server, signing_in(server, consentTimeoutMs=100) as plugin:
        ports: list[int] = []
        consent = plugin.browser

        def noting(url: str) -> None:
            ports.append(port(url))
            consent(url)

        plugin.browser = noting
        assert plugin.outcome("oauth_begin") == BEGUN
        until(lambda: not listens(ports[0]))
        assert plugin.outcome("oauth_finish") == BEGUN


@pytest.mark.requirement("oauth.challenge")
def test_a_session_that_was_opened_without_a_token_holds_a_sign_in_up_no_longer_than_a_disconnect() -> None:
    with AuthorizationServer() as server, signing_in(server, timeout=600_000) as plugin:
        server.routes["POST /mcp"] = server.mcp
        server.routes["DELETE /mcp"] = lambda _, peer: peer.hold()
        begun = plugin.run("oauth_begin")
        assert begun["status"] == "succeeded"
        assert begun["facts"]["signIn"][1]["reason"].startswith(
            "its DELETE had no usable reply: The deadline of 1.5 s passed"
        )
