"""From the start of a process to the end of a session: the plugin, the host's own command, and other inspectors."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from benchmarks.clock import measure
from benchmarks.command_lines import CommandLine, fastmcp, inspector, mcp_assert
from benchmarks.programs import ROOT, Plugin, TimedPlugin, served
from benchmarks.row import Row, timed

__all__ = ["rows"]

ROUNDS = 7
BAR = 0.3
WORK = "start, connect, tools, one call, disconnect, end"


def session(plugin: Plugin, url: str) -> None:
    with TimedPlugin(plugin) as driven:
        driven.bind(url)
        driven.step("connect")
        driven.step("tools")
        driven.step("call", tool="search_tickets", arguments='{"query":"refund"}')
        driven.step("disconnect")


def inspected(plugin: Plugin, url: str) -> None:
    """`assay inspect`: a host, and the plugin that it starts."""
    words = [sys.executable, "-m", "host", "inspect", url]
    if len(plugin) == 1:
        words += ["--plugin", str(plugin[0])]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)


def rows(plugin: Plugin) -> Iterator[Row]:
    with served("examples.server") as url, ExitStack() as stack:
        installers: dict[str, Callable[[], CommandLine]] = {
            "inspector": lambda: inspector(url),
            "fastmcp": lambda: fastmcp(url),
            "mcp-assert": lambda: stack.enter_context(mcp_assert(url)),
        }
        peers: dict[str, CommandLine] = {}
        for key, install in installers.items():
            try:
                peers[key] = install()
            except RuntimeError as error:
                yield Row(WORK, 0.0, key, None, None, None, note=str(error).splitlines()[0])
        sdk = [sys.executable, "-m", "benchmarks.peers", url]
        taken = measure(
            {
                "ours": lambda: session(plugin, url),
                "inspect": lambda: inspected(plugin, url),
                "sdk": lambda: subprocess.run(sdk, cwd=ROOT, check=True),
                **{key: peer.run for key, peer in peers.items()},
            },
            ROUNDS,
        )
    for key in ("inspector", "fastmcp"):
        if key in peers:
            yield timed(WORK, "ours", peers[key].name, key, BAR, taken)
    yield timed(WORK, "ours", "official SDK, same work", "sdk", None, taken)
    if "mcp-assert" in peers:
        yield timed(WORK, "ours", peers["mcp-assert"].name, "mcp-assert", None, taken)
    if "inspector" in peers:
        yield timed("`assay inspect`, host and plugin", "inspect", peers["inspector"].name, "inspector", None, taken)
