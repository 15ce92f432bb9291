"""The plugin processes of one flow, one for each provider that it names, from start to certain end."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Any, Final, NamedTuple, Self

from host.consent import BROWSER, check_page
from host.executable import Executable, without
from host.flow import Step
from host.inbox import Progress
from host.interruption import Interruption
from host.private import Private
from host.provider import Provider
from protocol.failures import Code, Failed

__all__ = ["Identities", "Session"]


class Identities(NamedTuple):
    """What a session's plugins are given: admitted origins, and each alias's configuration by provider.

    ``hidden`` names the environment variables that no child may get. Its repr shows nothing.
    """

    origins: Sequence[str]
    configurations: Mapping[str, Mapping[str, Any]]
    hidden: frozenset[str]

    def __repr__(self) -> str:
        return "<Identities>"


_SILENT: Final[Callable[[Progress], None]] = lambda _progress: None  # noqa: E731


class Session:
    """Starts and initializes a plugin for each provider of ``identities``; ends all of them, whatever happens.

    What one plugin learns is told to the others. ``codes`` are those of all descriptions, with their exit statuses.
    Raises Failed when a plugin cannot be started or refuses its bindings.
    """

    def __init__(
        self,
        executables: Mapping[str, Executable],
        environment: Mapping[str, str],
        identities: Identities,
        private: Private,
        interruption: Interruption,
        on_progress: Callable[[Progress], None] = _SILENT,
        codes: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.private = private
        self.interruption = interruption
        self.plugins: dict[str, dict[str, Any]] = {}
        self._origins = frozenset(identities.origins)
        self._browser = next(iter(identities.configurations.get(BROWSER, ())), None)
        self._page_gone = False
        self._providers: dict[str, Provider] = {}
        try:
            for name in identities.configurations:
                kept = without(environment, identities.hidden, executables[name])
                provider = Provider(
                    executables[name],
                    kept,
                    private,
                    on_learnt=self._relay,
                    on_progress=on_progress,
                    on_gone=self._lose_page if name == BROWSER else lambda: None,
                    codes=codes,
                )
                self._providers[name] = provider
                interruption.add(provider.interrupt)
            for name, provider in self._providers.items():
                configurations = identities.configurations[name]
                self.plugins[name] = provider.initialize(identities.origins, configurations, self.interrupted)
        except BaseException:
            self.end()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def provider(self, name: str) -> Provider:
        return self._providers[name]

    def interrupted(self) -> bool:
        """Whether the user asked to stop."""
        return self.interruption.level > 0

    def check(self, step: Step, values: Mapping[str, str]) -> Failed | None:
        """Have a step looked at by its plugin, without contacting anything; return what it refuses."""
        try:
            arguments, still_open = step.prepare(values)
            self.provider(step.provider).check(step.alias, step.command, arguments, still_open, self.interrupted)
        except Failed as refused:
            return refused
        return None

    def show_consent(self, url: str, *, deadline: float, stop: Callable[[], bool]) -> None:
        """Show a consent page in the flow's browser; its URL is written nowhere. Raises Failed."""
        check_page(url, self._origins)
        if self._browser is None:
            raise Failed(Code.BROWSER_MISSING, "The flow has no Browser alias that could show a consent page.")
        self._page_gone = False
        self.private.learn("", [url])
        self.provider(BROWSER).show_consent(self._browser, url, deadline=deadline, stop=stop)

    def close_consent(self) -> list[str]:
        """Let the browser go on in public; return the origins that its page was refused meanwhile.

        That it cannot be told is the next Browser step's to find out.
        """
        if self._browser is not None:
            with contextlib.suppress(Failed):
                return self.provider(BROWSER).close_consent(self._browser)
        return []

    @property
    def page_gone(self) -> bool:
        """Whether the consent page that was shown last is gone with its browser."""
        return self._page_gone

    def end(self) -> None:
        """End every plugin, the last started first."""
        for provider in reversed(self._providers.values()):
            provider.end()
            self.interruption.remove(provider.interrupt)

    def _lose_page(self) -> None:
        self._page_gone = True
        for provider in tuple(self._providers.values()):
            provider.wake()

    def _relay(self, learner: Provider, values: list[str]) -> None:
        for provider in tuple(self._providers.values()):
            if provider is not learner:
                provider.learn(values)
