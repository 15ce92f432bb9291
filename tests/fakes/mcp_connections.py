"""Connections of the plugin's own client to a scripted server, opened and ended for a test."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from protocol.mcp.connection import Connection, Settings
from protocol.mcp.http import HttpTransport
from protocol.mcp.origins import origin
from protocol.mcp.replies import Outcome
from tests.fakes.http_server import HttpServer, McpScript

__all__ = ["call", "connection_at", "connection_to", "ignore", "opened"]


def ignore(_: str) -> None:
    """Learn nothing."""


@contextmanager
def connection_at(
    url: str,
    *,
    learnt: list[str] | None = None,
    authority: bytes | None = None,
    **settings: Any,
) -> Iterator[Connection]:
    """Give a connection that is not initialized, its origin admitted, and end it afterwards.

    ``learnt`` collects what the connection learns; ``settings`` are those of `Settings`.
    """

    connection = Connection(
        HttpTransport([origin(url)], authority),
        Settings(url, **settings),
        ignore if learnt is None else learnt.append,
    )
    try:
        yield connection
    finally:
        connection.end()


@contextmanager
def connection_to(server: HttpServer, **settings: Any) -> Iterator[Connection]:
    """Give a connection to the server's own URL; see `connection_at`."""
    with connection_at(server.url, **settings) as connection:
        yield connection


@contextmanager
def opened(script: McpScript, **settings: Any) -> Iterator[tuple[HttpServer, Connection]]:
    """Serve the script and give the server with a connection that is open."""
    with HttpServer(script) as server, connection_to(server, **settings) as connection:
        outcome = connection.initialize()
        assert outcome.kind == "result", outcome
        yield server, connection


def call(connection: Connection, tool: str = "echo") -> Outcome:
    """Call a tool without arguments."""
    return connection.request("tools/call", {"name": tool, "arguments": {}})
