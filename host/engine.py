"""Runs the steps of one flow: what runs and what is skipped, its time, its captures, its comparisons, its end."""

import time
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

from host.comparator import Comparator, Compared
from host.evidence import Evidence
from host.flow import Flow, Section, Step
from host.outcome import Conclusion, FlowOutcome, StepOutcome, code_of_failure, conclude, may_have_run
from host.provider import Provider
from host.recorder import Recorder, StepRun, withhold
from host.runs import CATALOG, Inventory, inventory_read
from host.session import Session
from host.signing_in import SignIns
from host.skipping import Course
from protocol.failures import Code, Failed, Failure
from protocol.values.document import encode
from protocol.wire.steps import ARTIFACT_LIMIT, StepResult

__all__ = ["Listener", "Ran", "run_flow"]

#: Seconds that `disconnect` and Cleanup get after the flow's time is up or the user asked to stop.
CLEANUP_SECONDS: Final = 30.0


class Listener(Protocol):
    """Is told how a run goes. Calls come on the running thread, those of ``progress`` aside."""

    def section(self, section: Section) -> None: ...

    def step_started(self, step: Step) -> None: ...

    def step_ended(self, step: Step, outcome: StepOutcome) -> None: ...


class Ran(NamedTuple):
    """A flow that ran, and the inventories that its steps read to their end: what a baseline is made of."""

    outcome: FlowOutcome
    inventories: tuple[Inventory, ...]


def run_flow(
    flow: Flow,
    session: Session,
    evidence: Evidence,
    recorder: Recorder,
    comparator: Comparator,
    listener: Listener,
    *,
    fail_fast: bool = False,
    codes: Mapping[str, int] | None = None,
) -> Ran:
    """Run every step of a checked flow, in order, each at most once.

    What a step fails by is in the outcome, and so is evidence that can no longer be written (``internal``), which ends
    the flow at once. ``codes`` gives the exit status of failure codes that are a plugin's own. The session is the
    caller's to end.
    """
    engine = _Engine(flow, session, recorder, comparator, listener, Course(fail_fast=fail_fast))
    try:
        recorder.begin()
        for section in flow.sections:
            listener.section(section)
            for step in section.steps:
                engine.step(section, step)
        return engine.finish(evidence, codes)
    except Failed as failed:
        return engine.abandon(evidence, failed.failure)


