"""The real executable on its wire: one reply a line whatever the bytes, order, cancelling, secrets, and how it ends."""

import base64
import json
import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from plugin.inspector import Inspector
from protocol.wire.framing import HOST_LINE_LIMIT
from protocol.wire.routing import Job, Router
from tests.fakes.http_server import HttpServer, McpScript, Peer, Refusal, Request
from tests.fakes.plugin_driver import PluginDriver, step
from tests.plugin_under_test import program

ROOT = Path(__file__).resolve().parents[1]

INITIALIZE: dict[str, Any] = {
    "protocol": 1,
    "host": {"name": "tests", "version": "1"},
    "origins": ["http://127.0.0.1:9"],
    "bindings": {"api": {"endpoint": "http://127.0.0.1:9/mcp", "bearerToken": "token-12345"}},
}


def speak(data: bytes) -> list[Any]:
    """Give the executable its whole input at once and return every line that it writes."""
    ran = subprocess.run(program(), cwd=ROOT, input=data, capture_output=True, timeout=30, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def line(method: str, params: Any = None, identity: Any = 1) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
    if identity is not None:
        message["id"] = identity
    return json.dumps(message).encode() + b"\n"


#: The shape of a step result, in the words of docs/protocol.md.
RESULT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "status": {"enum": ["succeeded", "failed", "unknown"]},
        "code": {"type": ["string", "null"]},
        "message": {"type": "string", "minLength": 1, "maxLength": 2000},
        "effect": {"enum": ["observe", "mutate"]},
        "state": {},
        "facts": {
            "type": "object",
            "properties": {"connection": {"enum": ["none", "open", "refused", "closed", "disconnected"]}},
            "required": ["connection"],
        },
        "capture": {"type": ["string", "null"]},
        "artifacts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"pattern": "^[a-z0-9][a-z0-9_.-]{0,63}$"}, "json": {}},
                "required": ["name", "json"],
                "additionalProperties": False,
            },
        },
        "display": {},
    },
    "required": ["status", "code", "message", "effect", "state", "facts", "capture", "artifacts", "display"],
    "additionalProperties": False,
}


def hold(request: Request, peer: Peer) -> None:
    peer.hold()


# One reply a line


def test_each_line_gets_the_reply_of_its_kind() -> None:
    lines = [
        (b"\n", (None, -32700)),
        (b"no json\n", (None, -32700)),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","id":2}\n', (None, -32600)),
        (b"[]\n", (None, -32600)),
        (b'[{"jsonrpc":"2.0","id":1,"method":"run"}]\n', (None, -32600)),
        (b'{"id":3,"method":"run"}\n', (3, -32600)),
        (b'{"jsonrpc":"2.0","id":null,"method":"run"}\n', (None, -32600)),
        (b'{"jsonrpc":"2.0","id":4,"method":5}\n', (4, -32600)),
        (b'{"jsonrpc":"2.0","id":5,"method":"run","params":[]}\n', (5, -32602)),
        (b'{"jsonrpc":"2.0","id":"six","method":"nothing"}\n', ("six", -32601)),
        (b'{"jsonrpc":"2.0","id":7,"result":{}}\n', (None, -32600)),
        (line("run", {"alias": "api", "command": "tools"}, 8), (8, -32602)),
        (line("check", {"alias": "api", "command": "tools"}, 9), (9, -32602)),
        (line("cancel", {"id": {}}, None), (None, -32602)),
        (line("secrets/learnt", {"values": "x"}, None), (None, -32602)),
        (line("initialize", {"protocol": 1}, 10), (10, -32602)),
        (line("cancel", {"id": 1}, 11), (11, -32601)),
        (b'{"jsonrpc":"2.0","id":12,"method":"shutdown","params":{"x":1}}', (12, -32602)),
    ]
    replies = speak(b"".join(data for data, _ in lines))
    assert [(reply["id"], reply["error"]["code"]) for reply in replies] == [expected for _, expected in lines]


def test_valid_notifications_get_no_reply_and_are_not_carried_out_as_requests() -> None:
    data = [
        line("secrets/learnt", {"values": ["other-secret"]}, None),
        line("cancel", {"id": 99}, None),
        line("whatever", {"a": 1}, None),
        line("initialize", INITIALIZE, None),
        line("shutdown", None, None),
        line("check", {"alias": "api", "command": "tools"}),
    ]
    (reply,) = speak(b"".join(data))
    assert (reply["id"], reply["error"]["message"]) == (1, "Send `initialize` first.")


