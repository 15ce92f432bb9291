"""Twenty secrets, planted by a hostile server in every field that it can write: none is in any byte of the plugin's."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Assay
from tests.fakes.hostile_server import tool
from tests.fakes.http_server import HttpServer, McpScript, Peer, Refusal, Request
from tests.fakes.plugin_driver import PluginDriver
from tests.fakes.secret_forms import FORMS, found, spell

HEADERS = {f"X-Secret-{number}": f"header-Secret-{number}-{'abcdefgh'[number]}QZ" for number in range(8)}
QUERY = [f"query-Secret-{number}-zz" for number in range(4)]
BEARER = "Bearer-Secret-1-AAAA"
SESSION = "session-Secret-BBBB"
MINTED = "minted-Secret-CCCC"
BROWSER = "browser-Secret-DDDD"
PATH = "path-secret-eeee-0123"


class Planted:
    """The secrets of one run. ``all`` are the twenty that the server knows."""

    def __init__(self, server: HttpServer, folder: Path) -> None:
        self.folder = folder / "tokens-Secret-FFFF"
        self.folder.mkdir(mode=0o700)
        token = self.folder / "agent-key"
        token.write_text(MINTED)
        token.chmod(0o600)
        query = "&".join(f"k{number}={value}" for number, value in enumerate(QUERY))
        self.queried = f"{server.origin}/mcp-Secret-GGGG/mcp?{query}"
        self.plain = f"{server.origin}/mcp"
        self.all = [*HEADERS.values(), *QUERY, BEARER, SESSION, MINTED, BROWSER, PATH, str(self.folder), self.queried]
        self.all.append(f"{self.plain}/{PATH}")
        assert len(self.all) == 20
        self.bindings: dict[str, dict[str, Any]] = {
            "api": {"endpoint": self.plain, "bearerToken": BEARER, "headers": HEADERS, "keepText": True},
            "run": {"endpoint": self.plain, "tokenDirectory": str(self.folder)},
            "ask": {"endpoint": self.queried},
        }


def everything(text: str) -> dict[str, Any]:
    """A JSON object with the text in every kind of place."""
    return {text: [text, {"deep": {text: text}}], "blob": text, "n": 1}


class Echo:
    """Answers every method with the text in every field that a server can write."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __call__(self, request: Request, peer: Peer) -> None:
        self.script()(request, peer)

    def script(self) -> McpScript:
        text = self.text
        block = {"type": "text", "text": text, "annotations": everything(text)}
        embedded = {
            "type": "resource",
            "resource": {"uri": text, "mimeType": text, "text": text, "_meta": {text: text}},
        }
        blob = {"uri": text, "blob": base64.b64encode(text.encode()).decode()}
        return McpScript(
            session=SESSION,
            capabilities={"tools": {text: text}, "resources": {}, "prompts": {}, text: {}},
            on={
                "initialize": self.initialize,
                "tools/list": {
                    "tools": [
                        tool(
                            text,
                            title=text,
                            description=text,
                            annotations={"title": text, text: True},
                            inputSchema={"type": "object", "properties": {text: {"description": text, "enum": [text]}}},
                            outputSchema={"type": "object", "$comment": text, "required": [text]},
                            _meta=everything(text),
                        )
                    ],
                    "_meta": {text: text},
                },
                "resources/list": {"resources": [{"uri": text, "name": text, "mimeType": text, "description": text}]},
                "resources/templates/list": {"resourceTemplates": [{"uriTemplate": text, "name": text}]},
                "prompts/list": {"prompts": [{"name": text, "arguments": [{"name": text, "description": text}]}]},
                "resources/read": {
                    "contents": [{"uri": text, "mimeType": text, "text": text}, blob, {"uri": text, "blob": text}]
                },
                "prompts/get": {
                    "description": text,
                    "messages": [{"role": text, "content": each} for each in (block, embedded)],
                },
                "tools/call": self.call,
                "GET": lambda _, peer: peer.reply(405, text.encode(), *self.headers(), kind="text/plain"),
                "DELETE": lambda _, peer: peer.reply(500, text.encode(), *self.headers(), kind="text/plain"),
            },
        )

    def headers(self) -> Iterator[tuple[str, str]]:
        line = self.text.replace("\n", " ")
        quoted = line.replace("\\", "\\\\").replace('"', '\\"')
        yield "X-Echo", line
        yield "Location", f"/{line}"
        yield "WWW-Authenticate", f'Bearer realm="{quoted}", {BEARER}="{quoted}"'

    def initialize(self, request: Request, peer: Peer) -> None:
        result = {
            "protocolVersion": "2025-11-25",
            "capabilities": {
                "tools": {self.text: self.text},
                "resources": {},
                "prompts": {},
                "experimental": everything(self.text),
            },
            "serverInfo": {"name": self.text, "version": self.text, "title": self.text},
            "instructions": self.text,
        }
        peer.json({"jsonrpc": "2.0", "id": request.json["id"], "result": result}, ("Mcp-Session-Id", SESSION))

    def call(self, request: Request, peer: Peer) -> None:
        """Answer by what the called tool is named after."""
        text = self.text
        identity = request.json["id"]
        answers: dict[str, Any] = {
            "result": {
                "content": [{"type": "text", "text": text}, {"type": text}],
                "structuredContent": everything(text),
                "_meta": everything(text),
            },
            "error": {"content": [{"type": "text", "text": text}], "isError": True},
            "names": {"content": [], "structuredContent": {"servers": [{"slug": text}, {"name": text}]}},
        }
        name = request.json["params"]["name"]
        if name in answers:
            peer.json({"jsonrpc": "2.0", "id": identity, "result": answers[name]})
        elif name == "refusal":
            peer.json(
                {"jsonrpc": "2.0", "id": identity, "error": {"code": -32000, "message": text, "data": everything(text)}}
            )
        elif name == "stream":
            peer.stream()
            note = {"jsonrpc": "2.0", "method": text, "params": everything(text)}
            peer.chunk(b"id: 1\n: " + text.replace("\n", " ").encode() + b"\n").event(note)
            peer.event({"jsonrpc": "2.0", "id": text[:200], "method": text[:200]})
            peer.event({"jsonrpc": "2.0", "id": identity, "result": answers["result"]}).finish()
        elif name == "http":
            peer.reply(403, text.encode(), *self.headers(), kind=f"text/plain; x={text[:60]}".replace("\n", " "))
        elif name == "page":
            peer.reply(200, text.encode(), kind=f"text/{text}".replace("\n", " "))
        else:
            peer.reply(302, b"", ("Location", f"/{text}".replace("\n", " ")))


