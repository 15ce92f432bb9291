"""Which of the listed issuers a sign-in means, compared as raw strings, and what to say when it is none of them."""

from collections.abc import Container, Sequence
from typing import Final

from oauth.record import quoted
from oauth.settings import ENDPOINT, LISTED, Settings
from oauth.support import Lack
from oauth.urls import base, issuer_fault
from protocol.failures import Code
from protocol.mcp.origins import is_admitted, origin

__all__ = ["select", "unlisted"]

#: Listed issuers that a message names.
_NAMED: Final = 5


def select(settings: Settings, endpoint: str, admitted: Container[str], listed: Sequence[str]) -> str | Lack:
    """Return the issuer as the resource metadata lists it, or why there is none (RFC 9728, section 7.6)."""
    if settings.issuer == LISTED:
        return _admitted(settings, admitted, listed)
    if settings.issuer == ENDPOINT:
        own = [issuer for issuer in listed if _is_own(issuer, endpoint)]
        return own[0] if own else _unlisted("the server's own origin", listed, "Bind the `issuer` that is meant.")
    if settings.issuer in listed:
        return settings.issuer
    return _unlisted(quoted(settings.issuer), listed, _near(settings.issuer, listed))


def unlisted(settings: Settings, endpoint: str) -> tuple[str, ...]:
    """Return how the issuer may be spelled where no resource metadata spells it (MCP 2025-03-26)."""
    if settings.issuer in (ENDPOINT, LISTED):
        return (base(endpoint), base(endpoint) + "/")
    return (settings.issuer,)


def _admitted(settings: Settings, admitted: Container[str], listed: Sequence[str]) -> str | Lack:
    usable = [issuer for issuer in listed if issuer_fault(issuer, loopback_http=settings.loopback_http) is None]
    chosen = [issuer for issuer in usable if is_admitted(issuer, admitted)]
    if chosen:
        return chosen[0]
    if not usable:
        reason = f"`authorization_servers` lists no usable https issuer, but {_names(listed)}"
        return Lack(Code.OAUTH_DISCOVERY_FAILED, reason)
    reason = f"no listed issuer is at an admitted origin ({_names(usable)})"
    return Lack(Code.ORIGIN_NOT_ADMITTED, reason, f"Add `--allow-origin {origin(usable[0])}` if it is meant.")


def _is_own(issuer: str, endpoint: str) -> bool:
    """Tell whether a listed issuer is the endpoint's bare origin; the slash of an empty path may be written."""
    if issuer_fault(issuer, loopback_http=True) is not None:
        return False
    return origin(issuer) == origin(endpoint) and issuer.removesuffix("/") == base(issuer)


def _unlisted(wanted: str, listed: Sequence[str], advice: str) -> Lack:
    reason = f"`authorization_servers` does not list {wanted}, but {_names(listed)}"
    return Lack(Code.OAUTH_ISSUER_MISMATCH, reason, advice)


def _names(issuers: Sequence[str]) -> str:
    more = f" and {len(issuers) - _NAMED} more" if len(issuers) > _NAMED else ""
    return ", ".join(quoted(issuer) for issuer in issuers[:_NAMED]) + more


def _near(wanted: str, listed: Sequence[str]) -> str:
    near = next((issuer for issuer in listed if issuer.rstrip("/").lower() == wanted.rstrip("/").lower()), None)
    if near is None:
        return "Bind the `issuer` that is meant."
    return f"Issuers are compared character by character: bind {quoted(near)} if it is meant."
