"""Runs scenarios of the public MCP conformance suite one at a time.

`python -m tests.conformance [--plugin PATH] [SCENARIO…]`
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.conformance.scenarios import FORCED, REVISIONS
from tests.peers.installation import CACHE, ROOT, node, node_modules
from tests.plugin_under_test import VARIABLE

#: Milliseconds that the suite gives the client for one scenario.
TIMEOUT = 30_000


def passes(suite: Path, scenario: str, version: str, *, force: bool) -> bool:
    """Run one scenario; a warning of the suite fails it too. Prints what the suite said about a failure."""
    client = shlex.join([sys.executable, "-m", "tests.conformance.client"])
    done = subprocess.run(
        [
            *(node(), suite, "client", "--command", client, "--scenario", scenario),
            *("--spec-version", version, "--timeout", str(TIMEOUT), "-o", CACHE / "conformance"),
            *(["--force"] if force else []),
        ],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    verdict = "pass" if done.returncode == 0 else "FAIL"
    print(f"{verdict}  {version}  {scenario}{'  (forced)' if force else ''}", flush=True)
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n", flush=True)
    return done.returncode == 0


def listed(suite: Path, version: str) -> list[str]:
    """Return the client scenarios that the suite itself has for a revision."""
    told = subprocess.run(
        [node(), suite, "list", "--client", "--spec-version", version], capture_output=True, text=True, check=True
    )
    return re.findall(r"^ +- (\S+) \[", told.stdout, re.MULTILINE)


def main() -> int:
    suite = node_modules(Path(__file__).parent) / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", allow_abbrev=False)
    parser.add_argument("--plugin", type=Path, help="a built executable to test in place of the source tree")
    parser.add_argument("scenario", nargs="*", help="run these alone")
    given = parser.parse_args()
    if given.plugin:
        os.environ[VARIABLE] = str(given.plugin.resolve(strict=True))
    runs = [(version, scenario, False) for version in REVISIONS for scenario in listed(suite, version)]
    runs += [(REVISIONS[0], scenario, True) for scenario in FORCED]
    results = [
        passes(suite, scenario, version, force=force)
        for version, scenario, force in runs
        if not given.scenario or scenario in given.scenario
    ]
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return int(not all(results) or not results)


if __name__ == "__main__":
    sys.exit(main())
