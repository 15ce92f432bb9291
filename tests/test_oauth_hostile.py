"""Sign-ins against authorization servers that misbehave in one way each, over real sockets."""

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from oauth.challenge import Probe
from oauth.discovery import Target
from oauth.fetching import Fetcher
from oauth.flow import ENTROPY, Pending, begin, finish
from oauth.perform import Performer
from oauth.record import Entry, as_facts
from oauth.settings import Settings
from oauth.steps import Fetch, NoReply, Reply
from protocol.failures import Code, Failed, Failure
from protocol.mcp.attempts import Interrupt
from protocol.mcp.http import HttpTransport
from protocol.values.document import encode
from protocol.values.leaks import LeakScanner
from tests.fakes.authorization_server import (
    ACCESS_TOKEN,
    CLIENT_ID,
    CLIENT_SECRET,
    CODE,
    PLANTED,
    RESOURCE_PATH,
    SERVER_PATH,
    AuthorizationServer,
)
from tests.fakes.browser import Page, browse, get, listens
from tests.fakes.http_server import HttpServer, Peer, Request
from tests.fakes.oauth_misbehaviours import MISBEHAVIOURS, redirect_at
from tests.fakes.oauth_script import shown

ENTROPY_BYTES = bytes((number * 37 + 11) % 256 for number in range(ENTROPY))


@pytest.fixture
def server() -> Iterator[AuthorizationServer]:
    with AuthorizationServer() as serving:
        yield serving


class Attempted(NamedTuple):
    """One sign-in: what came of it, what would be kept of it, and where the browser went."""

    result: Any
    failure: Failure | None
    record: list[Entry]
    pages: list[Page]


class SignIn:
    """Drives both halves with the real performer, transport and listener; ``browser`` takes the consent URL."""

    def __init__(self, server: AuthorizationServer, settings: Settings | None = None, hurried: str = "") -> None:
        self.interrupt = Interrupt()
        self.learnt: list[str] = []
        self.pages: list[Page] = []
        self.ports: list[int] = []
        self.record: list[Entry] = []
        self.browser: Callable[[str], list[Page]] = browse
        self.settings = settings or Settings("endpoint", loopback_http=True, consent_timeout_ms=30_000)
        self._server = server
        transport = HttpTransport({server.origin})
        self._fetcher = Fetcher(transport, self.interrupt, name="assay", version="9", timeout=30)
        self._hurried = hurried
        self.performer = Performer(self._fetch, self._learn, self._consent, self.interrupt)
        self._transport = transport

    def run(self) -> Attempted:
        target = Target(self._server.url, self.settings, frozenset((self._server.origin,)))
        probe = Probe(self._server.url, (("X-Region", "eu"),))
        result: Any = None
        failure: Failure | None = None
        try:
            flow = begin(target, probe, ENTROPY_BYTES, self.record)
            pending: Pending = self.performer.run(flow, keep=True)
            result = self.performer.run(finish(pending, self.record))
        except Failed as failed:
            failure = failed.failure
        self.end(failure)
        return Attempted(result, failure, self.record, self.pages)

    def _fetch(self, request: Fetch) -> Reply | NoReply:
        """Give a document that will not come little time, and every other all that it needs."""
        return self._fetcher(request._replace(seconds=0.3) if request.document == self._hurried else request)

    def _learn(self, *values: str) -> None:
        self.learnt.extend(values)

    def _consent(self, url: str) -> None:
        assert url in self.learnt, "the authorization URL has to be private before it goes anywhere"
        redirect = urlsplit(parse_qs(urlsplit(url).query)["redirect_uri"][0])
        self.ports.append(redirect.port or 0)
        self.pages = self.browser(url)

    def end(self, failure: Failure | None) -> None:
        """Hold everything that is kept against every form of every secret, and look for the listener."""
        self._transport.close()
        self.interrupt.close()
        private = [value for value in {*self.learnt, *PLANTED} if len(value) >= 8]
        kept = [encode(as_facts(self.record)), shown(self.record).encode(), repr(failure).encode()]
        assert not any(LeakScanner(private).find(buffer) for buffer in kept)
        assert not any(map(listens, self.ports))


