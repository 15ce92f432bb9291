"""One plugin process over the wire: what counts as an answer, what counts as its death, and that none is left."""

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from host.executable import Executable
from host.inbox import Progress
from host.private import Private
from host.provider import Provider
from protocol.failures import Code, Failed
from tests.fakes.plugins import FakePlugin
from tests.fakes.processes import gone, until

SECRET = "learnt-secret-7"


def assert_ended(pids: list[int]) -> None:
    """Hold that processes have ended: what a signal ends is a moment longer in the table of the system."""
    until(lambda: all(map(gone, pids)))


class Started:
    """A provider on a fake plugin, initialized with one alias."""

    def __init__(self, folder: Path, private: Private | None = None, **behaviour: Any) -> None:
        self.plugin = FakePlugin(folder, **behaviour)
        self.progress: list[Progress] = []
        self.learnt: list[list[str]] = []
        self.private = private or Private({"MCP": (), "Other": ()})
        self.provider = Provider(
            Executable(behaviour.get("provider", "MCP"), (str(self.plugin.path),), {}),
            dict(os.environ),
            self.private,
            on_learnt=lambda _provider, values: self.learnt.append(values),
            on_progress=self.progress.append,
        )

    def initialize(self) -> dict[str, Any]:
        return self.provider.initialize(["http://127.0.0.1:1"], {"api": {"endpoint": "http://127.0.0.1:1/mcp"}})

    def run(self, command: str = "tools", seconds: float = 20.0) -> Any:
        return self.provider.run("api", command, {}, deadline=time.monotonic() + seconds)

    def failure(self, command: str = "tools", seconds: float = 20.0) -> Failed:
        with pytest.raises(Failed) as caught:
            self.run(command, seconds)
        return caught.value


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    started: list[Started] = []

    def make(**behaviour: Any) -> Started:
        started.append(Started(tmp_path / str(len(started)), **behaviour))
        started[-1].initialize()
        return started[-1]

    yield make
    for each in started:
        each.provider.end()
        assert_ended(each.plugin.pids)


def test_a_command_gives_its_result_exactly(start: Any) -> None:
    number = "9007199254740993000000000000.10"
    started = start(commands={"call": [[{"garbage": ""}, {"result": {"state": {"n": 1}, "message": "Fine."}}]]})
    result = started.run("call")
    assert (result.status, result.code, result.message, result.effect) == ("succeeded", None, "Fine.", "mutate")
    assert bytes(result.state["n"]) == b"1"
    assert number not in result.message


def test_initialize_hands_over_admission_and_bindings_and_nothing_by_argument_or_environment(start: Any) -> None:
    started = start()
    assert started.plugin.sent("initialize") == [
        {
            "protocol": 1,
            "host": {"name": "assay", "version": started.plugin.sent("initialize")[0]["host"]["version"]},
            "origins": ["http://127.0.0.1:1"],
            "bindings": {"api": {"endpoint": "http://127.0.0.1:1/mcp"}},
        }
    ]
    assert started.plugin.log[0]["argv"] == []


def test_a_check_returns_the_effect_and_raises_what_is_refused(start: Any) -> None:
    refusal = {"code": -32000, "message": "No such tool name.", "data": {"code": "invalid_arguments"}}
    started = start(check={"call": refusal})
    assert started.provider.check("api", "tools", {}, []) == "observe"
    with pytest.raises(Failed) as caught:
        started.provider.check("api", "call", {"tool": "${name}"}, ["tool"])
    assert (caught.value.code, str(caught.value)) == (Code.INVALID_ARGUMENTS, "No such tool name.")
    assert started.plugin.sent("check")[1] == {
        "alias": "api",
        "command": "call",
        "arguments": {"tool": "${name}"},
        "open": ["tool"],
    }


