"""A sign-in with the official SDK's authorization server, from its login form to a listed tool and a refresh."""

import os
import sys
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from examples.oauth_server import PASSWORD_VARIABLE
from oauth.challenge import Probe
from oauth.discovery import Target
from oauth.fetching import Fetcher
from oauth.flow import ENTROPY, Pending, begin, finish
from oauth.perform import Performer
from oauth.record import Entry
from oauth.settings import Settings
from oauth.token import Grant, refresh
from protocol.failures import Code, Failed
from protocol.mcp.attempts import Interrupt
from protocol.mcp.connection import Connection
from protocol.mcp.connection import Settings as ConnectionSettings
from protocol.mcp.http import HttpTransport
from tests.fakes.browser import browse
from tests.fakes.oauth_script import shown
from tests.peers.process import free_port, running

ROOT = Path(__file__).resolve().parents[1]
PASSWORD = "pw-7Yh2Lq9-of-the-login-form"
SETTINGS = Settings("endpoint", loopback_http=True, any_authentication=True, refresh=True, consent_timeout_ms=30_000)


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    port = free_port()
    environment = {PASSWORD_VARIABLE: PASSWORD, "PYTHONPATH": str(ROOT)}
    with running([sys.executable, "-m", "examples.oauth_server", "--port", str(port)], port, environment, ROOT):
        yield f"http://127.0.0.1:{port}"


class SignIn:
    """Drives a sign-in; the form is filled with ``password`` and sent with ``answer``."""

    def __init__(self, origin: str, password: str = PASSWORD, answer: str = "approve") -> None:
        self.record: list[Entry] = []
        self.transport = HttpTransport({origin})
        self.pending: Pending | None = None
        self._endpoint = f"{origin}/mcp"
        self._origin = origin
        self._form = {"username": "demo", "password": password, "answer": answer}
        self._interrupt = Interrupt()
        fetch = Fetcher(self.transport, self._interrupt, name="assay", version="9")
        self.performer = Performer(fetch, lambda *_: None, self._consent, self._interrupt)

    def __enter__(self) -> "SignIn":
        return self

    def __exit__(self, *_: object) -> None:
        self.performer.close()
        self.transport.close()
        self._interrupt.close()

    def run(self) -> Grant:
        target = Target(self._endpoint, SETTINGS, frozenset((self._origin,)))
        flow = begin(target, Probe(self._endpoint), os.urandom(ENTROPY), self.record)
        self.pending = self.performer.run(flow, keep=True)
        return self.performer.run(finish(self.pending, self.record))

    def tools(self, token: str) -> list[str]:
        headers = (("Authorization", f"Bearer {token}"),)
        connection = Connection(self.transport, ConnectionSettings(self._endpoint, headers), lambda _: None)
        try:
            assert connection.initialize().kind == "result"
            return [tool["name"] for tool in connection.request("tools/list", {}).value["tools"]]
        finally:
            connection.end()

    def _consent(self, url: str) -> None:
        form = browse(url)[-1]
        transaction = urlsplit(form.url).query.partition("=")[2]
        connection = HTTPConnection(urlsplit(self._origin).netloc, timeout=30)
        try:
            body = urlencode({**self._form, "transaction": transaction})
            connection.request("POST", "/login", body, {"Content-Type": "application/x-www-form-urlencoded"})
            location = connection.getresponse().headers["Location"]
        finally:
            connection.close()
        assert [page.status for page in browse(location)] == [303, 200]


def test_the_official_authorization_server_gives_a_token_that_lists_tools_and_can_be_refreshed(origin: str) -> None:
    with SignIn(origin) as sign_in:
        grant = sign_in.run()
        assert shown(sign_in.record) == (
            f"+ challenge: {origin}/mcp\n"
            "    HTTP 401: a Bearer challenge with `resource_metadata`\n"
            f"+ protected resource metadata: {origin}/.well-known/oauth-protected-resource/mcp\n"
            "    HTTP 200: taken\n"
            f"+ authorization server metadata: {origin}/.well-known/oauth-authorization-server\n"
            "    HTTP 200: taken\n"
            f"+ client registration: {origin}/register\n"
            "    HTTP 201: registered, with `client_secret_basic` at the token endpoint\n"
            f"+ token request: {origin}/token\n"
            "    HTTP 200: taken\n"
        )
        assert (grant.scopes, grant.expires_in, grant.issuer) == (("desk.read",), 3600, origin)
        assert sign_in.tools(grant.access_token) == ["whoami"]
        assert sign_in.pending is not None
        renewed = sign_in.performer.run(refresh(grant, sign_in.pending.found, sign_in.record))
        assert renewed.access_token != grant.access_token
        assert renewed.refresh_token not in (None, grant.refresh_token)
        assert sign_in.tools(renewed.access_token) == ["whoami"]
        # The old refresh token was rotated away, and is refused without a second try.
        with pytest.raises(Failed) as failed:
            sign_in.performer.run(refresh(grant, sign_in.pending.found, sign_in.record))
        assert failed.value.code is Code.OAUTH_EXCHANGE_FAILED
        assert "the error `invalid_grant`" in failed.value.failure.message


@pytest.mark.parametrize(("password", "answer"), [(PASSWORD, "deny"), ("wrong", "approve")])
def test_a_login_that_is_denied_or_fails_is_a_denied_consent(origin: str, password: str, answer: str) -> None:
    with SignIn(origin, password, answer) as sign_in, pytest.raises(Failed) as failed:
        sign_in.run()
    assert failed.value.code is Code.OAUTH_CONSENT_DENIED
    assert failed.value.failure.message == "Consent was denied: the callback has the error `access_denied`."
