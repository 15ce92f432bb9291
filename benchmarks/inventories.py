"""5,000 tools in 8 MiB: read strictly, checked, redacted, hashed, and told; schemas all alike, and all different."""

import json
from collections.abc import Iterator
from functools import partial

from benchmarks.clock import measure
from benchmarks.peers import Sdk
from benchmarks.programs import Plugin, opened, served
from benchmarks.replies import TOOLS, inventory
from benchmarks.row import Row, timed

__all__ = ["rows"]

ROUNDS = 9


def rows(plugin: Plugin) -> Iterator[Row]:
    for name in ("alike", "different"):
        body = inventory(TOOLS, alike=name == "alike")
        with (
            served("benchmarks.canned", "json") as server,
            opened(plugin, f"{server}/{name}") as driven,
            Sdk(f"{server}/{name}") as sdk,
        ):
            taken = measure(
                {
                    "ours": partial(driven.step, "tools"),
                    "sdk": sdk.tools,
                    "loads": partial(json.loads, body),
                },
                ROUNDS,
            )
        work = f"{TOOLS:,} tools, {len(body) / 2**20:.1f} MiB, schemas {name}"
        yield timed(work, "ours", "official SDK client", "sdk", 0.35, taken)
        yield timed(work, "ours", "`json.loads` alone", "loads", 4.0, taken)
