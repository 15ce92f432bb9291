"""The service of Browser: one browser for each alias, from its first `open` to the plugin's end."""

import contextlib
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from host.providers.browser.admission import Admission, place
from host.providers.browser.binding import Binding, read_binding
from host.providers.browser.commands import ABOUT, COMMANDS, FIELD_NAME, SCREENSHOT_NAME, TEXT_LIMIT
from host.providers.browser.loop import EventLoop
from host.providers.browser.workplace import restrict_environment
from host.providers.outcome import Asked, Outcome
from host.providers.service import ProviderService
from protocol.failures import Code, Failed
from protocol.wire.service import Notify

if TYPE_CHECKING:  # imports Playwright, which the first answer must not wait for
    from host.providers.browser.work import Work

__all__ = ["BrowserService"]

#: Arguments that hold a word of a fixed form.
_FORMS: Final = {
    "optional": (re.compile("true|false"), "is `true` or `false`"),
    "name": (re.compile(SCREENSHOT_NAME), "has 1 to 59 of a-z, 0-9, `_` and `-`, a letter or digit first"),
    "field": (re.compile(FIELD_NAME), "is a letter and then letters, digits, `_` and `-`"),
}


class BrowserService(ProviderService):
    """Drives Chromium. What is written here runs on the thread of the wire; `work` runs on the browser's."""

    def __init__(self, notify: Notify) -> None:
        super().__init__(notify, ABOUT, COMMANDS)
        self._bindings: dict[str, Binding] = {}
        self._environment = restrict_environment()
        self._loop = EventLoop()
        self._work: Work | None = None
        self.requests |= {"consent/show": self._show, "consent/close": self._close}

    def bind(self, alias: str, configuration: Any) -> Callable[[], None]:
        """Read one binding."""
        binding = read_binding(alias, configuration)

        def take() -> None:
            self._bindings[alias] = binding
            self.context.redactor.add(*(binding.private or {}).values())

        return take

    def read(self, alias: str, values: Mapping[str, Any]) -> None:
        """Hold arguments to their limits, and what they name to the admission and to the binding."""
        for name, value in values.items():
            least = 0 if name == "value" else 1
            if not least <= len(value) <= TEXT_LIMIT:
                raise _invalid(name, f"has {least} to {TEXT_LIMIT} characters")
            form = _FORMS.get(name)
            if form is not None and not form[0].fullmatch(value):
                raise _invalid(name, form[1])
        if "url" in values and not Admission(self.context.origins).admits(values["url"]):
            told = f"`url` leads to {place(values['url'])}, which is not admitted."
            raise Failed(Code.ORIGIN_NOT_ADMITTED, told, where="url")
        private = self._bindings[alias].private
        if "field" in values and private is not None and values["field"] not in private:
            raise _invalid("field", "names no value of the binding's `private`")

    def perform(self, asked: Asked) -> Outcome:
        """Carry out a command in the alias's browser."""
        work = self._worker()
        return self._loop.run(lambda: work.perform(asked, self._bindings[asked.alias]), asked.cancelled)

    def interrupt(self, _params: dict[str, Any]) -> None:
        """End the command under way, and with it the browser that it is in."""
        self._loop.cancel()

    def warm(self) -> None:
        """Import Playwright while the host thinks about its first step."""
        with contextlib.suppress(ImportError):  # the step that needs it reports it
            import host.providers.browser.work  # noqa: F401

    def end(self) -> None:
        """End browsers and driver, and remove what they wrote."""
        if self._work is not None:
            work = self._work
            self._loop.run(lambda: work.end(), lambda: False)
            work.remove()

    def _show(self, params: dict[str, Any]) -> dict[str, Any]:
        """Open a consent page. From here on nothing of the alias's page is recorded, until `consent/close`."""
        alias, url = params["alias"], params["url"]
        self.require_alias(alias)
        self.context.redactor.add(url)
        if not Admission(self.context.origins).admits(url):
            raise Failed(Code.ORIGIN_NOT_ADMITTED, f"The consent page is at {place(url)}, which is not admitted.")
        work = self._worker()
        self._raise(self._loop.run(lambda: work.show(alias, url, self._bindings[alias]), lambda: False))
        return {}

    def _close(self, params: dict[str, Any]) -> dict[str, Any]:
        """End the time in which nothing is recorded: the page becomes a blank one. Tells what it was refused."""
        alias = params["alias"]
        self.require_alias(alias)
        if self._work is None:
            return {"blocked": []}
        work = self._work
        outcome = self._loop.run(lambda: work.close_consent(alias), lambda: False)
        self._raise(outcome)
        return dict(outcome.facts)

    def _raise(self, outcome: Outcome) -> None:
        if outcome.code is not None:
            raise Failed(outcome.code, outcome.message)

    def _worker(self) -> "Work":
        if self._work is None:
            try:
                from host.providers.browser.work import Work
            except ImportError:
                told = "Playwright is not installed beside the host. Install Assay whole."
                raise Failed(Code.BROWSER_MISSING, told) from None
            self._work = Work(self.context, self._environment)
        return self._work


def _invalid(name: str, rule: str) -> Failed:
    return Failed(Code.INVALID_ARGUMENTS, f"`{name}` {rule}.", where=name)
