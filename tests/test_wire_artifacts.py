"""Artifacts that are no JSON: how they travel, how they are kept, and what is said of them."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from host.evidence import Evidence
from host.private import Private
from host.recorder import Recorder, StepRun
from host.references import Values
from protocol.values.redaction import Redactor
from protocol.wire.results import bounded
from protocol.wire.steps import ARTIFACT_LIMIT, Artifact, StepResult
from tests.host_flows import flow

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def result(*artifacts: Artifact) -> StepResult:
    return StepResult(
        status="succeeded", code=None, message="ok", effect="observe", facts={"x": 1}, artifacts=list(artifacts)
    )


def encoded(content: bytes, name: str = "p.png") -> Artifact:
    return Artifact(name, base64=base64.b64encode(content).decode())


def test_an_artifact_is_json_or_other_bytes_on_the_wire() -> None:
    written = json.loads(bounded(result(Artifact("a.json", {"a": None}), encoded(b"\0\1")), Redactor()))
    assert written["artifacts"] == [{"name": "a.json", "json": {"a": None}}, {"name": "p.png", "base64": "AAE="}]
    read = StepResult.read(written)
    assert [(artifact.content, artifact.size) for artifact in read.artifacts] == [(None, 10), (b"\0\1", 4)]


@pytest.mark.parametrize(
    "value",
    [
        {"name": "p.png"},
        {"name": "p.png", "base64": "AAE=", "json": 1},
        {"name": "p.png", "base64": 1},
        {"name": "p.png", "base64": None},
        {"name": "p.png", "base64": "AAE"},
        {"name": "p.png", "base64": "AA E="},
        {"name": "p.png", "base64": "AAE=\n"},
        {"name": "p.png", "base64": "_-E="},
        {"name": "p.png", "base64": "ÄÄE="},
        {"name": "p.json", "base64": "AAE="},
        {"base64": "AAE="},
    ],
)
def test_an_artifact_that_is_neither_or_both_or_no_base64_is_refused(value: dict[str, Any]) -> None:
    head = {"status": "succeeded", "code": None, "message": "ok", "effect": "observe"}
    with pytest.raises(ValueError, match=r"artifact"):
        StepResult.read({**head, "artifacts": [value]})


def test_redaction_leaves_other_bytes_as_they_are_and_still_reaches_everything_else() -> None:
    secret = "secret-value-1234"
    redactor = Redactor([secret])
    picture = encoded(secret.encode())
    written = json.loads(bounded(result(Artifact("a.json", [secret]), picture), redactor))
    assert written["artifacts"] == [
        {"name": "a.json", "json": ["[redacted]"]},
        {"name": "p.png", "base64": picture.base64},
    ]
    private = Private({"A": [secret], "B": []})
    cleaned = private.clean("B", result(Artifact("a.json", [secret]), picture))
    assert [artifact.content for artifact in cleaned.artifacts] == [None, secret.encode()]
    assert cleaned.artifacts[0].json == ["[redacted]"]


@pytest.mark.parametrize(("size", "kept"), [(ARTIFACT_LIMIT // 4 * 3, True), (ARTIFACT_LIMIT // 4 * 3 + 1, False)])
def test_an_artifact_has_seven_mebibytes_on_the_wire(size: int, kept: bool) -> None:
    written = json.loads(bounded(result(encoded(bytes(size))), Redactor()))
    assert written["status"] == ("succeeded" if kept else "failed")
    if not kept:
        assert (written["code"], written["facts"], written["artifacts"]) == ("evidence_too_large", {}, [])


def record(tmp_path: Path, private: Private, *artifacts: Artifact) -> tuple[Path, dict[str, Any], bool]:
    read = flow(("One", "api.connect"))
    evidence = Evidence(tmp_path / "evidence" / "runs", private.leaks)
    recorder = Recorder(evidence, read, "f.md", {}, private, 0.0)
    recorder.begin()
    run = StepRun({}, result(*artifacts), None, 0.0, 1)
    outcome = _outcome(read.steps[0].id)
    clean = recorder.step(read.steps[0], run, outcome)
    recorder.underway([outcome], read.steps[0])
    folder = evidence.folder
    evidence.close()
    return folder, json.loads((folder / "run.json").read_text()), clean


def _outcome(identity: str) -> Any:
    from host.outcome import StepOutcome

    return StepOutcome(identity, "api", "connect", "observe", "succeeded", None, "ok", None, 1, None, {})


def test_other_bytes_are_kept_as_they_are_and_listed_as_unscanned(tmp_path: Path) -> None:
    folder, run, clean = record(tmp_path, Private({"MCP": []}), encoded(PICTURE), Artifact("a.json", 1))
    (step,) = (folder / "steps").iterdir()
    assert clean is True
    assert (step / "p.png").read_bytes() == PICTURE
    assert (step / "p.png").stat().st_mode & 0o777 == 0o600
    assert run["unscanned"] == [f"steps/{step.name}/p.png"]
    assert sorted(path.name for path in step.iterdir()) == ["a.json", "observation.json", "p.png", "snapshot.json"]


def test_other_bytes_that_hold_a_private_value_plainly_are_withheld(tmp_path: Path) -> None:
    private = Private({"MCP": ["secret-value-1234"]})
    folder, run, clean = record(tmp_path, private, encoded(b"\x89PNG tEXt secret-value-1234"))
    (step,) = (folder / "steps").iterdir()
    assert clean is False
    assert b"secret-value" not in (step / "p.png").read_bytes()
    assert (run["unscanned"], run["withheld"]) == ([], [f"steps/{step.name}/p.png"])


def test_values_show_in_the_arguments_of_a_step() -> None:
    assert Values().substitute({"b": "ü", "a": '"'}) == '{"a": "\\"", "b": "ü"}'
