"""Opens an alias's connection: reads what has to be read first, checks the origin, and initializes once."""

from typing import Any, Final

from oauth.record import Entry, as_facts
from oauth.token import grant_facts
from plugin.alias import Alias
from plugin.binding import Binding, authorization, join, url_secrets
from plugin.certificates import read_authorities
from plugin.identity import NAME, VERSION
from plugin.step import Step
from plugin.tokenfile import read_token
from protocol.failures import Code, Failed
from protocol.mcp.connection import Connection, Settings
from protocol.mcp.http import HttpTransport
from protocol.mcp.origins import is_admitted, origin
from protocol.mcp.replies import Outcome
from protocol.wire.context import Context

__all__ = ["endpoint", "open_connection", "renew_token", "require_connection", "transport"]

#: What to do about a 401 to an alias that has signed in.
_NOT_TAKEN: Final = (
    "It does not take the token that the issuer gave: compare its scopes and audience (`grant`) with what it asks for."
)


def require_connection(step: Step) -> Connection:
    """Return the alias's open connection, which the alias's first inspection command opens.

    Raises Failed with the code of what stood in the way; the step's facts then tell it.
    """
    if step.alias.state == "none":
        outcome = open_connection(step)
        if outcome.kind != "result":
            step.facts["http"] = step.facts["session"]["http"]
            raise Failed(outcome.code or Code.INTERNAL, f"The session could not be initialized. {outcome.message}")
    else:
        renew_token(step)
    connection = step.alias.connection
    assert connection is not None
    connection.rearm()
    step.stop_if_cancelled()
    return connection


def open_connection(step: Step) -> Outcome:
    """Initialize the alias's session and return the outcome; facts.session tells what was negotiated.

    Raises Failed when nothing was sent; the alias then counts as refused.
    """
    alias, context = step.alias, step.context
    if alias.binding.contract is not None:
        from plugin.pinning import pinned_route  # an alias without a contract does not wait for it

        pinned_route(alias)
    renew_token(step)
    try:
        alias.connection = _prepare(alias, context)
    except Failed:
        alias.failed = True
        raise
    alias.connection.rearm()
    try:
        step.stop_if_cancelled()
    except Failed:
        alias.connection.end()  # gives its descriptors back; nothing was sent, so the next command makes another
        alias.connection = None
        raise
    outcome = alias.connection.initialize()
    step.facts["session"] = _session(step, alias.connection, outcome)
    if outcome.kind in ("rpc-error", "refused") and outcome.value is not None:
        step.facts["refusal"] = step.refusal(outcome.value)
    return outcome


def endpoint(alias: Alias, context: Context) -> str:
    """Return the alias's whole URL, path joined and private by now. Raises Failed (`origin_not_admitted`)."""
    url = join(alias.binding.endpoint, alias.path)
    if url != alias.binding.endpoint:
        known = url_secrets(alias.binding.endpoint)
        context.learn(*(value for value in url_secrets(url) if value not in known))
    if not is_admitted(url, context.origins):
        text = f"The origin {origin(url)} is not admitted. Make it the target, or add `--allow-origin {origin(url)}`."
        raise Failed(Code.ORIGIN_NOT_ADMITTED, text)
    return url


def transport(binding: Binding, context: Context) -> HttpTransport:
    """Return a way to the network of its own, with the trust that the binding adds. Raises Failed."""
    return HttpTransport(context.origins, read_authorities(binding.ca_file) if binding.ca_file else None)


def renew_token(step: Step, seconds: float | None = None) -> None:
    """Renew the token of an alias that signed in, where that is due, within ``seconds``; facts.signIn then tells how.

    Raises Failed: the step that it was for has sent nothing then.
    """
    alias = step.alias
    if alias.sign_in is None or not alias.sign_in.due:
        return
    record: list[Entry] = []
    try:
        grant = alias.sign_in.renew(step.stop_if_cancelled, record, seconds)
    except Failed as failed:
        text = f"The token is about to lapse and was not renewed; nothing else was sent. {failed.failure.message}"
        raise Failed(failed.code, text) from None
    finally:
        step.facts["signIn"] = as_facts(record)
    step.facts["grant"] = grant_facts(grant)
    if alias.connection is not None:
        alias.connection.authorize(authorization(grant.access_token)[1])


def _prepare(alias: Alias, context: Context) -> Connection:
    binding = alias.binding
    url = endpoint(alias, context)
    token = _token(alias, context)
    headers = [*binding.headers, *alias.headers.items(), *([authorization(token)] if token else [])]
    settings = Settings(
        endpoint=url,
        headers=tuple(headers),
        timeout=binding.timeout_ms / 1000,
        max_response_bytes=binding.max_response_bytes,
        name=NAME,
        version=VERSION,
        resume=binding.resume,
        elicitation=binding.elicitation,
        unauthorized=_NOT_TAKEN if alias.sign_in is not None else None,
    )
    return Connection(transport(binding, context), settings, context.learn)


def _token(alias: Alias, context: Context) -> str | None:
    if alias.token_file is None:
        return alias.sign_in.token if alias.sign_in is not None else alias.binding.bearer_token
    if alias.binding.token_directory is None:
        text = "`tokenFile` is named, and the binding has no `tokenDirectory` to find it in."
        raise Failed(Code.TOKEN_FILE_REFUSED, text, where="tokenFile")
    token = read_token(alias.binding.token_directory, alias.token_file)
    context.learn(token)
    return token


def _session(step: Step, connection: Connection, outcome: Outcome) -> dict[str, Any]:
    facts: dict[str, Any] = {"http": step.http(outcome), "network": connection.network}
    if outcome.kind == "result":
        facts |= {
            "protocol": connection.revision,
            "server": connection.server,
            "capabilities": connection.capabilities,
        }
    return facts
