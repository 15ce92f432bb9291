"""`assay login`: a sign-in in the person's own browser, which BROWSER stands in for, and what it leaves nowhere."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from protocol.values.leaks import LeakScanner
from tests.fakes.authorization_server import (
    ACCESS_TOKEN,
    CODE,
    PLANTED,
    RESOURCE_PATH,
    AuthorizationServer,
)
from tests.host_command import Command, Done

ROOT = Path(__file__).resolve().parents[1]
CLIENT = "id-of-a-client-registered-by-hand"
SECRET = "secret-of-that-client-7Gk2"


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path, monkeypatch, capsys)


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a program in place of a browser, which follows redirects and notes how it was started."""
    notes = tmp_path / "browser.json"
    script = tmp_path / "browser.py"
    script.write_text(
        f"import json, os, sys\nsys.path.insert(0, {str(ROOT)!r})\nfrom tests.fakes.browser import browse\n"
        f"open({str(notes)!r}, 'w').write(json.dumps([sys.argv[1:], sorted(os.environ)]))\nbrowse(sys.argv[1])\n"
    )
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(script))} "$1"\n')
    program.chmod(0o755)
    monkeypatch.setenv("BROWSER", str(program))
    # The module looks at the variable once only.
    monkeypatch.setattr("webbrowser._tryorder", None)
    monkeypatch.setattr("webbrowser._browsers", {})
    return notes


def login(assay: Command, server: AuthorizationServer, *words: str) -> Done:
    return assay("login", server.url, *words)


def pasted(done: Done) -> dict[str, Any]:
    """Return the fields of `oauth` that a login says to bind."""
    oauth: dict[str, Any] = json.loads(done.out.splitlines()[-1])["oauth"]
    return oauth


@pytest.mark.requirement("oauth.look-first")
def test_a_sign_in_tells_its_record_and_what_was_granted_and_keeps_nothing(assay: Command, browser: Path) -> None:
    before = set(assay.folder.rglob("*"))
    with AuthorizationServer() as server:
        done = login(assay, server)
        assert done.exit == 0
        assert done.out == (
            f"Signed in at {server.origin}\n"
            "  scopes   tools.read\n"
            "  lasts    3600 s\n"
            "  client   registered for this sign-in; it stays registered\n"
            "The server takes the token. It is forgotten now.\n"
            "To sign in like this in a flow, put this into the binding of its alias:\n"
            f'{{"oauth": {{"issuer": "{server.origin}", "allowLoopbackHttp": true}}}}\n'
        )
        assert "+ client registration: " in done.err
        assert server.seen("DELETE")[0].headers["authorization"] == f"Bearer {ACCESS_TOKEN}"
        state = json.loads(browser.read_text())[0]
        authorize = next(request for request in server.requests if request.path.startswith("/authorize"))
    assert not LeakScanner([*PLANTED, f"{server.origin}{authorize.path}"]).find((done.out + done.err).encode())
    assert set(assay.folder.rglob("*")) == before | {browser}
    # The program was started with the signpost's URL alone.
    (shown,) = state
    assert urlsplit(shown).hostname == "127.0.0.1"
    assert "?" not in shown


