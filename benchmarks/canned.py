"""A server that answers MCP with canned bytes, as fast as a socket allows.

`python -m benchmarks.canned FORM TOOLS` prints its URL. FORM is ``json`` or ``sse``; each tool takes about 1.7 kB.
"""

import json
import re
import socket
import sys
import threading

#: Size of one tool in bytes: 5,000 of them stay just under the 8 MiB that a binding may set as its limit.
TOOL_BYTES = (8 * 1024 * 1024 - 64 * 1024) // 5_000

LENGTH = re.compile(rb"(?i)\r\ncontent-length: *([0-9]+)")
RESULTS: dict[str, bytes] = {}


def inventory(count: int) -> bytes:
    """The result of `tools/list`: ``count`` tools with nine properties each, three of them nested."""
    plain = {f"field_{index}": {"type": "string", "description": "one of six"} for index in range(6)}
    inner = {f"inner_{index}": {"type": ["integer", "null"], "minimum": 0, "maximum": 100} for index in range(3)}
    properties = plain | {"group": {"type": "object", "properties": inner, "additionalProperties": False}}
    schema = {"type": "object", "properties": properties, "required": ["field_0", "group"]}
    hints = {"readOnlyHint": True, "destructiveHint": False}
    bare = len(json.dumps({"name": "tool_00000", "description": "", "inputSchema": schema, "annotations": hints}))
    filler = "what this tool does, at length; " * 80
    text = filler[: TOOL_BYTES - bare - 2]
    tools = [
        {"name": f"tool_{index:05}", "description": text, "inputSchema": schema, "annotations": hints}
        for index in range(count)
    ]
    return json.dumps({"tools": tools}).encode()


def answer(body: bytes, form: str) -> bytes:
    """The HTTP response to one POST."""
    message = json.loads(body)
    if "id" not in message:
        return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
    result = RESULTS.get(message["method"], b"{}")
    reply = b'{"jsonrpc":"2.0","id":%d,"result":%s}' % (message["id"], result)
    kind = b"application/json"
    if form == "sse":
        kind, reply = b"text/event-stream", b"event: message\ndata: " + reply + b"\n\n"
    session = b"Mcp-Session-Id: canned-session-0001\r\n" if message["method"] == "initialize" else b""
    return b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\n%sContent-Length: %d\r\n\r\n%s" % (kind, session, len(reply), reply)


def serve(connection: socket.socket, form: str) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    data = b""
    while True:
        while b"\r\n\r\n" not in data:
            got = connection.recv(65536)
            if not got:
                return
            data += got
        head, _, data = data.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        size = int(length.group(1)) if length else 0
        while len(data) < size:
            data += connection.recv(65536)
        body, data = data[:size], data[size:]
        if head.startswith(b"POST"):
            connection.sendall(answer(body, form))
        elif head.startswith(b"DELETE"):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        else:
            connection.sendall(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")


def main() -> None:
    form, count = sys.argv[1], int(sys.argv[2])
    RESULTS["initialize"] = (
        b'{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"canned","version":"1"}}'
    )
    RESULTS["tools/list"] = inventory(count)
    RESULTS["tools/call"] = b'{"content":[{"type":"text","text":"{\\"total\\":2}"}],"isError":false}'
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection, form), daemon=True).start()


if __name__ == "__main__":
    main()
