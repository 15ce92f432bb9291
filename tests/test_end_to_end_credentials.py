"""A client's credential that an authorization server repeats, as it was sent, is in nothing kept and nothing shown."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote_plus

import pytest

from tests.command_line import Assay, Ran
from tests.fakes import secret_forms
from tests.fakes.authorization_server import PLANTED, AuthorizationServer
from tests.fakes.http_server import Peer, Request

ROOT = Path(__file__).resolve().parents[1]
ID = "client id:by%hand+1"
SECRETS = ["q83/2J+k9xwTq1LmZ0==", "sec ret:%+&=9876543"]
NAMED = ("--client-id-env", "NAME", "--client-secret-env", "SECRET", "--callback-path", "/callback")
FLOW = """---
name: Sign in by a secret
providers:
  api: MCP
---

# Sign in

```rfl
api.oauth_begin
api.oauth_finish
api.disconnect
```
"""


@pytest.fixture
def browser(tmp_path: Path) -> str:
    """A program in place of the person's browser, as BROWSER names it."""
    program = tmp_path / "browser"
    body = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.fakes.browser import browse; browse(sys.argv[1])"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(body)} "$1"\n')
    program.chmod(0o755)
    return str(program)


def server(method: str) -> AuthorizationServer:
    made = AuthorizationServer()
    made.metadata["token_endpoint_auth_methods_supported"] = [method]
    return made


def refuse_repeating(server: AuthorizationServer) -> None:
    """Refuse every token request, quoting its credential and its whole form."""

    def token(request: Request, peer: Peer) -> None:
        said = f"{request.headers.get('authorization', '')} {request.body.decode()}"
        peer.json({"error": said[:60], "error_description": f"bad credentials: {said}"}, status=401)

    server.routes["POST /token"] = token


def grant_repeating(server: AuthorizationServer) -> None:
    """Grant a token whose scope is the credential."""

    def token(request: Request, peer: Peer) -> None:
        peer.json({**server.tokens, "scope": request.headers["authorization"].split(" ")[1]})

    server.routes["POST /token"] = token


def sent(server: AuthorizationServer) -> list[str]:
    """What was private in what the server was sent: the credential, and its form's values in both spellings."""
    found = list(PLANTED)
    for request in server.seen("POST"):
        if request.path == "/token":
            found += [request.headers.get("authorization", "").removeprefix("Basic ")]
            for name, value in parse_qsl(request.body.decode()):
                if name in ("code", "code_verifier", "client_secret", "client_id"):
                    found += [value, quote_plus(value)]
    return [each for each in dict.fromkeys(found) if each]


def leaks(ran: Ran, private: list[str]) -> list[Any]:
    written = {str(path): path.read_bytes() for path in ran.kept}
    written |= {"out": ran.out.encode(), "err": ran.err.encode()}
    return [(name, hit) for name, content in written.items() for hit in secret_forms.found(content, private)]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    ("method", "misbehave"),
    [
        ("client_secret_basic", refuse_repeating),
        ("client_secret_basic", grant_repeating),
        ("client_secret_post", refuse_repeating),
    ],
)
def test_a_credential_that_is_repeated_to_a_client_without_consent_is_nowhere(
    assay: Assay, method: str, misbehave: Any, secret: str
) -> None:
    with server(method) as issuer:
        misbehave(issuer)
        oauth = {"issuer": "endpoint", "allowLoopbackHttp": True, "grant": "client_credentials"}
        oauth |= {"clientId": {"env": "NAME"}, "clientSecret": {"env": "SECRET"}}
        assay.write("bindings.json", json.dumps({"api": {"provider": "MCP", "configuration": {"oauth": oauth}}}))
        assay.write("flow.md", FLOW)
        ran = assay.run("flow.md", "--target", issuer.url, NAME=ID, SECRET=secret)
        assert "POST /token" in issuer.asked
        private = [ID, secret, quote_plus(ID), quote_plus(secret), *sent(issuer)]
    assert ran.statuses[0] == "oauth_begin succeeded"
    assert leaks(ran, private) == []


@pytest.mark.parametrize("registered", [False, True])
@pytest.mark.parametrize("misbehave", [refuse_repeating, grant_repeating])
def test_a_credential_that_is_repeated_to_a_login_is_nowhere(
    assay: Assay, browser: str, misbehave: Any, registered: bool
) -> None:
    with server("client_secret_basic") as issuer:
        misbehave(issuer)
        issuer.registration |= {"client_id": "id of it:9+1", "client_secret": SECRETS[0]} if registered else {}
        words = () if registered else (*NAMED, "--issuer", issuer.origin)
        ran = assay("login", issuer.url, *words, BROWSER=browser, NAME=ID, SECRET=SECRETS[1])
        assert "POST /token" in issuer.asked
        private = ["id of it:9+1", SECRETS[0], ID, SECRETS[1], *map(quote_plus, (ID, *SECRETS)), *sent(issuer)]
    assert (ran.exit == 0) is (misbehave is grant_repeating), ran.err
    assert leaks(ran, private) == []