def test_a_line_past_the_limit_is_answered_and_the_next_one_is_understood() -> None:
    replies = speak(b"x" * (HOST_LINE_LIMIT + 1) + b"\n" + line("initialize", INITIALIZE))
    assert [(reply["id"], "error" in reply) for reply in replies] == [(None, True), (1, False)]
    assert str(HOST_LINE_LIMIT) in replies[0]["error"]["message"]


def test_a_line_of_the_limit_is_read() -> None:
    request = line("check", {"alias": "api", "command": "tools"}).rstrip(b"\n")
    (reply,) = speak(request.ljust(HOST_LINE_LIMIT) + b"\n")
    assert reply["error"]["message"] == "Send `initialize` first."


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text(max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=6,
)
METHOD = st.sampled_from(["initialize", "check", "run", "compare", "nothing", "cancel", "secrets/learnt"])
MESSAGE = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0")},
    optional={
        "id": st.one_of(JSON, st.integers(1, 3)),
        "method": st.one_of(METHOD, JSON),
        "params": JSON,
        "result": JSON,
    },
)
LINE = st.one_of(st.binary(max_size=40), MESSAGE.map(lambda message: json.dumps(message).encode()))


def silent(data: bytes) -> bool:
    """Tell whether a line is a valid notification, by the rules of the documentation."""
    try:
        message = json.loads(data.decode())
    except (ValueError, RecursionError):
        return False
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or "id" in message:
        return False
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str) or not isinstance(params, dict):
        return False
    if method == "cancel":
        return set(params) == {"id"} and isinstance(params["id"], str | int) and not isinstance(params["id"], bool)
    if method == "secrets/learnt":
        values = params.get("values")
        return set(params) == {"values"} and isinstance(values, list) and all(isinstance(one, str) for one in values)
    return True


@cache
def router() -> Router:
    """The router of an inspector that was initialized, without a process around it."""
    made = Router(Inspector(lambda method, params: None), enqueue=lambda job: None, cancel=lambda identity: None)
    assert made.receive(line("initialize", INITIALIZE)) is not None
    return made


@settings(deadline=None, max_examples=250)
@given(LINE.filter(lambda data: b"\n" not in data))
@example(b'{"jsonrpc":"2.0","id":1,"method":"check","params":{"alias":"api","command":"tools","open":["\xc3\xa9"]}}')
def test_any_line_gets_its_one_reply_or_is_queued(data: bytes) -> None:
    queued: list[Job] = []
    made = router()
    made._enqueue = queued.append
    reply = made.receive(data)
    if reply is not None:
        message = json.loads(reply)
        assert reply.endswith(b"\n")
        assert message.get("error", {}).get("code") != -32603, message
    assert (reply is not None) + len(queued) == (0 if silent(data) else 1)


@settings(deadline=None, max_examples=5)
@given(st.lists(LINE, min_size=50, max_size=150), st.booleans())
@example([b"", b"\xff", b"\r", b"\x00", b'{"jsonrpc":"2.0","method":"x"}', b"{" * 3000, b'"\\ud800"'], True)
def test_any_bytes_give_one_reply_a_line(lines: list[bytes], ended: bool) -> None:
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    *pieces, rest = data.split(b"\n")
    pieces += [rest] if rest else []  # an unfinished last line of nothing is no line
    replies = speak(data)
    assert len(replies) == len([piece for piece in pieces if not silent(piece)])
    assert all(reply["jsonrpc"] == "2.0" and ("result" in reply) != ("error" in reply) for reply in replies)


@pytest.mark.parametrize(("command", "status"), [("call", "unknown"), ("tools", "failed")])
def test_a_defect_is_a_result_without_the_text_of_the_error(
    command: str, status: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Any) -> Any:
        raise ValueError("token-12345")

    monkeypatch.setattr("plugin.inspector.resolve", lambda handler: broken)
    queued: list[Job] = []
    made = Router(Inspector(lambda method, params: None), enqueue=queued.append, cancel=lambda identity: None)
    made.receive(line("initialize", INITIALIZE))
    assert (
        made.receive(line("run", step("api", command, **({"tool": "t"} if command == "call" else dict[str, str]()))))
        is None
    )
    result = json.loads(made.carry_out(queued[0], lambda: False))["result"]
    jsonschema.Draft202012Validator(RESULT).validate(result)
    assert result["facts"] == {"connection": "none"}
    assert (result["status"], result["code"]) == (status, "internal")
    assert result["message"] == "A defect in the plugin (ValueError); report it."


