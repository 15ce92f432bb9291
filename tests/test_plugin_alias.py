"""What an alias's first command fixes for it: path and token file."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.http_server import HttpServer, McpScript
from tests.fakes.plugin_bench import bench
from tests.fakes.scripted_replies import SUCCEEDED_OPEN


@pytest.mark.requirement("path.joined", "path.fixed", "path.evidence")
def test_a_path_is_appended_and_fixed_and_evidence_does_not_depend_on_it() -> None:
    states = []
    for path in ("support", "billing"):
        with HttpServer(McpScript()) as server, bench(server) as plugin:
            states.append([plugin.run("connect", path=path)["state"], plugin.run("tools", path=path)["state"]])
            assert {request.path for request in server.requests} == {f"/mcp/{path}"}
            assert plugin.learnt[0] == f"{server.url}/{path}"
            assert plugin.outcome("tools", path="other") == ("failed", "binding_fixed", "open")
            assert plugin.outcome("tools") == SUCCEEDED_OPEN
    assert states[0] == states[1]


def test_a_long_path_is_private_without_its_origin_too() -> None:
    text = {"content": [{"type": "text", "text": "you asked /mcp/tenant-0123456789"}]}
    with HttpServer(McpScript(on={"tools/call": text})) as server, bench(server) as plugin:
        seen = plugin.run("call", tool="t", path="tenant-0123456789")
        assert seen["state"]["text"] == "you asked [redacted]"
        assert plugin.learnt[:2] == [f"{server.url}/tenant-0123456789", "/mcp/tenant-0123456789"]


@pytest.mark.requirement("token.fixed", "path.fixed")
@pytest.mark.parametrize("argument", ["path", "tokenFile"])
def test_naming_one_only_later_is_refused_and_changes_nothing(argument: str) -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        plugin.run("connect")
        requests = len(server.seen("tools/list"))
        for command in ("tools", "disconnect"):
            assert plugin.outcome(command, **{argument: "x"}) == ("failed", "binding_fixed", "open")
        assert len(server.seen("tools/list")) == requests
        assert server.seen("DELETE") == []


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    folder = tmp_path / "tokens"
    folder.mkdir(mode=0o700)
    file = folder / "agent-key"
    file.write_text("run-token-0123\n")
    file.chmod(0o600)
    return folder


@pytest.mark.requirement("field.token-directory", "token.read-once", "token.precedence", "token.fixed")
@pytest.mark.parametrize(
    "credential", [{}, {"bearerToken": "bound-token"}, {"headers": {"Authorization": "Bearer bound-token"}}]
)
def test_a_token_file_takes_precedence_and_is_read_once(tokens: Path, credential: dict[str, Any]) -> None:
    with (
        HttpServer(McpScript()) as server,
        bench(server, tokenDirectory=str(tokens), **credential) as plugin,
    ):
        assert plugin.outcome("connect", tokenFile="agent-key") == SUCCEEDED_OPEN
        (tokens / "agent-key").unlink()
        assert plugin.outcome("tools", tokenFile="agent-key") == SUCCEEDED_OPEN
        assert {request.headers["authorization"] for request in server.requests} == {"Bearer run-token-0123"}
        assert plugin.learnt[0] == "run-token-0123"


def test_a_token_file_that_is_not_safe_is_refused_before_contact(tokens: Path) -> None:
    (tokens / "agent-key").chmod(0o644)
    with HttpServer(McpScript()) as server, bench(server, tokenDirectory=str(tokens)) as plugin:
        seen = plugin.run("connect", tokenFile="agent-key")
        assert (seen["status"], seen["code"], seen["facts"]["connection"]) == (
            "failed",
            "token_file_refused",
            "refused",
        )
        assert str(tokens) not in json.dumps(seen)
        assert plugin.outcome("tools") == ("failed", "not_connected", "refused")
        assert server.requests == []


def test_a_token_file_needs_a_token_directory() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        seen = plugin.run("connect", tokenFile="agent-key")
        assert seen["code"] == "token_file_refused"
        assert "`tokenDirectory`" in seen["message"]
        assert server.requests == []
