"""A protected MCP endpoint and its authorization server on one loopback origin, well behaved until told otherwise."""

from base64 import urlsafe_b64encode
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode

from tests.fakes.http_server import HttpServer, McpScript, Peer, Request

__all__ = ["AuthorizationServer"]

#: Made up once for all tests: wherever one of them turns up, something leaked.
CODE = "code-Qm3vZ8-kR5tW1xY7"
ACCESS_TOKEN = "at-8hJ2pL9s-Vb4nC6mX0z"
REFRESH_TOKEN = "rt-1dF5gH7j-K3lQ9wE2r"
CLIENT_ID = "dyn-6yU8iO0p-A2sD4f"
CLIENT_SECRET = "cs-7bN5mK3j-H1gF9d"
PLANTED = (CODE, ACCESS_TOKEN, REFRESH_TOKEN, CLIENT_ID, CLIENT_SECRET)

RESOURCE_PATH = "/.well-known/oauth-protected-resource/mcp"
SERVER_PATH = "/.well-known/oauth-authorization-server"

Route = Callable[[Request, Peer], object]
Pairs = list[tuple[str, str]]


class AuthorizationServer(HttpServer):
    """Serves while it is entered. Tests change its documents, the pairs of its ``callback``, and its ``routes``.

    It insists on what a client has to do: a code is good once, with the verifier of its challenge, the same redirect,
    resource and client. What it does not like stands in ``complaints``.
    """

    def __init__(self) -> None:
        super().__init__(self._route)
        url = self.origin
        self.complaints: list[str] = []
        self.challenge = f'Bearer resource_metadata="{url}{RESOURCE_PATH}", scope="tools.read"'
        self.resource: dict[str, Any] = {"resource": f"{url}/mcp", "authorization_servers": [url]}
        self.metadata: dict[str, Any] = {
            "issuer": url,
            "authorization_endpoint": f"{url}/authorize",
            "token_endpoint": f"{url}/token",
            "registration_endpoint": f"{url}/register",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": True,
        }
        self.registration: dict[str, Any] = {"client_id": CLIENT_ID}
        self.tokens: dict[str, Any] = {"access_token": ACCESS_TOKEN, "token_type": "Bearer", "expires_in": 3600}
        #: The pairs of the callback's query, made of what they should be.
        self.callback: Callable[[dict[str, str]], Pairs] = lambda good: list(good.items())
        #: The address of the callback, made of the redirect URI that was asked for.
        self.redirect: Callable[[str], str] = lambda uri: uri
        self.mcp = McpScript()
        self.routes: dict[str, Route] = {
            "POST /mcp": self._protected,
            "GET /mcp": self._protected,
            "DELETE /mcp": self._protected,
            f"GET {RESOURCE_PATH}": lambda _, peer: peer.json(self.resource),
            f"GET {SERVER_PATH}": lambda _, peer: peer.json(self.metadata),
            "POST /register": lambda _, peer: peer.json(self.registration, status=201),
            "GET /authorize": self._authorize,
            "POST /token": self._token,
        }
        self._consents: dict[str, dict[str, str]] = {}

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    @property
    def asked(self) -> list[str]:
        """Method and path, without its query, of each request so far."""
        return [f"{request.method} {request.path.partition('?')[0]}" for request in self.requests]

    def _route(self, request: Request, peer: Peer) -> None:
        route = self.routes.get(f"{request.method} {request.path.partition('?')[0]}")
        if route is None:
            peer.reply(404, b"<html>no such page</html>", kind="text/html")
        else:
            route(request, peer)

    def _protected(self, request: Request, peer: Peer) -> None:
        if request.headers.get("authorization") == f"Bearer {ACCESS_TOKEN}":
            self.mcp(request, peer)
        else:
            peer.json({"error": "invalid_token"}, ("WWW-Authenticate", self.challenge), status=401)

    def _authorize(self, request: Request, peer: Peer) -> None:
        sent = dict(parse_qsl(request.path.partition("?")[2], strict_parsing=True))
        self._consents[CODE] = sent
        pairs = self.callback({"code": CODE, "state": sent["state"], "iss": self.metadata["issuer"]})
        peer.reply(302, b"", ("Location", f"{self.redirect(sent['redirect_uri'])}?{urlencode(pairs)}"))

    def _token(self, request: Request, peer: Peer) -> None:
        form = dict(parse_qsl(request.body.decode(), strict_parsing=True))
        complaint = self._complaint(form) if form.get("grant_type") == "authorization_code" else None
        if complaint is None:
            peer.json(self.tokens)
        else:
            self.complaints.append(complaint)
            peer.json({"error": "invalid_grant", "error_description": complaint}, status=400)

    def _complaint(self, form: dict[str, str]) -> str | None:
        consent = self._consents.pop(form.get("code", ""), None)
        if consent is None:
            return "the code is unknown or spent"
        digest = sha256(form.get("code_verifier", "").encode()).digest()
        challenge = urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (consent.get("code_challenge"), consent.get("code_challenge_method")) != (challenge, "S256"):
            return "the verifier does not fit"
        for name in ("redirect_uri", "resource"):
            if consent.get(name) != form.get(name):
                return f"{name} is not the one of the authorization request"
        if form.get("client_id") not in (None, consent.get("client_id")):
            return "the code is another client's"
        return None
