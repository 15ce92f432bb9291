"""Measures and writes benchmarks/RESULTS.md: `python -m benchmarks` (see benchmarks/README.md)."""

import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from benchmarks.canned import inventory
from benchmarks.clock import medians
from benchmarks.peers import H11, Sdk
from tests.driven_plugin import SOURCE, DrivenPlugin

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "dist" / "plugin"
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
#: Calls per measurement, so that one of them is long against the clock.
CALLS = 100
#: As many tools as a binding lets an inventory have.
TOOLS = 5_000


class Row(NamedTuple):
    """One comparison: ours and theirs in seconds, and the most that ours may be of theirs."""

    work: str
    ours: float
    against: str
    theirs: float
    bar: float

    def line(self) -> str:
        ratio = self.ours / self.theirs
        verdict = "yes" if ratio <= self.bar else "no"
        return (
            f"| {self.work} | {self.ours * 1000:.2f} ms | {self.against} | {self.theirs * 1000:.2f} ms "
            f"| {ratio:.2f} | {self.bar:.2f} | {verdict} |"
        )


@contextmanager
def served(*words: str) -> Iterator[str]:
    """Run a server, `python -m words`, that prints its URL first; the URL."""
    command = [sys.executable, "-m", *words]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def first_byte(*command: str | Path) -> float:
    """Seconds until a program writes its first byte, or ends without one."""
    started = time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, bufsize=0) as child:
        assert child.stdout is not None
        child.stdout.read(1)
        taken = time.perf_counter() - started
        child.stdout.read()
    return taken


def starts(plugin: tuple[str | Path, ...]) -> Iterator[Row]:
    bare = partial(first_byte, sys.executable, "-I", "-c", "pass")
    for option in ("--version", "--describe"):
        taken = medians({"ours": partial(first_byte, *plugin, option), "theirs": bare}, 15)
        yield Row(f"`plugin {option}`", taken["ours"], "`python -I -c pass`", taken["theirs"], 4.0)


def whole(plugin: tuple[str | Path, ...], url: str) -> None:
    with DrivenPlugin(plugin) as process:
        process.bind(url)
        for command in ("connect", "tools", "call", "disconnect"):
            arguments = {"tool": "search_tickets", "arguments": '{"query":"refund"}'} if command == "call" else {}
            result = process.run(command, **arguments)
            assert result["status"] == "succeeded", result


def sessions(plugin: tuple[str | Path, ...]) -> Iterator[Row]:
    with served("examples.server") as url:
        sdk = [sys.executable, "-m", "benchmarks.peers", url]
        taken = medians(
            {"ours": lambda: whole(plugin, url), "theirs": lambda: subprocess.run(sdk, cwd=ROOT, check=True)}, 5
        )
    yield Row("start, session, tools, one call, end", taken["ours"], "official SDK, same work", taken["theirs"], 0.3)


def calls(plugin: tuple[str | Path, ...], form: str) -> Iterator[Row]:
    with served("benchmarks.canned", form, "10") as url, DrivenPlugin(plugin) as process, Sdk(url) as sdk:
        process.bind(url)
        process.run("connect")
        bare = H11(url)
        taken = medians(
            {
                "ours": lambda: [process.run("call", tool="tool_00000") for _ in range(CALLS)],
                "sdk": sdk.calls(CALLS),
                "h11": partial(bare.calls, CALLS),
            },
            7,
        )
        bare.close()
        process.run("disconnect")
    ours = taken["ours"] / CALLS
    yield Row(f"one call, keep-alive, {form}", ours, "official SDK client", taken["sdk"] / CALLS, 0.5)
    yield Row(f"one call, keep-alive, {form}", ours, "bare h11 exchange", taken["h11"] / CALLS, 4.0)


def inventories(plugin: tuple[str | Path, ...]) -> Iterator[Row]:
    body = inventory(TOOLS)
    with (
        served("benchmarks.canned", "json", str(TOOLS)) as json_url,
        served("benchmarks.canned", "sse", str(TOOLS)) as sse_url,
        DrivenPlugin(plugin) as process,
        DrivenPlugin(plugin) as streamed,
        Sdk(json_url) as sdk,
    ):
        for driven, url in ((process, json_url), (streamed, sse_url)):
            driven.bind(url)
            driven.run("connect")
        found = process.run("tools")
        assert found["status"] == "succeeded", found["message"]
        taken = medians(
            {
                "json": partial(process.run, "tools"),
                "sse": partial(streamed.run, "tools"),
                "sdk": sdk.tools,
                "loads": partial(json.loads, body),
            },
            5,
        )
        for driven in (process, streamed):
            driven.run("disconnect")
    size = f"5,000 tools, {len(body) / 2**20:.1f} MiB"
    yield Row(f"{size}, JSON", taken["json"], "official SDK client", taken["sdk"], 0.35)
    yield Row(f"{size}, JSON", taken["json"], "`json.loads` alone", taken["loads"], 4.0)
    # The SDK's client stops at SSE events of 1 MiB, so there is nothing else to compare with.
    yield Row(f"{size}, one SSE event", taken["sse"], "ours, JSON", taken["json"], 2.0)


def page(rows: list[Row]) -> str:
    """The results as Markdown, with what one has to know to doubt them."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("mcp", "httpx", "msgspec", "h11"))
    size = f"{BUILT.stat().st_size / 1e6:.1f} MB" if BUILT.exists() else "not built: the source tree was measured"
    machine = f"{platform.platform()}, {platform.machine()}, Python {platform.python_version()}"
    return f"""# Results

`python3 noxfile.py -s bench`, {datetime.now(UTC):%Y-%m-%d}, {machine}; {packages}. Executable: {size}.

Medians; only the ratios mean something, and only within one run.

| work | ours | against | theirs | ratio | bar | within |
|---|---|---|---|---|---|---|
{chr(10).join(row.line() for row in rows)}
"""


def main() -> int:
    plugin: tuple[str | Path, ...] = (BUILT,) if BUILT.exists() else SOURCE
    rows = [*starts(plugin), *sessions(plugin)]
    for form in ("json", "sse"):
        rows += calls(plugin, form)
    rows += inventories(plugin)
    text = page(rows)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
