"""`oauth_begin` and `oauth_finish` as commands: what may run when, what is kept of them, and whose token is used."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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
from tests.fakes.browser import browse
from tests.fakes.http_server import Peer, Request
from tests.fakes.plugin_bench import Bench, bench

OAUTH = {"issuer": "endpoint", "allowLoopbackHttp": True, "consentTimeoutMs": 20_000}
BEGUN = ("succeeded", None, "none")
SECOND_TOKEN = "at-2-Zx8cV6bN4mL2kJ0hG"


@contextmanager
def signing_in(server: AuthorizationServer, *, others: Any = None, **oauth: Any) -> Iterator[Bench]:
    """A bench whose alias `api` signs in at the server, with a browser that consents at once.

    On the way out nothing private may stand in what was answered, and no listener may be left.
    """
    with bench(server, others=others, oauth=OAUTH | oauth) as plugin:
        ports: list[int] = []

        def consent(url: str) -> None:
            ports.append(port(url))
            browse(url)

        plugin.browser = consent
        yield plugin
    assert not any(listens(each) for each in ports)


def port(url: str) -> int:
    """The port of the callback that an authorization URL names."""
    return urlsplit(parse_qs(urlsplit(url).query)["redirect_uri"][0]).port or 0


def listens(number: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", number)) == 0


def sign_in(plugin: Bench) -> None:
    for half in ("oauth_begin", "oauth_finish"):
        result = plugin.run(half)
        assert result["status"] == "succeeded", result


def tokens_shown(server: AuthorizationServer) -> list[str]:
    """The bearer token of each request to the endpoint, in order; empty where there was none."""
    return [
        request.headers.get("authorization", "").removeprefix("Bearer ")
        for request in server.requests
        if request.path == "/mcp"
    ]


# --- the two halves ------------------------------------------------------------------------------------------------


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
            },
        }
        assert plugin.outcome("tools") == ("succeeded", None, "open")
        assert plugin.outcome("disconnect") == ("succeeded", None, "disconnected")
        assert tokens_shown(server) == ["", *[ACCESS_TOKEN] * 5]
        assert server.complaints == []


def attempt(document: str, url: str, status: int, reason: str) -> dict[str, Any]:
    return {"document": document, "url": url, "status": status, "reason": reason, "taken": True}


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


def test_between_the_halves_no_other_command_runs_on_any_alias() -> None:
    with AuthorizationServer() as server:
        others = {"anon": {"endpoint": server.url}}
        with signing_in(server, others=others) as plugin:
            plugin.run("oauth_begin")
            asked = len(server.requests)
            for alias, command in (("api", "tools"), ("api", "oauth_begin"), ("anon", "connect")):
                refused = plugin.run_as(alias, command)
                assert (refused["status"], refused["code"]) == ("failed", "oauth_required")
                assert refused["message"] == (
                    "Nothing was sent: `api` is signing in, and until its `oauth_finish` no other command runs."
                )
            assert len(server.requests) == asked
            assert plugin.outcome("oauth_finish") == BEGUN
            assert plugin.run_as("anon", "connect", expect={"status": 401})["status"] == "succeeded"


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


def test_a_sign_in_is_good_for_one_finish() -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        sign_in(plugin)
        assert plugin.outcome("oauth_finish") == ("failed", "oauth_required", "none")
        assert server.asked.count("POST /token") == 1


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


def test_an_alias_begins_three_sign_ins_at_most() -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        server.metadata.pop("code_challenge_methods_supported")
        assert [plugin.run("oauth_begin")["code"] for _ in range(3)] == ["oauth_unsupported"] * 3
        asked = len(server.requests)
        last = plugin.run("oauth_begin")
        assert (last["code"], len(server.requests)) == ("oauth_unsupported", asked)
        assert "has begun 3 sign-ins already" in last["message"]


# --- giving up -----------------------------------------------------------------------------------------------------


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


# --- step-up -------------------------------------------------------------------------------------------------------


def asking_for_more(server: AuthorizationServer, scope: str = "tools.write") -> None:
    """Let the server refuse tool calls to the first token, and give out a second one after that."""

    def protected(request: Request, peer: Peer) -> None:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in (ACCESS_TOKEN, SECOND_TOKEN):
            peer.json({}, ("WWW-Authenticate", server.challenge), status=401)
        elif token == ACCESS_TOKEN and request.rpc == "tools/call":
            server.tokens["access_token"] = SECOND_TOKEN
            challenge = f'Bearer error="insufficient_scope", scope="{scope}"'
            peer.json({"error": "insufficient_scope"}, ("WWW-Authenticate", challenge), status=403)
        else:
            server.mcp(request, peer)

    for method in ("POST", "GET", "DELETE"):
        server.routes[f"{method} /mcp"] = protected


def scopes_asked_for(server: AuthorizationServer) -> list[str]:
    queries = [request.path.partition("?")[2] for request in server.requests if request.path.startswith("/authorize")]
    return [parse_qs(query).get("scope", [""])[0] for query in queries]


def test_a_step_up_asks_for_the_union_and_the_session_goes_on_with_the_new_token() -> None:
    with AuthorizationServer() as server, signing_in(server, stepUp=True) as plugin:
        asking_for_more(server)
        sign_in(plugin)
        refused = plugin.run("call", tool="echo")
        assert (refused["status"], refused["code"]) == ("failed", "http_status")
        assert refused["facts"]["http"]["challenge"][0]["parameters"]["scope"] == "tools.write"
        sign_in(plugin)
        assert plugin.outcome("call", tool="echo") == ("succeeded", None, "open")
        assert scopes_asked_for(server) == ["tools.read", "tools.read tools.write"]
        # One session, one challenge: the second sign-in already knew what was asked for.
        assert len([request for request in server.seen("initialize") if "authorization" in request.headers]) == 1
        assert tokens_shown(server).count("") == 1
        plugin.run("disconnect")
        assert server.seen("DELETE")[0].headers["authorization"] == f"Bearer {SECOND_TOKEN}"


def test_without_step_up_a_second_sign_in_beside_a_token_is_refused() -> None:
    with AuthorizationServer() as server, signing_in(server) as plugin:
        asking_for_more(server)
        sign_in(plugin)
        plugin.run("call", tool="echo")
        asked = len(server.requests)
        assert plugin.outcome("oauth_begin") == ("failed", "invalid_binding", "open")
        assert len(server.requests) == asked
        assert plugin.outcome("tools") == ("succeeded", None, "open")


def test_a_denied_step_up_leaves_the_first_token_in_use() -> None:
    with AuthorizationServer() as server, signing_in(server, stepUp=True) as plugin:
        asking_for_more(server)
        sign_in(plugin)
        plugin.run("call", tool="echo")
        server.callback = lambda good: [("error", "access_denied"), ("state", good["state"]), ("iss", good["iss"])]
        plugin.run("oauth_begin")
        assert plugin.outcome("oauth_finish") == ("failed", "oauth_consent_denied", "open")
        assert plugin.outcome("tools") == ("succeeded", None, "open")
        assert tokens_shown(server)[-1] == ACCESS_TOKEN


def test_a_connection_that_was_refused_for_its_token_is_opened_anew_after_a_step_up() -> None:
    def protected(request: Request, peer: Peer) -> None:
        if request.headers.get("authorization") == f"Bearer {SECOND_TOKEN}":
            server.mcp(request, peer)
            return
        if "authorization" in request.headers:
            server.tokens["access_token"] = SECOND_TOKEN
        peer.json({}, ("WWW-Authenticate", 'Bearer error="invalid_token"'), status=401)

    with AuthorizationServer() as server, signing_in(server, stepUp=True) as plugin:
        server.routes["POST /mcp"] = protected
        sign_in(plugin)
        assert plugin.outcome("connect") == ("failed", "http_status", "refused")
        assert plugin.outcome("tools") == ("failed", "not_connected", "refused")
        assert plugin.outcome("oauth_begin") == ("succeeded", None, "refused")
        assert plugin.outcome("oauth_finish") == BEGUN
        assert plugin.outcome("tools") == ("succeeded", None, "open")


def test_a_connection_that_was_refused_for_something_else_is_no_reason_to_sign_in_again() -> None:
    with AuthorizationServer() as server, signing_in(server, stepUp=True) as plugin:
        sign_in(plugin)
        server.routes["POST /mcp"] = lambda _, peer: peer.reply(500, b"", kind="text/plain")
        assert plugin.outcome("connect") == ("failed", "http_status", "refused")
        assert plugin.outcome("oauth_begin") == ("failed", "not_connected", "refused")


# --- renewal -------------------------------------------------------------------------------------------------------


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


# --- without consent -----------------------------------------------------------------------------------------------


def test_a_grant_by_secret_goes_through_both_halves_without_a_page() -> None:
    secret = {"clientId": "ci-client", "clientSecret": "secret-of-the-ci-client", "grant": "client_credentials"}
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


# --- discovery alone -----------------------------------------------------------------------------------------------


def discovered(plugin: Bench) -> Any:
    return json.loads(bytes(plugin.inspector.discover({"alias": "api"})))


def test_discovery_tells_where_a_token_would_come_from_and_changes_nothing() -> None:
    with AuthorizationServer() as server, bench(server, bearerToken="token-of-the-binding") as plugin:
        found = discovered(plugin)
        assert (found["status"], found["effect"], found["state"]) == ("succeeded", "observe", None)
        assert found["message"] == f"A sign-in can begin at the issuer {server.origin}."
        assert found["facts"]["demand"] == {
            "metadata": f"{server.origin}{RESOURCE_PATH}",
            "scopes": ["tools.read"],
            "error": None,
        }
        assert found["facts"]["found"] == {
            "issuer": server.origin,
            "resource": "[redacted]",
            "resourceScopes": None,
            "scopes": None,
            "grants": ["authorization_code", "refresh_token", "client_credentials"],
            "tokenMethods": ["none"],
            "registration": True,
            "metadataDocuments": False,
            "issuerInCallback": True,
        }
        assert [entry["document"] for entry in found["facts"]["signIn"]] == [
            "challenge",
            "protected resource metadata",
            "authorization server metadata",
        ]
        assert server.asked == ["POST /mcp", f"GET {RESOURCE_PATH}", f"GET {SERVER_PATH}"]
        assert not any("authorization" in request.headers for request in server.requests)


def test_discovery_that_fails_keeps_its_record() -> None:
    with AuthorizationServer() as server, bench(server) as plugin:
        server.metadata["issuer"] = "https://elsewhere.example"
        found = discovered(plugin)
        assert (found["status"], found["code"]) == ("failed", "oauth_issuer_mismatch")
        assert found["facts"]["signIn"][-1]["taken"] is False
        assert "found" not in found["facts"]
        assert plugin.outcome("connect", expect={"status": 401}) == ("succeeded", None, "refused")
