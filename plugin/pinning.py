"""Holds the calls of an alias to its contract: the one tool, as it was pinned. Imported only where there is one."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from contract.core.call import check_arguments
from contract.core.catalog import Tool
from contract.core.document import REGISTRY
from contract.core.qualification import Diagnostic, diagnose
from contract.core.refusal import SENTENCES, Refusal, Refused
from contract.core.registry import read_registry
from contract.core.route import Route
from contract.core.validation import violations
from contract.files import read_file
from plugin.alias import Alias
from plugin.opening import require_connection
from plugin.step import Step
from protocol.failures import Code, Failed
from protocol.mcp.inventories import KINDS
from protocol.mcp.paging import Inventory, Limits

__all__ = ["pinned_route", "require_pin"]

#: Places in the arguments that a refusal names; more would bury the first.
_PLACES_TOLD: Final = 3
_TOLD: Final = {
    Diagnostic.MISSING: "the server does not list it",
    Diagnostic.DUPLICATE: "the server lists more than one of that name",
    Diagnostic.DRIFT: "its `inputSchema` is another one",
}
#: What an inventory that is invalid still proves: no page after it can make one tool of two, or the schema the pinned.
_PROVED: Final = (Diagnostic.DUPLICATE, Diagnostic.DRIFT)


def pinned_route(alias: Alias) -> Route:
    """Return the route of an alias that has a contract. The file is read once, the first time.

    Raises Failed (`invalid_binding`) with the rule that file or route break, and quotes neither; the alias then counts
    as refused.
    """
    contract = alias.binding.contract
    assert contract is not None
    if alias.route is None:
        try:
            alias.route = read_registry(read_file(REGISTRY, contract.registry)).route(contract.route)
        except Refused as refused:
            alias.failed = True
            text = f"`contract` of the binding `{alias.name}` cannot be used. {SENTENCES[refused.refusal]}"
            raise Failed(Code.INVALID_BINDING, text, where=f"{alias.name}.contract") from None
    return alias.route


def require_pin(step: Step, tool: str, arguments: dict[str, Any]) -> None:
    """Let a call pass when its tool is the route's, its arguments are admitted, and the live schema equals the pin.

    The tools are listed anew for each call: a server need not say that its list changed. facts.contract tells what was
    found. Raises Failed: `invalid_arguments` before anything is sent, `schema_drift` before the call is, and what kept
    the tools from being listed.
    """
    alias = step.alias
    route = pinned_route(alias)
    told: dict[str, Any] = {"route": route.alias, "diagnostic": None}
    step.facts["contract"] = told
    if tool != route.tool:
        text = (
            f"Nothing was sent: the contract of the alias `{alias.name}` admits the tool `{route.tool}` and no other."
        )
        raise Failed(Code.INVALID_ARGUMENTS, f"{text} Call others by an alias without a contract.", where="tool")
    refusal = check_arguments(route, arguments)
    if refusal is not None:
        text = f"Nothing was sent. {SENTENCES[refusal]}{_places(route, refusal, arguments)}"
        raise Failed(Code.INVALID_ARGUMENTS, text, where="arguments")
    inventory = _listed(step)
    diagnostic = diagnose(route, _tools(inventory))
    if not inventory.complete and (inventory.code is not Code.INVENTORY_INVALID or diagnostic not in _PROVED):
        text = f"The tool was not called: what it is now could not be read. {inventory.message}"
        raise Failed(inventory.code or Code.INTERNAL, text)
    told["diagnostic"] = str(diagnostic)
    if diagnostic is not Diagnostic.MATCHES:
        text = f"The tool `{tool}` is not the one that the contract pins: {_TOLD[diagnostic]}. It was not called."
        raise Failed(Code.SCHEMA_DRIFT, text)


def _places(route: Route, refusal: Refusal, arguments: dict[str, Any]) -> str:
    """Say where arguments break a schema: pointers and keywords, and no value."""
    schema = route.upstream if refusal is Refusal.ARGUMENTS_NOT_UPSTREAM else route.admitted
    found = [
        f"{each.keyword} at `{each.pointer}`" if each.pointer else each.keyword for each in _some(schema, arguments)
    ]
    return f" Look at: {', '.join(found)}." if found else ""


def _some(schema: Any, arguments: dict[str, Any]) -> Iterator[Any]:
    return islice(violations(schema, arguments), _PLACES_TOLD)


def _listed(step: Step) -> Inventory:
    binding = step.alias.binding
    limits = Limits(binding.max_pages, binding.max_items, binding.max_response_bytes)
    inventory = require_connection(step).read(KINDS["tools"], limits, step.progress)
    step.facts["http"] = step.http(inventory.outcome)
    if inventory.refusal is not None:
        step.facts["refusal"] = step.refusal(inventory.refusal)
    return inventory


def _tools(inventory: Inventory) -> Iterator[Tool]:
    """Give the tools as the server sent them, nothing redacted; of an invalid inventory, what can be named."""
    for entry in inventory.entries:
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            yield Tool(entry["name"], entry.get("inputSchema"))
