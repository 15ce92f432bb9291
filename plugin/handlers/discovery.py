"""Carries out `discover`: the steps of a sign-in that need no client and no consent, for their record."""

from typing import Any

from oauth.challenge import Demand, Probe, ask
from oauth.discovery import Found, Target
from oauth.discovery import discover as find_server
from oauth.fetching import Fetcher
from oauth.perform import Performer
from oauth.record import Entry, as_facts
from oauth.settings import LISTED, Settings
from plugin.identity import NAME, VERSION
from plugin.opening import endpoint, transport
from plugin.step import Step, Verdict
from protocol.failures import Failed
from protocol.mcp.attempts import Interrupt
from protocol.values.urls import is_loopback
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
    way, interrupt = transport(alias.binding, context), Interrupt()
    fetch = Fetcher(way, interrupt, name=NAME, version=VERSION, timeout=alias.binding.timeout_ms / 1000)
    show = lambda url: context.open_consent(alias.name, url, lambda: interrupt.is_set)  # noqa: E731
    alias.discovery = Performer(fetch, context.learn, show, interrupt)
    try:
        step.stop_if_cancelled()
        demand = alias.discovery.run(ask(Probe(url, alias.binding.headers, NAME, VERSION), record))
        step.facts["demand"] = _demand(demand)
        return alias.discovery.run(find_server(target, demand, record))
    finally:
        alias.discovery = None
        way.close()
        interrupt.close()


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
