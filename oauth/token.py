"""The token endpoint: one request for each grant, never repeated, and a strict reading of what comes back."""

import re
from typing import Any, Final, NamedTuple

from oauth.authentication import Client, authenticate, spellings
from oauth.challenge import FATAL
from oauth.claims import Claims, read_claims
from oauth.discovery import Found
from oauth.grammar import are_scopes, is_printable
from oauth.metadata import MetadataError, read_object
from oauth.pkce import Proof
from oauth.record import Entry, failed, quoted, unanswered
from oauth.refusal import refusal
from oauth.steps import Fetch, Flow, Learn, NoReply, Reply
from protocol.failures import Code
from protocol.values.document import integer

__all__ = ["TOKEN", "Grant", "by_secret", "exchange", "grant_facts", "refresh", "refresh_due"]

#: The document of the record.
TOKEN: Final = "token request"  # noqa: S105 - the name of a document
#: Longest token, in characters: what common servers accept in a header.
TOKEN_LIMIT: Final = 16_384
#: How long before its expiry a token is refreshed, in seconds; never more than a tenth of its life.
REFRESH_MARGIN: Final = 60.0

_BEARER_TOKEN: Final = re.compile(r"[!-~]+\Z")  # sendable in a header; RFC 6750, section 2.1, and every server seen


class Grant(NamedTuple):
    """A token and what a later refresh needs. It belongs to one issuer and is never shown to another.

    ``expires_in`` is in seconds from the reply, None where the server does not say. ``scopes`` are what was granted,
    ``requested`` what was asked for.
    """

    access_token: str
    expires_in: int | None
    scopes: tuple[str, ...]
    requested: tuple[str, ...]
    refresh_token: str | None
    issuer: str
    token_endpoint: str
    resource: str | None
    client: Client
    claims: Claims | None

    def __repr__(self) -> str:
        return "<Grant>"


def grant_facts(grant: Grant) -> dict[str, Any]:
    """Return what evidence may hold of a grant, unredacted: never a token, and of a JWT three claims."""
    facts: dict[str, Any] = {
        "issuer": grant.issuer,
        "resource": grant.resource,
        "scopes": sorted(grant.scopes),
        "requested": sorted(grant.requested),
        "expiresIn": grant.expires_in,
        "refresh": grant.refresh_token is not None,
        "client": grant.client.origin,
        "tokenMethod": grant.client.method,
    }
    if grant.claims is not None:
        aud, iss, exp = grant.claims
        facts["claims"] = {"aud": list(aud), "iss": iss, "exp": exp}
    return facts


class _Request(NamedTuple):
    """One token request: its parameters, who makes it, and what to say when it comes to nothing."""

    found: Found
    client: Client
    parameters: dict[str, str]
    scopes: tuple[str, ...]
    private: tuple[str, ...]
    advice: str
    seconds: float | None = None

    def __repr__(self) -> str:
        return "<_Request>"


def exchange(
    found: Found,
    client: Client,
    code: str,
    proof: Proof,
    redirect: str,
    scopes: tuple[str, ...],
    record: list[Entry],
    *,
    keep_refresh: bool,
) -> Flow[Grant]:
    """Exchange a code for a token, once (RFC 6749, section 4.1.3; RFC 7636, section 4.5; RFC 8707, section 2.2).

    Raises Failed (`oauth_exchange_failed`), with ``unknown`` in its data when the reply was lost: the code is spent.
    """
    parameters = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect,
        "code_verifier": proof.verifier,
    }
    request = _Request(
        found,
        client,
        parameters,
        scopes,
        (code, proof.verifier, proof.state, proof.challenge),
        "The code is spent: start the sign-in again.",
    )
    grant = yield from _ask(request, record)
    return grant if keep_refresh else grant._replace(refresh_token=None)


def by_secret(found: Found, client: Client, scopes: tuple[str, ...], record: list[Entry]) -> Flow[Grant]:
    """Get a token for the client itself (RFC 6749, section 4.4). A refresh token is not kept (section 4.4.3)."""
    parameters = {"grant_type": "client_credentials"}
    if scopes:
        parameters["scope"] = " ".join(scopes)
    advice = "Check the client's grants and scopes at the issuer."
    grant = yield from _ask(_Request(found, client, parameters, scopes, (), advice), record)
    return grant._replace(refresh_token=None)


def refresh_due(grant: Grant, age: float) -> bool:
    """Tell whether a token that is ``age`` seconds old is to be refreshed before it is used again."""
    if grant.refresh_token is None or grant.expires_in is None:
        return False
    return age >= grant.expires_in - min(REFRESH_MARGIN, grant.expires_in / 10)