class _Engine:
    def __init__(
        self,
        flow: Flow,
        session: Session,
        recorder: Recorder,
        comparator: Comparator,
        listener: Listener,
        course: Course,
    ) -> None:
        self._flow = flow
        self._session = session
        self._recorder = recorder
        self._comparator = comparator
        self._listener = listener
        self._course = course
        self._sign_ins = SignIns(session)
        self._deadline = time.monotonic() + flow.budget
        self._stopped_at: float | None = None
        self._failure: Failure | None = None
        self._values = flow.values
        self._outcomes: list[StepOutcome] = []
        self._inventories: list[Inventory] = []

    def step(self, section: Section, step: Step) -> None:
        """Run one step, or say why it is skipped."""
        always = self._course.always(section, step)
        self._look_around(out_of_time=not always)
        reason = self._course.reason(section, step) or self._out_of_time(always) or self._sign_ins.reason(step)
        if reason:
            self._sign_ins.skip(step)
        outcome = self._skipped(step, reason) if reason else self._run(step, always)
        self._look_around(out_of_time=not always and outcome.status != "succeeded")
        self._course.record(section, step, outcome)
        self._listener.step_ended(step, outcome)
        self._outcomes.append(outcome._replace(display=None, changes=()))

    def finish(self, evidence: Evidence, codes: Mapping[str, int] | None) -> Ran:
        """Scan and close the evidence, and add up."""
        outcomes = self._recorder.rescan(self._outcomes)
        conclusion = self._conclude(outcomes, codes)
        if not self._recorder.end(outcomes, conclusion, time.time()):
            outcomes = tuple(withhold(outcome) for outcome in outcomes)
            conclusion = self._conclude(outcomes, codes)
        return self._ran(evidence, outcomes, conclusion)

    def _conclude(self, outcomes: tuple[StepOutcome, ...], codes: Mapping[str, int] | None) -> Conclusion:
        if self._recorder.leaked:
            self._failure = Failure(Code.EVIDENCE_LEAK, _leak(self._recorder.leaked))
        return conclude(outcomes, interrupted=self._session.interrupted(), failure=self._failure, codes=codes)

    def abandon(self, evidence: Evidence, failure: Failure) -> Ran:
        """Add up a flow whose evidence can no longer be written; what is kept stays as it is."""
        evidence.close()
        outcomes = tuple(self._outcomes)
        return self._ran(evidence, outcomes, conclude(outcomes, failure=failure))

    def _ran(self, evidence: Evidence, outcomes: tuple[StepOutcome, ...], conclusion: Conclusion) -> Ran:
        outcome = FlowOutcome(
            flow=self._flow.name,
            # Where a flow lies may be in a private folder, the working directory of a shell.
            file=self._session.private.text(self._flow.file),
            run=evidence.run,
            folder=str(evidence.folder),
            status=conclusion.status,
            code=conclusion.code,
            message=self._session.private.text(conclusion.message),
            steps=outcomes,
            exit=conclusion.exit,
        )
        return Ran(outcome, tuple(self._inventories))

    def _look_around(self, *, out_of_time: bool) -> None:
        """Notice that the user asked to stop, or that the flow's time is up (where that is looked at)."""
        now = time.monotonic()
        if self._session.interrupted():
            self._course.stop("The run was interrupted.")
            self._stopped_at = self._stopped_at or now
        elif out_of_time and now >= self._deadline and self._failure is None:
            told = f"The flow's {self._flow.budget / 60:g} minutes (`budgets.minutes`) are used up."
            self._failure = Failure(Code.TIMEOUT, told)
            self._course.stop(told)
            self._stopped_at = self._stopped_at or now

    def _limit(self, always: bool) -> float:
        """Return when a step is cancelled: what always runs gets time of its own after the flow's."""
        if not always:
            return self._deadline
        return min(self._deadline, self._stopped_at or self._deadline) + CLEANUP_SECONDS

    def _out_of_time(self, always: bool) -> str | None:
        if self._session.interruption.level > 1:
            return "The run was interrupted twice."
        if time.monotonic() >= self._limit(always):
            return "No time is left for cleaning up."
        return None

    def _run(self, step: Step, always: bool) -> StepOutcome:
        self._listener.step_started(step)
        self._recorder.underway(self._outcomes, step)
        provider = self._session.provider(step.provider)
        started, began = time.time(), time.monotonic()
        arguments, result = self._ask(step, provider, always)
        if step.capture is not None and result.status == "succeeded" and result.capture is None:
            result = _result(step, Failure(Code.PLUGIN_DIED, "The plugin succeeded without the value to capture."))
        self._sign_ins.ran(step, provider, result)
        milliseconds = round((time.monotonic() - began) * 1000)
        compared = self._compare(step, result)
        if not provider.alive:
            self._course.lose(step.provider, step.id)
        outcome = _outcome(step, result, compared, milliseconds)
        if self._recorder.step(step, StepRun(arguments, result, compared, started, milliseconds), outcome):
            if outcome.status == "succeeded" and step.capture is not None and outcome.capture is not None:
                self._values[step.capture] = outcome.capture
            return outcome
        self._course.stop("A private value was about to be kept, and the flow stopped there.")
        return withhold(outcome)

    def _ask(self, step: Step, provider: Provider, always: bool) -> tuple[dict[str, str], StepResult]:
        """Have a step's plugin carry it out; return the arguments that it was sent, and a result in any case."""
        interruption, least, deadline = self._session.interruption, 2 if always else 1, self._limit(always)

        def stop() -> bool:
            self._sign_ins.look_after(step)
            return interruption.level >= least

        arguments: dict[str, str] = {}
        try:
            arguments = step.substitute(self._values)
            consent = self._sign_ins.consent(step, deadline, stop)
            ran = provider.run(step.alias, step.command, arguments, deadline=deadline, stop=stop, on_consent=consent)
            return arguments, _bounded(ran)
        except Failed as failed:
            return arguments, _result(step, failed.failure)

    def _compare(self, step: Step, result: StepResult) -> Compared | None:
        state, succeeded = result.state, result.status == "succeeded"
        name = inventory_read(result.status, state)
        if name is None:
            return None
        self._inventories.append(Inventory(step.id, step.alias, step.provider, name, state, succeeded=succeeded))
        catalog = next((artifact.json for artifact in result.artifacts if artifact.name == CATALOG), None)
        return self._comparator.compare(
            self._session.provider(step.provider), step, state, catalog, succeeded=succeeded
        )

    def _skipped(self, step: Step, reason: str) -> StepOutcome:
        return StepOutcome(
            step.id, step.alias, step.command, step.effect, "skipped", None, reason, None, step.line, None, {}
        )


def _outcome(step: Step, result: StepResult, compared: Compared | None, milliseconds: int) -> StepOutcome:
    facts = {**result.facts, "comparison": compared.facts} if compared else result.facts
    failure = compared.failure if compared else None
    status, code, message, brief = result.status, result.code, result.message, compared.brief if compared else ""
    if failure and status == "succeeded":
        status, code, message = "failed", str(failure.code), failure.message
    elif failure:
        # What the plugin found stands first, and decides the code.
        message, brief = f"{message} {failure.message}", f"{message} {brief}" if brief else ""
    return StepOutcome(
        step.id,
        step.alias,
        step.command,
        result.effect,
        status,
        code,
        message,
        result.capture,
        step.line,
        result.state,
        facts,
        milliseconds,
        compared.told if compared else (),
        result.display,
        brief,
    )


def _result(step: Step, failure: Failure) -> StepResult:
    """Make a result of a request that got none: unknown where it may have changed something."""
    data: dict[str, Any] = failure.data or {}
    facts = {"plugin": {name: data[name] for name in ("exit", "diagnostics") if data.get(name)}}
    return StepResult(
        status="unknown" if step.effect == "mutate" and may_have_run(failure) else "failed",
        code=code_of_failure(failure),
        message=failure.message,
        effect=step.effect,
        facts=facts if facts["plugin"] else {},
    )


def _bounded(result: StepResult) -> StepResult:
    """Hold a plugin to the limits of what is kept, so that one that does not keep them cannot fill the disk."""
    sizes = {"state": len(encode(result.state)), "facts": len(encode(result.facts))}
    sizes |= {artifact.name: artifact.size for artifact in result.artifacts}
    large = [name for name, size in sizes.items() if size > ARTIFACT_LIMIT]
    if not large:
        return result
    return StepResult(
        status="unknown" if result.status == "unknown" else "failed",
        code=str(Code.EVIDENCE_TOO_LARGE),
        message=f"The step's {', '.join(large)} passes {ARTIFACT_LIMIT} bytes and was not kept.",
        effect=result.effect,
        facts={"connection": result.facts.get("connection")},
    )


def _leak(names: tuple[str, ...]) -> str:
    return f"A private value was about to be kept and was withheld: see {', '.join(sorted(set(names)))}."
