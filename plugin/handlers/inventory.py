"""Carries out the inventory commands: reads one inventory to its end and compares it with `expect`."""

from typing import Any, Final

from plugin.checks.inventory import InventoryFailure, Listing, compare_inventory
from plugin.opening import require_connection
from plugin.step import Step, Verdict
from protocol.failures import Code
from protocol.mcp.inventories import KINDS, Kind, record
from protocol.mcp.paging import Inventory, Limits
from protocol.values.document import canonical, encode
from protocol.values.redaction import Redactor
from protocol.wire.steps import ARTIFACT_LIMIT, Artifact, StepResult

__all__ = ["CATALOG", "prompts", "resource_templates", "resources", "tools"]

#: Name of the artifact that holds redacted entries where the binding says `keepText`.
CATALOG: Final = "catalog.json"
#: Bytes of a state that its entries may take: the limit, but for what stands around them.
STATE_ROOM: Final = ARTIFACT_LIMIT - 1024
#: Locations of schemas that cannot take the state of 5,000 tools to its limit, at some 80 bytes each.
_FEW_LOCATIONS: Final = 40_000


def tools(step: Step) -> StepResult:
    """List every tool."""
    return _list(step, KINDS["tools"])


def resources(step: Step) -> StepResult:
    """List every resource."""
    return _list(step, KINDS["resources"])


def resource_templates(step: Step) -> StepResult:
    """List every resource template."""
    return _list(step, KINDS["resource_templates"])


def prompts(step: Step) -> StepResult:
    """List every prompt."""
    return _list(step, KINDS["prompts"])


def _list(step: Step, kind: Kind) -> StepResult:
    connection = require_connection(step)
    binding = step.alias.binding
    limits = Limits(binding.max_pages, binding.max_items, binding.max_response_bytes)
    inventory = connection.read(kind, limits, step.progress)
    step.facts |= {"pages": len(inventory.pages), "http": step.http(inventory.outcome)}
    if inventory.refusal is not None:
        step.facts["refusal"] = step.refusal(inventory.refusal)
    return _complete(step, inventory) if inventory.complete else _incomplete(step, inventory)


def _incomplete(step: Step, inventory: Inventory) -> StepResult:
    """What was read so far satisfies nothing and is kept as a count only; a terminal may still see it."""
    state = {
        "inventory": inventory.kind.name,
        "declared": inventory.declared,
        "complete": False,
        "count": len(inventory.entries),
    }
    display = {"entries": inventory.entries}
    return step.result(Verdict("failed", inventory.code, inventory.message), state, display=display)


def _complete(step: Step, inventory: Inventory) -> StepResult:
    kind = inventory.kind
    entries = _redacted(inventory, step.context.redactor)
    records = _without_shapes([record(kind, entry, changed) for entry, changed in entries])
    listing = Listing([entry[kind.key] for entry in inventory.entries], records)
    failures = compare_inventory(step.expect, listing) if step.expect is not None else []
    if failures:
        step.facts["failedExpectations"] = [failure._asdict() for failure in failures]
    order = _order([record[kind.key] for record in records], records)
    state = {
        "inventory": kind.name,
        "declared": inventory.declared,
        "complete": True,
        "count": len(records),
        "entries": [records[index] for index in order],
    }
    artifacts = []
    if step.alias.binding.keep_text:
        kept = {"inventory": kind.name, "entries": [entries[index][0] for index in order]}
        artifacts.append(Artifact(CATALOG, kept))
    display = {"entries": [entry for entry, _ in entries]}
    return step.result(_verdict(inventory, failures), state, artifacts=artifacts, display=display)


def _order(names: list[str], records: list[dict[str, Any]]) -> list[int]:
    """Return the places of the records sorted by name; those whose names redact alike go by what else they hold."""
    if len(set(names)) == len(names):
        return sorted(range(len(names)), key=names.__getitem__)
    return sorted(range(len(names)), key=lambda place: (names[place], canonical(records[place])))


def _without_shapes(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave the shapes out where they would take the state past its limit: hashes still tell that a tool changed."""
    shapes = [record["shape"] for record in records if record.get("shape")]
    if sum(map(len, shapes)) < _FEW_LOCATIONS or len(encode(records)) <= STATE_ROOM:
        return records
    return [{**record, "shape": None} for record in records]


def _verdict(inventory: Inventory, failures: list[InventoryFailure]) -> Verdict:
    if failures:
        noun = "expectation" if len(failures) == 1 else "expectations"
        text = f"{len(failures)} {noun} failed: {'; '.join(failure.message for failure in failures)}."
        return Verdict("failed", Code.EXPECTATION_FAILED, text)
    count = len(inventory.entries)
    noun = inventory.kind.name.removesuffix("s") if count == 1 else inventory.kind.name
    undeclared = "" if inventory.declared else " The server does not declare them."
    return Verdict("succeeded", None, f"{count} {noun} listed.{undeclared}".replace("_", " "))


def _redacted(inventory: Inventory, redactor: Redactor) -> list[tuple[Any, bool]]:
    """Redact every entry and tell which of them changed; whole pages that hold nothing private are not walked."""
    entries: list[tuple[Any, bool]] = []
    for page in inventory.pages:
        if redactor.clear(page.raw) or not redactor.redact(page.entries).changed:
            entries += [(entry, False) for entry in page.entries]
        else:
            entries += [tuple(redactor.redact(entry)) for entry in page.entries]
    return entries