def test_scopes_and_a_client_may_be_named_and_no_child_gets_its_secret(
    assay: Command, browser: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLIENT_ID", CLIENT)
    monkeypatch.setenv("CLIENT_SECRET", SECRET)
    words = ["--client-id-env", "CLIENT_ID", "--client-secret-env", "CLIENT_SECRET", "--callback-path", "/cb"]
    with AuthorizationServer() as server:
        server.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
        server.tokens["scope"] = "tools.read"
        done = login(
            assay, server, *words, "--scope", "tools.read", "--scope", "tools.write", "--issuer", server.origin
        )
        assert done.exit == 0, done.err
        assert "  scopes   tools.read (asked for: tools.read tools.write)\n" in done.out
        assert "  client   the one that was named\n" in done.out
        assert pasted(done) == {
            "issuer": server.origin,
            "scopes": ["tools.read", "tools.write"],
            "clientId": {"env": "CLIENT_ID"},
            "clientSecret": {"env": "CLIENT_SECRET"},
            "callbackPath": "/cb",
            "allowLoopbackHttp": True,
        }
        assert "POST /register" not in server.asked
    _, environment = json.loads(browser.read_text())
    assert {"CLIENT_ID", "CLIENT_SECRET"} & set(environment) == set()
    assert not LeakScanner([CLIENT, SECRET]).find((done.out + done.err).encode())


@pytest.mark.parametrize("methods", [["client_secret_post"], ["client_secret_basic", "client_secret_post"], None])
def test_what_a_login_did_beyond_the_defaults_of_a_binding_is_named_to_be_bound(
    assay: Command, browser: Path, methods: list[str] | None
) -> None:
    with AuthorizationServer() as server:
        if methods is None:
            del server.metadata["token_endpoint_auth_methods_supported"]
        else:
            server.metadata["token_endpoint_auth_methods_supported"] = methods
        server.registration |= {
            "client_secret": SECRET,
            "token_endpoint_auth_method": (methods or ["client_secret_basic"])[0],
        }
        done = login(assay, server)
        assert done.exit == 0, done.err
        assert pasted(done) == {
            "issuer": server.origin,
            "clientAuthentication": "any",
            "allowLoopbackHttp": True,
        }
    assert SECRET not in done.out + done.err


@pytest.mark.requirement("oauth.secret-named-issuer")
@pytest.mark.parametrize("words", [(), ("--issuer", "listed")])
def test_a_secret_is_shown_to_no_issuer_that_the_server_chooses(
    assay: Command, browser: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("CLIENT_ID", CLIENT)
    monkeypatch.setenv("CLIENT_SECRET", SECRET)
    named = ["--client-id-env", "CLIENT_ID", "--client-secret-env", "CLIENT_SECRET", "--callback-path", "/cb"]
    with AuthorizationServer() as server:
        done = login(assay, server, *named, *words)
        assert (done.exit, done.out, server.requests) == (2, "", [])
    assert "`--client-secret-env` needs `--issuer`" in done.err


@pytest.mark.requirement("oauth.request-time")
def test_a_server_that_does_not_answer_is_waited_for_as_long_as_was_said(assay: Command, browser: Path) -> None:
    with AuthorizationServer() as server:
        for route in (f"GET {RESOURCE_PATH}", f"GET {RESOURCE_PATH.removesuffix('/mcp')}"):
            server.routes[route] = lambda _, peer: peer.hold()
        done = login(assay, server, "--timeout", "0.5")
    assert done.exit == 1
    assert "The deadline of 0.5 s passed" in done.err


@pytest.mark.requirement("oauth.record")
def test_a_sign_in_that_fails_shows_how_far_it_came(assay: Command, browser: Path) -> None:
    with AuthorizationServer() as server:
        del server.metadata["code_challenge_methods_supported"]
        done = login(assay, server)
    assert (done.exit, done.out) == (1, "")
    assert f"- authorization server metadata: {server.origin}/.well-known/oauth-authorization-server" in done.err
    assert "[oauth_unsupported]" in done.err
    assert not browser.exists()


def test_consent_that_is_denied_is_a_failure(assay: Command, browser: Path) -> None:
    with AuthorizationServer() as server:
        server.callback = lambda good: [("error", "access_denied"), ("state", good["state"]), ("iss", good["iss"])]
        done = login(assay, server)
    assert (done.exit, done.out) == (1, "")
    assert "[oauth_consent_denied]" in done.err


def test_a_token_that_the_server_does_not_take_is_a_failure_after_all(assay: Command, browser: Path) -> None:
    with AuthorizationServer() as server:
        server.tokens["access_token"] = "at-of-no-use-to-anybody"
        done = login(assay, server)
    assert done.exit == 1
    assert done.out.startswith("Signed in at ")
    assert done.err.endswith(
        "It does not take the token that the issuer gave: compare its scopes and audience with what it asks for."
        " [http_status]\n"
    )


@pytest.mark.requirement("field.oauth.alone")
def test_a_bearer_token_beside_the_sign_in_is_refused(
    assay: Command, browser: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "token-of-somebody")
    with AuthorizationServer() as server:
        done = login(assay, server, "--bearer-env", "TOKEN")
        assert (done.exit, server.requests) == (2, [])
    assert done.err == (
        "error: A sign-in may not stand beside a bearer token: take `--bearer-env` or the header out."
        " [invalid_binding]\n"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--callback-path", "/done"], "The sign-in cannot be set up: `--callback-path` must not be /done"),
        (["--client-id-env", "CLIENT_ID"], "`--client-id-env` needs a `--callback-path` beside it"),
        (["--client-metadata-url", "http://x.example/c"], "`--client-metadata-url` must be an https URL"),
        (["--scope", "a b"], "`--scope` must hold scopes of printable ASCII"),
        (["--issuer", "http://auth.example.com"], "`--issuer` must be an https URL."),
    ],
)
def test_what_is_wrong_with_an_option_is_told_by_its_name(
    assay: Command, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    monkeypatch.setenv("CLIENT_ID", CLIENT)
    done = assay("login", "https://mcp.example.com/mcp", *words)
    assert (done.exit, told in done.err) == (2, True), done.err


@pytest.mark.parametrize("url", ["HTTP://127.0.0.1:1/mcp", "http://127.0.0.2:1/mcp", "http://[::1]:1/mcp"])
def test_an_endpoint_on_this_machine_needs_no_tls_however_it_is_spelled(assay: Command, url: str) -> None:
    done = assay("login", url)
    assert (done.exit, "[unreachable]" in done.err) == (4, True), done.err


def test_a_server_without_metadata_is_told_with_the_option_for_old_ones(assay: Command) -> None:
    with AuthorizationServer() as server:
        for path in ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"):
            del server.routes[f"GET {path}"]
        done = login(assay, server)
    assert "Give `--compat 2025-03-26` for a server of that revision. [oauth_discovery_failed]" in done.err


@pytest.mark.requirement("oauth.https")
def test_an_endpoint_without_tls_that_is_not_on_this_machine_is_refused(assay: Command) -> None:
    done = assay("login", "http://mcp.example.com/mcp")
    assert done.exit == 2
    assert "must be an https URL" in done.err


def test_the_code_never_reaches_the_terminal(assay: Command, browser: Path) -> None:
    with AuthorizationServer() as server:
        done = login(assay, server, "--quiet")
    assert (done.exit, done.err) == (0, "")
    assert CODE not in done.out
