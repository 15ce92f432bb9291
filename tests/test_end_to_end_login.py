"""`assay login` as a process of its own: browsers that do not return, and what is left when it is told to stop."""

import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command_line import SCRIPT
from tests.fakes.authorization_server import AuthorizationServer
from tests.fakes.http_server import Peer, Request
from tests.fakes.processes import children, descendants, gone, until

ROOT = Path(__file__).resolve().parents[1]


class Login:
    """A login under way, with a shell script in place of the browser: it notes its process id before anything else."""

    def __init__(self, folder: Path, url: str, script: str, **environment: str) -> None:
        self.folder = folder
        program = folder / "browser"
        program.write_text(f"#!/bin/sh\necho $$ > {shlex.quote(str(folder / 'opened'))}\n{script}\n")
        program.chmod(0o755)
        self.process = subprocess.Popen(
            [SCRIPT, "login", url],
            cwd=folder,
            env=os.environ | {"BROWSER": str(program)} | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    @property
    def opened(self) -> bool:
        path = self.folder / "opened"
        return path.exists() and path.read_text().endswith("\n")

    def end(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate(timeout=60)
        if self.opened and not gone(pid := int((self.folder / "opened").read_text())):
            os.kill(pid, signal.SIGKILL)


@contextmanager
def login(folder: Path, url: str, script: str) -> Iterator[Login]:
    running = Login(folder, url, script)
    try:
        yield running
    finally:
        running.close()


#: Browsers that stay: one shows the page first, the other never does.
STAY = "exec sleep 1000 >/dev/null 2>&1"
BROWSE = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.fakes.browser import browse; browse(sys.argv[1])"
SHOW = f'{shlex.quote(sys.executable)} -c {shlex.quote(BROWSE)} "$1"\n{STAY}'


def test_a_browser_that_stays_is_not_waited_for(tmp_path: Path) -> None:
    with AuthorizationServer() as server, login(tmp_path, server.url, SHOW) as running:
        exit_, out, err = running.end()
        assert (exit_, out.splitlines()[-3]) == (0, "The server takes the token. It is forgotten now."), err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_request_to_stop_ends_a_login_whose_browser_stays(tmp_path: Path, number: signal.Signals) -> None:
    with AuthorizationServer() as server, login(tmp_path, server.url, STAY) as running:
        until(lambda: running.opened)
        browser = int((tmp_path / "opened").read_text())
        others = descendants(running.process.pid) - {browser}
        os.kill(running.process.pid, number)
        exit_, out, err = running.end()
        assert (exit_, out) == (130, ""), err
        until(lambda: all(map(gone, others)))
        # The browser is the person's own.
        assert not gone(browser)


def test_a_plugin_that_dies_while_the_token_is_asked_for_leaves_the_code_in_doubt(tmp_path: Path) -> None:
    asked, answered = threading.Event(), threading.Event()

    def hold(_request: Request, peer: Peer) -> None:
        asked.set()
        answered.wait(60)
        peer.close()

    with AuthorizationServer() as server, login(tmp_path, server.url, SHOW) as running:
        server.routes["POST /token"] = hold
        try:
            assert asked.wait(60)
            (plugin,) = [pid for pid in children(running.process.pid) if pid != int((tmp_path / "opened").read_text())]
            os.kill(plugin, signal.SIGKILL)
            exit_, out, err = running.end()
        finally:
            answered.set()
    assert (exit_, out) == (3, "")
    told, help_ = err.splitlines()[-2:]
    assert told.startswith("unknown: The MCP plugin ")  # how it ended is known a moment later only
    assert told.endswith(". The code may be spent: start the sign-in again. [plugin_died]")
    assert help_ == "help: Its last words stand beside the message, if it left any; report it."
