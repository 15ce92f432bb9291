"""`oauth_begin` and `oauth_finish` as commands: what may run when, what is kept of them, and whose token is used."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from protocol.failures import Code, Failed
from protocol.values.leaks import LeakScanner
from tests.fakes.authorization_server import (
    ACCESS_TOKEN,
    CLIENT_ID,
    CODE,
    PLANTED,
    REFRESH_TOKEN,
    RESOURCE_PATH,
    SERVER_PATH,
    AuthorizationServer,
)
from tests.fakes.browser import browse, listens
from tests.fakes.http_server import Peer, Request
from tests.fakes.plugin_bench import bench
from tests.fakes.sign_in_bench import BEGUN, OAUTH, port, sign_in, signing_in, tokens_shown

# --- the two halves ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("identity.oauth", "command.oauth-begin", "command.oauth-finish", "oauth.registration")
def test_a_sign_in_installs_the_token_and_keeps_its_record() -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        begun = plugin.run("oauth_begin")
        assert (begun["status"], begun["effect"], begun["code"]) == ("succeeded", "mutate", None)
        assert begun["message"] == "The consent page is open. Consent there, then run `oauth_finish`."
        assert begun["state"] == {"kind": "begun", "client": "registration", "scopes": ["tools.read"]}
        origin = server.origin
        assert begun["facts"] == {
            "connection": "none",
            "signIn": [
                attempt("challenge", "[redacted]", 401, "a Bearer challenge with `resource_metadata` and `scope`"),
                attempt("protected resource metadata", f"{origin}{RESOURCE_PATH}", 200, "taken"),
                attempt("authorization server metadata", f"{origin}{SERVER_PATH}", 200, "taken"),
                attempt(
                    "client registration", f"{origin}/register", 201, "registered, with `none` at the token endpoint"
                ),
            ],
        }
        finished = plugin.run("oauth_finish")
        assert (finished["status"], finished["effect"]) == ("succeeded", "mutate")
        assert finished["message"] == "Signed in with the scopes tools.read."
        assert finished["state"] == {
            "kind": "signed-in",
            "client": "registration",
            "requested": ["tools.read"],
            "scopes": ["tools.read"],
            "refresh": False,
        }
        assert finished["facts"] == {
            "connection": "none",
            "signIn": [attempt("token request", f"{origin}/token", 200, "taken")],
            "grant": {
                "issuer": origin,
                "resource": "[redacted]",
                "scopes": ["tools.read"],
                "requested": ["tools.read"],
                "expiresIn": 3600,
                "refresh": False,
                "client": "registration",
                "tokenMethod": "none",
                "publicListed": True,
            },
        }
        assert plugin.outcome("tools") == ("succeeded", None, "open")
        assert plugin.outcome("disconnect") == ("succeeded", None, "disconnected")
        assert tokens_shown(server) == ["", *[ACCESS_TOKEN] * 5]
        assert server.complaints == []


def attempt(document: str, url: str, status: int, reason: str) -> dict[str, Any]:
    return {"document": document, "url": url, "status": status, "reason": reason, "taken": True}


@pytest.mark.requirement("oauth.flow-never-sees")
def test_everything_private_of_a_sign_in_is_learnt_and_stands_in_no_result() -> None:
    with AuthorizationServer() as server, signing_in(server, refresh=True) as plugin:
        server.tokens["refresh_token"] = REFRESH_TOKEN
        urls: list[str] = []

        def consent(url: str) -> None:
            urls.append(url)
            browse(url)

        plugin.browser = consent
        kept = [plugin.raw("api", command) for command in ("oauth_begin", "oauth_finish", "tools", "disconnect")]
        asked = parse_qs(urlsplit(urls[0]).query)
        (form,) = [parse_qs(request.body.decode()) for request in server.requests if request.path == "/token"]
        private = [*urls, asked["state"][0], form["code_verifier"][0], CODE, ACCESS_TOKEN, REFRESH_TOKEN, CLIENT_ID]
        assert set(private) <= set(plugin.learnt)
        assert not any(LeakScanner([*private, *PLANTED]).find(result) for result in kept)


@pytest.mark.requirement("public-headers.not-to-oauth")
def test_private_headers_go_to_the_endpoint_alone_and_public_ones_to_no_oauth_request() -> None:
    with (
        AuthorizationServer() as server,
        bench(server, oauth=OAUTH, headers={"X-Api-Key": "key-of-the-binding"}) as plugin,
    ):
        plugin.browser = browse
        sign_in(plugin)
        plugin.run("connect", headers={"X-Region": "eu"})
        keyed = {request.path.partition("?")[0] for request in server.requests if "x-api-key" in request.headers}
        regional = {request.path for request in server.requests if "x-region" in request.headers}
        assert (keyed, regional) == ({"/mcp"}, {"/mcp"})
        assert "x-region" not in server.requests[0].headers  # the challenge is asked for before any `connect`


@pytest.mark.requirement("arguments.oauth")
def test_a_path_is_joined_before_the_sign_in_begins_and_is_fixed_by_it() -> None:
    with AuthorizationServer() as server:
        server.resource["resource"] = f"{server.url}/team-a"
        server.routes[f"GET {RESOURCE_PATH}/team-a"] = lambda _, peer: peer.json(server.resource)
        server.challenge = "Bearer"
        server.routes["POST /mcp/team-a"] = server.routes["POST /mcp"]
        with signing_in(server) as plugin:
            assert plugin.outcome("oauth_begin", path="team-a") == BEGUN
            assert plugin.outcome("oauth_finish") == BEGUN
            assert plugin.outcome("tools", path="team-b") == ("failed", "binding_fixed", "none")
            assert plugin.outcome("tools") == ("succeeded", None, "open")


# --- what may run when ---------------------------------------------------------------------------------------------


@pytest.mark.requirement("oauth.before-the-token")
@pytest.mark.parametrize("command", ["connect", "tools", "oauth_finish"])
def test_nothing_but_a_sign_in_runs_on_an_alias_that_has_no_token(command: str) -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        assert plugin.outcome(command) == ("failed", "oauth_required", "none")
        assert server.requests == []


def test_an_alias_without_oauth_cannot_sign_in() -> None:
    with AuthorizationServer() as server, bench(server) as plugin:
        for half in ("oauth_begin", "oauth_finish"):
            result = plugin.run(half)
            assert (result["status"], result["code"]) == ("failed", "invalid_binding")
            assert "its binding has no `oauth`" in result["message"]
        assert server.requests == []


@pytest.mark.requirement("oauth.between")
def test_between_the_halves_no_other_command_runs_on_any_alias() -> None:
    with AuthorizationServer() as server:
        others = {"anon": {"endpoint": server.url}}
        with signing_in(server, others=others) as plugin:
            plugin.run("oauth_begin")
            asked = len(server.requests)
            for alias, command in (
                ("api", "tools"),
                ("api", "oauth_begin"),
                ("anon", "connect"),
                ("anon", "disconnect"),
            ):
                refused = plugin.run_as(alias, command)
                assert (refused["status"], refused["code"]) == ("failed", "oauth_required")
                assert refused["message"] == (
                    "Nothing was sent: `api` is signing in, and until its `oauth_finish` no other command runs."
                )
            assert len(server.requests) == asked
            assert plugin.outcome("oauth_finish") == BEGUN
            assert plugin.run_as("anon", "connect", expect={"status": 401})["status"] == "succeeded"


@pytest.mark.requirement("oauth.between")
def test_a_session_of_another_alias_is_not_ended_between_the_halves() -> None:
    with AuthorizationServer() as server:
        server.routes |= {f"{method} /open": server.mcp for method in ("POST", "GET", "DELETE")}
        with signing_in(server, others={"anon": {"endpoint": f"{server.origin}/open"}}) as plugin:
            assert plugin.run_as("anon", "connect")["status"] == "succeeded"
            plugin.run("oauth_begin")
            assert plugin.run_as("anon", "disconnect")["code"] == "oauth_required"
            assert "DELETE /open" not in server.asked
            assert plugin.outcome("oauth_finish") == BEGUN
            assert plugin.run_as("anon", "disconnect")["status"] == "succeeded"


@pytest.mark.requirement("oauth.given-up")
def test_disconnect_between_the_halves_gives_the_sign_in_up() -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        ports: list[int] = []
        plugin.browser = lambda url: ports.append(port(url))
        plugin.run("oauth_begin")
        assert listens(ports[0])
        assert plugin.outcome("disconnect") == ("succeeded", None, "disconnected")
        assert not listens(ports[0])
        assert plugin.outcome("oauth_finish") == ("failed", "disconnected", "disconnected")
        assert plugin.outcome("tools") == ("failed", "disconnected", "disconnected")


@pytest.mark.requirement("command.oauth-finish")
def test_a_sign_in_is_good_for_one_finish() -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        sign_in(plugin)
        assert plugin.outcome("oauth_finish") == ("failed", "oauth_required", "none")
        assert server.asked.count("POST /token") == 1


@pytest.mark.requirement("oauth.left-as-it-is")
def test_nothing_is_revoked_refreshed_or_deregistered() -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        server.metadata["revocation_endpoint"] = f"{server.origin}/revoke"
        server.registration |= {
            "registration_client_uri": f"{server.origin}/register/client",
            "registration_access_token": "rat-of-the-client-4Bz9",
        }
        server.tokens |= {"refresh_token": REFRESH_TOKEN, "expires_in": 0}
        sign_in(plugin)
        plugin.run("connect")
        plugin.run("disconnect")
        plugin.end()
        assert [asked for asked in server.asked if "/mcp" not in asked] == [
            f"GET {SERVER_PATH}",
            "POST /register",
            "GET /authorize",
            "POST /token",
        ]


@pytest.mark.requirement("oauth.before-the-token")
def test_a_failed_finish_leaves_the_alias_without_a_token_and_another_sign_in_may_begin() -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        server.callback = lambda good: [("error", "access_denied"), ("state", good["state"]), ("iss", good["iss"])]
        plugin.run("oauth_begin")
        denied = plugin.run("oauth_finish")
        assert (denied["status"], denied["code"], denied["state"]) == ("failed", "oauth_consent_denied", None)
        assert denied["facts"] == {"connection": "none", "signIn": []}
        assert plugin.outcome("tools") == ("failed", "oauth_required", "none")
        server.callback = lambda good: list(good.items())
        sign_in(plugin)
        assert plugin.outcome("tools") == ("succeeded", None, "open")


@pytest.mark.requirement("oauth.exchange")
def test_a_lost_token_reply_is_unknown_and_its_code_is_spent() -> None:
    def cut(_: Request, peer: Peer) -> None:
        peer.head(200, ("Content-Type", "application/json"), ("Content-Length", "1000"))
        peer.close()

    with AuthorizationServer() as server, signing_in(server) as plugin:
        server.routes["POST /token"] = cut
        plugin.run("oauth_begin")
        lost = plugin.run("oauth_finish")
        assert (lost["status"], lost["code"]) == ("unknown", "oauth_exchange_failed")
        assert [entry["document"] for entry in lost["facts"]["signIn"]] == ["token request"]
        assert server.asked.count("POST /token") == 1


def test_a_host_that_shows_no_page_fails_the_beginning_with_its_own_reason() -> None:
    def refuse(_: str) -> None:
        raise Failed(Code.BROWSER_MISSING, "There is no Chromium.")

    with AuthorizationServer() as server, signing_in(server) as plugin:
        plugin.browser = refuse
        refused = plugin.run("oauth_begin")
        assert (refused["status"], refused["code"], refused["message"]) == (
            "failed",
            "browser_missing",
            "There is no Chromium.",
        )
        assert refused["facts"]["signIn"][-1]["document"] == "client registration"
        assert plugin.outcome("oauth_finish") == ("failed", "oauth_required", "none")


@pytest.mark.requirement("oauth.three-sign-ins")
def test_an_alias_begins_three_sign_ins_at_most() -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        server.metadata.pop("code_challenge_methods_supported")
        assert [plugin.run("oauth_begin")["code"] for _ in range(3)] == ["oauth_unsupported"] * 3
        asked = len(server.requests)
        last = plugin.run("oauth_begin")
        assert (last["code"], len(server.requests)) == ("oauth_unsupported", asked)
        assert "has begun 3 sign-ins already" in last["message"]


# --- without consent -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("oauth.by-secret")
def test_a_grant_by_secret_goes_through_both_halves_without_a_page() -> None:
    secret: dict[str, Any] = {
        "clientId": "ci-client",
        "clientSecret": "secret-of-the-ci-client",
        "grant": "client_credentials",
    }
    with AuthorizationServer() as server, signing_in(server, **secret) as plugin:
        server.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
        plugin.browser = lambda url: pytest.fail("no page is to be opened")
        begun = plugin.run("oauth_begin")
        assert begun["message"] == "The client has all that it needs; no consent is asked for. Run `oauth_finish`."
        assert begun["state"] == {"kind": "begun", "client": "binding", "scopes": ["tools.read"]}
        assert plugin.outcome("oauth_finish") == BEGUN
        assert plugin.outcome("tools") == ("succeeded", None, "open")
        (form,) = [parse_qs(request.body.decode()) for request in server.requests if request.path == "/token"]
        assert form["grant_type"] == ["client_credentials"]
