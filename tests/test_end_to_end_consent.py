"""Consent pages that go wrong, browsers that end, and flows that share a port: whole runs with a real Chromium."""

import json
import os
import signal
import threading
from typing import Any

import pytest

from tests.command_line import Assay
from tests.fakes.authorization_server import PLANTED, AuthorizationServer
from tests.fakes.http_server import Peer, Request
from tests.fakes.processes import gone, until
from tests.peers.process import free_port
from tests.underway import Underway, browser_plugins, chromiums

FLOW = """---
name: Sign in NUMBER
providers:
  api: MCP
  site: Browser
---

# Sign in

```rfl
api.oauth_begin
api.oauth_finish
```

# Look around

```rfl
api.tools
api.disconnect
```
"""
ALL = ["oauth_begin succeeded", "oauth_finish succeeded", "tools succeeded", "disconnect succeeded"]


def bind(assay: Assay, **oauth: Any) -> None:
    settings = {"issuer": "endpoint", "allowLoopbackHttp": True, "consentTimeoutMs": 60_000, **oauth}
    bindings = {
        "api": {"provider": "MCP", "configuration": {"oauth": settings}},
        "site": {"provider": "Browser", "configuration": {}},
    }
    assay.write("bindings.json", json.dumps(bindings))
    assay.write("flow.md", FLOW.replace("NUMBER", "1"))


@pytest.mark.parametrize(("status", "body"), [(400, b"<p>unknown client</p>"), (404, b""), (500, b"")])
def test_a_consent_page_that_is_an_error_ends_the_sign_in_at_once(assay: Assay, status: int, body: bytes) -> None:
    bind(assay)
    with AuthorizationServer() as server:
        server.routes["GET /authorize"] = lambda _, peer: peer.reply(status, body, kind="text/html")
        ran = assay.run("flow.md", "--target", server.url)
    assert (ran.exit, ran.err) == (1, "")
    assert ran.statuses == [
        "oauth_begin failed http_status",
        *(f"{command} skipped" for command in ("oauth_finish", "tools", "disconnect")),
    ]
    assert ran.steps[0]["message"].startswith(f"The consent page answered HTTP {status}, so nobody can consent there.")
    kept = b"".join(path.read_bytes() for path in ran.kept)
    assert [word for word in (b"/authorize?", b"state=", b"unknown client") if word in kept] == []


@pytest.mark.parametrize("change", [("127.0.0.1", "localhost"), ("/callback", "/elsewhere")])
def test_a_page_that_is_led_past_the_callback_is_not_told_to_admit_it(assay: Assay, change: tuple[str, str]) -> None:
    bind(assay)
    with AuthorizationServer() as server:
        server.redirect = lambda uri: uri.replace(*change)
        ran = assay.run("flow.md", "--target", server.url)
    assert (ran.exit, ran.statuses[0]) == (1, "oauth_begin failed oauth_callback_invalid")
    assert "another address than the redirect that was asked for" in ran.steps[0]["message"]
    assert "--allow-origin" not in ran.out
    kept = b"".join(path.read_bytes() for path in ran.kept)
    assert [value for value in PLANTED if value.encode() in kept] == []


@pytest.mark.parametrize("find", [chromiums, browser_plugins])
def test_a_browser_that_dies_while_the_code_is_exchanged_changes_nothing(assay: Assay, find: Any) -> None:
    bind(assay)
    asked, answer = threading.Event(), threading.Event()
    with AuthorizationServer() as server:
        exchange = server.routes["POST /token"]

        def hold(request: Request, peer: Peer) -> None:
            asked.set()
            assert answer.wait(60)
            exchange(request, peer)

        server.routes["POST /token"] = hold
        with Underway(assay, "flow.md", "--target", server.url) as running:
            assert asked.wait(60)
            ending = find(running.process.pid)
            for pid in ending:
                os.kill(pid, signal.SIGKILL)
            until(lambda: all(map(gone, ending)))
            answer.set()
            ran = running.finish()
    assert (ran.exit, ran.statuses) == (0, ALL)


def test_flows_that_share_a_port_of_the_callback_take_turns(assay: Assay) -> None:
    bind(assay, callbackPort=free_port())
    assay.write("other.md", FLOW.replace("NUMBER", "2"))
    together = threading.Event()
    with AuthorizationServer() as server:
        consent, challenge = server.routes["GET /authorize"], server.routes["POST /mcp"]
        first = threading.Event()

        def authorize(request: Request, peer: Peer) -> None:
            if not first.is_set():
                first.set()
                together.wait(2)  # time for another flow to get in the way, if it may
            consent(request, peer)

        def protected(request: Request, peer: Peer) -> None:
            if first.is_set() and "authorization" not in request.headers:
                together.set()
            challenge(request, peer)

        server.routes |= {"GET /authorize": authorize, "POST /mcp": protected}
        ran = assay.run("flow.md", "other.md", "--jobs", "2", "--target", server.url)
    assert (ran.exit, ran.statuses) == (0, ALL * 2), ran.out
