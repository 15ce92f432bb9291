"""What authorization servers do wrong, one thing each, and the code that a sign-in with it ends in."""

import gzip
import json
from collections.abc import Callable
from typing import Any

from oauth.fetching import REPLY_LIMIT
from protocol.failures import Code
from tests.fakes.authorization_server import ACCESS_TOKEN, CODE, SERVER_PATH, AuthorizationServer
from tests.fakes.http_server import Peer, Request

__all__ = ["MISBEHAVIOURS", "redirect_at"]


def pkce_absent(server: AuthorizationServer) -> None:
    del server.metadata["code_challenge_methods_supported"]


def another_issuer(server: AuthorizationServer) -> None:
    server.metadata["issuer"] += "/"


def another_issuer_in_the_callback(server: AuthorizationServer) -> None:
    server.callback = lambda good: list({**good, "iss": good["iss"] + "/"}.items())


def issuer_promised_and_missing(server: AuthorizationServer) -> None:
    server.callback = lambda good: [("code", good["code"]), ("state", good["state"])]


def unpromised_wrong_issuer(server: AuthorizationServer) -> None:
    del server.metadata["authorization_response_iss_parameter_supported"]
    another_issuer_in_the_callback(server)


def mixed_up_state(server: AuthorizationServer) -> None:
    server.callback = lambda good: list({**good, "state": "st-of-someone-else-1234"}.items())


def state_missing(server: AuthorizationServer) -> None:
    server.callback = lambda good: [("code", good["code"]), ("iss", good["iss"])]


def two_codes(server: AuthorizationServer) -> None:
    server.callback = lambda good: [("code", "code-of-someone-else"), *good.items()]


def error_and_code(server: AuthorizationServer) -> None:
    server.callback = lambda good: [*good.items(), ("error", "access_denied")]


def denied(server: AuthorizationServer) -> None:
    server.callback = lambda good: [("error", "access_denied"), ("state", good["state"]), ("iss", good["iss"])]


def denied_with_an_echo(server: AuthorizationServer) -> None:
    server.callback = lambda good: [
        *(("error", "server_error"), ("error_description", f"state {good['state']}")),
        *(("state", good["state"]), ("iss", good["iss"])),
    ]


def another_resource(server: AuthorizationServer) -> None:
    server.resource["resource"] = "https://elsewhere.example/mcp"


def private_address(server: AuthorizationServer) -> None:
    server.metadata["token_endpoint"] = "http://169.254.169.254/latest/meta-data"


def unlisted_issuer(server: AuthorizationServer) -> None:
    server.resource["authorization_servers"] = [f"{server.origin}/other"]


def page_at(path: str, body: bytes, status: int = 200, kind: str = "text/html", *headers: tuple[str, str]) -> Any:
    def change(server: AuthorizationServer) -> None:
        server.routes[path] = lambda _, peer: peer.reply(status, body, *headers, kind=kind)

    return change


def redirect_at(route: str, status: int) -> Any:
    """Move a document to where it is of full use to a client that follows."""

    def change(server: AuthorizationServer) -> None:
        method, _, path = route.partition(" ")
        server.routes[f"{method} /moved{path}"] = server.routes[route]
        server.routes[route] = lambda _, peer: peer.reply(status, b"", ("Location", f"/moved{path}"), kind="text/html")

    return change


def unlimited_at(path: str) -> Any:
    def change(server: AuthorizationServer) -> None:
        server.routes[path] = lambda _, peer: peer.json(b'{"a":"' + b"a" * REPLY_LIMIT + b'"}')

    return change


def dripping_at(path: str) -> Any:
    def change(server: AuthorizationServer) -> None:
        def drip(_: Request, peer: Peer) -> None:
            peer.head(200, ("Content-Type", "application/json"), ("Content-Length", "100000"))
            peer.drip(b" " * 100_000, 0.01)

        server.routes[path] = drip

    return change


def cut_at(path: str) -> Any:
    def change(server: AuthorizationServer) -> None:
        def cut(_: Request, peer: Peer) -> None:
            peer.head(200, ("Content-Type", "application/json"), ("Content-Length", "1000"))
            peer.send(b'{"access_token":')
            peer.close()

        server.routes[path] = cut

    return change


