"""What became of one request: decides an outcome from the HTTP status, the messages seen, and how the reading ended."""

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple, TypeAlias
from urllib.parse import urljoin

from protocol.failures import Code, Failure
from protocol.mcp import results
from protocol.mcp.messages import Malformed, Message, Response
from protocol.mcp.revisions import Revision
from protocol.values.document import integer

__all__ = ["BODY_CHARACTERS", "EVENT_STREAM", "JSON", "Asked", "Outcome", "OutcomeKind", "Reply", "judge"]

OutcomeKind: TypeAlias = Literal["result", "rpc-error", "unavailable", "refused", "lost", "unsent"]

JSON: Final = "application/json"
EVENT_STREAM: Final = "text/event-stream"
#: Characters of a refusal's body that evidence keeps. Cut only after redaction, lest half a secret stay behind.
BODY_CHARACTERS: Final = 512


class Outcome(NamedTuple):
    """What one request came to.

    ``kind``: ``result`` and ``rpc-error`` are what the server said; ``unavailable`` is a reply to our id whose content
    cannot be used; ``refused`` is a known HTTP refusal; ``lost`` may have reached the server and its reply is lost or
    ambiguous; ``unsent`` never left. ``code`` is None for what the server said.
    ``value`` is the result, the error object, or the fixed reason of an unavailable reply. ``raw`` is the JSON text
    that it came in. ``http`` is ``facts.http``; the ``body`` of a refusal is uncut there. ``closes``: no further
    request may use the connection. Nothing of it is redacted, ``message`` included.
    """

    kind: OutcomeKind
    code: Code | None
    message: str
    value: Any
    raw: bytes
    http: dict[str, Any]
    closes: bool


class Asked(NamedTuple):
    """The request. ``revision`` is the one in force, None before one is; ``session``: it named a session.

    ``unauthorized`` is what to do about a 401, where that is not to bind a token.
    """

    id: int
    method: str
    url: str
    revision: Revision | None
    session: bool
    unauthorized: str | None = None


class Reply(NamedTuple):
    """What was seen. ``type`` is the media type in lower case, ``text`` the body of a refusal, uncut.

    ``trouble`` is what ended the reading before the reply did, if anything.
    """

    status: int
    type: str
    messages: tuple[Message, ...]
    batch: bool
    text: str
    location: str | None
    trouble: Failure | None
    http: dict[str, Any]


def judge(asked: Asked, reply: Reply) -> Outcome:
    """Decide by the first rung that holds. Pure and total.

    A response with our id is what it says at any status. Without one, a status of 300 and more is a refusal whatever
    became of its body, unless the reading was cancelled.
    """
    return next(outcome for rung in _RUNGS if (outcome := rung(asked, reply)) is not None)


def _too_large(_: Asked, reply: Reply) -> Outcome | None:
    if reply.status >= 300 or reply.trouble is None or reply.trouble.code is not Code.RESPONSE_TOO_LARGE:
        return None
    return _lost(reply, Code.RESPONSE_TOO_LARGE, reply.trouble.message)


def _ambiguous(asked: Asked, reply: Reply) -> Outcome | None:
    responses = [message for message in reply.messages if isinstance(message, Response)]
    ours = [response for response in responses if integer(response.id) == asked.id]
    if len(ours) > 1:
        return _lost(reply, Code.REPLY_AMBIGUOUS, f"Two responses came to one id ({asked.method}).")
    if reply.status >= 300:
        return None  # whatever else is in the body, the status refuses
    if reply.batch and not (asked.revision and asked.revision.batches):
        name = asked.revision.name if asked.revision else "an unnegotiated session"
        text = f"The reply to {asked.method} is a batch, which {name} does not allow."
        return _lost(reply, Code.REPLY_AMBIGUOUS, text)
    if len(responses) > len(ours):
        text = f"A response came to {asked.method} whose id is not the request's own (which is the number {asked.id})."
        return _lost(reply, Code.REPLY_AMBIGUOUS, text)
    return None


