"""`assay login`: a whole sign-in in the person's own browser, to see that it works. Keeps nothing of it."""

import contextlib
from collections.abc import Mapping
from typing import Any, Final

import click

from host.board import Board
from host.commands import options
from host.consent import BEGIN, FINISH
from host.conversation import Conversation, Server, read_server, variable
from host.desktop import Signpost, open_browser
from host.executable import current_environment
from host.interruption import Interruption, listening
from host.outcome import INTERRUPTED_EXIT, UNKNOWN_EXIT, exit_of_code
from host.sign_in_binding import LISTED, oauth_binding
from host.sign_in_record import record_rows
from host.sign_in_words import LOGIN, reword
from host.terminal import Terminal, line
from protocol.failures import Code, Failed
from protocol.values.document import integer
from protocol.values.urls import is_loopback
from protocol.wire.steps import StepResult

__all__ = ["login"]

#: Milliseconds for a person to find a password and a second factor.
CONSENT_MILLISECONDS: Final = 300_000


@click.command()
@click.argument("url")
@click.option(
    "--scope", "scopes", metavar="SCOPE", multiple=True, help="Ask for this scope. May be given several times."
)
@click.option(
    "--issuer", metavar="URL", default=LISTED, help="The issuer to sign in at. Default: the one that the server lists."
)
@click.option("--client-id-env", metavar="NAME", help="Sign in as the client whose id this variable holds.")
@click.option("--client-secret-env", metavar="NAME", help="Its secret is in this variable. Needs --issuer.")
@click.option("--client-metadata-url", metavar="URL", help="Sign in as the client of this metadata document.")
@click.option("--callback-path", metavar="PATH", help="The path of the redirect that the client is registered with.")
@click.option("--callback-port", metavar="PORT", type=click.IntRange(0, 65535), help="The port of that redirect.")
@click.option(
    "--callback-host",
    type=click.Choice(["127.0.0.1", "localhost"]),
    help="The host of that redirect. Default: 127.0.0.1.",
)
@click.option("--compat", type=click.Choice(["2025-03-26"]), help="For servers of that revision of MCP.")
@options.server
def login(url: str, quiet: bool, plugin: str | None, **given: Any) -> int:
    """Sign in to a server with OAuth, in your own browser, and tell what was granted.

    Shows every step of the way to the token, and whether the server takes it. The token is forgotten at the end.
    """
    terminal = Terminal(quiet=quiet)
    oauth = _settings(url, given)
    asked = read_server(url, plugin=plugin, **given)
    asked = asked._replace(configuration={**asked.configuration, "oauth": oauth})
    interruption = Interruption()
    try:
        with listening(interruption):
            status = _login(asked, terminal, interruption)
    except Failed as failed:
        code, message, where, data = failed.failure
        raise Failed(code, reword(message, LOGIN), where=where, data=data) from None
    return INTERRUPTED_EXIT if interruption.level else status


def _settings(url: str, given: dict[str, Any]) -> dict[str, Any]:
    """Take the options of the sign-in out of ``given`` and return the `oauth` that they make.

    Raises Failed (`invalid_arguments`) for a secret that would go to whichever issuer the server lists.
    """
    if given["client_secret_env"] is not None and given["issuer"] == LISTED:
        text = "`--client-secret-env` needs `--issuer`: name the issuer that the client is registered at."
        raise Failed(Code.INVALID_ARGUMENTS, text)
    oauth: dict[str, Any] = {
        "issuer": given.pop("issuer"),
        "clientAuthentication": "any",
        "allowLoopbackHttp": is_loopback(url),
        "consentTimeoutMs": CONSENT_MILLISECONDS,
    }
    if scopes := given.pop("scopes"):
        oauth["scopes"] = list(scopes)
    for option, field in _PRIVATE.items():
        if (name := given.pop(option)) is not None:
            oauth[field] = {"env": variable(f"--{option.replace('_', '-')}", name)}
    for option, field in _PUBLIC.items():
        if (value := given.pop(option)) is not None:
            oauth[field] = value
    return oauth


