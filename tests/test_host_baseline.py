"""Baseline files: what is written reads back, in a form that people can review, and nothing half done is left."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest

from host.baseline import default_baseline, read_baseline, write_baseline
from host.runs import Inventory
from protocol.failures import Code, Failed
from protocol.values.document import encode

STATE: dict[str, Any] = {"inventory": "tools", "entries": [{"name": "b"}, {"name": "a"}], "count": msgspec.Raw(b"2")}
ENTRIES = [Inventory("z/1", "api", "MCP", "tools", STATE), Inventory("a/1", "other", "MCP", "tools", STATE)]


def nothing(_buffer: bytes) -> bool:
    return False


def test_a_baseline_lies_beside_its_flow() -> None:
    assert default_baseline(Path("flows/inspect.md")) == Path("flows/inspect.baseline.json")


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "f.baseline.json"
    write_baseline(path, "A flow", ENTRIES, nothing)
    baseline = read_baseline(path)
    assert (baseline.path, baseline.flow) == (path, "A flow")
    assert [entry.step for entry in baseline.entries] == ["a/1", "z/1"]
    found = baseline.find("z/1", "tools")
    assert found is not None
    assert encode(found.state) == encode(dict(sorted(STATE.items())))
    assert baseline.find("z/1", "prompts") is None
    assert baseline.find("z/2", "tools") is None


def test_a_baseline_is_sorted_indented_and_the_same_for_the_same_state(tmp_path: Path) -> None:
    first, second = tmp_path / "1.json", tmp_path / "2.json"
    write_baseline(first, "A flow", ENTRIES, nothing)
    write_baseline(second, "A flow", list(reversed(ENTRIES)), nothing)
    content = first.read_bytes()
    assert content == second.read_bytes()
    assert content.startswith(b'{\n  "flow": "A flow",\n  "format": "assay-baseline/1",\n  "steps": {\n    "a/1": {\n')
    assert content.endswith(b"}\n")


def test_a_baseline_is_for_the_repository_and_replaces_the_old_one_whole(tmp_path: Path) -> None:
    path = tmp_path / "f.baseline.json"
    path.write_text("old")
    before = os.umask(0o022)
    try:
        write_baseline(path, "A flow", ENTRIES, nothing)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert list(tmp_path.iterdir()) == [path]


def test_a_baseline_with_a_private_value_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "f.baseline.json"
    with pytest.raises(Failed) as caught:
        write_baseline(path, "A flow", ENTRIES, lambda buffer: b"entries" in buffer)
    assert caught.value.code == Code.EVIDENCE_LEAK
    assert list(tmp_path.iterdir()) == []


def test_a_baseline_that_cannot_be_written_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "f.baseline.json"
    with pytest.raises(Failed, match="could not be written"):
        write_baseline(path, "A flow", ENTRIES, nothing)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot be read"),
        ("{", "is not strict JSON"),
        ("[]", "is not a document of the format assay-baseline/1"),
        (json.dumps({"format": "assay-run/1"}), "is not a document of the format assay-baseline/1"),
        (json.dumps({"format": "assay-baseline/1"}), "is not a whole baseline"),
        (json.dumps({"format": "assay-baseline/1", "flow": "f", "steps": {"a": 1}}), "is not a whole baseline"),
        (json.dumps({"format": "assay-baseline/1", "flow": "f", "steps": {"a": {"alias": "x"}}}), "is not a whole"),
    ],
)
def test_a_malformed_baseline_is_refused_with_its_path(tmp_path: Path, content: str | None, told: str) -> None:
    path = tmp_path / "f.baseline.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(Failed, match=told) as caught:
        read_baseline(path)
    assert caught.value.code == Code.INVALID_ARGUMENTS
    assert str(path) in str(caught.value)
