"""What holds for every step: refusals before contact, cancelling, and private values."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from protocol.failures import Failed
from protocol.values.document import parse
from tests.fakes.http_server import HttpServer, McpScript, Refusal
from tests.fakes.plugin_bench import Bench, bench
from tests.fakes.scripted_replies import SUCCEEDED_OPEN, TOOLS


@pytest.mark.requirement("expect.private-operands")
def test_what_check_refuses_run_refuses_and_nothing_is_sent() -> None:
    with HttpServer(McpScript()) as server, bench(server, bearerToken="token-12345") as plugin:
        for arguments in ({"tool": "t", "expect": {}}, {"tool": "token-12345"}, {}):
            with pytest.raises(Failed):
                plugin.run("call", **arguments)
        assert server.requests == []


def test_a_step_that_is_cancelled_before_it_sent_anything_failed() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        plugin.cancelled.set()
        for command in ("connect", "tools", "disconnect"):
            assert plugin.outcome(command) == ("failed", "cancelled", "none")
        assert server.requests == []
        plugin.cancelled.clear()
        assert plugin.outcome("tools") == SUCCEEDED_OPEN


def test_a_step_that_is_cancelled_just_before_it_connects_leaves_no_connection_behind() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        answers = iter([False, True])
        params = {"alias": "api", "command": "connect", "arguments": {}}
        cancelled = json.loads(plugin.inspector.run(params, 1, lambda: next(answers)))
        assert (cancelled["code"], cancelled["facts"]) == ("cancelled", {"connection": "none"})
        assert (plugin.inspector.live(), server.requests) == ([], [])
        assert plugin.outcome("tools") == SUCCEEDED_OPEN


def test_a_cancelled_call_is_unknown_and_the_server_is_told() -> None:
    with HttpServer(McpScript(on={"tools/call": lambda request, peer: peer.hold()})) as server, bench(server) as plugin:
        plugin.run("connect")

        def cancel() -> None:
            server.wait_for(lambda server: bool(server.seen("tools/call")))
            plugin.cancelled.set()
            plugin.inspector.interrupt({"alias": "api"})

        thread = threading.Thread(target=cancel)
        thread.start()
        assert plugin.outcome("call", tool="t") == ("unknown", "cancelled", "closed")
        thread.join()
        assert len(server.seen("notifications/cancelled")) == 1


SECRETS: dict[str, Any] = {
    "bearerToken": "bearer-secret-1",
    "headers": {"X-Key": "Token header-secret-2"},
}


def test_what_a_server_echoes_is_in_no_byte_of_the_result(tmp_path: Path) -> None:
    session = "session-secret-3"
    secrets = ["bearer-secret-1", "header-secret-2", session]
    text = " ".join(secrets)
    echo = {
        "content": [{"type": "text", "text": text}, {"type": "text", "text": json.dumps({text: json.dumps([text])})}],
        "structuredContent": {text: [text]},
        "_meta": {text: text},
    }
    script = McpScript(session=session, on={"tools/call": echo}, capabilities={"tools": {text: text}})
    with HttpServer(script) as server, bench(server, **SECRETS) as plugin:
        seen = plugin.raw("api", "connect") + plugin.raw("api", "call", tool="t") + plugin.raw("api", "tools")
        seen += plugin.raw("api", "call", tool="t", expect={"redacted": False})
        assert [secret for secret in [*secrets, server.url] if secret.encode() in seen] == []
        assert b"[redacted]" in seen


def test_values_that_the_host_has_learnt_are_private_as_well() -> None:
    script = McpScript(on={"tools/call": {"content": [{"type": "text", "text": "other-secret"}]}})
    with HttpServer(script) as server, bench(server) as plugin:
        plugin.learn("other-secret")
        assert plugin.run("call", tool="t")["state"]["text"] == "[redacted]"
        with pytest.raises(Failed) as caught:
            plugin.run("call", tool="other-secret")
        assert caught.value.code == "private_operand"


def test_two_aliases_are_two_sessions() -> None:
    with HttpServer(McpScript(session=None)) as server:
        plugin = Bench([server.origin], {"one": {"endpoint": server.url}, "two": {"endpoint": server.url}})
        try:
            plugin.raw("one", "connect")
            plugin.raw("two", "connect")
            assert len(server.seen("initialize")) == 2
            assert json.loads(plugin.raw("one", "disconnect"))["facts"]["connection"] == "disconnected"
            assert json.loads(plugin.raw("two", "tools"))["status"] == "succeeded"
        finally:
            for connection in plugin.inspector.live():
                connection.end()


def test_no_result_repeats_a_name_whatever_names_of_a_server_redact_alike() -> None:
    token = "token-0123456789"
    twins = {token: 1, f"{token}\x07": 2, "[redacted]": 3}
    answers = {"tools/call": Refusal(-32000, "no", twins), "tools/list": {"tools": [{**TOOLS[0], "_meta": twins}]}}
    with HttpServer(McpScript(on=answers)) as server, bench(server, bearerToken=token, keepText=True) as plugin:
        documents = [parse(plugin.raw("api", "tools")), parse(plugin.raw("api", "call", tool="b_tool"))]
    assert [document.repeated for document in documents] == [(), ()]
    assert set(documents[1].value["facts"]["refusal"]["data"]) == {"[redacted]", "[redacted] (2)", "[redacted] (3)"}
