"""The sign-in that a running flow is in: its consent page, its end, and what happens when its browser is gone."""

from collections.abc import Callable
from typing import Final, NamedTuple

from host.answering import OnConsent
from host.consent import BEGIN, FINISH
from host.flow import Step
from host.origins import MISDIRECTED
from host.provider import Provider
from host.session import Session
from protocol.failures import Code
from protocol.wire.steps import StepResult

__all__ = ["SignIns"]

#: How a finish fails whose sign-in was given up: while it waited, or a moment before.
_GIVEN_UP: Final = frozenset({Code.CANCELLED, Code.OAUTH_REQUIRED})


class _Begun(NamedTuple):
    """A sign-in that was begun: whose, and by which request to which plugin."""

    alias: str
    provider: Provider
    request: int


class SignIns:
    """Follows the steps of one flow. A sign-in that is not going to be finished is given up, so that nothing waits."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._begun: _Begun | None = None
        self._shown = False
        self._stranded = False
        self._given_up: dict[str, str] = {}

    def reason(self, step: Step) -> str | None:
        """Say why a step cannot run: its sign-in was given up before."""
        return self._given_up.get(step.alias) if step.command == FINISH else None

    def consent(self, step: Step, deadline: float, stop: Callable[[], bool]) -> OnConsent | None:
        """Return what shows the consent page of a step, given alias and URL; None for a step that has none."""
        if step.command != BEGIN:
            return None

        def show(_alias: str, url: str) -> None:
            self._shown = True
            self._session.show_consent(url, deadline=deadline, stop=stop)

        return show

    def look_after(self, step: Step) -> None:
        """While a step runs: give up the sign-in that it finishes, where nobody can consent any more.

        Whether consent had come by then its plugin knows alone, and sees that through.
        """
        if step.command == FINISH and self._shown and self._session.page_gone and not self._stranded:
            self._stranded = True
            if self._begun is not None and self._begun.provider.alive:
                self._begun.provider.give_up(self._begun.request)

    def skip(self, step: Step) -> None:
        """Take note of a step that does not run."""
        if self._begun is not None and step.command == FINISH and step.alias == self._begun.alias:
            self._give_up(f"`{step.id}` was skipped.")

    def ran(self, step: Step, provider: Provider, result: StepResult) -> None:
        """Take note of a step that ran; its result is told what this knows of it."""
        if step.command == BEGIN:
            self._given_up.pop(step.alias, None)
            if result.status == "succeeded":
                self._begun = _Begun(step.alias, provider, provider.last)
            else:
                self._close()
        elif step.command == FINISH:
            if self._stranded and result.status == "failed" and result.code in _GIVEN_UP:
                result.code = str(Code.CANCELLED)
                result.message = "The browser of the consent page was gone before consent came; no token was asked for."
            self._begun, self._stranded = None, False
            blocked = self._close()
            if result.code == Code.OAUTH_CONSENT_TIMEOUT and blocked:
                result.message = f"{result.message} {_refused(blocked)}"
        if self._begun is not None and self._shown and self._session.page_gone:
            self._give_up("The browser of its consent page is gone.")

    def _give_up(self, reason: str) -> None:
        assert self._begun is not None
        alias, provider, request = self._begun
        if provider.alive:
            provider.give_up(request)
        self._given_up[alias] = f"The sign-in of `{alias}` was given up: {reason}"
        self._begun = None
        self._close()

    def _close(self) -> list[str]:
        """End the private time of the browser; return the origins that its page was refused meanwhile."""
        if not self._shown:
            return []
        self._shown = False
        return self._session.close_consent()


def _refused(blocked: list[str]) -> str:
    """Say where a consent page wanted to go, after the last Browser step that could have said so itself."""
    told = [f"Its page was sent to {MISDIRECTED}."] if MISDIRECTED in blocked else []
    if origins := [each for each in blocked if each != MISDIRECTED]:
        meant = next((f" Add `--allow-origin {each}` if it is meant." for each in origins if "://" in each), "")
        told.append(f"Its page tried to go to {', '.join(origins)}, which is not admitted.{meant}")
    return " ".join(told)