@pytest.mark.parametrize(
    ("error", "code", "sent"),
    [
        ({"code": -32000, "message": "m", "data": {"code": "not_connected"}}, Code.NOT_CONNECTED, False),
        ({"code": -32602, "message": "m"}, Code.INVALID_ARGUMENTS, False),
        ({"code": -32603, "message": "m"}, Code.INTERNAL, True),
        ({"code": -32603, "message": "m", "data": {"code": "internal"}}, Code.INTERNAL, True),
        ({"code": -32000, "message": "m", "data": {"code": "made_up"}}, Code.INTERNAL, True),
        ({"code": -32000, "message": "m", "data": {"code": {}}}, Code.INTERNAL, True),
        ({"code": "x", "message": 5}, Code.INTERNAL, True),
    ],
)
def test_an_error_in_place_of_a_result_becomes_its_code(start: Any, error: Any, code: Code, sent: bool) -> None:
    failed = start(commands={"call": [[{"error": error}]]}).failure("call")
    assert (failed.code, failed.failure.data) == (code, {"sent": sent})


@pytest.mark.parametrize(
    ("turn", "seen"),
    [
        ([{"exit": 7}], "ended with exit status 7"),
        ([{"exit": 0}], "ended with exit status 0"),
        ([{"kill": True}], "was ended by SIGKILL"),
        ([{"close": True}], "closed its output"),
        ([{"garbage": "hello\n"}], "wrote a line that is no message"),
        ([{"garbage": "[]\n"}], "wrote a line that is no message"),
        ([{"garbage": '{"jsonrpc":"2.0","id":1,"result":NaN}\n'}], "wrote a line that is no message"),
        ([{"wrong_id": 999}], "answered a request that was not asked"),
        ([{"wrong_id": "3"}], "answered a request that was not asked"),
        ([{"pad": 32 * 1024 * 1024 + 1}], "wrote a line of 33554433 bytes"),
        ([{"raw_result": {"status": "fine"}}], "a step result needs a known `status`"),
        ([{"raw_result": None}], "a step result must be an object"),
        ([{"result": {"code": "timeout"}}], "a step result has a `code` exactly when"),
        ([{"result": {"artifacts": [{"name": "../x", "json": 1}]}}], "named its artifacts outside the protocol"),
        ([{"result": {"artifacts": [{"name": "observation.json", "json": 1}]}}], "named its artifacts"),
        ([{"result": {"artifacts": [{"name": "tool-diff.json", "json": 1}]}}], "named its artifacts"),
        ([{"result": {"artifacts": [{"name": "a", "json": 1}, {"name": "a", "json": 2}]}}], "named its artifacts"),
        ([{"learn": ["fine", 5]}], "announced learnt secrets outside the protocol"),
    ],
)
def test_what_is_no_answer_is_the_death_of_the_plugin(start: Any, turn: Any, seen: str) -> None:
    started = start(commands={"call": [turn]})
    failed = started.failure("call")
    assert failed.code == Code.PLUGIN_DIED
    assert str(failed).startswith("The MCP plugin ")
    assert seen in str(failed)
    assert failed.failure.data["sent"] is True
    assert not started.provider.alive
    again = started.failure("call")
    assert (again.code, again.failure.data["sent"]) == (Code.PLUGIN_DIED, False)
    assert started.plugin.ran == ["api.call"]


def test_a_second_answer_is_noticed_before_anything_more_is_sent(start: Any, tmp_path: Path) -> None:
    started = start(commands={"tools": [[{"result": {}}, {"result": {}}]]})
    started.run()

    def check_again() -> None:
        while True:
            started.provider.check("api", "tools", {}, [])

    with pytest.raises(Failed, match="answered one twice") as caught:
        check_again()
    assert caught.value.code == Code.PLUGIN_DIED


def test_its_last_words_stand_beside_its_death_redacted_and_bounded(start: Any) -> None:
    noise = "x" * 100_000
    turn = [{"learn": [SECRET]}, {"stderr": noise}, {"stderr": f"token={SECRET}"}, {"exit": 1}]
    failed = start(commands={"call": [turn]}).failure("call")
    diagnostics = failed.failure.data["diagnostics"]
    assert diagnostics.endswith("token=[redacted]")
    assert SECRET not in diagnostics
    assert len(diagnostics) <= 2000
    assert failed.failure.data["exit"] == 1


