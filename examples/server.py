"""An MCP server to try Assay on, made with the official SDK: `python -m examples.server --port 0` prints its URL."""

import argparse
import hashlib
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from mcp import types
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from examples.catalogue import Desk

#: The environment variables that hold the tokens a protected server accepts: argv is for everyone to read. The second
#: one, which may be missing, is the owner's, who may use more of the tools.
TOKEN_VARIABLE = "EXAMPLE_SERVER_TOKEN"
OWNER_VARIABLE = "EXAMPLE_SERVER_OWNER_TOKEN"


class MintedTokens:
    """Accepts the bearer tokens whose SHA-256 begins a line of a file, as `desk/mint-test-agent-key` writes it."""

    def __init__(self, keys: Path) -> None:
        self._keys = keys

    async def verify_token(self, token: str) -> AccessToken | None:
        lines = self._keys.read_text(encoding="utf-8").splitlines() if self._keys.exists() else []
        known = hashlib.sha256(token.encode()).hexdigest() in {line.partition(" ")[0] for line in lines}
        return AccessToken(token=token, client_id="example", scopes=[]) if known else None


class KnownTokens:
    """Accepts these bearer tokens and no others."""

    def __init__(self, *tokens: str) -> None:
        self._tokens = [token.encode() for token in tokens]

    async def verify_token(self, token: str) -> AccessToken | None:
        known = [secrets.compare_digest(token.encode(), each) for each in self._tokens]
        return AccessToken(token=token, client_id="example", scopes=[]) if any(known) else None


def application(version: int, verifier: TokenVerifier | None, owner: str | None = None) -> Starlette:
    """The ASGI application of one version; with a ``verifier`` it answers 401 to requests without a token of its.

    Who bears the ``owner`` token may use the owner's tools.
    """
    desk = Desk(version, owner)

    def authorization(context: ServerRequestContext) -> str:
        found: str = context.request.headers.get("authorization", "") if context.request else ""
        return found

    async def list_tools(
        context: ServerRequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=desk.tools(authorization(context)))

    async def call_tool(context: ServerRequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
        return desk.call(params.name, params.arguments or {}, authorization(context))

    server: Server = Server("support-desk", version=f"{version}.0", on_list_tools=list_tools, on_call_tool=call_tool)
    if verifier is None:
        return server.streamable_http_app()
    settings = AuthSettings(issuer_url=AnyHttpUrl("https://issuer.invalid"), resource_server_url=None)
    return server.streamable_http_app(auth=settings, token_verifier=verifier)


@contextmanager
def listening(parser: argparse.ArgumentParser, port: int) -> Iterator[socket.socket]:
    """Listen on ``port`` of 127.0.0.1 while the block runs, a free one for 0; end as ``parser`` does if it is taken."""
    # asyncio turns Nagle's delay off only on sockets that name TCP as their protocol; it costs 40 ms a reply.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError as error:
            parser.error(f"port {port} cannot be served: {error.strerror}")
        listener.listen()
        yield listener


def serve(app: Starlette, listener: socket.socket) -> None:
    """Print the URL of the MCP endpoint, and serve until a signal comes."""
    # The socket listens already, so whoever reads this line can connect at once.
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    settings = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1, lifespan="on")
    uvicorn.Server(settings).run(sockets=[listener])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m examples.server", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--version", type=int, choices=(1, 2), default=1, help="which tools are listed")
    parser.add_argument(
        "--protected",
        action="store_true",
        help=f"ask for the bearer token in {TOKEN_VARIABLE}; one in {OWNER_VARIABLE}, if it is set, sees more tools",
    )
    parser.add_argument(
        "--keys",
        type=Path,
        help="ask for a bearer token whose SHA-256 begins a line of this file, which may come later: "
        "desk/mint-test-agent-key makes tokens, and writes to desk/agent-keys",
    )
    options = parser.parse_args()
    token = os.environ.get(TOKEN_VARIABLE) if options.protected else None
    if options.protected and not token:
        parser.error(f"--protected needs a token in {TOKEN_VARIABLE}")
    owner = os.environ.get(OWNER_VARIABLE) if options.protected else None
    minted = MintedTokens(options.keys) if options.keys else None
    verifier = KnownTokens(token, *([owner] if owner else [])) if token else minted
    with listening(parser, options.port) as listener:
        serve(application(options.version, verifier, owner), listener)


if __name__ == "__main__":
    main()
