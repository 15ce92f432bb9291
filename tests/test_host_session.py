"""The plugins of one flow together: what one learns the others are told, and all of them end."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from host.executable import Executable
from host.interruption import Interruption
from host.private import Private
from host.session import Identities, Session
from protocol.failures import Code, Failed
from tests.fakes.plugins import FakePlugin
from tests.fakes.processes import gone, until
from tests.host_flows import flow

LEARNT = "learnt-by-the-first"


def session(first: FakePlugin, second: FakePlugin, interruption: Interruption | None = None) -> Session:
    executables = {
        "MCP": Executable("MCP", (str(first.path),), {}),
        "Shell": Executable("Shell", (str(second.path),), {}),
    }
    configurations: dict[str, dict[str, Any]] = {"MCP": {"api": {"endpoint": "http://x/"}}, "Shell": {"sh": {}}}
    identities = Identities(("http://127.0.0.1:1",), configurations, frozenset({"HIDDEN"}))
    private = Private({"MCP": [], "Shell": []})
    environment = {**os.environ, "HIDDEN": "x"}
    return Session(executables, environment, identities, private, interruption or Interruption())


def test_each_plugin_gets_the_bindings_of_its_own_aliases_and_no_hidden_variable(tmp_path: Path) -> None:
    first, second = FakePlugin(tmp_path, "first"), FakePlugin(tmp_path, "second", provider="Shell")
    with session(first, second) as started:
        assert started.plugins["Shell"] == {"name": "fake", "version": "1", "provider": "Shell"}
    assert [plugin.sent("initialize")[0]["bindings"] for plugin in (first, second)] == [
        {"api": {"endpoint": "http://x/"}},
        {"sh": {}},
    ]
    assert [plugin for plugin in (first, second) if "HIDDEN" in plugin.log[0]["environment"]] == []


def test_what_one_plugin_learns_is_told_to_the_other_and_taken_out_of_its_results(tmp_path: Path) -> None:
    turn = [{"learn": [LEARNT]}, {"result": {}}]
    first = FakePlugin(tmp_path, "first", commands={"call": [turn]})
    echo = [[{"result": {"message": f"saw {LEARNT}"}}]]
    second = FakePlugin(tmp_path, "second", provider="Shell", commands={"call": echo})
    with session(first, second) as started:
        started.provider("MCP").run("api", "call", {}, deadline=time.monotonic() + 20)
        result = started.provider("Shell").run("sh", "call", {}, deadline=time.monotonic() + 20)
    assert result.message == "saw [redacted]"
    assert second.sent("secrets/learnt") == [{"values": [LEARNT]}]
    assert first.sent("secrets/learnt") == []
    assert started.private.leaks(LEARNT.encode())


def test_when_one_plugin_cannot_be_started_none_is_left(tmp_path: Path) -> None:
    first = FakePlugin(tmp_path, "first")
    second = FakePlugin(tmp_path, "second", provider="Shell", initialize=[{"exit": 5}])
    interruption = Interruption()
    with pytest.raises(Failed, match="ended with exit status 5") as caught:
        session(first, second, interruption)
    assert caught.value.code == Code.PLUGIN_DIED
    until(lambda: all(map(gone, [*first.pids, *second.pids])))


def test_a_check_sends_what_is_known_and_says_what_is_open(tmp_path: Path) -> None:
    given = flow(("S", 'api.call_value tool="a" select="/x" -> x\napi.call tool="b" arguments={"x":"${x}"}'))
    refusal = {"code": -32000, "message": "No.", "data": {"code": "private_operand", "where": "tool"}}
    first = FakePlugin(tmp_path, "first", check={"call": refusal})
    with session(first, FakePlugin(tmp_path, "second", provider="Shell")) as started:
        refused = [started.check(step, given.values) for step in given.steps]
    assert refused[0] is None
    assert refused[1] is not None
    assert (refused[1].code, refused[1].failure.where) == (Code.PRIVATE_OPERAND, "tool")
    assert [params["open"] for params in first.sent("check")] == [[], ["arguments"]]


def test_nothing_private_is_in_a_repr(tmp_path: Path) -> None:
    assert repr(Identities((), {"MCP": {"api": {"bearerToken": "s"}}}, frozenset())) == "<Identities>"
