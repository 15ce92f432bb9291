"""Whole sign-ins from a Markdown flow: real authorization servers, pages in a real Chromium, and what goes wrong."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from protocol.values.leaks import LeakScanner
from tests.command_line import SCRIPT, Assay, Ran
from tests.fakes.authorization_server import PLANTED, AuthorizationServer
from tests.fakes.oauth_misbehaviours import MISBEHAVIOURS
from tests.fakes.processes import command_line, descendants, until

FLOW = """---
name: Sign in and look around
providers:
  api: MCP
  site: Browser
---

# Sign in

```rfl
api.oauth_begin
PAGE
api.oauth_finish
```

# Look around

```rfl
api.tools expect={"present": ["TOOL"]} # inventory
api.call tool="TOOL" arguments={ARGUMENTS} expect={"isError": false}
api.disconnect
```
"""
FORM = """site.fill selector="input[name=username]" value="demo"
site.fill_private selector="input[name=password]" field="password"
site.click selector="button[value=ANSWER]\""""


def flow(page: str, tool: str = "whoami", arguments: str = "") -> str:
    return FLOW.replace("PAGE", page).replace("TOOL", tool).replace("ARGUMENTS", arguments)


def bind(assay: Assay, **oauth: Any) -> None:
    settings = {"issuer": "listed", "allowLoopbackHttp": True, "clientAuthentication": "any", **oauth}
    private = {"password": {"env": "LOGIN_PASSWORD"}}
    bindings = {
        "api": {"provider": "MCP", "configuration": {"oauth": settings}},
        "site": {"provider": "Browser", "configuration": {"private": private}},
    }
    assay.write("bindings.json", json.dumps(bindings))


def leaks(ran: Ran, *values: str) -> bool:
    """Look for values in everything that the command wrote, to files and to the terminal."""
    scanner = LeakScanner(values)
    buffers = [path.read_bytes() for path in ran.kept] + [ran.out.encode(), ran.err.encode()]
    return any(scanner.find(buffer) for buffer in buffers)


def text_kept(ran: Ran) -> str:
    return "".join(path.read_text(encoding="utf-8", errors="replace") for path in ran.kept)


@pytest.mark.requirement("oauth.flow-never-sees", "oauth.browser-alias", "oauth.shape")
def test_a_flow_signs_in_at_the_official_servers_login_form(assay: Assay, oauth_server: str, password: str) -> None:
    bind(assay, consentTimeoutMs=60_000)
    assay.write("flow.md", flow(FORM.replace("ANSWER", "approve")))
    ran = assay.run("flow.md", "--target", oauth_server, LOGIN_PASSWORD=password)
    assert (ran.exit, ran.statuses) == (
        0,
        [
            "oauth_begin succeeded",
            "fill succeeded",
            "fill_private succeeded",
            "click succeeded",
            "oauth_finish succeeded",
            "tools succeeded",
            "call succeeded",
            "disconnect succeeded",
        ],
    )
    finished = ran.steps[4]
    assert finished["state"] == {
        "kind": "signed-in",
        "client": "registration",
        "requested": ["desk.read"],
        "scopes": ["desk.read"],
        "refresh": False,
    }
    assert finished["facts"]["grant"]["expiresIn"] == 3600
    assert not leaks(ran, password)
    kept = text_kept(ran)
    assert [word for word in ("/authorize?", "code_challenge", "code=", "at-", "state=") if word in kept] == []


def test_a_flow_signs_in_at_the_typescript_sdks_demo(assay: Assay, sdk_oauth_server: tuple[str, str]) -> None:
    target, issuer = sdk_oauth_server
    bind(assay)
    # The demo asks nobody: its page sends the browser straight back.
    assay.write("flow.md", flow("", "greet", '"name": "Ada"'))
    ran = assay.run("flow.md", "--target", target, "--allow-origin", issuer, LOGIN_PASSWORD="unused-password")
    assert (ran.exit, ran.statuses) == (
        0,
        [
            "oauth_begin succeeded",
            "oauth_finish succeeded",
            "tools succeeded",
            "call succeeded",
            "disconnect succeeded",
        ],
    )
    record = [f"{entry['document']}: {entry['status']}" for entry in ran.steps[0]["facts"]["signIn"]]
    assert record == [
        "challenge: 401",
        "protected resource metadata: 200",
        "authorization server metadata: 200",
        "client registration: 201",
    ]
    assert ran.steps[1]["state"]["scopes"] == ["mcp:tools"]


