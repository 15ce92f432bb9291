"""Plugins and hosts that are killed or interrupted in the middle: what is kept, what still runs, what is left."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from host.interruption import Interruption, listening
from host.runs import list_runs, read_run
from tests.fakes.plugins import FakePlugin
from tests.fakes.processes import gone
from tests.host_command import TARGET
from tests.host_flows import text

ROOT = Path(__file__).resolve().parents[1]
FLOW = text(
    ("Work", 'api.connect\napi.tools # list\napi.call tool="change" # change'),
    ("More", "api.tools # more"),
    ("Cleanup", "api.disconnect # end"),
)
#: Seconds that anything may take here.
PATIENCE = 30


class Running:
    """`assay run` as a process of its own, on a fake plugin; `reached` is a file that the plugin makes on its way."""

    def __init__(self, folder: Path, **behaviour: Any) -> None:
        self.folder = folder
        (folder / "f.md").write_text(FLOW)
        self.plugin = FakePlugin(folder / "plugin", **behaviour)
        words = ["run", "f.md", "--target", TARGET, "--plugin", str(self.plugin.path), "--json", "out.json"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "host", *words],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_for(self, true: Callable[[], bool]) -> None:
        until = threading.Event()
        for _ in range(PATIENCE * 100):
            if true():
                return
            until.wait(0.01)
        raise AssertionError(f"it never came: {self.process.poll()}, {self.plugin.log}")

    def reached(self, name: str = "reached") -> Path:
        path = self.folder / name
        self.wait_for(path.exists)
        return path

    def end(self) -> tuple[int, str]:
        out, err = self.process.communicate(timeout=PATIENCE)
        assert "Traceback" not in out + err
        return self.process.returncode, out + err

    @property
    def document(self) -> Any:
        return json.loads((self.folder / "out.json").read_text())["flows"][0]

    @property
    def statuses(self) -> list[str]:
        return [step["status"] for step in self.document["steps"]]

    @property
    def record(self) -> dict[str, Any]:
        (folder,) = list_runs(self.folder / ".assay" / "runs")
        record: dict[str, Any] = json.loads((folder / "run.json").read_text())
        return record


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    started: list[Running] = []

    def make(**behaviour: Any) -> Running:
        started.append(Running(tmp_path, **behaviour))
        return started[-1]

    yield make
    for running in started:
        if running.process.poll() is None:
            running.process.kill()
            running.process.communicate()
        running.wait_for(partial(nothing_runs, running))


def nothing_runs(running: Running) -> bool:
    return all(map(gone, running.plugin.pids))


def touching(folder: Path, then: dict[str, Any], name: str = "reached") -> list[list[dict[str, Any]]]:
    return [[{"touch": str(folder / name)}, then]]


@pytest.mark.requirement("commands.unknown")
def test_a_plugin_that_is_killed_in_a_mutation_leaves_it_unknown_and_nothing_is_sent_again(
    start: Any, tmp_path: Path
) -> None:
    running = start(commands={"call": touching(tmp_path, {"stall": True})})
    running.reached()
    os.kill(running.plugin.pids[0], signal.SIGKILL)
    status, _ = running.end()
    assert status == 3
    assert running.statuses == ["succeeded", "succeeded", "unknown", "skipped", "skipped"]
    assert running.plugin.ran == ["api.connect", "api.tools", "api.call"]
    assert running.record["status"] == "unknown"
    kept = sorted(path.parent.name for path in (tmp_path / ".assay").rglob("observation.json"))
    assert kept == ["01-api.connect", "02-api.tools", "03-api.call"]


def test_a_host_that_is_killed_leaves_no_plugin_and_shows_as_interrupted_where_it_was(
    start: Any, tmp_path: Path
) -> None:
    running = start(commands={"call": touching(tmp_path, {"stall": True})}, end=[{"touch": str(tmp_path / "eof")}])
    running.reached()
    os.kill(running.process.pid, signal.SIGKILL)
    running.process.communicate()
    running.reached("eof")
    running.wait_for(lambda: all(map(gone, running.plugin.pids)))
    (folder,) = list_runs(tmp_path / ".assay" / "runs")
    run = read_run(folder)
    assert (run.status, run.record["status"], run.record["ended"]) == ("interrupted", "running", None)
    steps = [step["status"] for step in run.record["steps"]]
    assert steps == ["succeeded", "succeeded", "running", "pending", "pending"]
    assert json.loads((folder / "steps" / "02-api.tools" / "snapshot.json").read_text())["status"] == "succeeded"
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_cancels_what_runs_cleans_up_and_completes_the_evidence(
    start: Any, tmp_path: Path, number: int
) -> None:
    running = start(commands={"call": touching(tmp_path, {"wait_for_cancel": None})})
    running.reached()
    running.process.send_signal(number)
    status, _ = running.end()
    assert status == 130
    assert running.statuses == ["succeeded", "succeeded", "unknown", "skipped", "succeeded"]
    assert running.document["status"] == "interrupted"
    assert running.document["steps"][3]["message"] == "The run was interrupted."
    assert running.plugin.ran == ["api.connect", "api.tools", "api.call", "api.disconnect"]
    assert (running.record["status"], running.record["exit"]) == ("interrupted", 130)


def test_a_second_interruption_ends_everything_at_once(start: Any, tmp_path: Path) -> None:
    running = start(
        ignore_sigterm=True,
        commands={
            "call": touching(tmp_path, {"wait_for_cancel": None}),
            "disconnect": touching(tmp_path, {"stall": True}, "cleaning"),
        },
    )
    running.reached()
    running.process.send_signal(signal.SIGINT)
    running.reached("cleaning")
    running.process.send_signal(signal.SIGINT)
    status, _ = running.end()
    assert status == 130
    assert running.statuses == ["succeeded", "succeeded", "unknown", "skipped", "unknown"]
    assert running.record["status"] == "interrupted"


def test_an_interruption_while_checking_contacts_nothing(start: Any, tmp_path: Path) -> None:
    running = start(initialize=[{"touch": str(tmp_path / "reached")}, {"wait_for_file": str(tmp_path / "go")}])
    running.reached()
    running.process.send_signal(signal.SIGINT)
    status, _ = running.end()
    assert status == 130
    assert running.document["status"] == "interrupted"
    assert running.plugin.ran == []
    assert not (tmp_path / ".assay").exists()


def test_a_hangup_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        interruption = Interruption()
        with listening(interruption):
            os.kill(os.getpid(), signal.SIGHUP)
        assert interruption.level == 0
    finally:
        signal.signal(signal.SIGHUP, before)
