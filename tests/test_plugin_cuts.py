"""Nothing is cut before it is redacted: half a private value at a cut would not be recognised."""

import json
from typing import Any

import pytest

from tests.fakes.http_server import HttpServer, McpScript, Peer, Refusal, Request
from tests.fakes.plugin_bench import bench

TOKEN = "Desk-Token-0123456789-abcdefghij"


def halves(seen: Any) -> list[str]:
    """Every longer beginning and end of the token that stands in a result, in whatever case."""
    text = json.dumps(seen).lower()
    token = TOKEN.lower()
    parts = [token[:length] for length in range(8, len(token))] + [token[start:] for start in range(1, len(token) - 8)]
    return [part for part in parts if part in text]


def initialized(**members: Any) -> dict[str, Any]:
    result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
    return {**result, **members}


@pytest.mark.parametrize("offset", [0, 40, 55, 180, 190, 1_970, 1_990, 16_370])
@pytest.mark.parametrize(
    "answer",
    [
        lambda text: initialized(protocolVersion=text),
        lambda text: Refusal(-32022, "no", {"supported": [text, text]}, status=400),
        lambda text: Refusal(-32000, text, {"d": text}),
        lambda text: lambda _, peer: peer.reply(200, b"x", kind=text),
        lambda text: lambda _, peer: peer.json(b"{}", ("Content-Encoding", text)),
        lambda text: lambda _, peer: peer.reply(302, b"", ("Location", f"http://h/{text}")),
        lambda text: lambda _, peer: peer.reply(401, text.encode(), ("WWW-Authenticate", f'Bearer {TOKEN}="{text}"')),
        lambda text: lambda _, peer: peer.reply(401, b"", ("WWW-Authenticate", f"{TOKEN} {text}")),
    ],
)
def test_a_private_value_at_any_place_of_a_refusal_leaves_no_half_behind(answer: Any, offset: int) -> None:
    text = "x" * offset + TOKEN + "y" * 40
    with HttpServer(McpScript(on={"initialize": answer(text)})) as server, bench(server, bearerToken=TOKEN) as plugin:
        seen = plugin.run("connect")
        assert seen["status"] == "failed"
        assert halves(seen) == []


@pytest.mark.parametrize("offset", [0, 16_360, 16_380])
def test_a_private_value_at_the_cut_of_a_text_leaves_no_half_behind(offset: int) -> None:
    text = "x" * offset + TOKEN
    answer = {"content": [{"type": "text", "text": text}], "isError": True}
    with HttpServer(McpScript(on={"tools/call": answer})) as server, bench(server, bearerToken=TOKEN) as plugin:
        assert halves(plugin.run("call", tool="t")) == []


@pytest.mark.parametrize("limit", [1, 20, 30, 100, 500, 2_000])
def test_a_refusal_whose_body_is_cut_at_the_limit_leaves_no_half_behind(limit: int) -> None:
    body = ("x" * (limit - 15) + TOKEN * 9).encode()
    script = McpScript(on={"tools/call": lambda _, peer: peer.reply(403, body, kind="text/plain")})
    with HttpServer(script) as server, bench(server, bearerToken=TOKEN) as plugin:
        plugin.run("connect")
        (connection,) = plugin.inspector.live()
        connection._settings = connection._settings._replace(max_response_bytes=limit)
        seen = plugin.run("call", tool="t")
        assert (seen["code"], seen["facts"]["http"]["ended"]) == ("http_status", "response_too_large")
        assert halves(seen) == []
        assert "token" not in json.dumps(seen["facts"]["http"].get("body", "")).lower()


def test_a_refusal_whose_body_is_long_enough_keeps_its_beginning_when_it_is_cut() -> None:
    def endless(_: Request, peer: Peer) -> None:
        peer.head(403, ("Content-Type", "text/plain"))
        while not peer.stopping.is_set():
            peer.send(b"no entry. " * 100)

    with HttpServer(McpScript(on={"tools/call": endless})) as server, bench(server, maxResponseBytes=20_000) as plugin:
        seen = plugin.run("call", tool="t")
        assert seen["facts"]["http"]["body"] == ("no entry. " * 100)[:512]


def test_a_header_is_read_as_utf_8_so_that_private_values_in_it_are_recognised() -> None:
    with HttpServer(McpScript(on={"tools/call": lambda _, peer: _location(peer)})) as server, bench(server) as plugin:
        plugin.learn("geheim-ä-wort")
        seen = plugin.run("call", tool="t")
        assert seen["facts"]["http"]["location"] == "/[redacted]"


def _location(peer: Peer) -> None:
    head = "HTTP/1.1 302 Found\r\nLocation: /geheim-ä-wort\r\nContent-Length: 0\r\n\r\n"
    peer.send(head.encode())
