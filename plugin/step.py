"""One step under way: what its handler is given, and how its result is made."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from plugin.alias import Alias
from plugin.checks.arguments import Checked
from plugin.checks.expectation import Expect
from plugin.context import Context
from protocol.failures import Code, Failed
from protocol.mcp.replies import BODY_CHARACTERS, Outcome
from protocol.wire.steps import Artifact, Status, StepResult

__all__ = ["Step", "Verdict"]


class Verdict(NamedTuple):
    """How a step came out. ``message`` is not redacted yet."""

    status: Status
    code: Code | None
    message: str


class Step:
    """One run of one command on one alias. ``cancelled`` tells whether the host has given it up."""

    def __init__(
        self, alias: Alias, checked: Checked, context: Context, identity: str | int, cancelled: Callable[[], bool]
    ) -> None:
        self.alias = alias
        self.command = checked.command
        self.values = checked.values
        self.context = context
        self.facts: dict[str, Any] = {}
        self._identity = identity
        self._cancelled = cancelled

    @property
    def expect(self) -> Expect | None:
        """The read `expect`, or None when the step has none."""
        return self.values.get("expect")

    def stop_if_cancelled(self) -> None:
        """Raise Failed (`cancelled`) when the host has cancelled the step and nothing of it was sent yet."""
        if self._cancelled():
            raise Failed(Code.CANCELLED, "The step was cancelled before anything was sent.")

    def progress(self, pages: int, items: int) -> None:
        """Report how much of an inventory was read."""
        self.context.progress(self._identity, pages, "pages")
        self.context.progress(self._identity, items, "items")

    def redact(self, value: Any) -> Any:
        """Return a value with nothing private in it."""
        return self.context.redactor.redact(value).value

    def http(self, outcome: Outcome) -> dict[str, Any]:
        """Return the redacted `facts.http` of an outcome; of a refusal's body the first 512 characters are kept."""
        facts: dict[str, Any] = self.redact(outcome.http)
        if isinstance(facts.get("body"), str):
            facts = {**facts, "body": facts["body"][:BODY_CHARACTERS]}
        return facts

    def refusal(self, error: dict[str, Any]) -> dict[str, Any]:
        """Return the redacted `facts.refusal` of a JSON-RPC error: code, message, and data when there is some."""
        return {name: self.redact(error[name]) for name in ("code", "message", "data") if name in error}

    def verdict(self, outcome: Outcome) -> Verdict:
        """Judge a request of this command whose outcome is not what the server said: it failed, or nobody knows."""
        lost = outcome.kind == "lost" and self.command.effect == "mutate"
        return Verdict("unknown" if lost else "failed", outcome.code, outcome.message)

    def result(
        self,
        verdict: Verdict,
        state: Any = None,
        *,
        capture: str | None = None,
        artifacts: list[Artifact] | None = None,
        display: Any = None,
    ) -> StepResult:
        """Make the step's result; ``state``, ``artifacts`` and ``display`` are redacted already."""
        return StepResult(
            status=verdict.status,
            code=None if verdict.code is None else str(verdict.code),
            message=self.context.message(verdict.message),
            effect=self.command.effect,  # type: ignore[arg-type]  # plugin.commands is a table of plain strings
            state=state,
            facts=self._facts(),
            capture=capture,
            artifacts=artifacts or [],
            display=display,
        )

    def _facts(self) -> dict[str, Any]:
        facts = {"connection": self.alias.state, **self.facts}
        connection = self.alias.connection
        if connection is not None and (stream := connection.stream()):
            facts["stream"] = self.redact(stream)
        return facts


#: A handler carries out one command. It raises Failed for what is decided before anything of the command is sent.
Handler = Callable[[Step], StepResult]
SUCCEEDED: Final = "succeeded"
