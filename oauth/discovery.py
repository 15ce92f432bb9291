"""Finds the authorization server of an endpoint: resource metadata, then server metadata, each step on the record."""

from collections.abc import Callable, Container, Generator
from typing import Any, Final, NamedTuple, TypeVar

from oauth.challenge import FATAL, Demand
from oauth.issuers import select, unlisted
from oauth.metadata import (
    MetadataError,
    ResourceMetadata,
    ServerMetadata,
    read_object,
    read_resource,
    read_server,
)
from oauth.record import Entry, failed, quoted, unanswered
from oauth.settings import ENDPOINT, LISTED, Settings
from oauth.steps import Fetch, Flow, NoReply, Reply
from oauth.support import Lack, lack
from oauth.urls import (
    covers,
    endpoint_fault,
    resource_metadata_urls,
    server_metadata_urls,
)
from protocol.failures import Code, Failed
from protocol.mcp.origins import origin

__all__ = ["DEFAULTS", "RESOURCE", "SERVER", "Found", "Target", "discover"]

#: The documents of the record that are asked for here.
RESOURCE: Final = "protected resource metadata"
SERVER: Final = "authorization server metadata"
DEFAULTS: Final = "default endpoints"

_ACCEPT: Final = (("Accept", "application/json"),)
#: What revision 2025-03-26 asks a client to send while it discovers.
_COMPAT_HEADERS: Final = (*_ACCEPT, ("MCP-Protocol-Version", "2025-03-26"))
#: Codes after which an origin is not asked for a further document: each would cost a whole deadline.
_DEAD: Final = frozenset((Code.UNREACHABLE, Code.TLS_FAILED, Code.TIMEOUT))
#: What to do where the resource metadata is nowhere, and where nobody knows.
_NOT_THERE: Final = "Set `compat` to `2025-03-26` for a server of that revision."
_NO_ANSWER: Final = "Look at why there was no usable reply, and sign in again."


_Read = TypeVar("_Read", ResourceMetadata, ServerMetadata)


class Target(NamedTuple):
    """What a sign-in is for. ``admitted`` holds the host's origins as protocol.mcp.origins writes them."""

    endpoint: str
    settings: Settings
    admitted: Container[str]

    def __repr__(self) -> str:
        return "<Target>"


class Found(NamedTuple):
    """Where a token comes from. ``resource`` is exactly as published; None where nothing was (2025-03-26).

    ``metadata_url`` is where the resource metadata was.
    """

    server: ServerMetadata
    resource: str | None
    resource_scopes: tuple[str, ...] | None
    metadata_url: str | None = None

    def __repr__(self) -> str:
        return "<Found>"

    @property
    def issuer(self) -> str:
        """The issuer as its own metadata spells it, which everything later is compared with."""
        return self.server.issuer


class _Refused(Exception):
    """A document that answers the question, and with which the sign-in cannot go on."""

    def __init__(self, code: Code, reason: str, advice: str = "") -> None:
        super().__init__(reason)
        self.code, self.reason, self.advice = code, reason, advice


class _PassedOver(Exception):
    """A document that does not answer the question; the next place is asked."""


#: Takes a document, or raises one of the two above.
_Judge = Callable[[dict[str, Any]], Any]


def discover(target: Target, demand: Demand | None, record: list[Entry], known: str | None = None) -> Flow[Found]:
    """Find the issuer of the endpoint and read its metadata (RFC 9728, RFC 8414, OpenID Connect Discovery 1.0).

    ``known`` is where an earlier sign-in found the resource metadata, which not every refusal says again. Every entry
    is appended to ``record``. Raises Failed: `oauth_discovery_failed` when a document is missing or malformed,
    `oauth_issuer_mismatch` when it is not the issuer's, `oauth_unsupported` when a safe sign-in is not possible with
    it, `origin_not_admitted` when it leads elsewhere.
    """
    dead: set[str] = set()
    if target.settings.compat:
        issuers = unlisted(target.settings, target.endpoint)
        return Found((yield from _server(target, issuers, record, dead)), None, None)
    resource = yield from _resource(target, _resource_places(target, demand, known), record, dead)
    url = record[-1].url
    server = yield from _server(target, (_issuer(target, resource),), record, dead)
    return Found(server, resource.resource, resource.scopes, url)


# --- the protected resource -------------------------------------------------------------------------------------


def _resource_places(target: Target, demand: Demand | None, known: str | None) -> tuple[str, ...]:
    """Return where the metadata may stand: as the challenge says, where it was before, and where it belongs."""
    standing = resource_metadata_urls(target.endpoint)
    told = (demand.metadata_url if demand is not None else None, known if known not in standing else None)
    return tuple(dict.fromkeys((*(url for url in told if url is not None), *standing)))


def _resource(target: Target, urls: tuple[str, ...], record: list[Entry], dead: set[str]) -> Flow[ResourceMetadata]:
    def judge(document: dict[str, Any]) -> ResourceMetadata:
        metadata = _read(read_resource, document)
        fault = covers(metadata.resource, target.endpoint)
        if fault is not None:
            reason = f"`resource` is {quoted(metadata.resource)}, which {fault}"
            raise _Refused(Code.OAUTH_DISCOVERY_FAILED, reason, "The server has to change it.")
        _issuer(target, metadata)
        return metadata

    start = len(record)
    found = yield from _ask(_Question(RESOURCE, urls, _ACCEPT, judge), target, record, dead)
    if found is None:
        # Only a server that answered for each place may be one that has no such document by its revision.
        answered = all(each.status is not None for each in record[start:])
        raise _missing(RESOURCE, record[start:], _NOT_THERE if answered else _NO_ANSWER)
    metadata: ResourceMetadata = found
    return metadata


