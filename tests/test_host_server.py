"""The host with the real plugin against a scripted server: exact numbers, lost replies, kills, and one DELETE each."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from host.runs import list_runs, read_run
from tests.fakes.http_server import HttpServer, McpScript, Peer, Request
from tests.host_command import Command
from tests.host_flows import text

ROOT = Path(__file__).resolve().parents[1]
NUMBERS = "[9007199254740993,1.10,1e-400,-0,1" + "0" * 400 + "]"
FLOW = text(
    ("Work", 'api.connect\napi.call tool="echo" # call\napi.tools # after'), ("Cleanup", "api.disconnect # end")
)


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    command = Command(tmp_path, monkeypatch, capsys)
    command.write("f.md", FLOW)
    return command


def started(folder: Path, url: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "host", "run", "f.md", "--target", url, "--json", "out.json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def hold(_request: Request, peer: Peer) -> None:
    peer.hold()


def statuses(document: Any) -> list[str]:
    return [" ".join(filter(None, (step["status"], step["code"]))) for step in document["flows"][0]["steps"]]


def test_numbers_are_printed_as_the_server_spelled_them(assay: Command) -> None:
    def answer(request: Request, peer: Peer) -> None:
        result = f'{{"content":[],"structuredContent":{{"n":{NUMBERS}}}}}'
        peer.json(f'{{"jsonrpc":"2.0","id":{request.json["id"]},"result":{result}}}'.encode())

    with HttpServer(McpScript({"tools/call": answer})) as server:
        done = assay("call", server.url, "echo", f'{{"n":{NUMBERS}}}')
        assert done.exit == 0, done.err
        assert "".join(done.out.split()) == f'{{"content":[],"structuredContent":{{"n":{NUMBERS}}}}}'
        assert f'"n":{NUMBERS}'.encode() in server.seen("tools/call")[0].body
        as_json = assay("call", server.url, "echo", "--json")
        assert NUMBERS in "".join(as_json.out.split())


def test_a_session_id_that_the_server_echoes_is_nowhere(assay: Command) -> None:
    session = "session-id-that-is-learnt"
    content = {"content": [{"type": "text", "text": f"your session is {session}"}], "isError": False}
    with HttpServer(McpScript({"tools/call": content}, session=session)) as server:
        done = assay("run", "f.md", "--target", server.url, "--json", "out.json")
    assert done.exit == 0, done.out
    seen = [path.read_bytes() for path in assay.folder.rglob("*") if path.is_file()]
    assert len(seen) >= 8
    assert not [content for content in [*seen, done.out.encode(), done.err.encode()] if session.encode() in content]
    assert len(server.seen("DELETE")) == 1


def test_a_reply_that_is_cut_leaves_the_call_unknown_and_ends_the_session_once(assay: Command) -> None:
    def cut(_request: Request, peer: Peer) -> None:
        peer.reset()

    with HttpServer(McpScript({"tools/call": cut})) as server:
        done = assay("run", "f.md", "--target", server.url, "--json", "-")
        assert (len(server.seen("tools/call")), len(server.seen("DELETE"))) == (1, 1)
    assert done.exit == 3
    assert statuses(done.document) == ["succeeded", "unknown reply_lost", "skipped", "succeeded"]
    assert server.seen("tools/list") == []


def test_an_interrupted_call_is_unknown_seen_once_and_its_session_is_ended(assay: Command) -> None:
    with HttpServer(McpScript({"tools/call": hold})) as server:
        process = started(assay.folder, server.url)
        server.wait_for(lambda each: bool([found for found in each.requests if found.rpc == "tools/call"]), 30)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        assert (len(server.seen("tools/call")), len(server.seen("DELETE"))) == (1, 1)
    assert process.returncode == 130, out + err
    document = json.loads((assay.folder / "out.json").read_text())
    assert statuses(document) == ["succeeded", "unknown cancelled", "skipped", "succeeded"]


def test_a_killed_host_leaves_a_plugin_that_ends_its_session_and_itself(assay: Command) -> None:
    with HttpServer(McpScript({"tools/call": hold})) as server:
        process = started(assay.folder, server.url)
        server.wait_for(lambda each: bool([found for found in each.requests if found.rpc == "tools/call"]), 30)
        process.kill()
        # The plugin has the other ends of these pipes as its stderr only; they end with it.
        process.communicate(timeout=30)
        server.wait_for(lambda each: bool([found for found in each.requests if found.method == "DELETE"]), 30)
        assert (len(server.seen("tools/call")), len(server.seen("DELETE"))) == (1, 1)
    (folder,) = list_runs(assay.folder / ".assay" / "runs")
    run = read_run(folder)
    assert run.status == "interrupted"
    assert [step["status"] for step in run.record["steps"]] == ["succeeded", "running", "pending", "pending"]


def test_a_budget_ends_a_call_that_never_answers(assay: Command) -> None:
    assay.write("f.md", FLOW.replace("providers:", "budgets:\n  minutes: 0.02\nproviders:"))
    with HttpServer(McpScript({"tools/call": hold})) as server:
        done = assay("run", "f.md", "--target", server.url, "--json", "-")
        assert len(server.seen("DELETE")) == 1
    assert (done.exit, statuses(done.document)[1]) == (3, "unknown cancelled")


def test_inspect_reads_every_page_and_shows_the_whole(assay: Command) -> None:
    def page(request: Request, peer: Peer) -> None:
        number = int(request.json.get("params", {}).get("cursor", "0"))
        tools = [{"name": f"tool-{number}", "inputSchema": {"type": "object"}, "x": 1}]
        result = {"tools": tools} | ({"nextCursor": str(number + 1)} if number < 4 else {})
        peer.json({"jsonrpc": "2.0", "id": request.json["id"], "result": result})

    with HttpServer(McpScript({"tools/list": page})) as server:
        document = assay("inspect", server.url, "--json").document
        shown = assay("inspect", server.url)
    entries = document["inventories"]["tools"]["entries"]
    assert [entry["name"] for entry in entries] == [f"tool-{number}" for number in range(5)]
    assert all(entry["x"] == 1 for entry in entries)
    assert "tools (5)" in shown.out