@pytest.mark.requirement("oauth.origin-of-the-issuer")
def test_an_issuer_that_is_not_admitted_is_named_with_what_to_add(
    assay: Assay, sdk_oauth_server: tuple[str, str]
) -> None:
    target, issuer = sdk_oauth_server
    bind(assay)
    assay.write("flow.md", flow("", "greet", '"name": "Ada"'))
    ran = assay.run("flow.md", "--target", target, LOGIN_PASSWORD="unused-password")
    assert (ran.exit, ran.statuses[0]) == (2, "oauth_begin failed origin_not_admitted")
    assert f"--allow-origin {issuer}" in ran.out
    # A failed beginning shows its record, step by step.
    assert "+ protected resource metadata" not in ran.out
    assert f"- protected resource metadata: {target.removesuffix('/mcp')}" in ran.out
    assert ran.statuses[1:] == [f"{command} skipped" for command in ("oauth_finish", "tools", "call", "disconnect")]


@pytest.mark.requirement("oauth.callback-error")
def test_consent_that_is_denied_in_the_form_ends_the_sign_in(assay: Assay, oauth_server: str, password: str) -> None:
    bind(assay)
    assay.write("flow.md", flow(FORM.replace("ANSWER", "deny")))
    ran = assay.run("flow.md", "--target", oauth_server, LOGIN_PASSWORD=password)
    assert (ran.exit, ran.statuses[4]) == (1, "oauth_finish failed oauth_consent_denied")
    assert ran.statuses[5:] == ["tools skipped", "call skipped", "disconnect skipped"]


@pytest.mark.requirement("oauth.consent-time")
def test_consent_that_is_never_given_ends_at_its_deadline(assay: Assay, oauth_server: str, password: str) -> None:
    bind(assay, consentTimeoutMs=500)
    assay.write("flow.md", flow('site.wait selector="button[value=approve]"'))
    ran = assay.run("flow.md", "--target", oauth_server, LOGIN_PASSWORD=password)
    assert (ran.exit, ran.statuses[2]) == (1, "oauth_finish failed oauth_consent_timeout")


@pytest.mark.requirement("oauth.given-up")
def test_a_sign_in_whose_page_could_not_be_used_is_given_up_and_the_flow_goes_on(
    assay: Assay, oauth_server: str, password: str
) -> None:
    bind(assay, consentTimeoutMs=60_000)
    other = flow('site.click selector="a, b" # two').replace("  site: Browser", "  site: Browser\n  anon: MCP")
    assay.write("flow.md", other + '\n# Without a token\n\n```rfl\nanon.connect expect={"status": 401}\n```\n')
    bindings = json.loads((assay.folder / "bindings.json").read_text())
    bindings["site"]["configuration"]["timeoutMs"] = 1000
    assay.write("bindings.json", json.dumps(bindings))
    ran = assay.run("flow.md", "--target", oauth_server, LOGIN_PASSWORD=password)
    assert ran.statuses[1].startswith("click failed")
    assert ran.statuses[2:] == [
        *(f"{command} skipped" for command in ("oauth_finish", "tools", "call", "disconnect")),
        "connect succeeded",
    ]


class Underway:
    """An `assay run` that is under way; ``finish`` waits for it."""

    def __init__(self, assay: Assay, *words: str, **environment: str) -> None:
        self._assay = assay
        self._document = assay.folder / "document.json"
        self.process = subprocess.Popen(
            [SCRIPT, "run", *words, "--json", self._document],
            cwd=assay.folder,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def finish(self) -> Ran:
        out, err = self.process.communicate(timeout=60)
        document = json.loads(self._document.read_text(encoding="utf-8"))
        return Ran(self.process.returncode, out, err, document, self._assay.folder)

    def underway(self, command: str) -> bool:
        """Tell whether a step of this command is being carried out, by what the evidence says so far."""
        written = list((self._assay.folder / ".assay" / "runs").glob("*/run.json"))
        steps = json.loads(written[0].read_bytes())["steps"] if written else []
        return any(step["status"] == "running" and step["command"] == command for step in steps)

    def __enter__(self) -> "Underway":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)


