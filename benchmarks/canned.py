"""A server that answers MCP with canned bytes, as fast as a socket allows, so that what is measured is the client.

`python -m benchmarks.canned FORM [MIB]` prints its URL. FORM is how replies come: ``json``; ``sse`` (one event);
``lines`` (one event of 1 KiB data lines); ``many`` (a call's reply ends 50,000 small events). A call of ``small`` gives
a small result, ``large`` one of MIB MiB (8). The inventory has these two, and 5,000 at the paths /alike and /different.
"""

import json
import re
import socket
import sys
import threading
from collections.abc import Callable
from functools import cache

from benchmarks.replies import CALLABLE, EVENTS, INITIALIZED, SMALL, TOOLS, inventory, progress, texts

LENGTH = re.compile(rb"(?i)\r\ncontent-length: *([0-9]+)")
MIB = 1024 * 1024
SIZE = (int(sys.argv[2]) if len(sys.argv) > 2 else 8) * MIB

EMPTY = b"HTTP/1.1 %b\r\nContent-Length: 0\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\n%bContent-Length: %d\r\n\r\n"


@cache
def large() -> bytes:
    # Just under the limit that a binding has for replies.
    return texts(SIZE - 64 * 1024)


@cache
def tools(path: str) -> bytes:
    if path in ("/alike", "/different"):
        return inventory(TOOLS, alike=path == "/alike")
    return CALLABLE


@cache
def before() -> bytes:
    count = EVENTS * SIZE // (8 * MIB)
    return b"".join(b"event: message\ndata: %b\n\n" % text for text in progress(count, SIZE - 64 * 1024))


def result(path: str, message: dict[str, object]) -> bytes:
    """What a request comes to."""
    params = message.get("params")
    called = params.get("name") if isinstance(params, dict) else None
    answers: dict[object, Callable[[], bytes]] = {
        "initialize": lambda: INITIALIZED,
        "tools/list": lambda: tools(path),
        "tools/call": lambda: large() if called == "large" else SMALL,
    }
    return answers.get(message["method"], lambda: b"{}")()


def answer(path: str, body: bytes, form: str) -> list[bytes]:
    """The HTTP response to one POST, in pieces."""
    message = json.loads(body)
    if "id" not in message:
        return [EMPTY % b"202 Accepted"]
    pieces = [b'{"jsonrpc":"2.0","id":%d,"result":' % message["id"], result(path, message), b"}"]
    kind = b"application/json"
    if form != "json":
        kind = b"text/event-stream"
        text = b"".join(pieces)
        text = text.replace(b"\n", b"\ndata: ") if form == "lines" else text.replace(b"\n", b"")
        pieces = [b"event: message\ndata: ", text, b"\n\n"]
        if form == "many" and message["method"] == "tools/call":
            pieces.insert(0, before())
    session = b"Mcp-Session-Id: canned-session-0001\r\n" if message["method"] == "initialize" else b""
    return [HEAD % (kind, session, sum(map(len, pieces))), *pieces]


def serve(connection: socket.socket, form: str) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            try:
                got = connection.recv(65536)
            except ConnectionResetError:
                return
            if not got:
                return
            data += got
        head, _, data = data.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        size = int(length.group(1)) if length else 0
        while len(data) < size:
            data += connection.recv(65536)
        body, data = data[:size], data[size:]
        method, target = head.split(b" ", 2)[:2]
        if method == b"POST":
            connection.sendall(b"".join(answer(target.decode(), body, form)))
        else:
            connection.sendall(EMPTY % (b"200 OK" if method == b"DELETE" else b"405 Method Not Allowed"))


def main() -> None:
    form = sys.argv[1]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection, form), daemon=True).start()


if __name__ == "__main__":
    main()