def test_a_defect_in_what_is_answered_at_once_is_an_error_without_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise ValueError("token-12345")

    monkeypatch.setattr("plugin.inspector.check_arguments", broken)
    reply = json.loads(router().receive(line("check", step("api", "tools"))) or b"")
    assert reply["error"] == {
        "code": -32603,
        "message": "A defect in the plugin (ValueError); report it.",
        "data": {"code": "internal"},
    }


# initialize and check


def test_initialize_says_who_answers_and_comes_once() -> None:
    with PluginDriver() as plugin:
        assert plugin.ask("initialize", INITIALIZE)["result"] == {
            "protocol": 1,
            "plugin": {"name": "assay-mcp", "version": "0.1.0", "provider": "MCP"},
        }
        assert plugin.ask("initialize", INITIALIZE)["error"]["code"] == -32602
        assert plugin.end() == 0


def test_initialize_refuses_what_it_cannot_work_with() -> None:
    changes: list[tuple[dict[str, Any], str]] = [
        ({"protocol": 2}, "This plugin speaks version 1 of the host protocol."),
        ({"origins": ["nowhere"]}, "`origins` holds a text that is no origin: the URL must begin with"),
        ({"bindings": {"Api": {}}}, "its names are aliases"),
        ({"bindings": {"a" * 65: {}}}, "64 characters at most"),
        ({"host": {"name": "x"}}, "a string `version`"),
    ]
    replies = speak(b"".join(line("initialize", INITIALIZE | change) for change, _ in changes))
    for reply, (_, message) in zip(replies, changes, strict=True):
        assert reply["error"]["code"] == -32602
        assert message in reply["error"]["message"]


def test_a_wrong_binding_is_named_by_alias_and_field_and_may_be_mended() -> None:
    wrong = {"api": {"endpoint": "http://127.0.0.1:9/mcp", "bearerToken": "abc"}}
    refused, accepted = speak(line("initialize", INITIALIZE | {"bindings": wrong}) + line("initialize", INITIALIZE, 2))
    assert refused["error"]["code"] == -32000
    assert refused["error"]["data"] == {"code": "invalid_binding", "where": "api.bearerToken"}
    assert '"abc"' not in json.dumps(refused)
    assert accepted["result"]["protocol"] == 1


def test_check_tells_the_effect_and_contacts_nothing() -> None:
    with PluginDriver() as plugin:
        plugin.ask("initialize", INITIALIZE)
        for command, effect, arguments in (
            ("connect", "observe", {}),
            ("tools", "observe", {"expect": {"count": 0}}),
            ("call", "mutate", {"tool": "t", "arguments": {"a": 1}}),
            ("call_value", "mutate", {"tool": "t", "select": "/id"}),
            ("disconnect", "mutate", {}),
        ):
            assert plugin.ask("check", step("api", command, **arguments))["result"] == {"effect": effect}
        with_reference = {**step("api", "call", tool="${t}", expect='{"isError":false}'), "open": ["tool"]}
        assert plugin.ask("check", with_reference)["result"] == {"effect": "mutate"}


def test_what_is_inadmissible_is_refused_by_check_and_by_run_alike() -> None:
    with PluginDriver() as plugin:
        plugin.ask("initialize", INITIALIZE)
        for method in ("check", "run"):
            assert plugin.refused(method, "other", "tools") == (
                "invalid_arguments",
                "There is no binding for the alias `other`; there are `api`.",
            )
            assert plugin.refused(method, "api", "tool")[0] == "invalid_arguments"
            assert plugin.refused(method, "api", "call", tool="t", expect={})[0] == "invalid_expectation"
            assert plugin.refused(method, "api", "call", tool="token-12345")[0] == "private_operand"
            # A name that a message repeats is redacted like everything else.
            assert "[redacted]" in plugin.refused(method, "token-12345", "tools")[1]
            assert "[redacted]" in plugin.refused(method, "api", "x-token-12345")[1]
            assert "[redacted]" in plugin.refused(method, "api", "tools", **{"token-12345": "x"})[1]
        assert b"token-12345" not in plugin.seen