def refresh(grant: Grant, found: Found, record: list[Entry], seconds: float | None = None) -> Flow[Grant]:
    """Trade the refresh token for a new token, once (RFC 6749, section 6); a rotated refresh token takes its place.

    ``seconds`` bounds the request where it has less time than others.
    Raises Failed: `oauth_issuer_mismatch` when ``found`` is not the issuer of the grant, `oauth_exchange_failed` else.
    """
    if found.issuer != grant.issuer:
        entry = Entry(TOKEN, grant.token_endpoint, None, "the refresh token is another issuer's", False)
        raise failed(Code.OAUTH_ISSUER_MISMATCH, entry, "Start the sign-in again.")
    old = grant.refresh_token or ""
    parameters = {"grant_type": "refresh_token", "refresh_token": old}
    advice = "The refresh token is not used again: start the sign-in again."
    request = _Request(found, grant.client, parameters, grant.scopes, (old, grant.access_token), advice, seconds)
    renewed = yield from _ask(request, record)
    return renewed._replace(refresh_token=renewed.refresh_token or old, requested=grant.requested)


def _ask(request: _Request, record: list[Entry]) -> Flow[Grant]:
    from authlib.oauth2.rfc6749.parameters import prepare_token_request

    headers, fields = authenticate(request.client)
    parameters = {**request.parameters, **dict(fields)}
    if request.found.resource is not None:
        parameters["resource"] = request.found.resource
    body: str = prepare_token_request(**parameters)
    if spelled := spellings(request.client):
        yield Learn(spelled)
    url = request.found.server.token_endpoint or ""
    sent = (("Content-Type", "application/x-www-form-urlencoded"), ("Accept", "application/json"), *headers)
    reply: Reply | NoReply = yield Fetch(TOKEN, "POST", url, sent, body.encode("ascii"), seconds=request.seconds)
    if isinstance(reply, NoReply):
        record.append(Entry(TOKEN, url, None, unanswered(reply), False))
        code = reply.code if reply.code in FATAL else Code.OAUTH_EXCHANGE_FAILED
        raise failed(code, record[-1], request.advice, unknown=reply.sent)
    entry = Entry(TOKEN, url, reply.status, "", False)
    try:
        grant = yield from _read(request, reply)
    except MetadataError as error:
        record.append(entry._replace(reason=error.reason))
        raise failed(Code.OAUTH_EXCHANGE_FAILED, record[-1], request.advice) from None
    record.append(entry._replace(reason="taken", taken=True))
    return grant


def _read(request: _Request, reply: Reply) -> Flow[Grant]:
    """Read a reply (RFC 6749, section 5.1). Whatever it calls a token is learnt before anything is made of it."""
    if reply.redirects:
        raise MetadataError("a redirect, which is not followed")
    if reply.status != 200:
        secret = (request.client.secret,) if request.client.secret else ()
        raise MetadataError(refusal(reply, (*request.private, *secret, *spellings(request.client))))
    kind = reply.field("content-type").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise MetadataError(f"the content type is {quoted(kind)}, not `application/json`")
    document = read_object(reply.body)
    names = ("access_token", "refresh_token", "id_token")
    tokens = tuple(value for name in names if isinstance(value := document.get(name), str) and value)
    yield Learn(tokens)
    return _grant(request, document)


def _grant(request: _Request, document: dict[str, Any]) -> Grant:
    token, kind, lifetime = (document.get(name) for name in ("access_token", "token_type", "expires_in"))
    if isinstance(token, str) and len(token) > TOKEN_LIMIT:
        raise MetadataError(f"`access_token` has {len(token)} characters, and {TOKEN_LIMIT} can be used")
    if not isinstance(token, str) or not _BEARER_TOKEN.match(token):
        raise MetadataError("`access_token` is missing, or not a token of printable ASCII characters")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise MetadataError("`token_type` is not `Bearer`")
    seconds = integer(lifetime)
    if lifetime is not None and (seconds is None or seconds < 0):
        raise MetadataError("`expires_in` is not a whole number of seconds")
    renewal = document.get("refresh_token")
    if renewal is not None and not (isinstance(renewal, str) and is_printable(renewal)):
        raise MetadataError("`refresh_token` is not a string of printable ASCII characters")
    found = request.found
    return Grant(
        access_token=token,
        expires_in=seconds,
        scopes=_granted(document.get("scope"), request.scopes),
        requested=request.scopes,
        refresh_token=renewal,
        issuer=found.issuer,
        token_endpoint=found.server.token_endpoint or "",
        resource=found.resource,
        client=request.client,
        claims=read_claims(token),
    )


def _granted(scope: Any, requested: tuple[str, ...]) -> tuple[str, ...]:
    """Return the granted scopes: absent means those that were asked for (RFC 6749, section 5.1)."""
    if scope is None:
        return requested
    if scope == "":
        return ()
    if not isinstance(scope, str) or not are_scopes(*scope.split(" ")):
        raise MetadataError("`scope` is not a list of scopes parted by single spaces")
    return tuple(dict.fromkeys(scope.split(" ")))
