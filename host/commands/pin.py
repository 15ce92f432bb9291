"""`assay contract pin`: reads what a tool advertises, and writes a route that pins it and admits all that can be."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Final, NamedTuple, TypeVar

import click

from contract.core.document import REGISTRY
from contract.core.refusal import SENTENCES, Refusal, Refused
from contract.core.registry import read_registry
from contract.core.route import LIMITS, Route
from contract.core.widest import CHANGES, Bound, widest
from contract.files import find_file, read_file
from host.board import Board
from host.commands import options
from host.commands.inspect import look
from host.conversation import Conversation, Server, read_server
from host.documents import STANDARD_OUTPUT, alone, check_place, write_private
from host.evidence import pretty
from host.executable import current_environment
from host.interruption import Interruption, listening
from host.outcome import INTERRUPTED_EXIT, REFUSED_EXIT
from host.pinning import EMPTY, Order, add, listed_schema, order, renew, route_of
from host.terminal import Terminal, line

__all__ = ["pin"]

_Command = TypeVar("_Command", bound=Callable[..., Any])


class _Asked(NamedTuple):
    """What is pinned and where to. ``wanted`` is None where the pin of a route is renewed; ``file`` None: no file."""

    tool: str
    alias: str
    wanted: Order | None
    file: str | None
    as_json: bool


class _Made(NamedTuple):
    """A registry, its route, and what a person has to look at. ``written`` tells whether the file changes."""

    content: bytes
    route: Route
    bounds: tuple[Bound, ...]
    written: bool


def _limit(name: str) -> Callable[[_Command], _Command]:
    option = "--" + name.replace("_", "-")
    told = f"`{name}` of the route. Default: the largest, {LIMITS[name]}."
    return click.option(option, name, metavar="N", type=click.IntRange(1, LIMITS[name]), help=told)


@click.command()
@click.argument("url")
@click.argument("tool")
@click.option("--registry", "file", metavar="FILE", help="Add the route to this registry, which may be a new file.")
@click.option("--alias", metavar="NAME", help="Alias of the route. Default: the tool's name.")
@click.option("--renew", "renewed", is_flag=True, help="Renew the pin of that route; all else of it stays as it is.")
@click.option(
    "--endpoint",
    metavar="URL",
    help="The public https endpoint that the route names, where URL leads to the same server in another way."
    " Default: URL.",
)
@click.option("--server-id", metavar="ID", help="`server_id` of the route. Default: the host of its endpoint.")
@click.option("--credential", metavar="ID", help="`credential_binding` of the route. Default: its `server_id`.")
@_limit("max_request_bytes")
@_limit("max_response_bytes")
@_limit("timeout_ms")
@click.option("--json", "as_json", is_flag=True, help="Write one document, with the route and what is to be bounded.")
@options.server
def pin(url: str, tool: str, as_json: bool, quiet: bool, plugin: str | None, **given: Any) -> int:
    """Pin one tool: write a route with the schema that it advertises now.

    The route admits as much as an admitted schema can. What of that a person has to bound is listed. Nothing is called.
    Without --registry, a registry of the route alone is written to standard output.
    """
    terminal = Terminal(quiet=quiet)
    about = {
        name: given.pop(name) for name in ("alias", "file", "renewed", "endpoint", "server_id", "credential", *LIMITS)
    }
    server = read_server(url, plugin=plugin, **given)
    server = server._replace(configuration={**server.configuration, "keepText": True})
    try:
        asked = _asked(url, tool, as_json, **about)
        interruption = Interruption()
        with listening(interruption):
            status = _pin(server, asked, terminal, interruption)
    except Refused as refused:
        terminal.problem(f"error: {_sentence(refused.refusal)} [{refused.refusal}]")
        return REFUSED_EXIT
    return INTERRUPTED_EXIT if interruption.level else status


def _sentence(refusal: Refusal) -> str:
    foreign = refusal.startswith("upstream_")
    return (
        f"The schema that the tool advertises cannot be pinned. {SENTENCES[refusal]}" if foreign else SENTENCES[refusal]
    )


def _asked(
    url: str,
    tool: str,
    as_json: bool,
    *,
    alias: str | None,
    file: str | None,
    renewed: bool,
    endpoint: str | None,
    server_id: str | None,
    credential: str | None,
    **limits: int | None,
) -> _Asked:
    """Find out before contact whether a route could be written. Raises Refused, Failed, click.UsageError."""
    if file == STANDARD_OUTPUT:
        raise click.UsageError("`--registry` names a file. Leave it out: the registry then goes to standard output.")
    check_place(file)
    if renewed:
        if file is None:
            raise click.UsageError("`--renew` needs `--registry FILE`: it is about a route that is there.")
        others = {"endpoint": endpoint, "server_id": server_id, "credential": credential, **limits}
        if given := [f"`--{name.replace('_', '-')}`" for name, value in others.items() if value is not None]:
            told = f"`--renew` changes the pin alone: take {', '.join(given)} out, and edit the registry for all else."
            raise click.UsageError(told)
        alias = tool if alias is None else alias
        renew(read_file(REGISTRY, file), alias, tool, EMPTY)
        return _Asked(tool, alias, None, file, as_json)
    wanted = order(endpoint or url, tool, alias=alias, server_id=server_id, credential=credential, limits=limits)
    add(_present(file), route_of(wanted, EMPTY, EMPTY))
    return _Asked(tool, wanted.alias, wanted, file, as_json)


def _present(file: str | None) -> bytes | None:
    return None if file is None else find_file(REGISTRY, file)


def _pin(server: Server, asked: _Asked, terminal: Terminal, interruption: Interruption) -> int:
    board = Board(quiet=terminal.quiet)
    with board, Conversation(server, current_environment(), interruption, board) as conversation:
        seen = look(conversation, terminal, ("tools",))
        for step in (seen.connection, *seen.inventories.values()):
            conversation.tell(terminal, step)
        if seen.exit or interruption.level:
            return seen.exit
        upstream = listed_schema(seen.inventories["tools"], asked.tool)
        with nullcontext() if asked.file is None else alone(asked.file):
            made = _made(asked, upstream)
            conversation.shown(made.content)
            document = conversation.shown(pretty(_document(made)))
            if asked.file is not None and made.written:
                write_private(asked.file, made.content)
    if asked.as_json:
        terminal.document(document)
    else:
        _show(asked, made, terminal)
    return 0


def _made(asked: _Asked, upstream: Any) -> _Made:
    """Make the registry out of the file as it is now, which others may have written meanwhile. Raises Refused."""
    bounds: tuple[Bound, ...] = ()
    present = _present(asked.file)
    if asked.wanted is None:
        if present is None:
            raise Refused(Refusal.REGISTRY_UNREADABLE)
        content = renew(present, asked.alias, asked.tool, upstream)
    else:
        found = widest(upstream)
        bounds = found.bounds
        content = add(present, route_of(asked.wanted, found.schema, upstream))
    written = content is not None and asked.file is not None
    content = content or present or b""
    return _Made(content, read_registry(content).route(asked.alias), bounds, written)


def _document(made: _Made) -> dict[str, Any]:
    return {
        "format": "assay-pin/1",
        "route": made.route.value,
        "schema_digest": made.route.schema_digest,
        "upstream_schema_digest": made.route.upstream_schema_digest,
        "bounds": [
            {"pointer": each.pointer, "change": each.change, "meaning": CHANGES[each.change]} for each in made.bounds
        ],
        "written": made.written,
    }


#: What became of the pin: one word, and what there is to say of it.
_PINNED: Final = ("pinned", "")
_RENEWED: Final = {
    True: ("renewed", ": the pin changed, for the server lists another schema"),
    False: ("unchanged", ": the server lists what is pinned"),
}
#: What stands before what a person has to look at.
_LOOK: Final = "look at these places of `input_schema`, and bound them:"


def _show(asked: _Asked, made: _Made, terminal: Terminal) -> None:
    if asked.file is None:
        terminal.document(made.content)
        tell = terminal.progress
    else:
        tell = terminal.result
        deed, news = _PINNED if asked.wanted is not None else _RENEWED[made.written]
        tell(f"{deed}  {line(asked.tool)}, route {line(asked.alias)} of {line(asked.file)}{news}")
    if made.bounds:
        tell(_LOOK)
    for bound in made.bounds:
        tell(f"  {line(bound.pointer) or '(the whole)'}: {CHANGES[bound.change]}")
