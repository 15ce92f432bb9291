"""One step under way: what its handler is given, and how its result is made."""

from collections.abc import Callable
from typing import Any, NamedTuple

from plugin.alias import Alias
from plugin.checks.arguments import Checked
from plugin.checks.expectation import Expect
from protocol.failures import Code, Failed
from protocol.mcp.replies import BODY_CHARACTERS, Outcome
from protocol.wire.context import Context
from protocol.wire.steps import Artifact, Status, StepResult

__all__ = ["Step", "Verdict"]


class Verdict(NamedTuple):
    """How a step came out. ``message`` is not redacted yet."""

    status: Status
    code: Code | None
    message: str


class Step:
    """One run of one command on one alias. ``identity`` is the id of the host's request.

    ``cancelled`` tells whether the host has given it up.
    """

    def __init__(
        self, alias: Alias, checked: Checked, context: Context, identity: str | int, cancelled: Callable[[], bool]
    ) -> None:
        self.alias = alias
        self.command = checked.command
        self.values = checked.values
        self.context = context
        self.facts: dict[str, Any] = {}
        self.identity = identity
        self._cancelled = cancelled

    @property
    def expect(self) -> Expect | None:
        """The read `expect`, or None when the step has none."""
        return self.values.get("expect")

    def stop_if_cancelled(self) -> None:
        """Raise Failed (`cancelled`) when the host has cancelled the step: nothing more of it is sent."""
        if self._cancelled():
            raise Failed(Code.CANCELLED, "The step was cancelled, and nothing more was sent.")

    def progress(self, pages: int, items: int) -> None:
        """Report how much of an inventory was read."""
        self.context.progress(self.identity, pages, "pages")
        self.context.progress(self.identity, items, "items")

    def http(self, outcome: Outcome) -> dict[str, Any]:
        """Return `facts.http` of an outcome; of a refusal's body the first 512 characters are kept, once redacted."""
        facts = outcome.http
        if isinstance(facts.get("body"), str):
            body = self.context.redactor.text(facts["body"]).value
            if "ended" in facts:
                # The reading broke off, and the half of a private value at its end would not have been recognised.
                body = body[: max(0, len(body) - self.context.longest_form)]
            facts = {**facts, "body": body[:BODY_CHARACTERS]}
        return facts

    def refusal(self, error: dict[str, Any]) -> dict[str, Any]:
        """Return `facts.refusal` of a JSON-RPC error: code, message, and data when there is some."""
        return {name: error[name] for name in ("code", "message", "data") if name in error}

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
        """Make the step's result. What is hashed, cut or compared in it is redacted by now, the rest on its way out."""
        return StepResult(
            status=verdict.status,
            code=None if verdict.code is None else str(verdict.code),
            message=self.context.message(verdict.message),
            effect=self.command.effect,
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
            facts["stream"] = stream
        return facts