BOMB = gzip.compress(b" " * (16 * REPLY_LIMIT))
TWICE = b'{"access_token":"%b","token_type":"bearer","access_token":"at-of-someone-else"}' % ACCESS_TOKEN.encode()
ECHO = json.dumps({"error": CODE, "error_description": f"{CODE} is bad"}).encode()
JSON = "application/json"

#: What is wrong, by a name for it: how a server is made to do it, the code, and whether something may have happened.
MISBEHAVIOURS: dict[str, tuple[Callable[[AuthorizationServer], None], Code, bool]] = {
    "PKCE absent": (pkce_absent, Code.OAUTH_UNSUPPORTED, False),
    "another issuer in the metadata": (another_issuer, Code.OAUTH_ISSUER_MISMATCH, False),
    "another issuer in the callback": (another_issuer_in_the_callback, Code.OAUTH_ISSUER_MISMATCH, False),
    "iss promised and missing": (issuer_promised_and_missing, Code.OAUTH_ISSUER_MISMATCH, False),
    "iss not promised and wrong": (unpromised_wrong_issuer, Code.OAUTH_ISSUER_MISMATCH, False),
    "mixed-up state": (mixed_up_state, Code.OAUTH_STATE_MISMATCH, False),
    "state missing": (state_missing, Code.OAUTH_STATE_MISMATCH, False),
    "two codes": (two_codes, Code.OAUTH_CALLBACK_INVALID, False),
    "error and code together": (error_and_code, Code.OAUTH_CALLBACK_INVALID, False),
    "denied": (denied, Code.OAUTH_CONSENT_DENIED, False),
    "denied, repeating the state": (denied_with_an_echo, Code.OAUTH_CONSENT_DENIED, False),
    "another resource": (another_resource, Code.OAUTH_DISCOVERY_FAILED, False),
    "metadata at a private address": (private_address, Code.OAUTH_UNSUPPORTED, False),
    "issuer not listed": (unlisted_issuer, Code.OAUTH_ISSUER_MISMATCH, False),
    "metadata too large": (unlimited_at(f"GET {SERVER_PATH}"), Code.OAUTH_DISCOVERY_FAILED, False),
    "metadata that drips": (dripping_at(f"GET {SERVER_PATH}"), Code.OAUTH_DISCOVERY_FAILED, False),
    "metadata that redirects": (
        redirect_at(f"GET {SERVER_PATH}", 302),
        Code.OAUTH_DISCOVERY_FAILED,
        False,
    ),
    "registration refused by a page": (
        page_at("POST /register", b"<html>", 403),
        Code.OAUTH_REGISTRATION_FAILED,
        False,
    ),
    "registration that drips": (dripping_at("POST /register"), Code.OAUTH_REGISTRATION_FAILED, True),
    "a token reply of HTML": (page_at("POST /token", b"<html>token</html>"), Code.OAUTH_EXCHANGE_FAILED, False),
    "a token reply of a form": (
        page_at("POST /token", b"access_token=a&token_type=bearer", 200, "application/x-www-form-urlencoded"),
        Code.OAUTH_EXCHANGE_FAILED,
        False,
    ),
    "a huge token reply": (unlimited_at("POST /token"), Code.OAUTH_EXCHANGE_FAILED, True),
    "a token reply that inflates": (
        page_at("POST /token", BOMB, 200, JSON, ("Content-Encoding", "gzip")),
        Code.OAUTH_EXCHANGE_FAILED,
        True,
    ),
    "a token reply that drips": (dripping_at("POST /token"), Code.OAUTH_EXCHANGE_FAILED, True),
    "a token reply that is cut": (cut_at("POST /token"), Code.OAUTH_EXCHANGE_FAILED, True),
    "a token reply with a repeated member": (
        page_at("POST /token", TWICE, 200, JSON),
        Code.OAUTH_EXCHANGE_FAILED,
        False,
    ),
    "a token refusal that repeats the code": (
        page_at("POST /token", ECHO, 400, JSON),
        Code.OAUTH_EXCHANGE_FAILED,
        False,
    ),
    "a redirecting token endpoint": (
        redirect_at("POST /token", 307),
        Code.OAUTH_EXCHANGE_FAILED,
        False,
    ),
}
