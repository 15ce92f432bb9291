"""Runs prepared flows, one by one or several at once: checks every step of all first, and keeps baselines."""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from host.baseline import Baseline, default_baseline, read_baseline, write_baseline
from host.comparator import Comparator
from host.documents import check_place
from host.engine import Ran, run_flow
from host.evidence import Evidence
from host.flow import Flow, Step
from host.interruption import Interruption
from host.outcome import ERROR_EXIT, INTERRUPTED_EXIT, FlowOutcome, code_of_failure, remedy
from host.parallel import run_all
from host.preparation import Job, Prepared
from host.private import Private
from host.problems import Problem
from host.progress import Stage, Teller
from host.recorder import Recorder
from host.refusals import innocent, refuse, refuse_flow
from host.session import Identities, Session
from host.turns import Turns, callback_ports
from host.waiting import await_port
from protocol.failures import CODES, Code, Failed, Failure

__all__ = ["RunOptions", "Runner", "check_jobs", "runs_folder"]

#: Where run folders lie within the folder of evidence.
RUNS: Final = "runs"
#: The provider whose aliases sign in.
_SIGNING_IN: Final = "MCP"


class RunOptions(NamedTuple):
    """How flows are run: ``jobs`` of them at once, after ``wait`` seconds at most for the target's port.

    ``baseline`` is a path for one flow, None for the file beside each.
    """

    fail_fast: bool
    baseline: str | None
    update_baseline: bool
    fail_on: frozenset[str]
    jobs: int = 1
    wait: float | None = None


def runs_folder(evidence: str) -> Path:
    """Return the folder of run folders, relative where it lies below the current one."""
    path, here = Path(evidence) / RUNS, Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


class Runner:
    """Runs the prepared flows of one command line. ``stage`` is told how it goes."""

    def __init__(
        self, prepared: Prepared, environment: Mapping[str, str], stage: Stage, interruption: Interruption
    ) -> None:
        self._prepared = prepared
        self._environment = environment
        self._stage = stage
        self._interruption = interruption
        self._known: list[Private] = []
        self._turns = Turns()

    def leaks(self, buffer: bytes) -> bool:
        """Tell whether a buffer holds a private value of any flow that was started."""
        return any(private.leaks(buffer) for private in self._known)

    def check(self) -> list[FlowOutcome]:
        """Check every step of every flow; return an outcome for each flow when something is refused, else none."""
        jobs = self._prepared.jobs
        with self._listening() as teller:
            session = self._start(jobs, teller)
            if isinstance(session, Failure):
                return [_not_started(job, session, self._interruption) for job in jobs]
            with session:
                return check_jobs(jobs, session)

    def run(self, options: RunOptions) -> list[FlowOutcome]:
        """Check every step of every flow, and run the flows unless one is refused.

        Raises Failed, before contact, for a baseline that cannot be read, or written where it is to be updated.
        """
        jobs = self._prepared.jobs
        if options.update_baseline:
            for job in jobs:
                check_place(str(_baseline_path(job, options)))
        baselines = [_baseline(job, options) for job in jobs]
        self._stage.expect(len(jobs))
        if len(jobs) == 1:
            return [self._alone(jobs[0], baselines[0], options, check=True)]
        refused = self.check()
        if refused:
            return refused
        failure = self._wait(options)
        if failure is not None:
            return [_not_started(job, failure, self._interruption) for job in jobs]
        work = [partial(self._counted, job, each, options) for job, each in zip(jobs, baselines, strict=True)]
        return run_all(work, options.jobs)

    def _counted(self, job: Job, baseline: Baseline | None, options: RunOptions) -> FlowOutcome:
        ports = callback_ports(job.bound.configurations.get(_SIGNING_IN, {}))
        try:
            with self._turns.take(ports):
                return self._alone(job, baseline, options)
        finally:
            self._stage.ended()

    def _wait(self, options: RunOptions) -> Failure | None:
        """Wait for the target's port, where that is asked for; return why nothing can be run."""
        target = self._prepared.choices.target
        if options.wait is None or target is None:
            return None
        row = self._stage.board.add("waiting for the server")
        try:
            return await_port(target, options.wait, lambda: self._interruption.level > 0)
        finally:
            row.end()

    def _alone(self, job: Job, baseline: Baseline | None, options: RunOptions, *, check: bool = False) -> FlowOutcome:
        """Run one flow with plugins of its own, which also check it when nothing has before."""
        if self._interruption.level:
            return _not_started(job, None, self._interruption)
        with self._listening() as teller:
            session = self._start((job,), teller)
            if isinstance(session, Failure):
                return _not_started(job, session, self._interruption)
            with session:
                refused = check_jobs((job,), session) if check else []
                if refused:
                    return refused[0]
                failure = self._wait(options) if check else None
                if failure is not None or self._interruption.level:
                    return _not_started(job, failure, self._interruption)
                return self._run(job, baseline, options, session, teller)

    @contextmanager
    def _listening(self) -> Iterator[Teller]:
        teller = self._stage.teller()
        try:
            yield teller
        finally:
            teller.end()

    def _start(self, jobs: Sequence[Job], teller: Teller) -> Session | Failure:
        """Start the plugins that flows need; an alias is the same identity in all of them."""
        configurations: dict[str, dict[str, object]] = {}
        private: dict[str, tuple[str, ...]] = {}
        for job in jobs:
            for provider, aliases in job.bound.configurations.items():
                configurations.setdefault(provider, {}).update(aliases)
            for provider, values in job.bound.private.items():
                private[provider] = tuple(dict.fromkeys((*private.get(provider, ()), *values)))
        known = Private({provider: private.get(provider, ()) for provider in configurations}, self._prepared.private)
        self._known.append(known)
        teller.redact = known.text
        prepared = self._prepared
        identities = Identities(prepared.origins, configurations, prepared.hidden)
        progress = teller.progress
        try:
            return Session(
                prepared.executables,
                self._environment,
                identities,
                known,
                self._interruption,
                progress,
                prepared.codes,
            )
        except Failed as failed:
            return failed.failure._replace(message=known.text(failed.failure.message))

    def _run(
        self, job: Job, baseline: Baseline | None, options: RunOptions, session: Session, teller: Teller
    ) -> FlowOutcome:
        root = runs_folder(self._prepared.choices.evidence)
        try:
            evidence = Evidence(root, session.private.leaks)
        except Failed as failed:
            return refuse_flow(job.flow, failed.failure)
        file = session.private.text(job.file)
        recorder = Recorder(evidence, job.flow, file, session.plugins, session.private, time.time())
        update = options.update_baseline
        comparator = Comparator(baseline, options.fail_on, update=update, root=root, file=file, run=evidence.run)
        teller.flow(job.flow)
        ran = run_flow(
            job.flow,
            session,
            evidence,
            recorder,
            comparator,
            teller,
            fail_fast=options.fail_fast,
            codes=self._prepared.codes,
        )
        outcome = _keep(job, ran, options, session.private.leaks) if update else ran.outcome
        return outcome._replace(notes=(*outcome.notes, *_uncovered(job.flow, baseline, options)))


