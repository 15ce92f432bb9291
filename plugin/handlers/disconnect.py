"""Carries out `disconnect`: ends the session with at most one DELETE, and remembers how that came out."""

import contextlib

from plugin.alias import Alias, Ending
from plugin.opening import renew_token
from plugin.step import Step, Verdict
from protocol.failures import Code, Failed
from protocol.mcp.replies import Outcome
from protocol.mcp.session import DELETE_TIMEOUT
from protocol.wire.steps import Status, StepResult

__all__ = ["disconnect"]

_METHOD_NOT_ALLOWED = 405


def disconnect(step: Step) -> StepResult:
    """End the alias's session. A later `disconnect` sends nothing and reports the recorded outcome."""
    alias = step.alias
    if alias.ending is None:
        step.stop_if_cancelled()
        if alias.sign_in is not None:
            alias.sign_in.give_up()
        alias.ending = _end(step)
        if alias.sign_in is not None:
            alias.sign_in.close()
    else:
        step.facts["recorded"] = True
    ending = alias.ending
    step.facts["http"] = ending.http
    return step.result(Verdict(ending.status, ending.code, ending.message), ending.state)


def _end(step: Step) -> Ending:
    connection = step.alias.connection
    if connection is None:
        return _succeeded("not-needed", "There is no session to end.", {})
    # Whether or not the token can be renewed, the session is ended: a lapsed token may still do for that, and cleaning
    # up waits no longer for the issuer than for the server.
    with contextlib.suppress(Failed):
        renew_token(step, DELETE_TIMEOUT)
    outcome = connection.end()
    http = step.http(outcome)
    if outcome.kind == "result":
        if outcome.value == {"delete": "none"}:
            return _succeeded("not-needed", "The server issued no session, so there is none to end.", http)
        return _succeeded("confirmed", "The server confirmed the end of the session.", http)
    if outcome.kind == "refused":
        return _refused(step.alias, outcome, http)
    cleanup = "lost" if outcome.kind == "lost" else "unsent"
    status: Status = "unknown" if outcome.kind == "lost" else "failed"
    text = f"The end of the session was not confirmed. {outcome.message}"
    return Ending(status, Code.CLEANUP_UNCONFIRMED, text, _state(cleanup), http)


def _refused(alias: Alias, outcome: Outcome, http: dict[str, object]) -> Ending:
    status = outcome.http.get("status")
    if status == _METHOD_NOT_ALLOWED and alias.binding.server_managed:
        return _succeeded("server-managed", "The server ends sessions itself, as the binding says.", http)
    hint = ""
    if status == _METHOD_NOT_ALLOWED:
        hint = ' If this server ends sessions itself, set `sessionCleanup: "server-managed"` in the binding.'
    text = f"The server refused to end the session with HTTP {status}.{hint}"
    return Ending("failed", Code.CLEANUP_UNCONFIRMED, text, _state("refused"), http)


def _succeeded(cleanup: str, text: str, http: dict[str, object]) -> Ending:
    return Ending("succeeded", None, text, _state(cleanup), http)


def _state(cleanup: str) -> dict[str, str]:
    return {"kind": "disconnected", "cleanup": cleanup}