# run


def test_a_whole_session_over_the_wire() -> None:
    with HttpServer(McpScript()) as server, PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url})
        seen = [
            plugin.run("api", "connect"),
            plugin.run("api", "tools", expect={"present": ["echo"]}),
            plugin.run("api", "call", tool="echo", expect={"isError": False}),
            plugin.run("api", "disconnect"),
        ]
        assert [(result["status"], result["effect"]) for result in seen] == [
            ("succeeded", "observe"),
            ("succeeded", "observe"),
            ("succeeded", "mutate"),
            ("succeeded", "mutate"),
        ]
        assert plugin.ask("shutdown")["result"] == {}
        assert plugin.end() == 0
        assert plugin.diagnostics == b""
        assert len(server.seen("DELETE")) == 1


@pytest.mark.requirement("evidence.step")
def test_every_result_has_the_documented_shape() -> None:
    long = {"content": [{"type": "text", "text": "x" * 5000}], "isError": True}
    with HttpServer(McpScript(on={"tools/call": long})) as server, PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url, "keepText": True})
        for command, arguments in (
            ("tools", {}),
            ("call", {"tool": "t"}),
            ("call_value", {"tool": "t", "select": ""}),
            ("connect", {}),
            ("disconnect", {}),
            ("call", {"tool": "t"}),
        ):
            jsonschema.Draft202012Validator(RESULT).validate(plugin.run("api", command, **arguments))


@pytest.mark.requirement("path.evidence")
def test_two_runs_have_equal_states_whatever_port_session_and_path() -> None:
    states = []
    for session, path in (("session-one-111", "one"), ("session-two-222", "two")):
        text = {"content": [{"type": "text", "text": f"you are {session}"}]}
        script = McpScript(session=session, on={"tools/call": text})
        with HttpServer(script) as server, PluginDriver() as plugin:
            plugin.initialize([server.origin], api={"endpoint": server.url})
            states.append(
                [
                    plugin.run("api", "connect", path=path)["state"],
                    plugin.run("api", "tools")["state"],
                    plugin.run("api", "call", tool="echo")["state"],
                    plugin.run("api", "disconnect")["state"],
                ]
            )
    assert states[0] == states[1]


def test_a_result_is_compared_with_another_over_the_wire() -> None:
    with HttpServer(McpScript()) as server, PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url})
        state = plugin.run("api", "tools")["state"]
        params = {"inventory": "tools", "before": state, "after": state | {"entries": [], "count": 0}}
        diff = plugin.ask("compare", params)["result"]
        assert (diff["format"], diff["removed"]) == ("assay-diff/1", [{"name": "echo", "class": "breaking"}])
        assert plugin.ask("compare", params | {"inventory": "prompts"})["error"]["code"] == -32602


def test_states_are_compared_without_initialize() -> None:
    empty = {"inventory": "tools", "declared": True, "complete": True, "count": 0, "entries": []}
    with PluginDriver() as plugin:
        reply = plugin.ask("compare", {"inventory": "tools", "before": empty, "after": empty})
        assert reply["result"]["changed"] == []


# Secrets

TOKEN = "desk-token-c3VwcG9ydA"