STEPS: list[tuple[str, dict[str, Any]]] = [
    ("connect", {}),
    ("tools", {"expect": {"only": ["none"]}}),
    ("resources", {"expect": {"only": ["none"]}}),
    ("resource_templates", {}),
    ("prompts", {}),
    ("read_resource", {"uri": "file:///a", "expect": {"redacted": False, "json": [{"pointer": "", "exists": True}]}}),
    ("get_prompt", {"name": "p", "expect": {"textIncludes": ["none"], "count": 0}}),
    ("call", {"tool": "result", "expect": {"textExcludes": ["Secret"], "redacted": False}}),
    ("call", {"tool": "error"}),
    ("call", {"tool": "refusal"}),
    ("call", {"tool": "stream"}),
    ("call_value", {"tool": "result", "select": "/blob"}),
    ("servers", {"tool": "names", "expect": {"only": ["none"]}}),
    ("call", {"tool": "http"}),
    ("call", {"tool": "http", "http": {"status": 403, "scope": "x"}}),
    ("call", {"tool": "page"}),
    ("disconnect", {}),
]


def public(written: bytes) -> bytes:
    """Leave out what is private by its kind: the lines that tell the host of secrets, in which they have to stand."""
    return b"\n".join(line for line in written.splitlines() if b'"method":"secrets/learnt"' not in line)


@pytest.mark.requirement("private.redacted")
@pytest.mark.parametrize("form", FORMS)
def test_no_secret_is_in_any_byte_that_the_plugin_writes(form: str, tmp_path: Path) -> None:
    echo = Echo("")
    with HttpServer(echo) as server, PluginDriver() as plugin:
        planted = Planted(server, tmp_path)
        echo.text = spell(planted.all, form)
        assert "result" in plugin.initialize([server.origin], **planted.bindings)
        plugin.notify("secrets/learnt", {"values": [BROWSER, PATH]})
        first = plugin.run("run", "connect", tokenFile="agent-key")
        assert first["status"] == "succeeded", first
        plugin.run("ask", "connect")
        for alias in ("api", "ask", "run"):
            for command, arguments in STEPS:
                seen = plugin.run(alias, command, **arguments)
                assert seen["code"] not in ("internal", "evidence_too_large"), seen
        compared = compare(plugin)
        plugin.ask("shutdown")
        assert plugin.end() == 0
        assert found(public(bytes(plugin.seen)) + bytes(plugin.diagnostics), planted.all) == []
        assert b"[redacted]" in plugin.seen
        assert plugin.diagnostics == b""
        assert compared
        told = {
            value
            for message in plugin.notifications
            if message["method"] == "secrets/learnt"
            for value in message["params"]["values"]
        }
        assert {SESSION, MINTED} <= told


