"""`assay inspect`: the whole inventory of a server, and what it said when it was initialized."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import click

from host.board import Board
from host.commands import options
from host.conversation import Conversation, Server, read_server
from host.evidence import pretty
from host.executable import current_environment
from host.interruption import Interruption, listening
from host.listing import LISTINGS
from host.outcome import INTERRUPTED_EXIT, exit_of_code, gravest
from host.tables import table
from host.terminal import Terminal, block, line
from protocol.wire.steps import StepResult

__all__ = ["INVENTORIES", "Seen", "inspect", "look"]

#: The inventories that are read, by the commands that read them.
INVENTORIES: Final = tuple(LISTINGS)


class Seen(NamedTuple):
    """What a look at a server gave: the step that connected, and each inventory's step."""

    connection: StepResult
    inventories: dict[str, StepResult]

    @property
    def initialization(self) -> dict[str, Any]:
        """The redacted result of `initialize`; empty when there was none."""
        display = self.connection.display
        found = display.get("result") if isinstance(display, dict) else None
        return found if isinstance(found, dict) else {}

    @property
    def exit(self) -> int:
        steps = [self.connection, *self.inventories.values()]
        return gravest(exit_of_code(step.code) for step in steps if step.code)

    def entries(self, inventory: str) -> list[Any]:
        """The redacted entries of an inventory, with MCP's own member names."""
        display = self.inventories[inventory].display
        found = display.get("entries") if isinstance(display, dict) else None
        return found if isinstance(found, list) else []


@click.command()
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="Write one document, with the entries as the server sent them.")
@options.server
def inspect(url: str, as_json: bool, quiet: bool, plugin: str | None, **server: Any) -> int:
    """Connect to a server and show who it is and what it offers.

    Nothing is called. Private values are taken out of everything that is shown.
    """
    terminal = Terminal(quiet=quiet)
    asked = read_server(url, plugin=plugin, **server)
    interruption = Interruption()
    with listening(interruption):
        status = _inspect(asked, as_json, terminal, interruption)
    return INTERRUPTED_EXIT if interruption.level else status


def look(conversation: Conversation, terminal: Terminal, wanted: Sequence[str] = INVENTORIES) -> Seen:
    """Connect, read the inventories that the plugin can read, and end the session.

    What makes the connection unusable ends the reading: the inventories after it are left out.
    """
    connection = conversation.connect()
    inventories: dict[str, StepResult] = {}
    if connection.status == "succeeded":
        for name in wanted:
            if name in conversation.commands:
                inventories[name] = conversation.run(name, {})
                if inventories[name].facts.get("connection") != "open":
                    break
        conversation.end_session(terminal)
    return Seen(connection, inventories)


def _inspect(server: Server, as_json: bool, terminal: Terminal, interruption: Interruption) -> int:
    board = Board(quiet=terminal.quiet)
    with board, Conversation(server, current_environment(), interruption, board) as conversation:
        seen = look(conversation, terminal)
        document = conversation.shown(pretty(_document(seen)))
        if as_json:
            terminal.document(document)
        else:
            _show(terminal, seen)
        for step in (seen.connection, *seen.inventories.values()):
            conversation.tell(terminal, step)
    return seen.exit


def _document(seen: Seen) -> dict[str, Any]:
    first = seen.initialization
    optional = {"instructions": first["instructions"]} if "instructions" in first else {}
    return {
        "format": "assay-inspect/1",
        "protocol": first.get("protocolVersion"),
        "server": first.get("serverInfo"),
        "capabilities": first.get("capabilities"),
        **optional,
        "inventories": {name: _inventory(seen, name) for name in seen.inventories},
    }


def _inventory(seen: Seen, name: str) -> dict[str, Any]:
    step = seen.inventories[name]
    state = step.state if isinstance(step.state, dict) else {}
    return {
        "declared": state.get("declared", False) is True,
        "complete": state.get("complete", False) is True,
        "code": step.code,
        "entries": seen.entries(name),
    }


def _show(terminal: Terminal, seen: Seen) -> None:
    first = seen.initialization
    if first:
        server = first.get("serverInfo")
        named = server if isinstance(server, dict) else {}
        words = [named.get("title") or named.get("name"), named.get("version")]
        heading = line(" ".join(str(word) for word in words if isinstance(word, str)) or "unnamed server")
        terminal.result(f"{terminal.paint(heading, 'heading')}  (protocol {line(str(first.get('protocolVersion')))})")
        terminal.result(f"capabilities: {line(_capabilities(first.get('capabilities')))}")
        if isinstance(first.get("instructions"), str):
            terminal.result(f"instructions: {block(first['instructions'])}")
    for name in seen.inventories:
        entries = seen.entries(name)
        terminal.result("")
        terminal.result(terminal.paint(f"{name.replace('_', ' ')} ({len(entries)})", "heading"))
        table(terminal, LISTINGS[name].headings, LISTINGS[name].rows(entries))


def _capabilities(value: Any) -> str:
    if not isinstance(value, dict) or not value:
        return "none"
    return ", ".join(f"{name} ({', '.join(told)})" if (told := _true(each)) else name for name, each in value.items())


def _true(value: Any) -> list[str]:
    return [name for name, member in value.items() if member is True] if isinstance(value, dict) else []
