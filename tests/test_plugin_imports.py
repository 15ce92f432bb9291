"""What the plugin has imported by its first answers: each library costs a start more than the answer itself does."""

import os
import subprocess
import sys
from pathlib import Path

from tests.fakes.authorization_server import AuthorizationServer
from tests.fakes.http_server import HttpServer, McpScript
from tests.fakes.plugin_driver import PluginDriver, step

ROOT = Path(__file__).resolve().parents[1]

OURS = {"plugin", "protocol", "oauth"}
#: Modules of the standard library whose import takes long, mostly by what they import.
COSTLY = {
    *("asyncio", "concurrent", "ctypes", "email", "http", "inspect", "logging", "multiprocessing", "secrets", "socket"),
    *("ssl", "subprocess", "threading", "unittest", "xml"),
}

#: Libraries and costly modules that have been imported by then.
INITIALIZE = {"ahocorasick_rs", "msgspec", "threading"}
CONNECT = INITIALIZE | {
    "certifi",
    "email",
    "h11",
    "http",
    "httpcore",
    "httpx",
    "idna",
    "inspect",
    "logging",
    "socket",
    "ssl",
}


def imported(stage: str, *url: str) -> set[str]:
    command = [sys.executable, "-E", "-m", "tests.fakes.imports", stage, *url]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    first = {name.partition(".")[0] for name in told if not name.startswith("_")}
    assert "plugin" in first
    ours = OURS | {"tests", "sitecustomize"}
    return {name for name in first - ours if name in COSTLY or name not in sys.stdlib_module_names}


def test_a_flag_is_answered_with_the_standard_library_alone() -> None:
    bare = imported_by_python()
    for flag in ("--describe", "--version", "--help"):
        assert imported(flag) - bare == set()


def imported_by_python() -> set[str]:
    """What an interpreter of this environment imports by itself, and what the program that tells it does."""
    code = "import contextlib, io, json, sys; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-E", "-c", code], capture_output=True, text=True, check=True).stdout
    return {name.partition(".")[0] for name in told.split()}


def test_initialize_is_answered_without_the_http_stack() -> None:
    assert imported("initialize", "http://127.0.0.1:9/mcp") - imported_by_python() == INITIALIZE


def test_connect_imports_the_http_stack_and_nothing_of_oauth() -> None:
    with HttpServer(McpScript()) as server:
        assert imported("connect", server.url) - imported_by_python() == CONNECT


def test_a_sign_in_imports_what_it_needs_of_authlib_and_no_cryptography() -> None:
    with AuthorizationServer() as server:
        assert imported("oauth_begin", server.url) - imported_by_python() == CONNECT | {"authlib", "secrets"}


def test_the_http_stack_is_imported_by_itself_while_the_host_thinks_and_is_answered(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    # Importing it takes until the test lets go of the gate.
    (tmp_path / "httpx.py").write_text(f"with open({str(gate)!r}) as gate:\n    gate.read()\nraise ImportError\n")
    with PluginDriver(environment={"PYTHONPATH": str(tmp_path)}) as plugin:
        plugin.initialize(["http://127.0.0.1:9"], api={"endpoint": "http://127.0.0.1:9/mcp"})
        with gate.open("w"):  # waits until somebody reads: nothing was asked for, and the import has begun
            assert plugin.ask("check", step("api", "connect"))["result"] == {"effect": "observe"}
        assert plugin.ask("shutdown")["result"] == {}
        assert (plugin.end(), bytes(plugin.diagnostics)) == (0, b"")
