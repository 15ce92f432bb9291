"""Several flows at once: order, lines that stand together, the gravest exit status, and an end that leaves nothing."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.http_server import HttpServer, McpScript, Peer, Request
from tests.fakes.plugins import FakePlugin
from tests.fakes.processes import gone
from tests.host_command import TARGET, Command
from tests.host_flows import text

ROOT = Path(__file__).resolve().parents[1]
#: Seconds that anything may take here.
PATIENCE = 60


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path, monkeypatch, capsys)


def flow(alias: str, *, name: str = "") -> str:
    commands = f'{alias}.connect\n{alias}.tools # list\n{alias}.call tool="change" # change'
    return text(
        (f"Work {alias}", commands), ("Cleanup", f"{alias}.disconnect"), aliases=alias, name=name or f"Of {alias}"
    )


def write_flows(folder: Path, count: int) -> list[str]:
    names = [f"f{number}" for number in range(count)]
    for name in names:
        (folder / f"{name}.md").write_text(flow(name))
    return names


# How it is told


def test_flows_run_at_once_and_the_lines_of_each_stand_together(assay: Command) -> None:
    meeting = str(assay.folder / "meeting")
    assay.behave(commands={"f0.tools": [[{"wait_for_file": meeting}]], "f1.call": [[{"touch": meeting}]]})
    write_flows(assay.folder, 2)
    done = assay.run("f0.md", "f1.md", "--jobs", "2", "--json", "out.json")
    assert (done.exit, done.err) == (0, "")
    told = [match for row in done.out.splitlines() for match in re.findall(r"work-(f\d)|^(Of f\d)  ", row)]
    first, second = ["Of f0", *["f0"] * 3], ["Of f1", *["f1"] * 3]
    assert [one or two for one, two in told] in ([*first, *second], [*second, *first])
    document = json.loads((assay.folder / "out.json").read_text())
    assert [entry["file"] for entry in document["flows"]] == ["f0.md", "f1.md"]
    assert [row for row in done.out.splitlines() if row.startswith("succeeded: ")] == [
        "succeeded: Of f0 (4 succeeded)",
        "succeeded: Of f1 (4 succeeded)",
    ]
    assert done.out.splitlines()[-1] == "2 flows: 2 succeeded"


def test_one_job_runs_one_flow_after_another(assay: Command) -> None:
    write_flows(assay.folder, 3)
    assert assay.run("f0.md", "f1.md", "f2.md").exit == 0
    assert assay.plugin.ran == [
        f"f{number}.{command}" for number in range(3) for command in ("connect", "tools", "call", "disconnect")
    ]


def test_no_more_flows_than_jobs_are_under_way(assay: Command) -> None:
    write_flows(assay.folder, 6)
    assert assay.run(".", "--jobs", "3").exit == 0
    counts, under_way = [], 0
    for command in (ran.partition(".")[2] for ran in assay.plugin.ran):
        under_way += {"connect": 1, "disconnect": -1}.get(command, 0)
        counts.append(under_way)
    assert max(counts) <= 3


@pytest.mark.parametrize(
    ("results", "exit_status"),
    [
        ({"f0": {"status": "failed", "code": "tool_error"}}, 1),
        ({"f0": {"status": "failed", "code": "tool_error"}, "f1": {"status": "unknown", "code": "reply_lost"}}, 3),
        ({"f1": {"status": "failed", "code": "unreachable"}, "f2": {"status": "unknown", "code": "reply_lost"}}, 4),
    ],
)
def test_the_gravest_exit_status_of_all_flows_wins(assay: Command, results: dict[str, Any], exit_status: int) -> None:
    assay.behave(commands={f"{name}.call": [[{"result": result}]] for name, result in results.items()})
    write_flows(assay.folder, 3)
    assert assay.run(".", "--jobs", "3").exit == exit_status


def test_each_flow_has_plugins_and_private_values_of_its_own(assay: Command) -> None:
    learnt = [{"learn": ["learnt-in-the-first"]}, {"result": {"message": "learnt-in-the-first"}}]
    assay.behave(commands={"f0.tools": [learnt]})
    write_flows(assay.folder, 2)
    done = assay.run(".", "--jobs", "2", "--json", "out.json")
    assert done.exit == 5
    flows = json.loads((assay.folder / "out.json").read_text())["flows"]
    assert {entry["file"]: entry["code"] for entry in flows} == {"f0.md": "evidence_leak", "f1.md": None}
    assert len(assay.plugin.pids) == 3  # one that checks, and one for each flow


def test_a_quiet_run_of_several_flows_tells_what_failed(assay: Command) -> None:
    assay.behave(commands={"f1.call": [[{"result": {"status": "failed", "code": "tool_error", "message": "No."}}]]})
    write_flows(assay.folder, 3)
    done = assay.run(".", "--jobs", "3", "--quiet")
    assert "work-f1/change" in done.out
    assert "Of f0" not in done.out
    assert "work-f0" not in done.out
    assert "flows:" not in done.out


@pytest.mark.parametrize("words", [["--jobs", "0"], ["--jobs", "65"], ["--jobs", "x"], ["--wait", "-1"]])
def test_numbers_that_make_no_sense_are_refused(assay: Command, words: list[str]) -> None:
    write_flows(assay.folder, 1)
    assert assay.run("f0.md", *words).exit == 2
    assert assay.plugin.log == []


def test_a_baseline_that_is_named_is_for_one_flow(assay: Command) -> None:
    write_flows(assay.folder, 2)
    done = assay.run(".", "--jobs", "2", "--baseline", "x.json")
    assert (done.exit, assay.plugin.log) == (2, [])


# The end of it


def _take_terminal() -> None:
    """Have Ctrl-C on the terminal that is standard input go to this process and its group."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class RealPlugin:
    """The plugin itself, by a program that writes down which process it becomes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / ".plugin"
        self._pids = folder / ".pids"
        script = f'#!/bin/sh\necho $$ >> "{self._pids}"\nexec "{sys.executable}" -P -m plugin "$@"\n'
        self.path.write_text(script)
        self.path.chmod(0o755)

    @property
    def pids(self) -> list[int]:
        return [int(row) for row in self._pids.read_text().split()]

    @property
    def log(self) -> list[dict[str, Any]]:
        return []


class Running:
    """`assay run .` as a process in a folder of its own, with a temporary folder that shows what it leaves."""

    def __init__(
        self, folder: Path, jobs: int, *, target: str = TARGET, terminal: bool = False, **behaviour: Any
    ) -> None:
        self.folder = folder
        self.plugin = FakePlugin(folder / ".plugin", **behaviour) if target == TARGET else RealPlugin(folder)
        self.shown = ""
        self.temporary = folder / ".tmp"
        self.temporary.mkdir()
        words = ["run", ".", "--jobs", str(jobs), "--target", target, "--plugin", str(self.plugin.path)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(self.temporary), "TERM": "xterm"}
        self.screen, outside = pty.openpty() if terminal else (-1, subprocess.PIPE)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "host", *words, "--json", "out.json"],
            cwd=folder,
            env=environment,
            stdin=outside if terminal else subprocess.DEVNULL,
            stdout=outside,
            stderr=outside,
            start_new_session=True,
            preexec_fn=_take_terminal if terminal else None,
        )
        if terminal:
            os.close(outside)

    def wait_for(self, true: Callable[[], bool]) -> None:
        until = threading.Event()
        for _ in range(PATIENCE * 100):
            if true():
                return
            until.wait(0.01)
        raise AssertionError(f"it never came: {self.process.poll()}, {self.plugin.log}")

    def reached(self, count: int) -> None:
        self.wait_for(lambda: len(list(self.folder.glob("reached-*"))) >= count)

    def end(self) -> tuple[int, str]:
        """Wait for its end, and return its exit status and what it wrote."""
        if self.screen < 0:
            out, err = self.process.communicate(timeout=PATIENCE)
            self.shown = (out + err).decode()
        else:
            self.read(lambda: False)
            self.process.wait(PATIENCE)
        assert "Traceback" not in self.shown
        return self.process.returncode, self.shown

    def read(self, enough: Callable[[], bool]) -> None:
        """Take what is written on the terminal until it is enough, or until nobody holds the other end."""
        while not enough():
            ready, _, _ = select.select([self.screen], [], [], PATIENCE)
            assert ready, "the terminal fell silent"
            try:
                data = os.read(self.screen, 65536)
            except OSError:  # Linux says so when the other end is gone
                return
            if not data:
                return
            self.shown += data.decode()

    @property
    def plain(self) -> str:
        """What was shown, without what moves the cursor and colours."""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.shown)

    @property
    def flows(self) -> list[dict[str, Any]]:
        flows: list[dict[str, Any]] = json.loads((self.folder / "out.json").read_text())["flows"]
        return flows

    @property
    def left(self) -> list[str]:
        """Processes of plugins, and files that are only there while something is written."""
        self.wait_for(lambda: all(map(gone, self.plugin.pids)))
        names = [*self.temporary.rglob("*"), *self.folder.rglob("*.writing"), *self.folder.glob(".out.json.*")]
        return [str(name) for name in names]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    started: list[Running] = []

    def make(flows: int, jobs: int, **behaviour: Any) -> Running:
        write_flows(tmp_path, flows)
        started.append(Running(tmp_path, jobs, **behaviour))
        return started[-1]

    yield make
    for running in started:
        if running.process.poll() is None:
            running.process.kill()
        if running.screen >= 0:
            os.close(running.screen)
        running.process.communicate()


def each(tmp_path: Path, flows: int, then: dict[str, Any], command: str = "call") -> dict[str, Any]:
    """Have every flow's command say that it was reached, each by a file of its own, before it does something."""
    return {f"f{number}.{command}": [[{"touch": str(tmp_path / f"reached-{number}")}, then]] for number in range(flows)}


