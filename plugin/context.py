"""What every step shares: the redactor, the admitted origins, and the ways to tell the host something meanwhile."""

from collections.abc import Callable
from typing import Any, Final

from protocol.values.redaction import Redactor

__all__ = ["MESSAGE_LIMIT", "Context"]

#: Characters of a message. Servers write whole pages into their errors; the facts hold what was cut here.
MESSAGE_LIMIT: Final = 2_000


class Context:
    """Shared by all aliases of one plugin process. ``notify`` sends one notification to the host, from any thread."""

    def __init__(self, notify: Callable[[str, dict[str, Any]], None]) -> None:
        self.redactor = Redactor()
        self.origins: frozenset[str] = frozenset()
        self._notify = notify

    def learn(self, *values: str) -> None:
        """Treat values as private from now on, and tell the host before any reply can hold them."""
        self.redactor.add(*values)
        self._notify("secrets/learnt", {"values": list(values)})

    def progress(self, identity: str | int, done: int, unit: str) -> None:
        """Tell the host how far the running request is; ``unit`` is pages, items or bytes."""
        self._notify("progress", {"id": identity, "done": done, "unit": unit})

    def message(self, text: str) -> str:
        """Redact a text for people, then cut it."""
        text = self.redactor.text(text).value
        return text if len(text) <= MESSAGE_LIMIT else text[: MESSAGE_LIMIT - 1] + "…"