@pytest.mark.requirement("oauth.discovery")
def test_a_server_that_behaves_gives_a_token(server: AuthorizationServer) -> None:
    attempted = SignIn(server).run()
    assert attempted.failure is None
    assert attempted.result.access_token == ACCESS_TOKEN
    assert [page.status for page in attempted.pages] == [302, 303, 200]
    assert server.asked == WAY
    assert server.complaints == []
    # The binding's headers go to the endpoint alone.
    assert ["x-region" in request.headers for request in server.requests] == [True] + [False] * 5
    assert {request.headers.get("user-agent") for request in server.requests if request.method == "POST"} == {"assay/9"}


# --- servers that misbehave in one way each (tests/fakes/oauth_misbehaviours.py) -----------------------------------


#: What drips -> the document of it, as the record calls it.
DRIPPING = {
    "metadata that drips": "authorization server metadata",
    "registration that drips": "client registration",
    "a token reply that drips": "token request",
}


@pytest.mark.parametrize("name", list(MISBEHAVIOURS))
def test_every_misbehaviour_ends_in_its_code_and_leaves_nothing(
    server: AuthorizationServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    change, code, unknown = MISBEHAVIOURS[name]
    change(server)
    with caplog.at_level(logging.DEBUG):
        sign_in = SignIn(server, hurried=DRIPPING.get(name, ""))
        attempted = sign_in.run()
    assert attempted.failure is not None
    assert attempted.failure.code is code
    assert attempted.failure.data == ({"unknown": True} if unknown else None)
    assert not attempted.record[-1].taken or code in {
        Code.OAUTH_CALLBACK_INVALID,
        Code.OAUTH_CONSENT_DENIED,
        Code.OAUTH_ISSUER_MISMATCH,
        Code.OAUTH_STATE_MISMATCH,
    }
    private = [value for value in (*sign_in.learnt, *PLANTED) if len(value) >= 8]
    assert not LeakScanner(private).find(caplog.text.encode())
    # Nothing is asked for twice, and a code is used at most once.
    assert len(set(server.asked)) == len(server.asked)
    assert not any("/moved" in asked for asked in server.asked)
    assert server.complaints == []
    if code is not Code.OAUTH_EXCHANGE_FAILED:
        assert "POST /token" not in server.asked


WAY = [
    "POST /mcp",
    f"GET {RESOURCE_PATH}",
    f"GET {SERVER_PATH}",
    "POST /register",
    "GET /authorize",
    "POST /token",
]


@pytest.mark.requirement("oauth.no-redirects")
@pytest.mark.parametrize(
    ("route", "status", "asked", "code"),
    [
        (WAY[0], 307, WAY, None),
        (WAY[1], 302, [*WAY[:2], "GET /.well-known/oauth-protected-resource"], Code.OAUTH_DISCOVERY_FAILED),
        (WAY[2], 301, [*WAY[:3], "GET /.well-known/openid-configuration"], Code.OAUTH_DISCOVERY_FAILED),
        (WAY[3], 308, WAY[:4], Code.OAUTH_REGISTRATION_FAILED),
        (WAY[5], 307, WAY, Code.OAUTH_EXCHANGE_FAILED),
    ],
)
def test_no_redirect_is_followed_where_it_would_lead_to_a_token(
    server: AuthorizationServer, route: str, status: int, asked: list[str], code: Code | None
) -> None:
    redirect_at(route, status)(server)
    attempted = SignIn(server).run()
    assert (attempted.failure and attempted.failure.code) == code
    assert server.asked == asked


# --- origins that the host has not admitted ----------------------------------------------------------------------


@pytest.mark.requirement("oauth.origin-of-the-issuer")
@pytest.mark.parametrize("member", ["authorization_endpoint", "token_endpoint", "registration_endpoint"])
def test_an_endpoint_on_another_origin_is_never_contacted(server: AuthorizationServer, member: str) -> None:
    with HttpServer(lambda _, peer: peer.json({})) as elsewhere:
        server.metadata[member] = f"{elsewhere.origin}/x"
        attempted = SignIn(server).run()
        assert attempted.failure is not None
        assert attempted.failure.code is Code.ORIGIN_NOT_ADMITTED
        assert elsewhere.origin in attempted.failure.message
        assert elsewhere.accepted == 0
        assert "GET /authorize" not in server.asked


@pytest.mark.requirement("oauth.origin-of-the-issuer")
def test_resource_metadata_on_another_origin_is_never_contacted(server: AuthorizationServer) -> None:
    with HttpServer(lambda _, peer: peer.json({})) as elsewhere:
        server.challenge = f'Bearer resource_metadata="{elsewhere.origin}/prm"'
        attempted = SignIn(server).run()
        assert attempted.failure is not None
        assert attempted.failure.code is Code.ORIGIN_NOT_ADMITTED
        assert elsewhere.accepted == 0
        assert server.asked == ["POST /mcp"]


@pytest.mark.requirement("oauth.origin-of-the-issuer")
def test_an_issuer_on_another_origin_is_never_contacted(server: AuthorizationServer) -> None:
    with HttpServer(lambda _, peer: peer.json({})) as elsewhere:
        server.resource["authorization_servers"] = [elsewhere.origin]
        attempted = SignIn(server, Settings(elsewhere.origin, loopback_http=True)).run()
        assert attempted.failure is not None
        assert attempted.failure.code is Code.ORIGIN_NOT_ADMITTED
        assert elsewhere.accepted == 0


# --- the callback --------------------------------------------------------------------------------------------------


def test_a_callback_by_another_path_is_no_callback(server: AuthorizationServer) -> None:
    server.redirect = lambda uri: uri + "/"
    sign_in = SignIn(server, Settings("endpoint", loopback_http=True, consent_timeout_ms=200))
    attempted = sign_in.run()
    assert [page.status for page in attempted.pages] == [302, 404]
    assert attempted.failure is not None
    assert attempted.failure.code is Code.OAUTH_CONSENT_TIMEOUT
    assert "POST /token" not in server.asked


def test_a_callback_under_another_host_name_is_no_callback(server: AuthorizationServer) -> None:
    sign_in = SignIn(server, Settings("endpoint", loopback_http=True, consent_timeout_ms=200))
    sign_in.browser = lambda url: browse(url, "rebound.example:80")
    attempted = sign_in.run()
    assert [page.status for page in attempted.pages] == [302, 404]
    assert attempted.failure is not None
    assert attempted.failure.code is Code.OAUTH_CONSENT_TIMEOUT


def test_consent_that_is_never_given_ends_at_its_deadline(server: AuthorizationServer) -> None:
    sign_in = SignIn(server, Settings("endpoint", loopback_http=True, consent_timeout_ms=100))
    sign_in.browser = lambda _: []
    attempted = sign_in.run()
    assert attempted.failure is not None
    assert attempted.failure.code is Code.OAUTH_CONSENT_TIMEOUT
    assert attempted.failure.message == (
        "No callback came within 100 ms of opening the consent page (`consentTimeoutMs`)."
    )


def test_a_callback_that_comes_twice_is_used_once(server: AuthorizationServer) -> None:
    def twice(url: str) -> list[Page]:
        pages = browse(url)
        return [*pages, get(pages[1].url), get(pages[1].url.replace(CODE, "code-of-someone-else"))]

    sign_in = SignIn(server)
    sign_in.browser = twice
    attempted = sign_in.run()
    assert [page.status for page in attempted.pages] == [302, 303, 200, 410, 410]
    assert attempted.result.access_token == ACCESS_TOKEN
    assert server.asked.count("POST /token") == 1
    assert server.complaints == []


def test_a_forged_callback_before_the_real_one_ends_the_attempt(server: AuthorizationServer) -> None:
    def forged(url: str) -> list[Page]:
        redirect = parse_qs(urlsplit(url).query)["redirect_uri"][0]
        return [*browse(f"{redirect}?code=code-of-an-attacker&state=guessed-state"), *browse(url)]

    sign_in = SignIn(server)
    sign_in.browser = forged
    attempted = sign_in.run()
    assert [page.status for page in attempted.pages] == [303, 200, 302, 410]
    assert attempted.failure is not None
    assert attempted.failure.code is Code.OAUTH_STATE_MISMATCH
    assert "POST /token" not in server.asked


# --- cancelling ----------------------------------------------------------------------------------------------------


def test_cancelling_while_consent_is_awaited_takes_the_listener_with_it(server: AuthorizationServer) -> None:
    sign_in = SignIn(server)
    cancelling = threading.Thread(target=sign_in.performer.cancel)

    def never(_: str) -> list[Page]:
        cancelling.start()
        return []

    sign_in.browser = never
    attempted = sign_in.run()
    cancelling.join(10)
    assert attempted.failure == Failure(Code.CANCELLED, "The sign-in was cancelled; its listener is gone.")


def test_cancelling_during_the_exchange_is_unknown(server: AuthorizationServer) -> None:
    sign_in = SignIn(server)

    def hang(_: Request, peer: Peer) -> None:
        threading.Thread(target=sign_in.performer.cancel).start()
        peer.hold()

    server.routes["POST /token"] = hang
    attempted = sign_in.run()
    assert attempted.failure is not None
    assert attempted.failure.code is Code.CANCELLED
    assert attempted.failure.data == {"unknown": True}


def test_a_sign_in_that_is_given_up_between_its_halves_leaves_no_listener(server: AuthorizationServer) -> None:
    sign_in = SignIn(server)
    sign_in.browser = lambda _: []
    target = Target(server.url, sign_in.settings, frozenset((server.origin,)))
    sign_in.performer.run(begin(target, Probe(server.url), ENTROPY_BYTES, []), keep=True)
    assert [listens(port) for port in sign_in.ports] == [True]
    sign_in.performer.close()
    sign_in.end(None)


# --- what goes well otherwise --------------------------------------------------------------------------------------


def test_cookies_of_an_authorization_server_are_not_kept(server: AuthorizationServer) -> None:
    server.routes[f"GET {SERVER_PATH}"] = lambda _, peer: peer.json(server.metadata, ("Set-Cookie", "a=b"))
    assert SignIn(server).run().failure is None
    assert not any("cookie" in request.headers for request in server.requests)


def test_a_session_that_is_opened_without_a_token_is_deleted(server: AuthorizationServer) -> None:
    server.routes["POST /mcp"] = server.mcp
    server.routes["DELETE /mcp"] = server.mcp
    attempted = SignIn(server).run()
    assert attempted.failure is None
    assert server.asked[:2] == ["POST /mcp", "DELETE /mcp"]
    assert [attempt.reason for attempt in attempted.record[:2]] == [
        "the server asks for no token on `initialize`",
        "deleted",
    ]


def test_a_confidential_client_is_registered_and_used_where_it_is_allowed(server: AuthorizationServer) -> None:
    server.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_basic"]
    server.registration = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    settings = Settings("endpoint", loopback_http=True, any_authentication=True)
    attempted = SignIn(server, settings).run()
    assert attempted.failure is None
    (token,) = [request for request in server.requests if request.path == "/token"]
    assert token.headers["authorization"].startswith("Basic ")
    assert CLIENT_SECRET.encode() not in token.body


def test_a_listed_issuer_is_taken_when_its_origin_is_admitted(server: AuthorizationServer) -> None:
    server.resource["authorization_servers"] = ["https://elsewhere.example", server.origin]
    attempted = SignIn(server, Settings("listed", loopback_http=True)).run()
    assert attempted.result.issuer == server.origin
