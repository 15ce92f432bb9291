"""What Playwright's errors mean, in our own words: their texts may quote pages and addresses, and are shown nowhere."""

import re
from typing import Final

from host.origins import MISDIRECTED
from host.providers.browser.guard import Blocked
from host.providers.outcome import Outcome
from protocol.failures import Code
from protocol.wire.steps import Effect

__all__ = ["ENDED", "blocked_outcome", "explain"]

#: What Playwright says once a page, its browser, or the driver of all browsers has ended.
ENDED: Final = "Target page, context or browser has been closed"

#: The network stack's own name for what went wrong: letters of a closed set.
_NET: Final = re.compile(r"net::ERR_([A-Z0-9_]{1,60})")
#: Beginnings of such names -> code and what it means. The first that fits counts.
_NETWORK: Final = (
    (("CERT_", "SSL_", "BAD_SSL_"), Code.TLS_FAILED, "The page's TLS handshake failed, or its certificate is refused"),
    (("TIMED_OUT", "CONNECTION_TIMED_OUT"), Code.TIMEOUT, "The page's server did not answer in time"),
    (("TOO_MANY_REDIRECTS",), Code.HTTP_STATUS, "The page redirects without an end"),
    (("EMPTY_RESPONSE", "CONNECTION_RESET", "CONNECTION_CLOSED"), Code.REPLY_LOST, "The page's server hung up"),
    (("INVALID_", "HTTP2_", "CONTENT_", "RESPONSE_"), Code.PROTOCOL_ERROR, "The page's answer breaks HTTP"),
    (("ABORTED",), Code.PROTOCOL_ERROR, "There is no page at the address: a download, or an empty answer"),
    (("",), Code.UNREACHABLE, "The page's server cannot be reached"),
)
_FIXED: Final = (
    ("Unknown key", Code.INVALID_ARGUMENTS, "`key` is no key's name. Write for example Enter, Escape, a, Control+a."),
    ("Download is starting", Code.PROTOCOL_ERROR, "There is no page at the address but a download, which is refused."),
)


def explain(text: str, effect: Effect, *, timeout: bool, over: bool, acting: bool) -> Outcome:
    """Return the outcome of a command that broke off. Only names of closed sets are read in ``text``.

    ``acting`` says that the page may have been changed: a mutation is unknown then, unless the error tells more.
    """
    lost = acting and effect == "mutate"
    for beginning, code, told in _FIXED:
        if beginning in text:
            return Outcome(told, "failed", code)
    if timeout:
        told = "The page did not get there in time (the binding's `timeoutMs`)."
        return _broken(told, Code.TIMEOUT, lost=lost)
    if over:
        return _broken("The browser or its page ended in the middle.", Code.REPLY_LOST, lost=lost)
    if network := _NET.search(text):
        name = network[1]
        code, told = next((code, told) for names, code, told in _NETWORK if name.startswith(names))
        return _broken(f"{told} ({name}).", code, lost=lost)
    return _broken("The page did not let it be done.", Code.EXPECTATION_FAILED, lost=lost)


def blocked_outcome(blocked: Blocked, *, acted: bool) -> Outcome:
    """Return the outcome of a command during which, or before which, the page wanted to go where it may not."""
    if blocked.where == MISDIRECTED:
        told = (
            f"The authorization server sent the page back to this machine, but to {MISDIRECTED}: another path, or"
            " another name of the host. Nobody listens there. Compare `callbackPath` and `callbackHost` with the"
            " redirect that the client is registered with."
        )
        return Outcome(told, "failed", Code.OAUTH_CALLBACK_INVALID, facts={"blocked": blocked.where})
    what = "open a second window" if blocked.window else "go"
    rule = "; this browser has one page." if blocked.window else ", which is not admitted."
    when = "" if acted else " Nothing of this step was done."
    told = f"The page tried to {what} to {blocked.where}{rule}{when}"
    return Outcome(told, "failed", Code.ORIGIN_NOT_ADMITTED, facts={"blocked": blocked.where})


def _broken(told: str, code: Code, *, lost: bool) -> Outcome:
    return Outcome(
        told, "unknown" if lost else "failed", code, {"kind": "unknown", "code": str(code)} if lost else None
    )
