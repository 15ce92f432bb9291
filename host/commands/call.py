"""`assay call`: one tool call, and the reply as it is but for private values."""

from typing import Any

import click

from host.board import Board
from host.commands import options
from host.conversation import Conversation, Server, read_argument, read_server
from host.evidence import pretty
from host.executable import current_environment
from host.interruption import Interruption, listening
from host.outcome import INTERRUPTED_EXIT, UNKNOWN_EXIT, exit_of_code
from host.terminal import Terminal, standard_input
from protocol.wire.steps import StepResult

__all__ = ["call"]


@click.command()
@click.argument("url")
@click.argument("tool")
@click.argument("arguments", required=False, default="{}", metavar="[JSON|@FILE|-]")
@click.option("--json", "as_json", is_flag=True, help="Write one document with kind, code, reply and HTTP facts.")
@options.server
def call(
    url: str,
    tool: str,
    arguments: str,
    as_json: bool,
    quiet: bool,
    plugin: str | None,
    **server: Any,
) -> int:
    """Call a tool once and print its exact reply.

    Arguments are a JSON object: given as it is, in a file (@FILE), or on standard input (-). The call is never
    repeated. Exit status: 0 a result, 1 a tool error or refusal, 3 when nobody knows whether the tool ran.
    """
    terminal = Terminal(quiet=quiet)
    asked = read_server(url, plugin=plugin, **server)
    written = read_argument(arguments, standard_input)
    interruption = Interruption()
    with listening(interruption):
        status = _call(asked, tool, written, as_json, terminal, interruption)
    return INTERRUPTED_EXIT if interruption.level else status


def _call(
    server: Server, tool: str, arguments: str, as_json: bool, terminal: Terminal, interruption: Interruption
) -> int:
    board = Board(quiet=terminal.quiet)
    with board, Conversation(server, current_environment(), interruption, board) as conversation:
        result = conversation.connect()
        called = result.status == "succeeded"
        if called:
            result = conversation.run("call", {"tool": tool, "arguments": arguments})
        reply = result.display if called and isinstance(result.display, dict) else {}
        shown = conversation.shown(
            pretty(_document(result, reply, called=called) if as_json else next(iter(reply.values()), None))
        )
        if as_json or reply:
            terminal.document(shown)
        conversation.tell(terminal, result)
        if called:
            conversation.end_session(terminal)
    return UNKNOWN_EXIT if result.status == "unknown" else exit_of_code(result.code) if result.code else 0


def _document(result: StepResult, reply: dict[str, Any], *, called: bool) -> dict[str, Any]:
    kind = result.state.get("kind") if called and isinstance(result.state, dict) else None
    kept = {name: reply[name] for name in ("result", "error") if name in reply}
    head: dict[str, Any] = {"format": "assay-call/1", "kind": kind, "code": result.code}
    return head | kept | {"facts": result.facts}
