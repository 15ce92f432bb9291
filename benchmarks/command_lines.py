"""Other inspectors' command lines, each in an environment of its own, installed once at its pins."""

import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from benchmarks.programs import ROOT
from tests.peers.installation import node, node_modules, python_environment

__all__ = ["CommandLine", "fastmcp", "inspector", "mcp_assert", "versions"]

INSPECTOR = Path(__file__).parent / "inspector"
PEERS = ROOT / "tests" / "peers"
ASSERTION = """\
name: a ticket is found
server: {{transport: http, url: "{url}"}}
assert:
  tool: search_tickets
  args: {{query: refund}}
  expect: {{not_error: true}}
"""


class CommandLine(NamedTuple):
    """A program that was installed. ``run`` does its work once against a server."""

    name: str
    run: Callable[[], None]


def versions() -> dict[str, str]:
    """The versions that the peers are pinned to."""
    wanted: dict[str, str] = json.loads((INSPECTOR / "package.json").read_text(encoding="utf-8"))["dependencies"]
    for name in ("fastmcp", "mcp-assert"):
        pins = (PEERS / f"{name}.txt").read_text(encoding="utf-8")
        wanted[name] = pins.partition(f"\n{name}==")[2].partition("\n")[0]
    return wanted


def inspector(url: str) -> CommandLine:
    """The MCP Inspector's command line, listing tools. Raises RuntimeError where it does not install."""
    program = node_modules(INSPECTOR) / ".bin" / "mcp-inspector"
    options = ("--cli", url, "--transport", "http", "--method", "tools/list")
    return CommandLine("MCP Inspector CLI, `tools/list`", lambda: _run(node(), program, *options))


def fastmcp(url: str) -> CommandLine:
    """FastMCP's command line, listing tools. Raises RuntimeError where it does not install."""
    program = python_environment(PEERS / "fastmcp.txt").parent / "fastmcp"
    return CommandLine("FastMCP CLI, `list`", lambda: _run(program, "list", url))


@contextmanager
def mcp_assert(url: str) -> Iterator[CommandLine]:
    """mcp-assert, running one assertion on one call. Raises RuntimeError where it does not install."""
    program = python_environment(PEERS / "mcp-assert.txt").parent / "mcp-assert"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "search.yaml").write_text(ASSERTION.format(url=url), encoding="utf-8")
        yield CommandLine("mcp-assert, one call", lambda: _run(program, "run", "--suite", folder))


def _run(*words: str | Path) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{words[0]} failed:\n{done.stdout}{done.stderr}")
