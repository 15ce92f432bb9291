"""What the plugin is measured against: the official SDK's client, bare h11, and the standard library's JSON reader."""

import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import anyio
import anyio.from_thread
import h11
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

__all__ = ["H11", "Sdk", "sdk_whole"]

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "small", "arguments": {}}}


class H11:
    """One keep-alive connection that posts a `tools/call` and reads its reply, with no MCP client around it."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname, parts.port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = h11.Connection(h11.CLIENT)
        self._headers = [("host", parts.netloc), ("content-type", "application/json"), ("accept", "application/json")]
        self._path = parts.path or "/"

    def calls(self, count: int) -> None:
        for _ in range(count):
            self._call()

    def _call(self) -> None:
        body = json.dumps(CALL).encode()
        headers = [*self._headers, ("content-length", str(len(body)))]
        request = h11.Request(method="POST", target=self._path, headers=headers)
        for sent in (request, h11.Data(data=body), h11.EndOfMessage()):
            self._socket.sendall(self._connection.send(sent) or b"")
        parts = []
        while True:
            event = self._connection.next_event()
            if event is h11.NEED_DATA:
                self._connection.receive_data(self._socket.recv(65536))
            elif isinstance(event, h11.Data):
                parts.append(bytes(event.data))
            elif isinstance(event, h11.EndOfMessage):
                break
        json.loads(b"".join(parts).rpartition(b"data: ")[2])
        self._connection.start_next_cycle()

    def close(self) -> None:
        self._socket.close()


class Sdk:
    """One open session of the official SDK's client, on an event loop of its own thread."""

    def __init__(self, url: str) -> None:
        self._portal_manager = anyio.from_thread.start_blocking_portal()
        self._portal = self._portal_manager.__enter__()
        self._session_manager = self._portal.wrap_async_context_manager(_session(url))
        self._session = self._session_manager.__enter__()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session_manager.__exit__(kind, error, trace)
        self._portal_manager.__exit__(kind, error, trace)

    def calls(self, tool: str, count: int) -> Callable[[], None]:
        async def work() -> None:
            for _ in range(count):
                await self._session.call_tool(tool, {})

        return lambda: self._portal.call(work)

    def tools(self) -> Any:
        return self._portal.call(self._session.list_tools)


@asynccontextmanager
async def _session(url: str) -> AsyncIterator[ClientSession]:
    async with streamable_http_client(url) as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        yield session


def sdk_whole(url: str) -> None:
    """What a fresh SDK client does for: initialize, list tools, call one, end the session."""

    async def work() -> None:
        async with _session(url) as session:
            await session.list_tools()
            await session.call_tool("search_tickets", {"query": "refund"})

    anyio.run(work)


if __name__ == "__main__":
    import sys

    sdk_whole(sys.argv[1])