def test_a_deadline_cancels_the_command_and_takes_its_answer(start: Any) -> None:
    started = start(commands={"call": [[{"wait_for_cancel": None}]], "tools": [[{"wait_for_cancel": None}]]})
    assert (started.run("call", 0.05).status, started.run("tools", 0.05).code) == ("unknown", "cancelled")
    assert len(started.plugin.sent("cancel")) == 2
    assert started.run("connect").status == "succeeded"


def test_a_stop_cancels_the_command_at_once(start: Any, tmp_path: Path) -> None:
    running = tmp_path / "running"
    started = start(commands={"call": [[{"touch": str(running)}, {"wait_for_cancel": None}]]})
    stop = threading.Event()

    def ask() -> None:
        while not running.exists():
            pass
        stop.set()
        started.provider.interrupt(1)

    asking = threading.Thread(target=ask)
    asking.start()
    result = started.provider.run("api", "call", {}, deadline=time.monotonic() + 60, stop=stop.is_set)
    asking.join()
    assert (result.status, result.code) == ("unknown", "cancelled")


def test_a_plugin_that_ignores_a_cancel_is_killed(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.provider.CANCEL_SECONDS", 0.1)
    failed = start(commands={"call": [[{"stall": True}]]}).failure("call", 0.05)
    assert (failed.code, failed.failure.data["sent"]) == (Code.PLUGIN_DIED, True)
    assert "did not answer `cancel`" in str(failed)


def test_a_plugin_that_stalls_outside_of_a_run_is_given_up(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    started = start(compare=[{"stall": True}])
    monkeypatch.setattr("host.provider.REPLY_SECONDS", 0.1)
    with pytest.raises(Failed, match="did not answer `compare` in time"):
        started.provider.compare("tools", {}, {})


def test_a_second_interruption_kills_at_once(start: Any, tmp_path: Path) -> None:
    running = tmp_path / "running"
    started = start(ignore_sigterm=True, commands={"call": [[{"touch": str(running)}, {"stall": True}]]})

    def kill() -> None:
        while not running.exists():
            pass
        started.provider.interrupt(2)

    killing = threading.Thread(target=kill)
    killing.start()
    failed = started.failure("call", 60)
    killing.join()
    assert "was ended by SIGKILL" in str(failed)


def test_learnt_values_arrive_before_the_reply_that_they_precede(start: Any) -> None:
    started = start(commands={"call": [[{"learn": [SECRET]}, {"result": {}}]]})
    started.run("call")
    assert started.learnt == [[SECRET]]
    assert started.private.leaks(f"...{SECRET}...".encode())
    assert started.private.text(f"it is {SECRET}") == "it is [redacted]"


def test_values_of_other_providers_are_taken_out_of_a_result_and_its_own_are_left_for_the_scan(start: Any) -> None:
    private = Private({"MCP": ["own-private-1"], "Other": ["foreign-private"]})
    text = "own-private-1 foreign-private"
    result = {
        "message": text,
        "state": {text: [text]},
        "facts": {"connection": "open", "seen": text},
        "capture": text,
        "artifacts": [{"name": "a", "json": text}],
        "display": text,
    }
    got = start(private=private, commands={"call": [[{"result": result}]]}).run("call")
    clean = "own-private-1 [redacted]"
    assert (got.message, got.state, got.capture, got.display) == (clean, {clean: [clean]}, clean, clean)
    assert got.facts == {"connection": "open", "seen": clean}
    assert [(artifact.name, artifact.json) for artifact in got.artifacts] == [("a", clean)]


def test_what_another_plugin_learnt_is_passed_on(start: Any) -> None:
    started = start()
    started.provider.learn([SECRET])
    started.run()
    assert started.plugin.sent("secrets/learnt") == [{"values": [SECRET]}]


def test_progress_is_told(start: Any) -> None:
    note = {"method": "progress", "params": {"id": 2, "done": 3, "total": 9, "unit": "pages"}}
    vague = {"method": "progress", "params": {"id": 2, "done": "x"}}
    started = start(commands={"tools": [[{"notify": note}, {"notify": vague}, {"result": {}}]]})
    started.run()
    assert started.progress == [Progress(3, 9, "pages"), Progress(0, None, "")]


def test_a_request_of_the_plugin_is_refused_and_an_unknown_notification_is_ignored(start: Any) -> None:
    asked = [{"request": {"method": "shell/run", "params": {}}}, {"notify": {"method": "hello", "params": {}}}]
    started = start(commands={"tools": [[*asked, {"result": {}}]]})
    started.run()
    started.run("connect")
    assert [entry["error"]["code"] for entry in started.plugin.log if entry.get("id") == "plugin-1"] == [-32601]


def test_an_orderly_end_is_a_shutdown_and_no_signal(start: Any) -> None:
    started = start()
    started.provider.end()
    assert started.plugin.log[-1]["method"] == "shutdown"


def test_what_the_plugin_started_ends_with_it(start: Any) -> None:
    started = start(commands={"tools": [[{"spawn": True}, {"result": {}}]]})
    started.run()
    pids = started.plugin.pids
    assert len(pids) == 2
    assert [gone(pid) for pid in pids] == [False, False]
    started.provider.end()
    assert_ended(pids)


def test_a_plugin_that_ignores_shutdown_and_sigterm_is_killed(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.provider.SHUTDOWN_SECONDS", 0.1)
    monkeypatch.setattr("host.provider.SESSION_SECONDS", 0.0)
    monkeypatch.setattr("host.child.TERM_SECONDS", 0.1)
    started = start(ignore_sigterm=True, shutdown=[{"stall": True}])
    started.provider.end()
    assert_ended(started.plugin.pids)


def test_a_plugin_of_another_provider_or_protocol_is_refused(tmp_path: Path) -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("provider", {"initialize": [{"raw_result": {"protocol": 1, "plugin": {"provider": "LocalBash"}}}]}),
        ("protocol", {"initialize": [{"raw_result": {"protocol": 2, "plugin": {"provider": "MCP"}}}]}),
        ("nothing", {"initialize": [{"raw_result": {}}]}),
    ]
    codes = []
    for name, behaviour in wrong:
        started = Started(tmp_path / name, **behaviour)
        with pytest.raises(Failed) as caught:
            started.initialize()
        codes.append(caught.value.code)
        started.provider.end()
    assert codes == [Code.PROVIDER_MISSING, Code.PROVIDER_MISSING, Code.PLUGIN_DIED]


def test_a_program_that_cannot_be_started_is_a_missing_provider(tmp_path: Path) -> None:
    script = tmp_path / "plugin"
    script.write_text("no program")
    with pytest.raises(Failed, match="could not be started") as caught:
        Provider(Executable("MCP", (str(script),), {}), {}, Private({"MCP": ()}))
    assert caught.value.code == Code.PROVIDER_MISSING


def test_a_line_that_is_too_long_for_the_wire_is_not_sent(start: Any) -> None:
    started = start()
    with pytest.raises(Failed) as caught:
        started.provider.run("api", "call", {"tool": "x" * 17_000_000}, deadline=time.monotonic() + 9)
    assert (caught.value.code, caught.value.failure.data) == (Code.INVALID_ARGUMENTS, {"sent": False})
    assert started.run().status == "succeeded"


def test_a_plugin_that_reads_nothing_does_not_stop_the_deadline(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.provider.CANCEL_SECONDS", 0.1)
    started = start(check={}, compare=[{"stall": True}])
    monkeypatch.setattr("host.provider.REPLY_SECONDS", 0.1)
    with pytest.raises(Failed):
        started.provider.compare("tools", {"x": "y" * 5_000_000}, {})
    assert not started.provider.alive


def test_an_authorization_server_is_looked_for_and_answered_as_a_step_is(start: Any) -> None:
    record = [{"document": "challenge", "url": "u", "status": 401, "reason": "taken", "taken": True}]
    started = start(discover=[{"result": {"facts": {"connection": "none", "signIn": record}}}])
    result = started.provider.discover("api", deadline=time.monotonic() + 20)
    assert (result.status, result.effect, [entry["document"] for entry in result.facts["signIn"]]) == (
        "succeeded",
        "observe",
        ["challenge"],
    )
    assert started.plugin.sent("discover") == [{"alias": "api"}]