def compare(plugin: PluginDriver) -> bool:
    """Compare two inventories that hold what was redacted."""
    replies = [json.loads(line) for line in bytes(plugin.seen).splitlines()]
    states = [
        reply["result"]["state"]
        for reply in replies
        if isinstance(reply.get("result", {}).get("state"), dict)
        and reply["result"]["state"].get("inventory") == "prompts"
    ]
    empty = {**states[0], "entries": [], "count": 0}
    return "result" in plugin.ask("compare", {"inventory": "prompts", "before": states[0], "after": empty})


def test_the_search_finds_each_form_so_that_its_silence_means_something() -> None:
    secrets = ["plain-Secret-0", "other/Secret~+1"]
    for form in FORMS:
        written = json.dumps({"text": spell(secrets, form)}).encode()
        assert {secret for secret, _ in found(written, secrets)} == set(secrets), form
    assert found(b"nothing of it", secrets) == []


def refusing(text: str) -> McpScript:
    return McpScript(on={"initialize": Refusal(-32000, text, everything(text), status=401)})


@pytest.mark.parametrize("form", ["plain", "deep", "base64-2"])
def test_a_refused_connection_tells_no_secret(form: str, tmp_path: Path) -> None:
    echo = Echo("")
    with HttpServer(lambda request, peer: refusing(echo.text)(request, peer)) as server, PluginDriver() as plugin:
        planted = Planted(server, tmp_path)
        echo.text = spell(planted.all, form)
        plugin.initialize([server.origin], **planted.bindings)
        plugin.notify("secrets/learnt", {"values": [BROWSER, PATH, SESSION, MINTED]})
        assert plugin.run("api", "connect")["code"] == "http_status"
        assert plugin.run("ask", "connect", expect={"status": 401})["status"] == "succeeded"
        assert plugin.end() == 0
        assert found(public(bytes(plugin.seen)), planted.all) == []


FLOW = """---
name: Echo
providers:
  api: MCP
  ask: MCP
  run: MCP
---

# {title}

```rfl
{steps}
```
"""


def flow() -> str:
    """Each step under a heading of its own, so that a failed one skips no other."""
    head, _, body = FLOW.partition("# {title}")
    parts = [head]
    for alias in ("run", "ask", "api"):
        for number, (command, arguments) in enumerate(STEPS):
            given = {"tokenFile": "agent-key"} if alias == "run" and command == "connect" else {}
            words = " ".join(f"{name}={json.dumps(value)}" for name, value in {**arguments, **given}.items())
            capture = f" -> {alias}_value" if command == "call_value" else ""
            step = f"{alias}.{command} {words}{capture}"
            if arguments.get("tool") != "page":  # an unknown outcome would end the flow
                parts.append(f"# {alias} {number}{body}".replace("{steps}", step))
    return "\n".join(parts)


@pytest.mark.requirement("private.redacted")
def test_no_secret_is_in_any_byte_that_a_run_keeps_or_prints(tmp_path: Path, assay: Assay) -> None:
    echo = Echo("")
    with HttpServer(echo) as server:
        planted = Planted(server, tmp_path)
        secrets = [secret for secret in planted.all if secret not in (BROWSER, PATH) and not secret.endswith(PATH)]
        echo.text = "\n".join(spell(secrets, form) for form in ("plain", "escaped", "percent", "base64"))
        bindings = {alias: {"provider": "MCP", "configuration": fields} for alias, fields in planted.bindings.items()}
        assay.write("bindings.json", json.dumps(bindings)).chmod(0o600)
        file = assay.write("f.md", flow())
        first = assay.run(file, "--target", server.url)
        # A second run compares its inventories with those of the first.
        second = assay.run(file, "--target", server.url)
    for ran in (first, second):
        assert ran.exit == 1, ran.out + ran.err
        assert len([status for status in ran.statuses if "skipped" not in status]) == len(ran.statuses) > 40
        printed = json.dumps(ran.document, ensure_ascii=False) + ran.out + ran.err
        assert found(printed.encode(), secrets) == []
    assert len(second.kept) > 100
    assert found(b"\n".join(path.read_bytes() for path in second.kept), secrets) == []
