"""docs/flows.md tells how to serve and run each example flow: that is done here, in a copy of the examples."""

import re
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from tests.command_line import Assay
from tests.peers.process import free_port, running

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "flows.md").read_text(encoding="utf-8").partition("## Flows to try")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| `([\w-]+\.md)` \|.*\| `python (.+?)` \| `assay (.+?)` \|$", PAGE, re.MULTILINE)


def test_every_example_flow_has_its_row() -> None:
    assert sorted(flow for flow, _, _ in ROWS) == sorted(p.name for p in (ROOT / "examples" / "flows").iterdir())


@pytest.mark.parametrize(("serve", "words"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_an_example_flow_succeeds_as_the_page_tells_to_run_it(assay: Assay, serve: str, words: str) -> None:
    shutil.copytree(
        ROOT / "examples", assay.folder / "examples", ignore=shutil.ignore_patterns("agent-keys", ".assay*")
    )
    port = free_port()
    page = PAGE.replace("$PWD", str(assay.folder)).replace("8808", str(port))
    environment = dict(re.findall(r"^export (\w+)=(.+)$", page, re.MULTILINE))
    assert "\nmkdir -p -m 700 examples/desk/.assay-run-tokens\n" in page
    (assay.folder / "examples" / "desk" / ".assay-run-tokens").mkdir(mode=0o700)
    command = [sys.executable, *shlex.split(serve.replace("8808", str(port)))]
    with running(command, port, environment | {"PYTHONPATH": str(ROOT)}, assay.folder):
        ran = assay(*shlex.split(words.replace("8808", str(port))), **environment)
    assert ran.exit == 0, ran.out + ran.err