def test_ten_flows_four_at_once_leave_nothing_behind(start: Any) -> None:
    running = start(10, 4)
    status, _ = running.end()
    assert (status, len(running.flows)) == (0, 10)
    assert {entry["status"] for entry in running.flows} == {"succeeded"}
    assert len(running.plugin.pids) == 11
    assert running.left == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_all_flows_cleans_each_up_and_leaves_nothing_behind(
    start: Any, tmp_path: Path, number: int
) -> None:
    running = start(10, 4, commands=each(tmp_path, 10, {"wait_for_cancel": None}))
    running.reached(4)
    running.process.send_signal(number)
    status, _ = running.end()
    assert status == 130
    under_way = [entry for entry in running.flows if entry["run"] is not None]
    assert [[step["status"] for step in entry["steps"]] for entry in under_way] == [
        ["succeeded", "succeeded", "unknown", "succeeded"]
    ] * 4
    assert [entry["status"] for entry in running.flows] == ["interrupted"] * 10
    assert running.left == []


def test_a_second_interruption_kills_what_does_not_end_by_itself(start: Any, tmp_path: Path) -> None:
    behaviour = each(tmp_path, 4, {"stall": True}, "disconnect")
    behaviour |= {"tools": [[{"spawn": True}]], "call": [[{"wait_for_cancel": None}]]}
    running = start(4, 4, ignore_sigterm=True, commands=behaviour)
    running.wait_for(lambda: sum(ran.endswith(".call") for ran in running.plugin.ran) == 4)
    running.process.send_signal(signal.SIGINT)
    running.reached(4)
    running.process.send_signal(signal.SIGINT)
    status, _ = running.end()
    assert status == 130
    assert [[step["status"] for step in entry["steps"]] for entry in running.flows] == [
        ["succeeded", "succeeded", "unknown", "unknown"]
    ] * 4
    assert running.left == []


