"""Checks of what a server lists: whether each inventory can be read to its end, and what is wrong with its entries."""

from collections.abc import Sequence
from typing import Any, Final

from host.doctor.check import Check, listed, ok, plural, problem, skipped, warning
from host.doctor.entries import REASONS, Finder, Finding, finders
from host.inventories import INVENTORIES, Inventory
from protocol.values.document import integer
from protocol.wire.steps import StepResult

__all__ = ["catalogue"]

#: Entries that one check names in its facts; a catalogue that is wrong throughout needs no longer list.
FACTS_LIMIT: Final = 100


def catalogue(name: str, result: StepResult) -> list[Check]:
    """Return the checks of one inventory, as far as it could be read: first of the whole, then of its entries."""
    inventory = INVENTORIES[name]
    display = result.display if isinstance(result.display, dict) else {}
    found = display.get("entries")
    entries: Sequence[Any] = found if isinstance(found, list) else []
    checks = [_whole(inventory, result, len(entries))]
    if entries:
        checks += [
            _conclude(inventory, finder, finder.find(entries, inventory), len(entries)) for finder in finders(name)
        ]
    return checks


def _whole(inventory: Inventory, result: StepResult, count: int) -> Check:
    state = result.state if isinstance(result.state, dict) else {}
    facts = {"count": count, "declared": state.get("declared"), "pages": integer(result.facts.get("pages"))}
    if result.status != "succeeded":
        return _broken(inventory, result, facts)
    told = f"{plural(count, inventory.one, inventory.many)} in {plural(facts['pages'] or 1, 'page', 'pages')}."
    if state.get("declared") is not True:
        if count == 0:
            return skipped(inventory.name, f"It declares and lists no {inventory.many}.", facts)
        help_ = f"Declare the capability when the session is initialized: clients do not ask for {inventory.many} else."
        return warning(inventory.name, f"{told} It lists them without declaring them.", help_, facts)
    return ok(inventory.name, told if count else f"It lists no {inventory.many}.", facts=facts)


def _broken(inventory: Inventory, result: StepResult, facts: dict[str, Any]) -> Check:
    facts = {**facts, "code": result.code}
    if "refusal" in result.facts:
        facts["refusal"] = result.facts["refusal"]
    help_ = _HELP.get(str(result.code), "Look at the server's log.")
    if result.code == "inventory_incomplete" and "refusal" not in facts:
        # A cursor that repeats closes the connection; a limit leaves it open.
        help_ = _LOOP if result.facts.get("connection") == "closed" else _LIMIT
    return problem(inventory.name, result.message, help_, facts)


_LOOP: Final = "Each `nextCursor` leads on to another page, and the last page has none."
_LIMIT: Final = "No client and no model makes use of a list that long: list less, or fewer entries in a page."
_HELP: Final = {
    "inventory_invalid": "Mend what the message names; clients may drop the whole list for it.",
    "inventory_incomplete": "A capability that is declared has to be answered.",
    "timeout": "A list should come at once; `--timeout SECONDS` waits longer.",
    "response_too_large": "Split the list into pages.",
}


def _conclude(inventory: Inventory, finder: Finder, findings: Sequence[Finding], total: int) -> Check:
    """Sum up what a finder found: the gravest reason decides, and each is said with the names that it holds of."""
    identity = f"{inventory.name}.{finder.name}"
    if not findings:
        return ok(identity, finder.fine)
    by_reason: dict[str, list[Finding]] = {}
    for finding in findings:
        by_reason.setdefault(finding.reason, []).append(finding)
    parts = [
        f"{len(each)} of {plural(total, inventory.one, inventory.many)} {REASONS[reason].words}: {_names(each)}"
        for reason, each in by_reason.items()
    ]
    advice = " ".join(dict.fromkeys(REASONS[reason].help for reason in by_reason))
    kept = [{"index": each.at, "name": each.name, "reason": each.reason} for each in findings[:FACTS_LIMIT]]
    facts = {"entries": kept, "more": len(findings) - len(kept)}
    make = problem if any(REASONS[reason].status == "problem" for reason in by_reason) else warning
    return make(identity, "; ".join(parts) + ".", advice, facts)


def _names(findings: Sequence[Finding]) -> str:
    return listed([f"#{each.at}" if each.name is None else each.name for each in findings])
