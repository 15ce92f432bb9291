"""Reading one inventory page by page: a generator that yields params, is sent outcomes, and returns what it read."""

from collections.abc import Generator
from typing import Any, NamedTuple

from protocol.failures import Code
from protocol.mcp.inventories import Kind
from protocol.mcp.messages import METHOD_NOT_FOUND
from protocol.mcp.replies import Outcome
from protocol.values.document import integer

__all__ = ["Inventory", "Limits", "Page", "read_inventory"]


class Limits(NamedTuple):
    """How much one inventory may hold: pages, entries, and raw bytes of all pages together (the seed's defaults)."""

    pages: int = 50
    items: int = 5000
    bytes: int = 8 * 1024 * 1024


class Page(NamedTuple):
    """One page as it came: its JSON text, and its entries, which stand in ``Inventory.entries`` as well."""

    raw: bytes
    entries: list[Any]


class Inventory(NamedTuple):
    """What was read. Nothing in it is redacted.

    ``code`` is None when ``complete``. ``refusal`` is the JSON-RPC error object that ended the reading, if one did.
    ``closes``: no further request may use the connection. ``outcome`` is that of the last request.
    """

    kind: Kind
    declared: bool
    complete: bool
    code: Code | None
    message: str
    entries: list[Any]
    pages: list[Page]
    refusal: dict[str, Any] | None
    closes: bool
    outcome: Outcome


def read_inventory(kind: Kind, limits: Limits, *, declared: bool) -> Generator[dict[str, Any], Outcome, Inventory]:
    """Yield the params of each list request, take its outcome by ``send``, and return the inventory.

    The first page is asked for without a cursor; an empty ``nextCursor`` is a cursor like any other. Entries keep their
    order, are never dropped and never merged. No inventory asks for a page past ``limits.pages``.
    """
    reading = _Reading(kind, declared, limits)
    while reading.result is None:
        reading.take((yield reading.params))
    return reading.result


class _Reading:
    """One reading under way; ``result`` is set once it is over."""

    def __init__(self, kind: Kind, declared: bool, limits: Limits) -> None:
        self.params: dict[str, Any] = {}
        self.result: Inventory | None = None
        self._kind = kind
        self._declared = declared
        self._limits = limits
        self._pages: list[Page] = []
        self._entries: list[Any] = []
        self._keys: set[str] = set()
        self._cursors: set[str] = set()
        self._size = 0

    def take(self, outcome: Outcome) -> None:
        """Take the outcome of the request for ``params``."""
        if outcome.kind == "rpc-error":
            self._refused(outcome)
        elif outcome.kind == "unavailable":
            self._invalid(outcome, f"Page {len(self._pages) + 1} cannot be used: {outcome.value}.")
        elif outcome.kind != "result":
            self._end(outcome, outcome.code, outcome.message)
        elif reason := self._page(outcome):
            self._invalid(outcome, reason)
        else:
            self._go_on(outcome, outcome.value)

    def _refused(self, outcome: Outcome) -> None:
        error = outcome.value
        if not self._declared and not self._pages and integer(error["code"]) == METHOD_NOT_FOUND:
            self._end(outcome, None, "")
            return
        text = f"The server refused page {len(self._pages) + 1} of {self._kind.name}. {outcome.message}"
        self._end(outcome, Code.INVENTORY_INCOMPLETE, text, refusal=error)

    def _page(self, outcome: Outcome) -> str | None:
        """Add a page. Returns what is wrong with it, if anything."""
        result, number = outcome.value, len(self._pages) + 1
        entries = result.get(self._kind.member)
        if not isinstance(entries, list):
            return f"Page {number} has no array `{self._kind.member}`."
        if not isinstance(result.get("nextCursor", ""), str):
            return f"`nextCursor` of page {number} is not a string."
        start = len(self._entries)
        self._pages.append(Page(outcome.raw, entries))
        self._entries.extend(entries)
        self._size += len(outcome.raw)
        for index, entry in enumerate(entries, start):
            if reason := self._kind.fault(entry):
                return f"Entry {index} of {self._kind.name} (page {number}) is malformed: {reason}."
            key = entry[self._kind.key]
            if key in self._keys:
                return f"Entry {index} of {self._kind.name} (page {number}) repeats a {self._kind.key}: {key}."
            self._keys.add(key)
        return None

    def _go_on(self, outcome: Outcome, result: dict[str, Any]) -> None:
        cursor = result.get("nextCursor")
        if (limit := self._passed(cursor)) is not None:
            self._end(outcome, Code.INVENTORY_INCOMPLETE, limit)
        elif cursor is None:
            self._end(outcome, None, "")
        elif cursor in self._cursors:
            text = f"The server repeats a `nextCursor` of {self._kind.name} after page {len(self._pages)}."
            self._end(outcome, Code.INVENTORY_INCOMPLETE, f"{text} Reading on would never end.", closes=True)
        else:
            self._cursors.add(cursor)
            self.params = {"cursor": cursor}

    def _passed(self, cursor: str | None) -> str | None:
        """Name the limit that the inventory has passed, if any."""
        passed = (
            ("maxItems", self._limits.items, len(self._entries) > self._limits.items),
            ("maxResponseBytes", self._limits.bytes, self._size > self._limits.bytes),
            ("maxPages", self._limits.pages, cursor is not None and len(self._pages) >= self._limits.pages),
        )
        name, limit = next(((name, limit) for name, limit, holds in passed if holds), (None, 0))
        return name and f"The inventory of {self._kind.name} passes `{name}` ({limit})."

    def _invalid(self, outcome: Outcome, reason: str) -> None:
        self._end(outcome, Code.INVENTORY_INVALID, reason, closes=True)

    def _end(
        self,
        outcome: Outcome,
        code: Code | None,
        message: str,
        *,
        refusal: dict[str, Any] | None = None,
        closes: bool = False,
    ) -> None:
        self.result = Inventory(
            kind=self._kind,
            declared=self._declared,
            complete=code is None,
            code=code,
            message=message,
            entries=self._entries,
            pages=self._pages,
            refusal=refusal,
            closes=closes or outcome.closes,
            outcome=outcome,
        )
