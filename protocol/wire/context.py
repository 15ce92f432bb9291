"""What every step shares: the redactor, the admitted origins, and the ways to tell and ask the host meanwhile."""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from protocol.failures import Code, Failed
from protocol.values.redaction import Redactor

__all__ = ["MESSAGE_LIMIT", "Ask", "Context", "no_host"]

#: Sends a request to the host and returns its result; the last argument tells whether to stop. Raises Failed.
Ask: TypeAlias = Callable[[str, dict[str, Any], Callable[[], bool]], Any]

#: Characters of a message. Servers write whole pages into their errors; the facts hold what was cut here.
MESSAGE_LIMIT: Final = 2_000
#: Characters that one character may become: two escapes of a surrogate pair, four layers of JSON strings deep.
_GROWTH: Final = 26


def no_host(_method: str, _params: dict[str, Any], _stop: Callable[[], bool]) -> Any:
    """Refuse whatever a host would be asked for, where there is none."""
    raise Failed(Code.BROWSER_MISSING, "There is no host that could open a consent page.")


class Context:
    """Shared by all aliases of one plugin process.

    ``notify`` sends one notification to the host, from any thread; ``ask`` sends a request and waits for its answer.
    """

    def __init__(self, notify: Callable[[str, dict[str, Any]], None]) -> None:
        self.redactor = Redactor()
        self.origins: frozenset[str] = frozenset()
        self._notify = notify
        self.ask: Ask = no_host

    def learn(self, *values: str) -> None:
        """Treat values as private from now on, and tell the host before any reply can hold them."""
        self.redactor.add(*values)
        self._notify("secrets/learnt", {"values": list(values)})

    def open_consent(self, alias: str, url: str, stop: Callable[[], bool]) -> None:
        """Have the host show a consent page in its browser. Raises Failed with why it does not."""
        self.ask("consent/open", {"alias": alias, "url": url}, stop)

    def tell_consent_gone(self, alias: str) -> None:
        """Tell the host that nobody can consent any more: the page that it had an alias show is gone."""
        self._notify("consent/gone", {"alias": alias})

    def progress(self, identity: str | int, done: int, unit: str) -> None:
        """Tell the host how far the running request is; ``unit`` is pages or items."""
        self._notify("progress", {"id": identity, "done": done, "unit": unit})

    @property
    def longest_form(self) -> int:
        """How many characters a private value may have in any form that is looked for."""
        return _GROWTH * max(map(len, self.redactor.values), default=0)

    def message(self, text: str) -> str:
        """Redact a text for people, then cut it."""
        text = self.redactor.text(text).value
        return text if len(text) <= MESSAGE_LIMIT else text[: MESSAGE_LIMIT - 1] + "…"
