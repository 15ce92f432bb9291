"""A protected MCP endpoint and its authorization server on one loopback origin, well behaved until told otherwise."""

import json
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qsl, urlencode, urlsplit

#: Made up once for all tests: wherever one of them turns up, something leaked.
CODE = "code-Qm3vZ8-kR5tW1xY7"
ACCESS_TOKEN = "at-8hJ2pL9s-Vb4nC6mX0z"
REFRESH_TOKEN = "rt-1dF5gH7j-K3lQ9wE2r"
CLIENT_ID = "dyn-6yU8iO0p-A2sD4f"
CLIENT_SECRET = "cs-7bN5mK3j-H1gF9d"
SESSION = "sid-3eR5tY7u-I9oP1a"

RESOURCE_PATH = "/.well-known/oauth-protected-resource/mcp"
SERVER_PATH = "/.well-known/oauth-authorization-server"


class Asked(NamedTuple):
    """One request. Header names are in lower case."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, str]:
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))


class Given(NamedTuple):
    """One reply. A body in parts has no length and ends with the connection."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | Iterable[bytes] = b""


def given(value: Any, status: int = 200, kind: str = "application/json", **fields: str) -> Given:
    """A JSON reply, or one with the bytes that are given."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    headers = (("Content-Type", kind), *((name.replace("_", "-"), text) for name, text in fields.items()))
    return Given(status, headers, body)


class AuthorizationServer:
    """Serves from ``with`` to its end. Tests change its documents, its ``callback`` pairs, and its ``routes``.

    It is strict about what a client has to do: a code is good once, with the verifier of its challenge, from the same
    redirect and client. What it does not like it keeps in ``complaints``.
    """

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.complaints: list[str] = []
        self.closing = threading.Event()
        self._consents: dict[str, dict[str, str]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        url = self.url
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
        #: Pairs of the callback's query, made of what it should be. None: the person says nothing.
        self.callback: Callable[[dict[str, str]], list[tuple[str, str]] | None] = lambda good: list(good.items())
        #: The address of the callback, made of the redirect URI that was asked for.
        self.redirect: Callable[[str], str] = lambda uri: uri
        self.routes: dict[tuple[str, str], Callable[[Asked], Given]] = {
            ("POST", "/mcp"): self._mcp,
            ("DELETE", "/mcp"): lambda _: Given(204),
            ("GET", RESOURCE_PATH): lambda _: given(self.resource),
            ("GET", SERVER_PATH): lambda _: given(self.metadata),
            ("POST", "/register"): lambda _: given(self.registration, 201),
            ("GET", "/authorize"): self._authorize,
            ("POST", "/token"): self._token,
        }

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def paths(self) -> list[str]:
        """Method and path of each request so far."""
        return [f"{asked.method} {asked.path}" for asked in self.asked]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def drip(self, parts: Iterable[bytes]) -> Iterable[bytes]:
        """Give parts one by one, a little apart, until the server closes; then nothing more."""
        for part in parts:
            yield part
            if self.closing.wait(0.02):
                return

    # --- what a good server does --------------------------------------------------------------------------------

    def _mcp(self, asked: Asked) -> Given:
        if asked.headers.get("authorization") == f"Bearer {ACCESS_TOKEN}":
            return given({"jsonrpc": "2.0", "id": 1, "result": {}})
        return given({"error": "invalid_token"}, 401, WWW_Authenticate=self.challenge)

    def _authorize(self, asked: Asked) -> Given:
        sent = dict(parse_qsl(asked.query, strict_parsing=True))
        self._consents[CODE] = sent
        good = {"code": CODE, "state": sent["state"], "iss": self.metadata["issuer"]}
        pairs = self.callback(good)
        if pairs is None:
            return given(b"<p>Log in, please</p>", 200, "text/html")
        return Given(302, (("Location", f"{self.redirect(sent['redirect_uri'])}?{urlencode(pairs)}"),))

    def _token(self, asked: Asked) -> Given:
        form = asked.form
        if form.get("grant_type") == "authorization_code":
            consent = self._consents.pop(form.get("code", ""), None)
            complaint = "the code is unknown or spent" if consent is None else self._complaint(consent, form)
            if complaint is not None:
                self.complaints.append(complaint)
                return given({"error": "invalid_grant", "error_description": complaint}, 400)
        return given(self.tokens)

    @staticmethod
    def _complaint(consent: dict[str, str], form: dict[str, str]) -> str | None:
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

    # --- HTTP ---------------------------------------------------------------------------------------------------

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except ConnectionError:
                    self.close_connection = True

            def respond(self) -> None:
                parts = urlsplit(self.path)
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, parts.path, parts.query, headers, body)
                fake.asked.append(asked)
                answer = fake.routes.get((asked.method, asked.path), lambda _: given(b"no", 404, "text/plain"))
                self.give(answer(asked))

            def give(self, reply: Given) -> None:
                self.send_response(reply.status)
                for name, value in reply.headers:
                    self.send_header(name, value)
                if isinstance(reply.body, bytes):
                    self.send_header("Content-Length", str(len(reply.body)))
                    self.end_headers()
                    self.wfile.write(reply.body)
                    return
                self.send_header("Connection", "close")
                self.end_headers()
                for part in reply.body:
                    self.wfile.write(part)

            do_GET = do_POST = do_DELETE = respond

        return Handler