def _answered(asked: Asked, reply: Reply) -> Outcome | None:
    if reply.batch and not (asked.revision and asked.revision.batches):
        return None
    for message in reply.messages:
        if isinstance(message, Response) and integer(message.id) == asked.id:
            return _content(asked, message, reply)
    return None


def _content(asked: Asked, response: Response, reply: Reply) -> Outcome:
    error = response.error
    reason = response.fault
    if reason is None and error is None:
        reason = results.fault(asked.method, response.result, asked.revision)
    if reason is not None:
        text = f"The reply to {asked.method} cannot be used: {reason}."
        return Outcome("unavailable", Code.PROTOCOL_ERROR, text, reason, response.raw, reply.http, False)
    if error is None:
        return Outcome("result", None, "", response.result, response.raw, reply.http, False)
    text = f"The server refused {asked.method} with JSON-RPC error {integer(error['code'])}: {error['message']}"
    return Outcome("rpc-error", None, text, error, response.raw, reply.http, False)


def _cancelled(_: Asked, reply: Reply) -> Outcome | None:
    if reply.trouble is None or reply.trouble.code is not Code.CANCELLED:
        return None
    return _lost(reply, Code.CANCELLED, reply.trouble.message)


def _session_lost(asked: Asked, reply: Reply) -> Outcome | None:
    if not asked.session or not (reply.status == 404 or (reply.status == 400 and _says_session_lost(reply.text))):
        return None
    text = f"The server no longer knows the session: it answered HTTP {reply.status} to {asked.method}."
    return Outcome("refused", Code.SESSION_LOST, text, None, b"", _with_body(reply), True)


def _says_session_lost(text: str) -> bool:
    """Tell whether a 400 means a session that is gone ("No valid session ID", "session not found" and the like)."""
    text = text.lower()
    return "server not initialized" in text or ("session" in text and any(word in text for word in _GONE))


# Words that servers use beside "session"; a session id that is merely missing is none of them.
_GONE: Final = ("not found", "unknown", "valid", "expired", "not exist", "terminated", "closed")


def _redirected(asked: Asked, reply: Reply) -> Outcome | None:
    if not 300 <= reply.status < 400:
        return None
    return _refused(asked, reply, Code.REDIRECT_REFUSED, _redirect_message(asked, reply), known=False)


def _redirect_message(asked: Asked, reply: Reply) -> str:
    start = f"The server answered HTTP {reply.status} to {asked.method}"
    if reply.location is None:
        return f"{start}, a redirect that names no address. Redirects are never followed; check `endpoint`."
    target = _resolved(asked.url, reply.location)
    hint = next((hint for holds, hint in _REDIRECTS if holds(asked.url, target)), "another address")
    return f"{start}, a redirect to {target}: {hint}; change `endpoint` if it is right. Redirects are never followed."


