"""The demo: serves the example servers, runs the flows against them with `assay`, and shows what came of it.

`python -m examples.demo` exits 1 when anything is not as it should be.
"""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from examples.server import TOKEN_VARIABLE

ROOT = Path(__file__).resolve().parents[1]
FLOWS = Path("examples/flows")
ASSAY = Path(sys.executable).with_name("assay")
#: Where the demo keeps evidence: made anew each time, so that the first run has none to be compared with.
EVIDENCE = Path(".assay/demo")


class Unexpected(Exception):
    """Something in the demo did not go as it should; the text says what."""


@contextmanager
def served(*options: str, token: str = "") -> Iterator[str]:
    """Serve an example server while the block runs, and give its URL."""
    child = subprocess.Popen(
        [sys.executable, "-m", "examples.server", *options],
        cwd=ROOT,
        env=os.environ | {TOKEN_VARIABLE: token},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url = child.stdout.readline().strip() if child.stdout else ""
        if not url:
            raise Unexpected(f"The example server did not start (exit {child.wait()}).")
        yield url
    finally:
        child.terminate()
        child.communicate()


def say(text: str) -> None:
    print(f"\n── {text} {'─' * max(2, 76 - len(text))}\n", flush=True)


def assay(*words: str | Path, silent: tuple[str | Path, ...] = (), **environment: str) -> None:
    """Run `assay` where everyone can read it; ``silent`` words are not shown. Raises Unexpected unless it exits 0."""
    print("$ assay", *words, flush=True)
    done = subprocess.run([ASSAY, *words, *silent], cwd=ROOT, env=os.environ | environment, check=False)
    if done.returncode:
        raise Unexpected(f"`assay {words[0]}` exited {done.returncode} instead of 0.")


def run(*words: str | Path, **environment: str) -> list[dict[str, Any]]:
    """Run flows that have to succeed; give each flow's part of the document that `--json` writes."""
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder) / "run.json"
        assay("run", *words, "--evidence", EVIDENCE, silent=("--json", document), **environment)
        flows: list[dict[str, Any]] = json.loads(document.read_text(encoding="utf-8"))["flows"]
        return flows


def evidence(flow: Mapping[str, Any]) -> Path:
    return EVIDENCE / "runs" / str(flow["run"])


def two_flows(url: str) -> tuple[dict[str, Any], dict[str, Any]]:
    say("Two flows against the support desk, version 1")
    inspected, captured = run(FLOWS / "inspect.md", FLOWS / "capture.md", "--target", url)
    say("What was captured")
    values = {step["id"]: step["capture"] for step in captured["steps"] if step["capture"] is not None}
    for name, value in values.items():
        print(f"{value:<20} {name}")
    if [*values.values()][1:] != ["9007199254740993", "1.10"]:
        raise Unexpected("The numbers did not arrive as they are spelled.")
    return inspected, captured


def two_versions(before: Mapping[str, Any], url: str) -> dict[str, Any]:
    say("The first flow once more, against version 2")
    (after,) = run(FLOWS / "inspect.md", "--target", url)
    say("What changed between the two")
    assay("diff", evidence(before), evidence(after))
    return after


def one_leak(url: str, token: str) -> dict[str, Any]:
    say("A server that echoes the token it was sent")
    (leaks,) = run(FLOWS / "leaks.md", "--target", url, "--bindings", "examples/bindings.json", DESK_TOKEN=token)
    kept = [path for path in (ROOT / evidence(leaks)).rglob("*") if path.is_file()]
    if not kept or any(token.encode() in path.read_bytes() for path in kept):
        raise Unexpected("The token is in the evidence, or there is none.")
    print(f"\nThe token is in none of the {len(kept)} files of evidence.")
    return leaks


def main() -> int:
    token = secrets.token_urlsafe(24)
    shutil.rmtree(ROOT / EVIDENCE, ignore_errors=True)
    try:
        with ExitStack() as servers:
            first = servers.enter_context(served())
            second = servers.enter_context(served("--version", "2"))
            guarded = servers.enter_context(served("--protected", token=token))
            inspected, captured = two_flows(first)
            after = two_versions(inspected, second)
            leaks = one_leak(guarded, token)
    except Unexpected as problem:
        print(f"\nNot as expected: {problem}", file=sys.stderr)
        return 1
    say("Where the evidence lies")
    for flow in (inspected, captured, after, leaks):
        print(f"{evidence(flow)}  {flow['flow']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
