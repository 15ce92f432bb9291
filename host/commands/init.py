"""`assay init`: writes a first flow, settings and bindings, for a live server if there is one. Overwrites nothing."""

import shlex
from collections.abc import Sequence
from typing import Any, Final

import click

from host.board import Board
from host.commands import options
from host.commands.inspect import look
from host.conversation import Conversation, Server, read_server
from host.documents import write_new
from host.executable import current_environment
from host.interruption import Interruption, listening
from host.outcome import INTERRUPTED_EXIT, code_named
from host.preparation import Options, load_choices
from host.starter import IGNORED, bindings_text, flow_text, listed, settings_text
from host.terminal import Terminal, line
from protocol.failures import Code, Failed
from protocol.values.urls import origin, url_secrets

__all__ = ["init"]

#: File -> its mode; bindings are for their owner only.
_FILES: Final = {"assay.toml": 0o666, "flows/example.md": 0o666, "bindings.json": 0o600, ".gitignore": 0o666}

_RUN: Final = "assay run flows"


@click.command()
@click.argument("url", required=False)
@options.server
def init(url: str | None, quiet: bool, plugin: str | None, **server: Any) -> int:
    """Write assay.toml, flows/example.md, bindings.json and .gitignore into this folder.

    With a URL, the flow expects the tools that the server lists now; none of them is called. Files that exist are kept
    as they are.
    """
    terminal = Terminal(quiet=quiet)
    texts = {"assay.toml": settings_text(url), "bindings.json": bindings_text({}), ".gitignore": IGNORED}
    texts["flows/example.md"] = flow_text(None, (), {})
    interruption = Interruption()
    if url is not None:
        asked = read_server(url, plugin=plugin, **server)
        with listening(interruption):
            texts["flows/example.md"] = _live(asked, terminal, interruption)
        texts |= _reaching(url, asked)
    if interruption.level:
        return INTERRUPTED_EXIT
    kept = []
    for name, mode in _FILES.items():
        written = write_new(name, texts[name], mode)
        kept += [] if written else [name]
        terminal.result(f"{'wrote' if written else 'kept '}  {name}{'' if written else ' (it was there)'}")
    if url is not None and _is_private(url):
        terminal.result(
            "note   the URL is private: its place is `endpoint` in bindings.json, and assay.toml is without it"
        )
    notes, following = _elsewhere(url, kept) if url else ([], f"put your server's URL into assay.toml, then: {_RUN}")
    for note in notes:
        terminal.result(f"note   {note}")
    terminal.result(f"next   {following}")
    return 0


def _elsewhere(url: str, kept: Sequence[str]) -> tuple[list[str], str]:
    """Return what keeps the next run from the server that was looked at, and the command that comes next."""
    if _is_private(url):
        lines = {
            "assay.toml": f"assay.toml was kept: add {origin(url)} to its `allow_origins`",
            "bindings.json": "bindings.json was kept: write the URL as `endpoint` of the alias `api` into it",
        }
        notes = [told for name, told in lines.items() if name in kept]
        return notes, f"do so, then: {_RUN}" if notes else _RUN
    try:
        _, choices = load_choices(Options(()), current_environment())
    except Failed:
        return [], _RUN  # The next command says what is wrong with the settings that were kept.
    if choices.target == url:
        return [], _RUN
    told = "`assay run` goes to another server: the target of ASSAY_TARGET or assay.toml is not this URL."
    if choices.target is None:
        told = "`assay run` has no server: the assay.toml that was kept has no `target`."
    return [f"{told} Change it, or give `--target`."], f"{_RUN} --target {shlex.quote(url)}"


def _is_private(url: str) -> bool:
    """Tell whether more of a URL is private than the whole: its query, a long path."""
    return len(url_secrets(url)) > 1


def _reaching(url: str, server: Server) -> dict[str, str]:
    """Return the files that say where the server is. Settings are for version control, so no private URL is in them."""
    if not _is_private(url):
        return {"bindings.json": bindings_text(server.configuration)}
    return {
        "assay.toml": settings_text(None, private=origin(url)),
        "bindings.json": bindings_text({"endpoint": url, **server.configuration}),
    }


def _live(server: Server, terminal: Terminal, interruption: Interruption) -> str:
    """Return a flow for what the server lists. Raises Failed when it cannot be listed: nothing is written then."""
    board = Board(quiet=terminal.quiet)
    with board, Conversation(server, current_environment(), interruption, board) as conversation:
        seen = look(conversation, terminal, ("tools",))
        for step in (seen.connection, *seen.inventories.values()):
            if step.status != "succeeded":
                code = code_named(step.code or "") or Code.INTERNAL
                raise Failed(code, line(conversation.text(step.message)))
        found = seen.initialization.get("serverInfo")
        name = found.get("name") if isinstance(found, dict) else None
        tools = listed(seen.entries("tools"))
        text = flow_text(name if isinstance(name, str) else None, tools, server.headers)
        return conversation.shown(text.encode()).decode()
