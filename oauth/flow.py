"""A whole sign-in in its two halves: to the consent page, and from the callback to the token."""

from typing import NamedTuple

from oauth.authentication import Client
from oauth.authorization import authorization_url, redirect_uri
from oauth.callback import Callback, check, private_parameters, read_query
from oauth.challenge import Demand, Probe, ask
from oauth.discovery import Found, Target, discover
from oauth.pkce import ENTROPY, Proof, mint
from oauth.record import Entry
from oauth.registration import Applicant, obtain
from oauth.scopes import choose
from oauth.steps import Consent, Flow, Learn, Listen, Wait
from oauth.token import Grant, by_secret, exchange
from protocol.failures import Code, Failed

__all__ = ["ENTROPY", "Pending", "begin", "finish"]


class Pending(NamedTuple):
    """A sign-in between its halves. Good for one :func:`finish`. Without ``proof`` no consent is awaited."""

    target: Target
    found: Found
    client: Client
    scopes: tuple[str, ...]
    redirect_uri: str = ""
    proof: Proof | None = None

    def __repr__(self) -> str:
        return "<Pending>"


def begin(
    target: Target,
    probe: Probe,
    entropy: bytes,
    record: list[Entry],
    *,
    demand: Demand | None = None,
    previous: tuple[str, ...] = (),
    known: str | None = None,
) -> Flow[Pending]:
    """Go from the endpoint to an open consent page; with a grant by secret, to where nothing is left but the request.

    ``entropy`` is ENTROPY fresh random bytes. For a step-up ``demand`` is what the last refusal asked for, and
    ``previous`` the scopes that earlier sign-ins asked for, ``known`` where they found the resource metadata; the
    server is then not asked for a challenge. Every entry is appended to ``record``, also before Failed is raised.
    """
    if demand is None:
        demand = yield from ask(probe, record)
    found = yield from discover(target, demand, record, known)
    scopes = choose(target.settings, demand, found, previous)
    if target.settings.client_credentials:
        applicant = Applicant(probe.name, "", scopes)
        return Pending(target, found, (yield from obtain(target, found, applicant, record)), scopes)
    return (yield from _open(target, found, scopes, probe.name, mint(entropy), record))


def _open(
    target: Target, found: Found, scopes: tuple[str, ...], name: str, proof: Proof, record: list[Entry]
) -> Flow[Pending]:
    settings = target.settings
    # The listener comes first: a client is registered with the port that it has.
    port: int = yield Listen(settings.callback_host, settings.callback_port, settings.callback_path)
    redirect = redirect_uri(settings.callback_host, port, settings.callback_path)
    client = yield from obtain(target, found, Applicant(name, redirect, scopes), record)
    yield Learn((proof.verifier, proof.state))
    url = authorization_url(
        found.server.authorization_endpoint or "",
        client.id,
        redirect,
        proof,
        scopes=scopes,
        resource=found.resource,
    )
    yield Learn((url,))
    yield Consent(url, settings.consent_timeout_ms / 1000)
    return Pending(target, found, client, scopes, redirect, proof)


def finish(pending: Pending, record: list[Entry]) -> Flow[Grant]:
    """Go from the callback to the token; the code is sent once, whatever comes of it. Raises Failed."""
    found, client, scopes = pending.found, pending.client, pending.scopes
    if pending.proof is None:
        return (yield from by_secret(found, client, scopes, record))
    query: str | None = yield Wait()
    if query is None:
        milliseconds = pending.target.settings.consent_timeout_ms
        text = f"No callback came within {milliseconds} ms of opening the consent page (`consentTimeoutMs`)."
        raise Failed(Code.OAUTH_CONSENT_TIMEOUT, text)
    proof = pending.proof
    learnt = private_parameters(query)
    yield Learn(learnt)
    expected = Callback(proof.state, found.issuer, found.server.issuer_in_callback)
    code = check(read_query(query), expected, (*learnt, proof.state, proof.verifier, proof.challenge))
    keep = pending.target.settings.refresh
    grant = exchange(found, client, code, proof, pending.redirect_uri, scopes, record, keep_refresh=keep)
    return (yield from grant)
