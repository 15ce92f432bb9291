"""An MCP server to try sign-ins on: `python -m examples.oauth_server --port 0` prints its URL.

Its authorization server is made of the official SDK's classes, with a login form for the user `demo`.
"""

import argparse
import os
import secrets
import time

from mcp import types
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    ProviderTokenVerifier,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from examples.server import listening, serve

#: The environment variable that holds the password of `demo`: argv is for everyone to read.
PASSWORD_VARIABLE = "EXAMPLE_SIGN_IN_PASSWORD"
#: The two scopes of the server; a token without the first is refused at the door.
SCOPES = ["desk.read", "desk.write"]

_FORM = """<!doctype html><title>Sign in</title>
<form method="post" action="/login">
<input type="hidden" name="transaction" value="{transaction}">
<input name="username" autocomplete="off"><input name="password" type="password">
<button name="answer" value="approve">Approve</button><button name="answer" value="deny">Deny</button>
</form>
"""


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Keeps everything in memory. A consent waits under a transaction until the form is sent."""

    def __init__(self, issuer: str, password: str) -> None:
        self._issuer = issuer
        self._password = password
        self._clients: dict[str, OAuthClientInformationFull] = {}
        self._consents: dict[str, tuple[str, AuthorizationParams]] = {}
        self._codes: dict[str, AuthorizationCode] = {}
        self._refresh: dict[str, RefreshToken] = {}
        self._access: dict[str, AccessToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self._clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id is not None
        self._clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        transaction = secrets.token_urlsafe(16)
        assert client.client_id is not None
        self._consents[transaction] = (client.client_id, params)
        return f"{self._issuer}/login?transaction={transaction}"

    async def show_form(self, request: Request) -> Response:
        return HTMLResponse(_FORM.format(transaction=request.query_params["transaction"]))

    async def take_form(self, request: Request) -> Response:
        form = await request.form()
        client_id, params = self._consents.pop(str(form["transaction"]))
        redirect = str(params.redirect_uri)
        known = form["username"] == "demo" and form["password"] == self._password
        if not known or form["answer"] != "approve":
            url = construct_redirect_uri(redirect, error="access_denied", state=params.state, iss=self._issuer)
            return RedirectResponse(url, 303)
        code = AuthorizationCode(
            code=secrets.token_urlsafe(24),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        self._codes[code.code] = code
        return RedirectResponse(construct_redirect_uri(redirect, code=code.code, state=params.state), 303)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self._codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self._codes[authorization_code.code]
        return self._issue(authorization_code.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self._refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self._refresh[refresh_token.token]
        return self._issue(refresh_token.client_id, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self._access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self._access.pop(token.token, None)
        self._refresh.pop(token.token, None)

    def _issue(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        access, refresh = f"at-{secrets.token_urlsafe(24)}", f"rt-{secrets.token_urlsafe(24)}"
        expires = int(time.time()) + 3600
        self._access[access] = AccessToken(
            token=access, client_id=client_id, scopes=scopes, expires_at=expires, resource=resource
        )
        self._refresh[refresh] = RefreshToken(token=refresh, client_id=client_id, scopes=scopes, resource=resource)
        return OAuthToken(access_token=access, expires_in=3600, scope=" ".join(scopes), refresh_token=refresh)


def application(url: str, password: str) -> Starlette:
    provider = Provider(url, password)

    async def list_tools(
        context: ServerRequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="whoami", input_schema={"type": "object"})])

    async def call_tool(context: ServerRequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        return types.CallToolResult(content=[types.TextContent(type="text", text="demo")])

    server: Server = Server("signed-in", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    # From strings: a URL object would have gained a slash, and with it be another issuer than the callback's.
    settings = AuthSettings.model_validate(
        {
            "issuer_url": url,
            "resource_server_url": f"{url}/mcp",
            "validate_token_resource": True,
            "required_scopes": SCOPES[:1],
            "client_registration_options": ClientRegistrationOptions(enabled=True, valid_scopes=SCOPES),
        }
    )
    return server.streamable_http_app(
        auth=settings,
        token_verifier=ProviderTokenVerifier(provider),
        auth_server_provider=provider,
        custom_starlette_routes=[
            Route("/login", provider.show_form, methods=["GET"]),
            Route("/login", provider.take_form, methods=["POST"]),
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m examples.oauth_server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    options = parser.parse_args()
    password = os.environ.get(PASSWORD_VARIABLE)
    if not password:
        parser.error(f"the password of `demo` has to be in {PASSWORD_VARIABLE}")
    with listening(parser, options.port) as listener:
        origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
        serve(application(origin, password), listener)


if __name__ == "__main__":
    main()
