"""Runs scenarios of the public MCP conformance suite one at a time: `python -m tests.conformance [SCENARIO…]`."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

from tests.conformance.client import STEPS
from tests.peers.installation import CACHE, ROOT, node, node_modules

SPEC_VERSION = "2025-11-25"
#: Milliseconds that the suite gives the client for one scenario.
TIMEOUT = 30_000


def passes(suite: Path, scenario: str) -> bool:
    """Run one scenario; a warning of the suite fails it too. Prints what the suite said about a failure."""
    client = shlex.join([sys.executable, "-m", "tests.conformance.client"])
    done = subprocess.run(
        [
            *(node(), suite, "client", "--command", client, "--scenario", scenario),
            *("--spec-version", SPEC_VERSION, "--timeout", str(TIMEOUT), "-o", CACHE / "conformance"),
        ],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    print(f"{'pass' if done.returncode == 0 else 'FAIL'}  {scenario}", flush=True)
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n", flush=True)
    return done.returncode == 0


def main() -> int:
    suite = node_modules(Path(__file__).parent) / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    results = [passes(suite, scenario) for scenario in sys.argv[1:] or STEPS]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return int(not all(results))


if __name__ == "__main__":
    sys.exit(main())
