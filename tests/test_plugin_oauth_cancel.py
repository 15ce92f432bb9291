"""A sign-in that is given up: by a cancel, by the request that began it, and by the end of the plugin."""

import threading

import pytest

from tests.fakes.authorization_server import (
    AuthorizationServer,
)
from tests.fakes.browser import listens
from tests.fakes.plugin_bench import bench
from tests.fakes.sign_in_bench import OAUTH, port, signing_in


@pytest.mark.inside
@pytest.mark.requirement("oauth.listener-gone")
def test_a_cancel_while_consent_is_awaited_fails_the_finish_and_closes_the_listener() -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        ports: list[int] = []
        plugin.browser = lambda url: ports.append(port(url))
        plugin.run("oauth_begin")
        cancelling = threading.Timer(0.05, plugin.inspector.interrupt, ({"alias": "api"},))
        cancelling.start()
        cancelled = plugin.run("oauth_finish")
        cancelling.join()
        assert (cancelled["status"], cancelled["code"]) == ("failed", "cancelled")
        assert cancelled["message"] == "The sign-in was cancelled; its listener is gone."
        assert not listens(ports[0])


def test_the_id_of_the_request_that_began_it_gives_a_sign_in_up() -> None:
    with AuthorizationServer() as server, signing_in(server, others={"anon": {"endpoint": server.url}}) as plugin:
        ports: list[int] = []
        plugin.browser = lambda url: ports.append(port(url))
        plugin.run("oauth_begin")
        plugin.inspector.give_up(plugin.asked + 1)
        assert listens(ports[0])
        plugin.inspector.give_up(plugin.asked)
        assert not listens(ports[0])
        assert plugin.run_as("anon", "connect", expect={"status": 401})["status"] == "succeeded"
        assert plugin.outcome("oauth_finish") == ("failed", "oauth_required", "none")


@pytest.mark.requirement("oauth.listener-gone")
def test_an_end_between_the_halves_leaves_no_listener() -> None:
    with AuthorizationServer() as server:
        ports: list[int] = []
        with bench(server, oauth=OAUTH) as plugin:
            plugin.browser = lambda url: ports.append(port(url))
            plugin.run("oauth_begin")
            assert listens(ports[0])
        assert not listens(ports[0])


def test_a_finish_that_was_cancelled_before_it_ran_ends_the_sign_in() -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        ports: list[int] = []
        plugin.browser = lambda url: ports.append(port(url))
        plugin.run("oauth_begin")
        answers = iter([False, True])
        params = {"alias": "api", "command": "oauth_finish", "arguments": {}}
        assert b'"code":"cancelled"' in plugin.inspector.run(params, 9, lambda: next(answers))
        assert not listens(ports[0])
