"""Golden flows: each file in tests/flows reads as it should, or is refused exactly as its `.err` file says.

After a deliberate change of a message, run the tests with UPDATE_FLOWS=1 and read the difference.
"""

import os
from pathlib import Path

import pytest

from host.problems import render
from tests.fakes.descriptions import DESCRIPTIONS
from tests.host_flows import read_flow

FLOWS = Path(__file__).parent / "flows"
FILES = sorted(path.name for path in FLOWS.glob("*.md"))


def refusals(name: str) -> str:
    reading = read_flow(name, (FLOWS / name).read_bytes(), DESCRIPTIONS, {}, planning=name != "input-without-value.md")
    return render(reading.file, reading.text, reading.problems)


@pytest.mark.parametrize("name", FILES)
def test_a_golden_flow_reads_or_is_refused_as_its_file_says(name: str) -> None:
    path = (FLOWS / name).with_suffix(".err")
    found = refusals(name)
    if os.environ.get("UPDATE_FLOWS"):
        if found:
            path.write_text(found, encoding="utf-8")
        else:
            path.unlink(missing_ok=True)
    assert found == (path.read_text(encoding="utf-8") if path.exists() else "")


def test_every_err_file_has_its_flow() -> None:
    assert {path.stem for path in FLOWS.glob("*.err")} <= {Path(name).stem for name in FILES}


def test_both_kinds_are_there() -> None:
    refused = {path.stem for path in FLOWS.glob("*.err")}
    assert len(refused) >= 10
    assert {"inspection", "capture", "token-file"} <= {Path(name).stem for name in FILES} - refused