def _resolved(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:  # of brackets that hold no address
        return location


_REDIRECTS: Final[tuple[tuple[Callable[[str, str], bool], str], ...]] = (
    (lambda url, target: target == url + "/", "the same URL with a trailing slash"),
    (lambda url, target: target + "/" == url, "the same URL without its trailing slash"),
    (lambda url, target: target == url.replace("http://", "https://", 1), "the same URL over https"),
    (lambda url, target: target == url, "the same URL again"),
)


def _failing(asked: Asked, reply: Reply) -> Outcome | None:
    if reply.status < 500 and reply.status != 408:
        return None
    return _refused(asked, reply, Code.HTTP_STATUS, _status_message(asked, reply), known=False)


def _refusing(asked: Asked, reply: Reply) -> Outcome | None:
    if reply.status < 400:
        return None
    return _refused(asked, reply, Code.HTTP_STATUS, _status_message(asked, reply), known=True)


def _status_message(asked: Asked, reply: Reply) -> str:
    hint = _HINTS.get(reply.status, "Look at the body and the server's log.")
    if reply.status == 401 and asked.unauthorized is not None:
        hint = asked.unauthorized
    elif reply.status == 401 and _promises_a_sign_in(reply.http):
        hint = f"{hint} {_SIGN_IN}"
    return f"The server answered HTTP {reply.status} to {asked.method}. {hint}"


#: What to do about a 401 whose challenge says where a token comes from (RFC 9728, section 5.1).
_SIGN_IN: Final = "It says where to sign in: try `assay login URL`, and bind `oauth` for flows."


def _promises_a_sign_in(http: dict[str, Any]) -> bool:
    challenges = [each for each in http.get("challenge") or () if str(each.get("scheme")).lower() == "bearer"]
    return any("resource_metadata" in (each.get("parameters") or {}) for each in challenges)


_HINTS: Final = {
    400: "Look at the body: it may say what the server misses.",
    401: "It asks for credentials: give a token (`--bearer-env`, or `bearerToken` in a binding), or check yours.",
    403: "It refuses this identity, or the origin of the request; a challenge may be in the facts.",
    404: "Check the path of the server's URL.",
    405: "This address takes no POST: check the server's URL.",
    406: "It does not give what MCP asks for (JSON or an event stream).",
    408: "It gave up waiting for the request.",
    415: "It does not take JSON at this address: check the server's URL.",
    429: "It limits the rate of requests.",
}


def _refused(asked: Asked, reply: Reply, code: Code, text: str, *, known: bool) -> Outcome:
    # What `initialize` was refused with is always known: nothing of the server's is at stake.
    kind: OutcomeKind = "refused" if known or asked.method == "initialize" else "lost"
    return Outcome(kind, code, text, None, b"", _with_body(reply), not known)


def _with_body(reply: Reply) -> dict[str, Any]:
    return {**reply.http, "body": reply.text} if reply.text else reply.http


def _troubled(_: Asked, reply: Reply) -> Outcome | None:
    return None if reply.trouble is None else _lost(reply, reply.trouble.code, reply.trouble.message)


def _accepted(asked: Asked, reply: Reply) -> Outcome | None:
    if reply.status != 202:
        return None
    text = f"The server answered HTTP 202 to {asked.method}: accepted, and no reply will come."
    return _lost(reply, Code.REPLY_LOST, text)


def _foreign(asked: Asked, reply: Reply) -> Outcome | None:
    if reply.type in (JSON, EVENT_STREAM):
        return None
    # As the server spelled it, and uncut: a private value in it has to be recognised by whoever redacts the message.
    spelled = reply.http.get("contentType") or reply.type
    kind = f"the content type {spelled}" if spelled else "no content type"
    text = f"The reply to {asked.method} has {kind}; MCP allows {JSON} and {EVENT_STREAM}. Check `endpoint`."
    return _lost(reply, Code.PROTOCOL_ERROR, text)


def _unreadable(asked: Asked, reply: Reply) -> Outcome | None:
    for message in reply.messages:
        if isinstance(message, Malformed) and message.anonymous:
            return _lost(reply, Code.PROTOCOL_ERROR, f"The reply to {asked.method} is {message.reason}.")
    if reply.type == JSON:
        return _lost(reply, Code.PROTOCOL_ERROR, f"The reply to {asked.method} holds no response.")
    return None


def _ended(asked: Asked, reply: Reply) -> Outcome | None:
    return _lost(reply, Code.REPLY_LOST, f"The event stream ended before the response to {asked.method}.")


def _lost(reply: Reply, code: Code, text: str) -> Outcome:
    return Outcome("lost", code, text, None, b"", reply.http, True)


#: The ladder: the first rung that gives an outcome decides. The last one always does.
_RUNGS: Final[tuple[Callable[[Asked, Reply], Outcome | None], ...]] = (
    _too_large,
    _ambiguous,
    _answered,
    _cancelled,
    _session_lost,
    _redirected,
    _failing,
    _refusing,
    _troubled,
    _accepted,
    _foreign,
    _unreadable,
    _ended,
)
