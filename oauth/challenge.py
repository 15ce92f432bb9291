"""What a server demands: one unauthenticated ``initialize``, and the reading of the challenge that refuses it."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from oauth.grammar import are_scopes
from oauth.record import Entry, failed, unanswered
from oauth.steps import Fetch, Flow, Learn, NoReply, Reply
from protocol.failures import Code, Failed
from protocol.mcp.challenge import Challenge, parse_challenges
from protocol.mcp.messages import request_body
from protocol.mcp.negotiation import initialize_params
from protocol.mcp.session import DELETE_TIMEOUT, session_id_fault

__all__ = ["CHALLENGE", "FATAL", "Demand", "Probe", "ask", "demand"]

#: The documents of the record that are asked for here.
CHALLENGE: Final = "challenge"
SESSION: Final = "session opened without a token"
#: Codes of the transport that end a sign-in wherever they come up: nobody would thank us for trying the next URL.
FATAL: Final = frozenset((Code.CANCELLED, Code.ORIGIN_NOT_ADMITTED))


class Demand(NamedTuple):
    """What the first Bearer challenge of a refusal asks for. ``scopes`` is None where it names none (RFC 6750)."""

    metadata_url: str | None = None
    scopes: tuple[str, ...] | None = None
    error: str | None = None


class Probe(NamedTuple):
    """How to send the one unauthenticated request. ``headers`` are the binding's, without any token; the rest is us."""

    endpoint: str
    headers: tuple[tuple[str, str], ...] = ()
    name: str = "assay"
    version: str = "0"

    def __repr__(self) -> str:
        return "<Probe>"


def demand(challenges: Iterable[Challenge]) -> Demand | None:
    """Return what the first Bearer challenge asks for, or None when there is none.

    A ``scope`` that is not a list of scope tokens (RFC 6750, section 3) counts as absent.
    """
    bearer = next((challenge for challenge in challenges if challenge.is_bearer), None)
    if bearer is None:
        return None
    parameters = bearer.parameters
    scopes = tuple(dict.fromkeys(scope for scope in parameters.get("scope", "").split(" ") if scope))
    usable = bool(scopes) and are_scopes(*scopes)
    return Demand(parameters.get("resource_metadata"), scopes if usable else None, parameters.get("error"))


def ask(probe: Probe, record: list[Entry]) -> Flow[Demand | None]:
    """Send ``initialize`` without a token, and return what the refusal asks for; None when it asks for nothing.

    A session that the server opens instead is deleted, in at most 1.5 s, and that is recorded. Raises Failed when the
    endpoint cannot be reached at all.
    """
    body = request_body(1, "initialize", initialize_params(probe.name, probe.version))
    headers = (
        *probe.headers,
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    )
    reply: Reply | NoReply = yield Fetch(CHALLENGE, "POST", probe.endpoint, headers, body, head_only=True)
    if isinstance(reply, NoReply):
        _unanswered(probe, reply, record)
        return None
    found = demand(parse_challenges(value for name, value in reply.headers if name == "www-authenticate"))
    record.append(_judge(probe, reply, found))
    sessions = [value for name, value in reply.headers if name == "mcp-session-id"]
    if sessions and reply.status < 300:
        yield Learn(tuple(sessions))
        yield from _delete(probe, sessions, record)
    return found if reply.status == 401 else None


def _unanswered(probe: Probe, reply: NoReply, record: list[Entry]) -> None:
    entry = Entry(CHALLENGE, probe.endpoint, None, unanswered(reply), False)
    record.append(entry)
    if reply.code in FATAL or reply.code in (Code.UNREACHABLE, Code.TLS_FAILED):
        raise Failed(reply.code, reply.message)


def _judge(probe: Probe, reply: Reply, found: Demand | None) -> Entry:
    if reply.status != 401:
        reason = "the server refused `initialize`, and not for want of a token"
        if reply.status < 300:
            reason = "the server asks for no token on `initialize`"
        elif reply.redirects:
            reason = "a redirect, which is not followed"
        return Entry(CHALLENGE, probe.endpoint, reply.status, reason, False)
    if found is None:
        return Entry(CHALLENGE, probe.endpoint, 401, "no Bearer challenge in `WWW-Authenticate`", False)
    named = [name for name, value in zip(("resource_metadata", "scope"), found, strict=False) if value]
    reason = f"a Bearer challenge with {' and '.join(f'`{name}`' for name in named) or 'neither metadata nor scope'}"
    return Entry(CHALLENGE, probe.endpoint, 401, reason, True)


def _delete(probe: Probe, sessions: list[str], record: list[Entry]) -> Flow[None]:
    if session_id_fault(sessions) is not None:
        record.append(Entry(SESSION, probe.endpoint, None, "left alone: its id cannot be sent back", False))
        return
    headers = (*probe.headers, ("Mcp-Session-Id", sessions[0]))
    reply: Reply | NoReply = yield Fetch(
        SESSION, "DELETE", probe.endpoint, headers, head_only=True, seconds=DELETE_TIMEOUT
    )
    if isinstance(reply, NoReply):
        entry = Entry(SESSION, probe.endpoint, None, f"its DELETE had {unanswered(reply)}", False)
        record.append(entry)
        if reply.code in FATAL:
            raise failed(reply.code, entry)
        return
    gone = 200 <= reply.status < 300
    reason = "deleted" if gone else "the server refused its DELETE"
    record.append(Entry(SESSION, probe.endpoint, reply.status, reason, gone))
