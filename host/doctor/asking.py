"""Checks of what a server asks of whoever comes: its challenge, and what that says of signing in."""

from collections.abc import Mapping
from typing import Any

from host.doctor.check import Check, ok, problem, skipped, warning
from host.doctor.reaching import REFUSING, http_facts
from host.outcome import remedy
from protocol.failures import Code
from protocol.wire.steps import StepResult

__all__ = ["asking"]


def asking(connected: StepResult, discovered: StepResult | None, *, credentials: bool) -> list[Check]:
    """Return the checks; ``credentials`` tells whether any were sent.

    ``discovered`` is what looking for an authorization server came to, where the server refused to connect.
    """
    http = http_facts(connected)
    challenges = [each for each in http.get("challenge") or [] if isinstance(each, dict)]
    return [_challenge(connected, http, challenges, credentials=credentials), _oauth(challenges, discovered)]


def _challenge(
    connected: StepResult, http: Mapping[str, Any], challenges: list[dict[str, Any]], *, credentials: bool
) -> Check:
    if http.get("status") not in REFUSING:
        if connected.status != "succeeded":
            return skipped("challenge", "No answer said whether credentials are wanted.")
        return ok("challenge", "The credentials are accepted." if credentials else "It asks for no credentials.")
    facts = {"status": http["status"], "challenges": challenges}
    bearer = _bearer(challenges)
    said = ", ".join(str(bearer[name]) for name in ("error", "error_description") if bearer and name in bearer)
    if http["status"] == 403 or credentials:
        who = "these credentials" if credentials else "whoever comes without credentials, and asks for none"
        told = f"It refuses {who} with HTTP {http['status']}{f' ({said})' if said else ''}."
        help_ = "Check the token, its scopes, and that it is meant for this server."
        if http["status"] == 403 and not credentials:
            help_ = "It may refuse by origin, host or network: look at the answer and at the server's log."
        return problem("challenge", told, help_, facts)
    return _asked(challenges, bearer, facts)


def _asked(challenges: list[dict[str, Any]], bearer: dict[str, Any] | None, facts: dict[str, Any]) -> Check:
    """Look at a 401 that was met without credentials: it is as good as what it says about getting some."""
    give = "Give a token with `--bearer-env NAME`, or another credential with `--header-env HEADER=NAME`."
    if not challenges:
        told = "It asks for credentials (HTTP 401), and does not say which: `WWW-Authenticate` is missing."
        return warning("challenge", told, f"A 401 carries a challenge (RFC 9110, section 15.5.2). {give}", facts)
    if any("fault" in each for each in challenges):
        told = "It asks for credentials with a challenge that is malformed."
        return warning("challenge", told, f"Write it as RFC 9110, section 11.6.1, has it. {give}", facts)
    if bearer is None:
        schemes = ", ".join(str(each.get("scheme")) for each in challenges)
        told = f"It asks for credentials with the scheme {schemes}."
        return warning("challenge", told, f"MCP clients sign in with Bearer tokens. {give}", facts)
    if "resource_metadata" not in bearer:
        told = "It asks for a Bearer token, and does not say where to get one: `resource_metadata` is missing."
        return warning("challenge", told, f"Clients find the way by it (RFC 9728, section 5.1). {give}", facts)
    return ok("challenge", "It asks for a Bearer token, and says where to get one.", give, facts)


def _bearer(challenges: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the parameters of the first Bearer challenge."""
    for each in challenges:
        if str(each.get("scheme")).lower() == "bearer":
            parameters = each.get("parameters")
            return parameters if isinstance(parameters, dict) else {}
    return None


def _oauth(challenges: list[dict[str, Any]], discovered: StepResult | None) -> Check:
    """Tell whether a client could sign in, and show the way there document by document (`facts.signIn`)."""
    if discovered is None:
        return skipped("oauth", "Nothing asked for it.")
    facts = {name: value for name, value in discovered.facts.items() if name in ("signIn", "demand", "found")}
    if discovered.status == "succeeded":
        return ok("oauth", discovered.message, "`assay login URL` tries a whole sign-in.", facts)
    if "resource_metadata" not in (_bearer(challenges) or {}):
        told = "No authorization server is found, and the challenge names none: its credentials come another way."
        return skipped("oauth", told, facts)
    if discovered.code == Code.ORIGIN_NOT_ADMITTED:
        told = "The way to the authorization server leads to an origin that is not admitted."
        return warning("oauth", f"{told} {discovered.message}", "Admit it with `--allow-origin` if it is meant.", facts)
    return problem("oauth", discovered.message, remedy(discovered.code), facts)
