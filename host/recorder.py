"""Turns a run into its documents: `run.json`, and each step's observation, snapshot and artifacts."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from host.comparator import Compared
from host.evidence import Evidence, pretty, timestamp
from host.flow import Flow, Step
from host.outcome import Conclusion, StepOutcome
from host.private import Private
from protocol.failures import Code
from protocol.values.document import encode
from protocol.version import VERSION
from protocol.wire.steps import StepResult

__all__ = ["Recorder", "StepRun", "withhold"]

RUN_FORMAT: Final = "assay-evidence/1"
OBSERVATION_FORMAT: Final = "assay-observation/1"
SNAPSHOT_FORMAT: Final = "assay-snapshot/1"
#: Characters of a step's folder name after its number: file systems take 255 bytes.
_NAME_LIMIT: Final = 100


class StepRun(NamedTuple):
    """What a step was run with and what came of it, before it is kept. ``started`` is in seconds since 1970."""

    arguments: Mapping[str, str]
    result: StepResult
    compared: Compared | None
    started: float
    milliseconds: int


class Recorder:
    """Writes one run's evidence. Nothing of the bindings is in it but the names of aliases and providers."""

    def __init__(
        self,
        evidence: Evidence,
        flow: Flow,
        file: str,
        plugins: Mapping[str, Mapping[str, Any]],
        private: Private,
        started: float,
    ) -> None:
        self._evidence = evidence
        self._flow = flow
        self._private = private
        self._folders = _folders(flow.steps)
        self._unscanned: list[str] = []
        self._head = {
            "format": RUN_FORMAT,
            "run": evidence.run,
            "host": {"name": "assay", "version": VERSION},
            "flow": {"name": flow.name, "file": file, "sha256": hashlib.sha256(flow.text.encode()).hexdigest()},
            "providers": dict(flow.providers),
            "plugins": {
                name: {key: plugin.get(key) for key in ("name", "version")} for name, plugin in plugins.items()
            },
            "inputs": flow.values,
            "started": timestamp(started),
        }

    @property
    def leaked(self) -> tuple[str, ...]:
        return tuple(self._evidence.leaked)

    def begin(self) -> None:
        """Keep the flow as it is run, before anything of it is."""
        self._evidence.write("flow.md", self._flow.text.encode())

    def underway(self, outcomes: Sequence[StepOutcome], running: Step) -> None:
        """Keep how far the run is: a killed run shows which step it was in."""
        self._evidence.write_json("run.json", self._record(outcomes, running=running))

    def step(self, step: Step, run: StepRun, outcome: StepOutcome) -> bool:
        """Keep a step: its observation, snapshot, artifacts and diff. Returns whether all of it was clean."""
        folder = f"steps/{self._folders[step.id]}"
        observation = {
            "format": OBSERVATION_FORMAT,
            "step": step.id,
            "alias": step.alias,
            "command": step.command,
            "arguments": {name: self._private.text(value) for name, value in run.arguments.items()},
            "effect": outcome.effect,
            "status": outcome.status,
            "code": outcome.code,
            "message": outcome.message,
            "capture": outcome.capture,
            "started": timestamp(run.started),
            "milliseconds": run.milliseconds,
            "state": outcome.state,
            "facts": dict(outcome.facts),
        }
        snapshot = {"format": SNAPSHOT_FORMAT, "status": run.result.status, "state": outcome.state}
        documents: dict[str, Any] = {"observation.json": observation, "snapshot.json": snapshot}
        documents |= {artifact.name: artifact.json for artifact in run.result.artifacts if artifact.content is None}
        if run.compared and run.compared.artifact and run.compared.document:
            documents[run.compared.artifact] = run.compared.document
        clean = [self._evidence.write_json(f"{folder}/{name}", value) for name, value in documents.items()]
        clean += [
            self._unscannable(f"{folder}/{artifact.name}", artifact.content)
            for artifact in run.result.artifacts
            if artifact.content is not None
        ]
        return all(clean)

    def _unscannable(self, name: str, content: bytes) -> bool:
        """Keep bytes that are no text. The scan does not see what a picture shows, so `run.json` lists them."""
        self._unscanned.append(name)
        return self._evidence.write(name, content)

    def rescan(self, outcomes: Sequence[StepOutcome]) -> tuple[StepOutcome, ...]:
        """Scan everything that was kept, and withhold what holds a private value by now from the outcomes as well."""
        self._evidence.rescan()
        checked = []
        for outcome in outcomes:
            if self._private.leaks(encode(outcome._asdict())):
                self._evidence.note(self._folders[outcome.id])
                checked.append(withhold(outcome))
            else:
                checked.append(outcome)
        return tuple(checked)

    def end(self, outcomes: Sequence[StepOutcome], conclusion: Conclusion, ended: float) -> bool:
        """Write the last record, give up the run's lock, and return whether the record was clean."""
        record = self._record(outcomes, conclusion=conclusion) | {"ended": timestamp(ended)}
        clean = self._evidence.write("run.json", pretty(record), synchronous=True)
        self._evidence.close()
        return clean

    def _record(
        self,
        outcomes: Sequence[StepOutcome],
        *,
        running: Step | None = None,
        conclusion: Conclusion | None = None,
    ) -> dict[str, Any]:
        done = {outcome.id: outcome for outcome in outcomes}
        return self._head | {
            "ended": None,
            "status": conclusion.status if conclusion else "running",
            "code": conclusion.code if conclusion else None,
            "message": conclusion.message if conclusion else "",
            "exit": conclusion.exit if conclusion else None,
            "steps": [self._step_record(step, done.get(step.id), running) for step in self._flow.steps],
            "unscanned": [name for name in self._unscanned if name not in self._evidence.leaked],
            "withheld": sorted(set(self._evidence.leaked)),
        }

    def _step_record(self, step: Step, outcome: StepOutcome | None, running: Step | None) -> dict[str, Any]:
        status = "running" if running is not None and running.id == step.id else "pending"
        return {
            "id": step.id,
            "alias": step.alias,
            "command": step.command,
            "effect": outcome.effect if outcome else step.effect,
            "line": step.line,
            "folder": self._folders[step.id],
            "status": outcome.status if outcome else status,
            "code": outcome.code if outcome else None,
            "message": outcome.message if outcome else "",
            "capture": outcome.capture if outcome else None,
            "milliseconds": outcome.milliseconds if outcome else None,
        }


def withhold(outcome: StepOutcome) -> StepOutcome:
    """Return an outcome without anything of what came back: evidence of it held a private value."""
    return outcome._replace(
        status="unknown" if outcome.status == "unknown" else "failed",
        code=str(Code.EVIDENCE_LEAK),
        message="A private value was found in what this step returned; all of it is withheld.",
        capture=None,
        state=None,
        facts={},
        changes=(),
        display=None,
        brief="",
    )


def _folders(steps: Sequence[Step]) -> dict[str, str]:
    width = max(2, len(str(len(steps))))
    return {
        step.id: f"{number:0{width}}-{f'{step.alias}.{step.command}'[:_NAME_LIMIT]}"
        for number, step in enumerate(steps, start=1)
    }
