"""The peers that other tests talk to: they start, answer MCP, and tell what they said when they do not start."""

import sys
from pathlib import Path

import httpx
import pytest

from tests.peers.process import free_port, running

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    },
}


def initialize(url: str, **headers: str) -> httpx.Response:
    accept = {"accept": "application/json, text/event-stream"}
    return httpx.post(url, json=INITIALIZE, headers=accept | headers, trust_env=False)


@pytest.mark.parametrize("peer", ["example_server", "example_server_2", "everything_server", "fastmcp_server"])
def test_a_peer_answers_initialize_with_a_session(peer: str, request: pytest.FixtureRequest) -> None:
    response = initialize(request.getfixturevalue(peer))
    assert response.status_code == 200
    assert response.headers["mcp-session-id"]
    assert '"protocolVersion":"2025-11-25"' in response.text


def test_the_protected_server_asks_for_its_token(protected_server: str, token: str) -> None:
    assert initialize(protected_server).status_code == 401
    assert initialize(protected_server, authorization="Bearer another").status_code == 401
    assert initialize(protected_server, authorization=f"Bearer {token}").status_code == 200


def test_a_peer_that_ends_early_is_reported_with_what_it_said(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('no room'); raise SystemExit(3)"]
    with pytest.raises(RuntimeError, match=r"exit 3; it said:\nno room"), running(command, free_port(), {}, tmp_path):
        pass
