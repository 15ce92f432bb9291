"""Checks of what a server asks of whoever comes: its challenge, and whether a sign-in could begin."""

from collections.abc import Mapping
from typing import Any, Final

from host.doctor.check import Check, ok, problem, skipped, warning
from host.doctor.reaching import REFUSING, http_facts
from host.sign_in_words import DOCTOR, PUBLIC_METHOD, reword
from protocol.failures import Code
from protocol.values.document import integer
from protocol.wire.steps import StepResult

__all__ = ["UNAUTHORIZED", "answers", "challenge", "oauth"]

UNAUTHORIZED: Final = 401
_OK: Final = 200
#: How the record calls documents, and nothing else that was asked for.
_DOCUMENT: Final = " metadata"
#: What discovery found, as facts of its step.
_FOUND: Final = ("signIn", "demand", "found")


def challenge(connected: StepResult, *, credentials: bool) -> Check:
    """Return the check of the challenge; ``credentials`` tells whether any were sent."""
    http = http_facts(connected)
    return _challenge(connected, http, _challenges(http), credentials=credentials)


def answers(connected: StepResult) -> bool:
    """Tell whether a server answered at all, so that it is worth a look where a token could come from."""
    return http_facts(connected).get("status") is not None


def oauth(connected: StepResult, discovered: StepResult | None) -> Check:
    """Return the check of the documents that lead to a sign-in; ``discovered`` is None when nobody looked for them.

    That none can begin is a problem where the challenge says that one could, else a warning: tokens may be brought. A
    server that neither asks for a token nor publishes where to get one has nothing to be checked.
    """
    if discovered is None:
        return skipped("oauth", "There is nobody to ask.")
    facts = {name: discovered.facts[name] for name in _FOUND if discovered.facts.get(name) is not None}
    if discovered.status == "succeeded":
        return ok("oauth", discovered.message, f"`assay login URL` tries it, in your browser.{_needed(facts)}", facts)
    facts["code"] = discovered.code
    if discovered.code == Code.ORIGIN_NOT_ADMITTED:
        return skipped("oauth", discovered.message, facts)
    if http_facts(connected).get("status") != UNAUTHORIZED and not _published(discovered):
        return skipped("oauth", "Nothing asks for a sign-in, and no document tells of one.", facts)
    told = reword(discovered.message, DOCTOR)
    promised = "resource_metadata" in (_bearer(_challenges(http_facts(connected))) or {})
    advice = "The record says which document was asked for, and why it was passed over."
    if promised:
        return problem("oauth", told, advice, facts)
    return warning("oauth", told, f"{advice} Without a sign-in, tokens have to be brought.", facts)


def _needed(facts: Mapping[str, Any]) -> str:
    """Say which field a binding needs where the issuer does not list what a binding admits by default."""
    found = facts.get("found")
    if not isinstance(found, dict) or PUBLIC_METHOD in (found.get("tokenMethods") or ()):
        return ""
    return (
        " For a flow bind `clientAuthentication: any`: the issuer does not list `none`, for clients without a secret."
    )


def _published(discovered: StepResult) -> bool:
    """Tell whether any document was there, in whatever shape."""
    record = [attempt for attempt in discovered.facts.get("signIn") or [] if isinstance(attempt, dict)]
    documents = [attempt for attempt in record if str(attempt.get("document")).endswith(_DOCUMENT)]
    return any(integer(attempt.get("status")) == _OK for attempt in documents)


def _challenges(http: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [each for each in http.get("challenge") or [] if isinstance(each, dict)]


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
    if http["status"] != UNAUTHORIZED or credentials:
        who = "these credentials" if credentials else "whoever comes without credentials, and asks for none"
        told = f"It refuses {who} with HTTP {http['status']}{f' ({said})' if said else ''}."
        help_ = "Check the token, its scopes, and that it is meant for this server."
        if http["status"] != UNAUTHORIZED and not credentials:
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
