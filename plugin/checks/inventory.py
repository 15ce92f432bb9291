"""Compares a complete inventory with its `expect`."""

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from plugin.checks.expectation import Expect

__all__ = ["NAMES_SHOWN", "InventoryFailure", "Listing", "compare_inventory"]

#: Names that one failure lists; a wrong `only` on 5,000 tools would fill the terminal.
NAMES_SHOWN: Final = 20


class Listing(NamedTuple):
    """An inventory as expectations see it: the keys as the server sent them, and the redacted records beside them."""

    keys: list[str]
    records: list[dict[str, Any]]


class InventoryFailure(NamedTuple):
    """One failed key: a fixed reason, and the unredacted names that it is about (at most 20; ``more`` counts on)."""

    expectation: str
    reason: str
    names: list[str]
    more: int

    @property
    def message(self) -> str:
        """The failure for people."""
        listed = ", ".join(f'"{name}"' for name in self.names)
        rest = f" and {self.more} more" if self.more else ""
        return f"{self.expectation} ({self.reason}{': ' if listed else ''}{listed}{rest})"


def compare_inventory(expect: Expect, listing: Listing) -> list[InventoryFailure]:
    """Evaluate every key of ``expect`` on an inventory that was read to its end."""
    return [failure for key, operand in expect.items() for failure in _EVALUATORS[key](operand, listing)]


def _failure(key: str, reason: str, names: Iterable[str]) -> list[InventoryFailure]:
    found = list(names)
    return [InventoryFailure(key, reason, found[:NAMES_SHOWN], max(0, len(found) - NAMES_SHOWN))] if found else []


def _present(operand: tuple[str, ...], listing: Listing) -> list[InventoryFailure]:
    listed = set(listing.keys)
    return _failure("present", "not-listed", (name for name in operand if name not in listed))


def _absent(operand: tuple[str, ...], listing: Listing) -> list[InventoryFailure]:
    listed = set(listing.keys)
    return _failure("absent", "listed", (name for name in operand if name in listed))


def _only(operand: tuple[str, ...], listing: Listing) -> list[InventoryFailure]:
    listed, wanted = set(listing.keys), set(operand)
    missing = _failure("only", "not-listed", (name for name in operand if name not in listed))
    return missing + _failure("only", "listed-too", (name for name in listing.keys if name not in wanted))


def _count(operand: int, listing: Listing) -> list[InventoryFailure]:
    count = len(listing.keys)
    return [] if count == operand else [InventoryFailure("count", f"count-is-{count}", [], 0)]


def _no_true_annotations(operand: tuple[str, ...], listing: Listing) -> list[InventoryFailure]:
    found: list[InventoryFailure] = []
    listed = list(zip(listing.keys, listing.records, strict=True))
    for hint in operand:
        names = (key for key, record in listed if record["annotations"][hint] is True)
        found += _failure("noTrueAnnotations", f"{hint}-is-true", names)
    return found


_EVALUATORS: Final[dict[str, Callable[[Any, Listing], list[InventoryFailure]]]] = {
    "present": _present,
    "absent": _absent,
    "only": _only,
    "count": _count,
    "noTrueAnnotations": _no_true_annotations,
}
