"""An MCP server to try Assay on, made with the official SDK: `python -m examples.server --port 0` prints its URL."""

import argparse
import os
import secrets
import socket

import uvicorn
from mcp import types
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from examples.catalogue import Desk, listed

#: The environment variable that holds the one token a protected server accepts: argv is for everyone to read.
TOKEN_VARIABLE = "EXAMPLE_SERVER_TOKEN"


class OneToken:
    """Accepts exactly one bearer token."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def verify_token(self, token: str) -> AccessToken | None:
        known = secrets.compare_digest(token.encode(), self._token.encode())
        return AccessToken(token=token, client_id="example", scopes=[]) if known else None


def application(version: int, token: str | None) -> Starlette:
    """The ASGI application of one version; with a ``token`` it answers 401 to requests that do not bear it."""
    desk = Desk(version)

    async def list_tools(
        context: ServerRequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed(version))

    async def call_tool(context: ServerRequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        authorization = context.request.headers.get("authorization", "") if context.request else ""
        return desk.call(params.name, params.arguments or {}, authorization)

    server: Server = Server("support-desk", version=f"{version}.0", on_list_tools=list_tools, on_call_tool=call_tool)
    if token is None:
        return server.streamable_http_app()
    settings = AuthSettings(issuer_url=AnyHttpUrl("https://issuer.invalid"), resource_server_url=None)
    return server.streamable_http_app(auth=settings, token_verifier=OneToken(token))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m examples.server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--version", type=int, choices=(1, 2), default=1, help="which tools are listed")
    parser.add_argument("--protected", action="store_true", help=f"ask for the bearer token in ${TOKEN_VARIABLE}")
    options = parser.parse_args()
    token = os.environ.get(TOKEN_VARIABLE) if options.protected else None
    if options.protected and not token:
        parser.error(f"--protected needs a token in {TOKEN_VARIABLE}")
    # asyncio turns Nagle's delay off only on sockets that name TCP as their protocol; it costs 40 ms a reply.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", options.port))
        except OSError as error:
            parser.error(f"port {options.port} cannot be served: {error.strerror}")
        listener.listen()
        # The socket listens already, so whoever reads this line can connect at once.
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
        settings = uvicorn.Config(
            application(options.version, token), log_level="warning", timeout_graceful_shutdown=1, lifespan="on"
        )
        uvicorn.Server(settings).run(sockets=[listener])


if __name__ == "__main__":
    main()