def chromiums(pid: int) -> set[int]:
    """The processes of Chromium below a process, the first one of each."""
    return {child for child in descendants(pid) if "--remote-debugging" in command_line(child)}


def browser_plugins(pid: int) -> set[int]:
    return {child for child in descendants(pid) if "host.providers.browser" in command_line(child)}


@pytest.mark.requirement("oauth.given-up")
@pytest.mark.parametrize("find", [chromiums, browser_plugins])
def test_a_browser_that_dies_while_consent_is_awaited_ends_the_sign_in_at_once(
    assay: Assay, oauth_server: str, password: str, find: Callable[[int], set[int]]
) -> None:
    bind(assay, consentTimeoutMs=600_000)
    assay.write("flow.md", flow('site.wait selector="button[value=approve]"'))
    with Underway(assay, "flow.md", "--target", oauth_server, LOGIN_PASSWORD=password) as running:
        until(lambda: running.underway("oauth_finish"))
        for pid in find(running.process.pid):
            os.kill(pid, signal.SIGKILL)
        ran = running.finish()
    finished = ran.steps[2]
    assert (finished["status"], finished["code"]) == ("failed", "cancelled")
    # What follows depends on whether the plugin had begun to wait: the host records a step before it asks for it.
    assert finished["message"].startswith("The browser of the consent page was gone. ")
    assert [step["status"] for step in ran.steps[3:]] == ["skipped"] * 3


def test_a_browser_that_dies_before_the_finish_gives_the_sign_in_up(
    assay: Assay, oauth_server: str, password: str
) -> None:
    bind(assay, consentTimeoutMs=600_000)
    assay.write("flow.md", flow('site.wait selector="#never"'))
    with Underway(assay, "flow.md", "--target", oauth_server, LOGIN_PASSWORD=password) as running:
        until(lambda: running.underway("wait"))
        for pid in browser_plugins(running.process.pid):
            os.kill(pid, signal.SIGKILL)
        ran = running.finish()
    assert ran.statuses[1] == "wait failed plugin_died"
    assert [step["status"] for step in ran.steps[2:]] == ["skipped"] * 4


@pytest.mark.requirement("oauth.between")
def test_a_plan_refuses_what_may_not_stand_between_the_halves_with_its_place(assay: Assay) -> None:
    text = flow('api.tools\nsite.screenshot name="page"').replace("  site: Browser", "  site: Browser\n  anon: MCP")
    assay.write("flow.md", text)
    planned = assay("plan", "flow.md")
    assert planned.exit == 2
    assert "flow.md:13:1" in planned.err
    assert "Between `api.oauth_begin` (line 12) and `api.oauth_finish` only Browser commands may run." in planned.err
    assert "^^^^^^^^^" in planned.err
    assert "flow.md:14:1" in planned.err


MISBEHAVING = [
    "mixed-up state",
    "denied, repeating the state",
    "another issuer in the callback",
    "a token refusal that repeats the code",
    "a token reply with a repeated member",
]


@pytest.mark.requirement("oauth.flow-never-sees")
@pytest.mark.parametrize("name", MISBEHAVING)
def test_a_server_that_misbehaves_leaves_nothing_private_in_anything_kept(assay: Assay, name: str) -> None:
    change, code, _ = MISBEHAVIOURS[name]
    bind(assay, issuer="endpoint", clientAuthentication="none", consentTimeoutMs=30_000)
    assay.write("flow.md", flow("", "echo"))
    with AuthorizationServer() as server:
        change(server)
        ran = assay.run("flow.md", "--target", server.url, LOGIN_PASSWORD="unused-password")
        sent = [request.path.partition("?")[2] for request in server.requests if request.path.startswith("/authorize")]
        forms = [request.body.decode() for request in server.requests if request.path == "/token"]
    assert ran.statuses[:2] == ["oauth_begin succeeded", f"oauth_finish failed {code}"]
    fields = [pair.split("=", 1) for text in (*sent, *forms) for pair in text.split("&")]
    private = [value for field, value in fields if field in ("state", "code_verifier", "code", "code_challenge")]
    assert len(private) >= 2
    assert not leaks(ran, *PLANTED, *sent, *private)