def test_a_host_that_is_killed_leaves_no_plugin_of_any_flow(start: Any, tmp_path: Path) -> None:
    running = start(6, 3, commands=each(tmp_path, 6, {"stall": True}))
    running.reached(3)
    running.process.kill()
    running.process.wait(PATIENCE)
    running.wait_for(lambda: all(map(gone, running.plugin.pids)))
    assert list(running.temporary.rglob("*")) == []


def test_a_terminal_shows_what_runs_and_ctrl_c_on_it_ends_all(start: Any, tmp_path: Path) -> None:
    progress = {"notify": {"method": "progress", "params": {"id": 1, "done": 7, "unit": "pages"}}}
    behaviour = each(tmp_path, 5, {"wait_for_cancel": None})
    for turns in behaviour.values():
        turns[0].insert(0, progress)
    running = start(5, 2, terminal=True, commands=behaviour)
    wanted = re.compile(r"Of f\d  work-f\d/change  7 pages +\d\.\d s")
    running.read(lambda: wanted.search(running.plain) is not None)
    running.reached(2)
    os.write(running.screen, b"\x03")
    status, shown = running.end()
    assert status == 130
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")
    assert "5 flows: 5 interrupted" in running.plain
    assert running.left == []


@pytest.mark.parametrize("interrupted", [False, True])
def test_with_the_real_plugin_every_session_is_ended_once_and_nothing_is_left(start: Any, interrupted: bool) -> None:
    def hold(_request: Request, peer: Peer) -> None:
        peer.hold()

    with HttpServer(McpScript({"tools/call": hold} if interrupted else {})) as server:
        running = start(10, 4, target=server.url)
        if interrupted:
            server.wait_for(lambda each: sum(found.rpc == "tools/call" for found in each.requests) == 4, PATIENCE)
            running.process.send_signal(signal.SIGINT)
        status, shown = running.end()
        assert status == (130 if interrupted else 0), shown
        sessions = 4 if interrupted else 10
        assert [len(server.seen(rpc)) for rpc in ("initialize", "tools/call", "DELETE")] == [sessions] * 3
    assert [entry["status"] for entry in running.flows] == ["interrupted" if interrupted else "succeeded"] * 10
    assert running.left == []
