"""`assay doctor`: tells what is true of a server, and what to do about what is wrong. Needs no flow and no consent."""

import textwrap
from collections.abc import Sequence
from typing import Any, Final

import click

from host.board import Board
from host.commands import options
from host.conversation import Conversation, Server, read_server
from host.doctor.check import Check, document
from host.doctor.examination import SPARE_SESSIONS, examine
from host.evidence import pretty
from host.executable import current_environment
from host.interruption import Interruption, listening
from host.origins import origin
from host.outcome import FAILED_EXIT, INTERRUPTED_EXIT
from host.sign_in_record import record_rows
from host.terminal import Terminal, line

__all__ = ["doctor"]

#: Headings over the checks; what stands in none of them is about what the server lists.
_GROUPS: Final = {
    "The way there": ("address", "port", "tls", "redirect", "answer", "challenge", "oauth"),
    "The session": ("revision", "server", "capabilities", "session", "stream"),
}
_CATALOGUE: Final = "What it lists"
#: Columns that a text needs to be worth breaking into lines.
_LEAST: Final = 30
_STATUSES: Final = ("problem", "warning", "ok", "skipped")
#: Status -> how it is painted, as statuses of steps are.
_PAINTED: Final = {"ok": "succeeded", "warning": "unknown", "problem": "failed", "skipped": "skipped"}


@click.command()
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="Write one document with every check and its facts.")
@options.server
def doctor(url: str, as_json: bool, quiet: bool, plugin: str | None, **server: Any) -> int:
    """Tell what is true of a server: the way to it, its session, and what it lists.

    Nothing is called, and no consent is asked for. Exit status: 0, or 1 when there is a problem.
    """
    terminal = Terminal(quiet=quiet)
    asked = read_server(url, plugin=plugin, **server)
    interruption = Interruption()
    with listening(interruption):
        checks = _examine(asked, terminal, interruption, as_json=as_json)
    if interruption.level:
        return INTERRUPTED_EXIT
    return FAILED_EXIT if any(check.status == "problem" for check in checks) else 0


def _examine(server: Server, terminal: Terminal, interruption: Interruption, *, as_json: bool) -> Sequence[Check]:
    credentials = bool({"bearerToken", "headers"} & server.configuration.keys())
    board = Board(quiet=terminal.quiet)
    environment = current_environment()
    with board, Conversation(server, environment, interruption, board, spare=SPARE_SESSIONS) as conversation:
        checks = examine(conversation, server.url, credentials=credentials)
        content = conversation.shown(pretty(document(checks)))
        if as_json:
            terminal.document(content)
            return checks
    if not interruption.level:
        _show(terminal, origin(server.url), checks, credentials=credentials)
    return checks


def _show(terminal: Terminal, place: str, checks: Sequence[Check], *, credentials: bool) -> None:
    if terminal.quiet:
        checks = [check for check in checks if check.status in ("problem", "warning")]
    else:
        terminal.result(terminal.paint(line(place), "heading"))
    grouped = {name for names in _GROUPS.values() for name in names}
    catalogue = tuple(check.id for check in checks if check.id not in grouped)
    width = max((len(check.id) for check in checks), default=0)
    for heading, names in {**_GROUPS, _CATALOGUE: catalogue}.items():
        found = [check for check in checks if check.id in names]
        if found and not terminal.quiet:
            terminal.result(f"\n  {terminal.paint(heading, 'heading')}")
        for check in found:
            for row in _rows(terminal, check, width):
                terminal.result(row)
    if not terminal.quiet:
        terminal.result(f"\n{_summary(terminal, checks)}")
        terminal.result(f"next: {_next(checks, credentials=credentials)}")


def _rows(terminal: Terminal, check: Check, width: int) -> list[str]:
    mark = terminal.paint(f"    {check.status:<7}", _PAINTED[check.status])
    indent = 15 + width
    told = _wrapped(terminal, check.message, indent)
    rows = [f"{mark}  {check.id:<{width}}  {told[0]}", *(f"{' ' * indent}{row}" for row in told[1:])]
    rows += [f"{' ' * indent}{line(row)}" for row in record_rows(check.facts)]
    if check.help:
        rows += [f"{' ' * indent}{terminal.paint(row, 'prose')}" for row in _wrapped(terminal, check.help, indent)]
    return rows


def _wrapped(terminal: Terminal, text: str, indent: int) -> list[str]:
    """Return a text as lines: several where a terminal would break them in the middle of words."""
    room = terminal.width - indent
    return textwrap.wrap(line(text), room) if terminal.wide and room >= _LEAST else [line(text)]


def _summary(terminal: Terminal, checks: Sequence[Check]) -> str:
    counts = {status: sum(check.status == status for check in checks) for status in _STATUSES}
    words = {"problem": "problem" if counts["problem"] == 1 else "problems", "ok": "ok", "skipped": "skipped"}
    words["warning"] = "warning" if counts["warning"] == 1 else "warnings"
    kept = [(status, count) for status, count in counts.items() if count]
    return ", ".join(terminal.paint(f"{count} {words[status]}", _PAINTED[status]) for status, count in kept)


def _next(checks: Sequence[Check], *, credentials: bool) -> str:
    """Say what to do next, by the first thing that stands in the way."""
    first = next((check for check in checks if check.status == "problem"), None)
    if first is not None:
        return f"mend `{first.id}`, then run `assay doctor` again"
    asked = any(check.id == "challenge" and "status" in check.facts for check in checks)
    if asked and not credentials:
        return "run `assay doctor` again with credentials (`--bearer-env NAME`), to see the rest"
    return "`assay inspect URL` shows what it lists; `assay init URL` writes a first flow"