def _issuer(target: Target, metadata: ResourceMetadata) -> str:
    chosen = select(target.settings, target.endpoint, target.admitted, metadata.authorization_servers)
    if isinstance(chosen, Lack):
        raise _Refused(*chosen)
    return chosen


# --- the authorization server -----------------------------------------------------------------------------------


def _server(target: Target, issuers: tuple[str, ...], record: list[Entry], dead: set[str]) -> Flow[ServerMetadata]:
    mismatched = False

    def judge(document: dict[str, Any]) -> ServerMetadata:
        nonlocal mismatched
        issuer = document.get("issuer")
        if not isinstance(issuer, str):
            raise _PassedOver("`issuer` is missing, or not a string")
        if issuer not in issuers:
            mismatched = True
            raise _PassedOver(f"`issuer` is {quoted(issuer)}, not {quoted(issuers[0])}: it is not this issuer's")
        server = _read(read_server, document)
        missing = lack(server, target.settings, target.admitted)
        if missing is not None:
            raise _Refused(*missing)
        return server

    start = len(record)
    headers = _COMPAT_HEADERS if target.settings.compat else _ACCEPT
    question = _Question(SERVER, server_metadata_urls(issuers[0]), headers, judge)
    found = yield from _ask(question, target, record, dead)
    if found is not None:
        server: ServerMetadata = found
        return server
    entries = record[start:]
    if mismatched:
        raise _missing(SERVER, entries, "The issuer has to publish its own name.", Code.OAUTH_ISSUER_MISMATCH)
    absent = all(entry.status is not None and 400 <= entry.status < 500 for entry in entries)
    if target.settings.compat and target.settings.issuer in (ENDPOINT, LISTED) and absent:
        return _default_endpoints(target, issuers[0], record)
    raise _missing(SERVER, entries, "Check the binding's `issuer`.")


def _default_endpoints(target: Target, issuer: str, record: list[Entry]) -> ServerMetadata:
    """Return what MCP 2025-03-26 lays down for a server without metadata: three paths at its origin, and PKCE."""
    record.append(Entry(DEFAULTS, issuer, None, "no metadata: /authorize, /token and /register are used", True))
    server = ServerMetadata(
        issuer=issuer,
        authorization_endpoint=f"{issuer}/authorize",
        token_endpoint=f"{issuer}/token",
        registration_endpoint=f"{issuer}/register",
        scopes=None,
        response_types=("code",),
        grant_types=None,
        token_methods=None if target.settings.any_authentication else ("none",),
        challenge_methods=("S256",),
        issuer_in_callback=False,
        metadata_documents=False,
    )
    missing = lack(server, target.settings, target.admitted)
    if missing is not None:
        raise failed(missing.code, Entry(DEFAULTS, issuer, None, missing.reason, False), missing.advice)
    return server


# --- asking for a document --------------------------------------------------------------------------------------


class _Question(NamedTuple):
    """A document, the places where it may stand in their order, and what decides whether it is the one."""

    document: str
    urls: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    judge: _Judge


def _ask(question: _Question, target: Target, record: list[Entry], dead: set[str]) -> Generator[Any, Any, Any]:
    """Return what the judge makes of the first document that it takes, or None. Raises Failed."""
    for url in question.urls:
        entry = Entry(question.document, url, None, "", False)
        fault = endpoint_fault(url, loopback_http=target.settings.loopback_http)
        if fault is not None or origin(url) in dead:
            reason = f"the URL {fault}" if fault is not None else "not asked for: its origin gave no reply before"
            record.append(entry._replace(reason=reason))
            continue
        reply: Reply | NoReply = yield Fetch(question.document, "GET", url, question.headers)
        if isinstance(reply, NoReply):
            _unanswered(entry, reply, record, dead)
            continue
        entry = entry._replace(status=reply.status)
        try:
            found = question.judge(_document(reply))
        except _PassedOver as reason:
            record.append(entry._replace(reason=str(reason)))
        except _Refused as refusal:
            record.append(entry._replace(reason=refusal.reason))
            raise failed(refusal.code, record[-1], refusal.advice) from None
        else:
            record.append(entry._replace(reason="taken", taken=True))
            return found
    return None


def _unanswered(entry: Entry, reply: NoReply, record: list[Entry], dead: set[str]) -> None:
    record.append(entry._replace(reason=unanswered(reply)))
    if reply.code in FATAL:
        raise Failed(reply.code, reply.message)
    if reply.code in _DEAD:
        dead.add(origin(entry.url))


def _read(reader: Callable[[dict[str, Any]], _Read], document: dict[str, Any]) -> _Read:
    try:
        return reader(document)
    except MetadataError as error:
        raise _Refused(Code.OAUTH_DISCOVERY_FAILED, error.reason, "The server has to change it.") from None


def _document(reply: Reply) -> dict[str, Any]:
    """Return the object of a reply. Raises _PassedOver."""
    if reply.redirects:
        raise _PassedOver("a redirect, which is not followed")
    if reply.status != 200:
        raise _PassedOver("not there" if reply.status in (404, 410) else "refused")
    try:
        return read_object(reply.body)
    except MetadataError as error:
        kind = reply.field("content-type").partition(";")[0].strip()
        described = f" (content type {quoted(kind)})" if kind else " (no content type)"
        raise _PassedOver(error.reason + described) from None


def _missing(document: str, entries: list[Entry], advice: str, code: Code = Code.OAUTH_DISCOVERY_FAILED) -> Failed:
    """Return the failure of a document that no place gave: every place, its status and its reason."""
    tried = "; ".join(
        f"{entry.url} {f'answered HTTP {entry.status}: ' if entry.status is not None else ''}{entry.reason}"
        for entry in entries
    )
    return Failed(code, f"No usable {document} was found: {tried}. {advice}")
