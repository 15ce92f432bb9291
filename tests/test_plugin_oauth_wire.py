"""Sign-ins through the real executable: every misbehaviour ends in its code, and nothing private is left anywhere."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from protocol.values.leaks import LeakScanner
from tests.fakes.authorization_server import ACCESS_TOKEN, CODE, PLANTED, AuthorizationServer
from tests.fakes.browser import Page, browse, get, listens
from tests.fakes.http_server import Peer, Request
from tests.fakes.oauth_misbehaviours import MISBEHAVIOURS
from tests.fakes.plugin_driver import PluginDriver, step

OAUTH = {"issuer": "endpoint", "allowLoopbackHttp": True, "consentTimeoutMs": 20_000}
#: Milliseconds for each request to a server that drips: more than its other answers ever take.
IMPATIENT = 3_000


class SignIn:
    """One plugin process that signs in at a server; ``pages`` is what its browser saw, ``urls`` what it was shown."""

    def __init__(self, server: AuthorizationServer, plugin: PluginDriver) -> None:
        self.server = server
        self.plugin = plugin
        self.pages: list[Page] = []
        self.urls: list[str] = []
        self.visit: Any = browse
        plugin.browser = self._show

    def _show(self, url: str) -> None:
        self.urls.append(url)
        self.pages += self.visit(url) or []

    def run(self) -> dict[str, Any]:
        """Carry out both halves, the second one if the first succeeded; return the last result."""
        begun = self.plugin.run("api", "oauth_begin")
        return begun if begun["status"] != "succeeded" else self.plugin.run("api", "oauth_finish")

    @property
    def port(self) -> int:
        """The port of the callback of the last page."""
        redirect = parse_qs(urlsplit(self.urls[-1]).query)["redirect_uri"][0]
        return urlsplit(redirect).port or 0

    @property
    def private(self) -> list[str]:
        """Everything that the plugin said is private, and what the server planted."""
        told = [entry["params"]["values"] for entry in self.plugin.notifications if entry["method"] == "secrets/learnt"]
        return [
            value for value in {*PLANTED, *self.urls, *(one for values in told for one in values)} if len(value) > 7
        ]


@contextmanager
def signing_in(server: AuthorizationServer, timeout: int = 15_000, **oauth: Any) -> Iterator[SignIn]:
    """Give a sign-in; afterwards no listener is left, and nothing private in any reply or diagnostic."""
    with PluginDriver() as plugin:
        binding = {"endpoint": server.url, "timeoutMs": timeout, "oauth": OAUTH | oauth}
        plugin.initialize([server.origin], api=binding)
        sign_in = SignIn(server, plugin)
        yield sign_in
        if sign_in.urls:
            assert not listens(sign_in.port)
        assert plugin.end() == 0
        scanner = LeakScanner(sign_in.private)
        assert not scanner.find(bytes(plugin.public))
        assert not scanner.find(bytes(plugin.diagnostics))


@pytest.fixture
def server() -> Iterator[AuthorizationServer]:
    with AuthorizationServer() as serving:
        yield serving


@pytest.mark.requirement("oauth.before-the-token", "oauth.listener-gone", "oauth.callback-checked")
@pytest.mark.parametrize("name", list(MISBEHAVIOURS))
def test_every_misbehaviour_ends_in_its_code_with_nothing_left(server: AuthorizationServer, name: str) -> None:
    change, code, unknown = MISBEHAVIOURS[name]
    change(server)
    with signing_in(server, IMPATIENT if "drips" in name else 15_000) as sign_in:
        result = sign_in.run()
        assert (result["status"], result["code"]) == ("unknown" if unknown else "failed", str(code))
        assert result["state"] is None
        assert sign_in.plugin.run("api", "tools")["code"] == "oauth_required"
    # Nothing is asked for twice, and a code is used at most once.
    assert len(set(server.asked)) == len(server.asked)
    assert not any("/moved" in asked for asked in server.asked)
    assert server.complaints == []
    if not str(code).startswith("oauth_exchange"):
        assert "POST /token" not in server.asked


@pytest.mark.requirement("oauth.flow-never-sees")
def test_a_sign_in_that_goes_well_leaves_nothing_but_its_facts(server: AuthorizationServer) -> None:
    with signing_in(server) as sign_in:
        assert sign_in.run()["status"] == "succeeded"
        assert sign_in.plugin.run("api", "tools")["status"] == "succeeded"
        assert sign_in.plugin.run("api", "disconnect")["status"] == "succeeded"
    assert set(sign_in.urls) <= set(sign_in.private)
    assert {ACCESS_TOKEN, CODE} <= set(sign_in.private)


@pytest.mark.requirement("oauth.private-channel")
def test_the_url_is_announced_as_private_before_the_host_is_asked_to_show_it(server: AuthorizationServer) -> None:
    with signing_in(server) as sign_in:
        sign_in.run()
        written = bytes(sign_in.plugin.seen)
    assert written.index(b'"secrets/learnt"') < written.index(b'"consent/open"')
    url = sign_in.urls[0].encode()
    assert written.index(url) < written.index(b'"consent/open"')


@pytest.mark.requirement("oauth.listener")
def test_a_callback_that_comes_twice_is_used_once(server: AuthorizationServer) -> None:
    def twice(url: str) -> list[Page]:
        pages = browse(url)
        return [*pages, get(pages[1].url), get(pages[1].url.replace(CODE, "code-of-someone-else"))]

    with signing_in(server) as sign_in:
        sign_in.visit = twice
        assert sign_in.run()["status"] == "succeeded"
    assert [page.status for page in sign_in.pages] == [302, 303, 200, 410, 410]
    assert server.asked.count("POST /token") == 1


@pytest.mark.requirement("oauth.listener")
def test_a_callback_by_another_path_or_host_is_none(server: AuthorizationServer) -> None:
    server.redirect = lambda uri: uri + "/"

    def other_host(url: str) -> list[Page]:
        return [*browse(url), *browse(url, "rebound.example:80")]

    with signing_in(server, consentTimeoutMs=300) as sign_in:
        sign_in.visit = other_host
        assert sign_in.run()["code"] == "oauth_consent_timeout"
    assert [page.status for page in sign_in.pages] == [302, 404, 302, 404]
    assert "POST /token" not in server.asked


def test_consent_that_is_never_given_ends_at_its_deadline(server: AuthorizationServer) -> None:
    with signing_in(server, consentTimeoutMs=100) as sign_in:
        sign_in.visit = lambda url: []
        result = sign_in.run()
        assert (result["status"], result["code"]) == ("failed", "oauth_consent_timeout")


# --- giving up -----------------------------------------------------------------------------------------------------


def awaiting(sign_in: SignIn) -> int:
    """Begin, and let nobody consent; return the id of the request that began it."""
    sign_in.visit = lambda url: []
    assert sign_in.plugin.run("api", "oauth_begin")["status"] == "succeeded"
    assert listens(sign_in.port)
    return sign_in.plugin.last


def test_a_cancel_of_a_waiting_finish_is_answered_at_once(server: AuthorizationServer) -> None:
    with signing_in(server) as sign_in:
        awaiting(sign_in)
        waiting = sign_in.plugin.send("run", step("api", "oauth_finish"))
        sign_in.plugin.notify("cancel", {"id": waiting})
        result = sign_in.plugin.reply()["result"]
        assert (result["status"], result["code"]) == ("failed", "cancelled")


@pytest.mark.requirement("oauth.given-up")
@pytest.mark.parametrize("waiting", [False, True])
def test_a_cancel_of_the_beginning_gives_the_sign_in_up(server: AuthorizationServer, waiting: bool) -> None:
    with signing_in(server) as sign_in:
        began = awaiting(sign_in)
        if waiting:
            sign_in.plugin.send("run", step("api", "oauth_finish"))
            sign_in.plugin.notify("cancel", {"id": began})
            # Whether the finish had begun to wait by then is nobody's to say.
            assert sign_in.plugin.reply()["result"]["code"] in ("cancelled", "oauth_required")
        else:
            sign_in.plugin.notify("cancel", {"id": began})
            assert sign_in.plugin.run("api", "oauth_finish")["code"] == "oauth_required"
        assert not listens(sign_in.port)


def test_a_cancel_while_the_host_is_asked_for_the_page_ends_the_beginning(server: AuthorizationServer) -> None:
    with signing_in(server) as sign_in:
        asked, hold = threading.Event(), threading.Event()

        def slow(url: str) -> list[Page]:
            asked.set()
            hold.wait(20)
            return []

        sign_in.visit = slow
        began = sign_in.plugin.send("run", step("api", "oauth_begin"))
        assert asked.wait(20)
        sign_in.plugin.notify("cancel", {"id": began})
        hold.set()  # its answer may still come, and is then dropped
        result = sign_in.plugin.reply()["result"]
        assert (result["status"], result["code"]) == ("failed", "cancelled")


@pytest.mark.requirement("oauth.exchange")
def test_a_cancel_during_the_exchange_is_unknown(server: AuthorizationServer) -> None:
    reached = threading.Event()

    def hang(_: Request, peer: Peer) -> None:
        reached.set()
        peer.hold()

    server.routes["POST /token"] = hang
    with signing_in(server) as sign_in:
        assert sign_in.plugin.run("api", "oauth_begin")["status"] == "succeeded"
        finishing = sign_in.plugin.send("run", step("api", "oauth_finish"))
        assert reached.wait(20)
        sign_in.plugin.notify("cancel", {"id": finishing})
        result = sign_in.plugin.reply()["result"]
        assert (result["status"], result["code"]) == ("unknown", "cancelled")


@pytest.mark.requirement("oauth.listener-gone")
@pytest.mark.parametrize("end", ["shutdown", "input"])
def test_an_end_while_consent_is_awaited_leaves_no_listener(server: AuthorizationServer, end: str) -> None:
    with signing_in(server) as sign_in:
        awaiting(sign_in)
        if end == "shutdown":
            assert sign_in.plugin.ask("shutdown")["result"] == {}
        assert sign_in.plugin.end() == 0


# --- discovery -----------------------------------------------------------------------------------------------------


def test_discovery_is_answered_with_a_step_result(server: AuthorizationServer) -> None:
    with PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url})
        result = plugin.ask("discover", {"alias": "api"})["result"]
        assert (result["status"], result["effect"], result["facts"]["connection"]) == ("succeeded", "observe", "none")
        assert [entry["taken"] for entry in result["facts"]["signIn"]] == [True, True, True]
        assert plugin.ask("discover", {"alias": "none"})["error"]["data"]["code"] == "invalid_arguments"
        assert plugin.ask("discover", {})["error"]["code"] == -32602


def test_discovery_can_be_cancelled(server: AuthorizationServer) -> None:
    reached = threading.Event()

    def hang(_: Request, peer: Peer) -> None:
        reached.set()
        peer.hold()

    server.routes["POST /mcp"] = hang
    with PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url})
        asked = plugin.send("discover", {"alias": "api"})
        assert reached.wait(20)
        plugin.notify("cancel", {"id": asked})
        result = plugin.reply()["result"]
        assert (result["status"], result["code"]) == ("failed", "cancelled")
