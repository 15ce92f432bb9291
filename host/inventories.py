"""The inventories that a server may list, as people and programs are told of them. The plugin reads them."""

from typing import Final, NamedTuple

__all__ = ["INVENTORIES", "Inventory", "entry_name"]


class Inventory(NamedTuple):
    """``name`` is the inventory's, and that of the command that reads it; ``key`` names an entry among the others."""

    name: str
    one: str
    many: str
    key: str


INVENTORIES: Final = {
    inventory.name: inventory
    for inventory in (
        Inventory("tools", "tool", "tools", "name"),
        Inventory("resources", "resource", "resources", "uri"),
        Inventory("resource_templates", "resource template", "resource templates", "uriTemplate"),
        Inventory("prompts", "prompt", "prompts", "name"),
    )
}


def entry_name(entry: object, inventory: Inventory) -> str | None:
    """Return what names an entry as the server sent it; None when nothing does."""
    name = entry.get(inventory.key) if isinstance(entry, dict) else None
    return name if isinstance(name, str) else None