def spellings(token: str) -> list[bytes]:
    """The token as it is, percent-encoded in full, and at the three alignments of both base64 alphabets."""
    raw = token.encode()
    found = [raw, "".join(f"%{byte:02X}" for byte in raw).encode(), quote(token, safe="").encode()]
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + raw)
        middle = text[(shift * 8 + 5) // 6 : (shift + len(raw)) * 8 // 6]
        found += [middle, middle.translate(bytes.maketrans(b"+/", b"-_"))]
    return found


def block(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


#: Form -> what the tool of that name answers.
FORMS: dict[str, Any] = {
    "plain": block(f"you are {TOKEN}, hello"),
    "nested": block(json.dumps({"request": json.dumps({"token": TOKEN.replace("e", "\\u0065")})})),
    "member": {"content": [], "structuredContent": {f"x-{TOKEN}": 1}},
    "error": Refusal(-32000, "no", {"headers": [{"authorization": f"Bearer {TOKEN}"}]}),
    "percent": block("%64" + quote(TOKEN[1:]).replace("-", "%2D")),
    "base64": block("Basic " + base64.b64encode(f"user:{TOKEN}".encode()).decode()),
}


def echo(request: Request, peer: Peer) -> None:
    McpScript(on={"tools/call": FORMS[request.json["params"]["name"]]})(request, peer)


def test_an_echoed_token_is_in_no_byte_on_the_wire_and_is_noticed_in_every_form() -> None:
    with HttpServer(McpScript(on={"tools/call": echo})) as server, PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url, "bearerToken": TOKEN})
        for form in FORMS:
            assert plugin.run("api", "call", tool=form, expect={"redacted": True})["status"] == "succeeded", form
            failed = plugin.run("api", "call", tool=form, expect={"redacted": False})
            assert (failed["status"], failed["code"]) == ("failed", "expectation_failed"), form
        assert plugin.end() == 0
        assert server.requests[0].headers["authorization"] == f"Bearer {TOKEN}"
        assert [spelling for spelling in spellings(TOKEN) if spelling in plugin.seen + plugin.diagnostics] == []


def test_a_session_id_is_told_before_the_reply_of_its_step() -> None:
    with HttpServer(McpScript(session="session-abcdef")) as server, PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url})
        plugin.run("api", "connect")
        learnt = {"jsonrpc": "2.0", "method": "secrets/learnt", "params": {"values": ["session-abcdef"]}}
        assert plugin.notifications == [learnt]
        assert plugin.seen.index(b"secrets/learnt") < plugin.seen.index(b"Connected with")


@pytest.mark.requirement("token.read-once", "token.paths-private")
def test_a_token_from_a_file_is_told_before_the_reply_of_its_step(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    file = tmp_path / "agent-key"
    file.write_text("minted-token-1")
    file.chmod(0o600)
    with HttpServer(McpScript(session=None)) as server, PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url, "tokenDirectory": str(tmp_path)})
        assert plugin.run("api", "connect", tokenFile="agent-key")["status"] == "succeeded"
        assert [message["params"]["values"] for message in plugin.notifications] == [["minted-token-1"]]
        assert plugin.seen.count(b"minted-token-1") == 1
        assert str(tmp_path).encode() not in plugin.seen


def test_what_another_plugin_learnt_is_private_at_once() -> None:
    script = McpScript(on={"tools/call": block("page says browser-secret")})
    with HttpServer(script) as server, PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url})
        plugin.notify("secrets/learnt", {"values": ["browser-secret"]})
        assert plugin.run("api", "call", tool="t")["state"]["text"] == "page says [redacted]"
        assert b"browser-secret" not in plugin.seen


def test_nothing_of_the_environment_or_of_argv_changes_where_requests_go() -> None:
    environment = {
        "HTTP_PROXY": "http://127.0.0.1:1",
        "http_proxy": "http://127.0.0.1:1",
        "ALL_PROXY": "http://127.0.0.1:1",
    }
    with HttpServer(McpScript()) as server, PluginDriver(environment=environment) as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url})
        assert plugin.run("api", "connect")["status"] == "succeeded"


# Order, cancelling, and the end


def test_check_is_answered_while_a_command_runs_and_commands_wait_their_turn() -> None:
    with HttpServer(McpScript(on={"tools/call": hold})) as server, PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url})
        plugin.run("api", "connect")
        running = plugin.send("run", step("api", "call", tool="t"))
        waiting = plugin.send("run", step("api", "disconnect"))
        server.wait_for(lambda server: bool(server.seen("tools/call")))
        assert plugin.ask("check", step("api", "tools"))["result"] == {"effect": "observe"}
        plugin.notify("cancel", {"id": running})
        first, second = plugin.reply(), plugin.reply()
        assert (first["id"], first["result"]["status"], first["result"]["code"]) == (running, "unknown", "cancelled")
        assert (second["id"], second["result"]["status"]) == (waiting, "succeeded")


