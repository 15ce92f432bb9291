"""The host of forty lines: it is short, needs the standard library alone, and drives the plugin."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOST = ROOT / "examples" / "host.py"


def drive(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, HOST, *words], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT
    )


def test_the_host_drives_the_plugin_through_a_whole_session(example_server: str) -> None:
    done = drive(example_server)
    assert done.returncode == 0, done.stderr
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["succeeded", "connect"],
        ["succeeded", "tools"],
        ["succeeded", "call"],
        ["succeeded", "disconnect"],
    ]


def test_the_host_reports_a_plugin_that_says_nothing(example_server: str) -> None:
    done = drive(example_server, sys.executable, "-c", "")
    assert done.returncode == 1
    assert done.stderr == "The plugin ended without an answer.\n"


def test_the_host_is_about_forty_lines_of_standard_library() -> None:
    text = HOST.read_text(encoding="utf-8")
    names = [
        alias.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in (node.names if isinstance(node, ast.Import) else [ast.alias(node.module or "")])
    ]
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names
    assert len([line for line in text.splitlines() if line.strip()]) <= 42