_PRIVATE: Final = {"client_id_env": "clientId", "client_secret_env": "clientSecret"}
_PUBLIC: Final = {
    "client_metadata_url": "clientMetadataUrl",
    "callback_path": "callbackPath",
    "callback_port": "callbackPort",
    "callback_host": "callbackHost",
    "compat": "compat",
}


def _login(server: Server, terminal: Terminal, interruption: Interruption) -> int:
    board = Board(quiet=terminal.quiet)
    with (
        board,
        contextlib.ExitStack() as signposts,
        Conversation(server, current_environment(), interruption, board) as conversation,
    ):

        def show(url: str) -> None:
            signpost = signposts.enter_context(Signpost(url))
            with board.aside():
                terminal.progress(f"Consent in your browser. If none opens, visit {signpost.url}")
            open_browser(signpost.url, conversation.hidden, lambda: lament(signpost))

        def lament(signpost: Signpost) -> None:
            with board.aside():
                if signpost.awaited:
                    terminal.problem(f"No browser could be opened here (see BROWSER): visit {signpost.url} yourself.")

        for half in (BEGIN, FINISH):
            result = conversation.run(half, {}, show)
            for row in record_rows(result.facts):
                terminal.progress(line(reword(conversation.text(row), LOGIN)))
            if result.status != "succeeded":
                if result.status == "unknown" and result.code == Code.PLUGIN_DIED:
                    result.message += _DOUBTS[half]
                return _failed(conversation, terminal, result)
        grant = result.facts.get("grant")
        for row in _granted(grant):
            terminal.result(line(conversation.text(row)))
        status = _try(conversation, terminal)
        if status == 0 and isinstance(grant, dict):
            terminal.result("To sign in like this in a flow, put this into the binding of its alias:")
            terminal.result(line(conversation.text(oauth_binding(server.url, server.configuration["oauth"], grant))))
        return status


def _try(conversation: Conversation, terminal: Terminal) -> int:
    """Connect with the token: an issuer may give one that the server does not take."""
    connected = conversation.connect()
    if connected.status != "succeeded":
        return _failed(conversation, terminal, connected)
    terminal.result("The server takes the token. It is forgotten now.")
    conversation.end_session(terminal)
    return 0


def _failed(conversation: Conversation, terminal: Terminal, result: StepResult) -> int:
    result.message = reword(result.message, LOGIN)
    conversation.tell(terminal, result)
    return UNKNOWN_EXIT if result.status == "unknown" else exit_of_code(result.code or "")


#: What nobody knows when the plugin ends over a half of the sign-in.
_DOUBTS: Final = {
    BEGIN: " A client may be registered all the same.",
    FINISH: " The code may be spent: start the sign-in again.",
}


def _granted(grant: Any) -> list[str]:
    """Return what was granted, a row for each fact."""
    facts: Mapping[str, Any] = grant if isinstance(grant, dict) else {}
    scopes, asked = _words(facts.get("scopes")), _words(facts.get("requested"))
    seconds = integer(facts.get("expiresIn"))
    rows = [
        f"Signed in at {facts.get('issuer')}",
        f"  scopes   {scopes or 'none named'}" + ("" if scopes == asked else f" (asked for: {asked or 'none'})"),
        f"  lasts    {'as long as the issuer likes' if seconds is None else f'{seconds} s'}",
        f"  client   {_CLIENTS.get(str(facts.get('client')), 'unknown')}",
    ]
    claims = facts.get("claims")
    if isinstance(claims, dict) and (audience := _words(claims.get("aud"))):
        rows.append(f"  audience {audience}")
    return rows


_CLIENTS: Final = {
    "binding": "the one that was named",
    "document": "a client metadata document",
    "registration": "registered for this sign-in; it stays registered",
}


def _words(value: Any) -> str:
    return " ".join(str(entry) for entry in value) if isinstance(value, list) else ""
