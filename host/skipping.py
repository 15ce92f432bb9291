"""Which steps of a flow run after what has happened so far, and why the others do not."""

from typing import Final

from host.consent import BEGIN, FINISH
from host.flow import Section, Step
from host.outcome import StepOutcome
from protocol.failures import Code

__all__ = ["Course"]

#: A command that always runs where its alias has a session: leaving one behind helps nobody.
_ALWAYS: Final = "disconnect"
#: What settles as whom and where an alias connects. When such a step is left out, a later command of the alias would
#: connect as somebody else (without the token file, at another path), so it is left out as well.
_OPENING_COMMANDS: Final = frozenset({"connect", BEGIN})
_OPENING_ARGUMENTS: Final = frozenset({"path", "tokenFile", "headers"})
#: Connections (facts.connection) after which an alias still has a session to end.
_WITH_SESSION: Final = frozenset({"open", "closed"})
#: Connections after a failed step which say that the alias did not connect.
_WITHOUT_CONNECTION: Final = frozenset({"none", "refused"})
#: Codes of a command that was refused for itself before its alias was opened: nobody has tried to connect yet.
_OF_THE_COMMAND: Final = frozenset(
    {Code.INVALID_ARGUMENTS, Code.PRIVATE_OPERAND, Code.BINDING_FIXED, Code.OAUTH_REQUIRED}
)


class Course:
    """What one run has seen so far. Pure: steps and outcomes in, reasons out.

    After a failed step nothing more of its section runs; of later ones, no step that waits for its capture, and none of
    an alias that could not connect; a command that was refused for its own arguments has not tried to. After a stop
    only Cleanup sections and `disconnect` of aliases with a session do.
    """

    def __init__(self, *, fail_fast: bool = False) -> None:
        self._fail_fast = fail_fast
        self._stopped: str | None = None
        self._failed_sections: dict[str, str] = {}
        self._missing: dict[str, str] = {}
        self._unconnected: dict[str, str] = {}
        self._unopened: dict[str, str] = {}
        self._with_session: set[str] = set()
        self._gone: dict[str, str] = {}

    def stop(self, reason: str) -> None:
        """Run nothing more but what always runs; the first reason is the one that is told."""
        self._stopped = self._stopped or reason

    def lose(self, provider: str, step: str) -> None:
        """Remember that a provider's plugin is gone since ``step``: nothing of it can run any more."""
        self._gone.setdefault(provider, step)

    def always(self, section: Section, step: Step) -> bool:
        """Tell whether a step runs even after a stop or a failure."""
        return section.cleanup or (step.command == _ALWAYS and step.alias in self._with_session)

    def reason(self, section: Section, step: Step) -> str | None:
        """Say why a step is skipped, or None when it runs."""
        impossible = self._impossible(step)
        if impossible or self.always(section, step):
            return impossible
        if self._stopped:
            return self._stopped
        if section.slug in self._failed_sections:
            return f"`{self._failed_sections[section.slug]}` did not succeed, and this step stands in the same section."
        return None

    def _impossible(self, step: Step) -> str | None:
        missing = next((name for name in step.needs if name in self._missing), None)
        if step.provider in self._gone:
            return f"The {step.provider} plugin is gone since `{self._gone[step.provider]}`."
        if missing is not None:
            return f"It needs `${{{missing}}}`, which `{self._missing[missing]}` did not give."
        if step.alias in self._unconnected:
            return f"`{step.alias}` did not connect (see `{self._unconnected[step.alias]}`)."
        if step.alias in self._unopened and not _opens(step):
            return f"`{step.alias}` did not connect: `{self._unopened[step.alias]}` was left out."
        return None

    def record(self, section: Section, step: Step, outcome: StepOutcome) -> None:
        """Take in what became of a step."""
        if outcome.status != "succeeded" and step.capture is not None:
            self._missing[step.capture] = step.id
        elif step.capture is not None:
            self._missing.pop(step.capture, None)
        if outcome.status == "skipped":
            if (_opens(step) or step.command == FINISH) and step.alias not in self._with_session:
                self._unopened.setdefault(step.alias, step.id)
            return
        self._connect(step, outcome)
        if outcome.status == "succeeded":
            if step.command == BEGIN:
                self._unopened.pop(step.alias, None)
            return
        self._failed_sections.setdefault(section.slug, step.id)
        if outcome.status == "unknown":
            self.stop(f"The outcome of `{step.id}` is unknown, and the flow stopped there.")
        elif self._fail_fast:
            self.stop(f"`{step.id}` failed, and --fail-fast stopped the flow there.")

    def _connect(self, step: Step, outcome: StepOutcome) -> None:
        connection = outcome.facts.get("connection")
        if connection in _WITH_SESSION:
            self._with_session.add(step.alias)
            self._unopened.pop(step.alias, None)
        elif connection is not None:
            self._with_session.discard(step.alias)
        if outcome.status != "succeeded" and connection in _WITHOUT_CONNECTION and not _untried(step, outcome):
            self._unconnected.setdefault(step.alias, step.id)


def _opens(step: Step) -> bool:
    return step.command in _OPENING_COMMANDS or any(entry.name in _OPENING_ARGUMENTS for entry in step.arguments)


def _untried(step: Step, outcome: StepOutcome) -> bool:
    """Tell whether a step was refused for itself, so that its alias may still connect. A sign-in is a try."""
    if step.command in (BEGIN, FINISH) or outcome.facts.get("connection") != "none":
        return False
    return outcome.code in _OF_THE_COMMAND