def check_jobs(jobs: Sequence[Job], session: Session) -> list[FlowOutcome]:
    """Have every step looked at by its plugin. Returns an outcome for each flow when one is refused, else none."""
    refusals = [_check(job.flow, session) for job in jobs]
    if session.interrupted():
        return [_not_started(job, None, session.interruption) for job in jobs]
    if not any(refusals):
        return []
    return [outcome or innocent(job.flow) for job, outcome in zip(jobs, refusals, strict=True)]


def _check(flow: Flow, session: Session) -> FlowOutcome | None:
    refused: list[Failed] = []
    problems: list[Problem] = []
    for step in flow.steps:
        failed = None if session.interrupted() else session.check(step, flow.values)
        if failed is not None:
            refused.append(failed)
            problems.append(_problem(step, failed.failure))
            if failed.code == Code.PLUGIN_DIED:
                break
    if not refused:
        return None
    failure = refused[0].failure._replace(data=refused[-1].failure.data)
    return refuse(flow.name, flow.file, flow.text, problems, failure, redact=session.private.text)


def _problem(step: Step, failure: Failure) -> Problem:
    """Place a refusal: at the argument that it names, else at the command."""
    named = (failure.where or "").partition(".")[0].partition("[")[0].partition("/")[0]
    place = next((argument for argument in step.arguments if argument.name == named), None)
    advice = remedy(code_of_failure(failure))
    if place is not None:
        return Problem(place.line, place.column, len(place.name), failure.message, advice)
    return Problem(step.line, step.column, len(f"{step.alias}.{step.command}"), failure.message, advice)


def _not_started(job: Job, failure: Failure | None, interruption: Interruption) -> FlowOutcome:
    if interruption.level:
        told = Failure(Code.CANCELLED, "Interrupted before anything was contacted.")
        outcome = refuse_flow(job.flow, told)
        return outcome._replace(status="interrupted", exit=INTERRUPTED_EXIT)
    return refuse_flow(job.flow, failure)


def _baseline(job: Job, options: RunOptions) -> Baseline | None:
    path = _baseline_path(job, options)
    if os.path.exists(path) or (options.baseline is not None and not options.update_baseline):
        return read_baseline(path)
    return None


def _baseline_path(job: Job, options: RunOptions) -> Path:
    return Path(options.baseline) if options.baseline is not None else default_baseline(job.path)


def _keep(job: Job, ran: Ran, options: RunOptions, leaks: Callable[[bytes], bool]) -> FlowOutcome:
    """Write the baseline of a flow that succeeded, or say why not."""
    path = _baseline_path(job, options)
    if ran.outcome.exit:
        return ran.outcome._replace(notes=(f"baseline {path} not written: the flow did not succeed",))
    if not ran.inventories:
        return ran.outcome._replace(notes=(f"baseline {path} not written: the flow read no inventory",))
    try:
        write_baseline(path, job.flow.name, ran.inventories, leaks)
    except Failed as failed:
        told = str(failed)
        status = CODES[failed.code].exit
        return ran.outcome._replace(status="error", code=str(failed.code), message=told, exit=max(status, ERROR_EXIT))
    count = len(ran.inventories)
    return ran.outcome._replace(notes=(f"baseline: {path} ({count} {'inventory' if count == 1 else 'inventories'})",))


def _uncovered(flow: Flow, baseline: Baseline | None, options: RunOptions) -> list[str]:
    """Name the steps of a baseline that the flow has no longer."""
    if baseline is None or options.update_baseline:
        return []
    steps = {step.id for step in flow.steps}
    gone = [entry.step for entry in baseline.entries if entry.step not in steps]
    return [f"the baseline {baseline.name} holds `{step}`, which the flow has no more" for step in gone]
