"""Carries out `discover`: the steps of a sign-in that need no client and no consent, for their record."""

from typing import Any

from oauth.challenge import Demand
from oauth.discovery import Found, Target
from oauth.record import Entry, as_facts
from oauth.settings import LISTED, Settings
from oauth.urls import is_loopback
from plugin.opening import endpoint, transport
from plugin.signin import SignIn
from plugin.step import Step, Verdict
from protocol.failures import Failed
from protocol.wire.steps import StepResult

__all__ = ["discover"]


def discover(step: Step) -> StepResult:
    """Ask the endpoint without a token, and look for its authorization server as a sign-in would."""
    record: list[Entry] = []
    try:
        found = _find(step, record)
        verdict = Verdict("succeeded", None, f"A sign-in can begin at the issuer {found.issuer}.")
        step.facts["found"] = _found(found)
    except Failed as failed:
        verdict = Verdict("failed", failed.code, failed.failure.message)
    step.facts["signIn"] = as_facts(record)
    return step.result(verdict)


def _find(step: Step, record: list[Entry]) -> Found:
    alias, context = step.alias, step.context
    url = endpoint(alias, context)
    # Without settings everything is looked at that some settings would allow: to tell is not to use it.
    settings = alias.binding.oauth or Settings(LISTED, any_authentication=True, loopback_http=is_loopback(url))
    target = Target(url, settings, context.origins)
    alias.discovery = SignIn(target, transport(alias.binding, context), context.learn, context.open_no_consent)
    try:
        demand = alias.discovery.ask(alias.binding.headers, step.stop_if_cancelled, record)
        step.facts["demand"] = _demand(demand)
        return alias.discovery.discover(demand, record)
    finally:
        alias.discovery.close()


def _demand(demand: Demand | None) -> dict[str, Any] | None:
    if demand is None:
        return None
    return {
        "metadata": demand.metadata_url,
        "scopes": _listed(demand.scopes),
        "error": demand.error,
    }


def _listed(texts: tuple[str, ...] | None) -> list[str] | None:
    return None if texts is None else list(texts)


def _found(found: Found) -> dict[str, Any]:
    """Return what a person wants to know of an authorization server; null where its metadata does not say."""
    server = found.server
    return {
        "issuer": found.issuer,
        "resource": found.resource,
        "resourceScopes": _listed(found.resource_scopes),
        "scopes": _listed(server.scopes),
        "grants": _listed(server.grant_types),
        "tokenMethods": _listed(server.token_methods),
        "registration": server.registration_endpoint is not None,
        "metadataDocuments": server.metadata_documents,
        "issuerInCallback": server.issuer_in_callback,
    }