def test_a_cancelled_observation_failed() -> None:
    with HttpServer(McpScript(on={"tools/list": hold})) as server, PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url})
        running = plugin.send("run", step("api", "tools"))
        server.wait_for(lambda server: bool(server.seen("tools/list")))
        plugin.notify("cancel", {"id": running})
        result = plugin.reply()["result"]
        assert (result["status"], result["code"], result["facts"]["connection"]) == ("failed", "cancelled", "closed")


def test_a_command_that_waits_can_be_cancelled_and_is_not_sent() -> None:
    with HttpServer(McpScript(on={"tools/list": hold})) as server, PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url})
        running = plugin.send("run", step("api", "tools"))
        waiting = plugin.send("run", step("api", "call", tool="t"))
        server.wait_for(lambda server: bool(server.seen("tools/list")))
        plugin.notify("cancel", {"id": waiting})
        plugin.notify("cancel", {"id": running})
        assert plugin.reply()["id"] == running
        result = plugin.reply()["result"]
        assert (result["status"], result["code"]) == ("failed", "cancelled")
        assert server.seen("tools/call") == []


@pytest.mark.parametrize("how", ["end of input", "shutdown", signal.SIGTERM, signal.SIGINT])
def test_at_the_end_what_runs_is_cancelled_what_waits_is_answered_and_each_session_gets_its_delete(how: Any) -> None:
    with HttpServer(McpScript(on={"tools/call": hold})) as server, PluginDriver() as plugin:
        plugin.initialize(
            [server.origin], api={"endpoint": server.url}, other={"endpoint": server.url}, idle={"endpoint": server.url}
        )
        plugin.run("api", "connect")
        plugin.run("other", "connect")
        running = plugin.send("run", step("api", "call", tool="t"))
        waiting = plugin.send("run", step("other", "tools"))
        server.wait_for(lambda server: bool(server.seen("tools/call")))
        begun = time.monotonic()
        if isinstance(how, signal.Signals):
            os.kill(plugin.process.pid, how)
        elif how == "shutdown":
            identity = plugin.send("shutdown")
            assert plugin.reply() == {"jsonrpc": "2.0", "id": identity, "result": {}}
        else:
            assert plugin.process.stdin is not None
            plugin.process.stdin.close()
        replies = {reply["id"]: reply["result"] for reply in (plugin.reply(), plugin.reply())}
        assert (replies[running]["status"], replies[running]["code"]) == ("unknown", "cancelled")
        assert (replies[waiting]["status"], replies[waiting]["code"]) == ("failed", "cancelled")
        assert plugin.process.wait(timeout=10) == 0
        assert time.monotonic() - begun < 4
        assert len(server.seen("DELETE")) == 2
        assert server.seen("tools/list") == []
        assert plugin.diagnostics == b""


def test_a_server_that_answers_nothing_does_not_hold_up_the_end() -> None:
    with HttpServer(McpScript(on={"DELETE": hold, "GET": hold})) as server, PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url}, other={"endpoint": server.url})
        plugin.run("api", "connect")
        plugin.run("other", "connect")
        begun = time.monotonic()
        plugin.ask("shutdown")
        assert plugin.process.wait(timeout=10) == 0
        assert 1 < time.monotonic() - begun < 4
        assert len(server.seen("DELETE")) == 2


def test_a_session_that_was_ended_is_not_ended_again() -> None:
    with HttpServer(McpScript()) as server, PluginDriver() as plugin:
        plugin.initialize([server.origin], api={"endpoint": server.url})
        plugin.run("api", "connect")
        plugin.run("api", "disconnect")
        assert plugin.end() == 0
        assert len(server.seen("DELETE")) == 1


def test_a_host_that_is_killed_leaves_no_plugin_behind() -> None:
    host = (
        "import subprocess, time\n"
        f"plugin = subprocess.Popen({program()!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "plugin.stdin.write(b'x\\n'); plugin.stdin.flush(); plugin.stdout.readline()\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", host], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"ready\n"
        process.kill()
        # The plugin holds the other end of this pipe as well: it is read to its end once both are gone.
        assert process.stderr.read() == b""


def test_after_shutdown_further_requests_are_refused() -> None:
    replies = speak(
        line("initialize", INITIALIZE)
        + line("shutdown", None, 2)
        + line("run", {"alias": "api", "command": "tools"}, 3)
    )
    assert [reply["id"] for reply in replies] == [1, 2, 3]
    assert replies[2]["error"]["data"] == {"code": "cancelled"}
