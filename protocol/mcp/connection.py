"""One MCP connection of one identity: initialize, requests in turn, the GET stream, and the one DELETE."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from protocol.failures import Code, Failed, Failure
from protocol.mcp.answering import Answerer
from protocol.mcp.attempts import Attempt, Interrupt
from protocol.mcp.channel import Channel
from protocol.mcp.elicitation import CAPABILITY
from protocol.mcp.exchange import ask, drain, notify, unanswered
from protocol.mcp.http import HttpTransport, Opened
from protocol.mcp.inventories import Kind
from protocol.mcp.listening import GetStream
from protocol.mcp.messages import Notification, Request, notification_body, request_body
from protocol.mcp.negotiation import Negotiated, initialize_params, negotiate
from protocol.mcp.paging import Inventory, Limits, read_inventory
from protocol.mcp.replies import Asked, Outcome
from protocol.mcp.session import DELETE_TIMEOUT, Session, State, session_id_fault

__all__ = ["Connection", "Settings", "State"]

#: Seconds that `notifications/cancelled` may take: it is a courtesy to a server that is late already.
CANCEL_TIMEOUT: Final = 1.0
#: Seconds that an answer to a request of the server may take.
ANSWER_TIMEOUT: Final = 5.0
#: Seconds that are waited for a thread which has been interrupted and only has to notice.
_JOIN_TIMEOUT: Final = 1.0

#: An id that no request has, for what is no request.
_NO_ID: Final = -1


class Settings(NamedTuple):
    """What a connection needs to know.

    ``endpoint`` is the whole URL, path joined. ``headers`` (pairs) go on every request. ``timeout`` bounds each
    request as a whole, in seconds; ``max_response_bytes`` the body of a reply, before and after decompression.
    ``resume``: a reply stream that a server of 2025-11-25 ended early is taken up once. ``elicitation``: forms are
    answered with their defaults; without it the capability is not declared. ``unauthorized`` is what to do about a
    401, where that is not to bind a token.
    """

    endpoint: str
    headers: tuple[tuple[str, str], ...] = ()
    timeout: float = 15.0
    max_response_bytes: int = 8 * 1024 * 1024
    name: str = "assay"
    version: str = "0"
    resume: bool = False
    elicitation: bool = False
    unauthorized: str | None = None


class Connection:
    """A session of one alias. Methods are called from one thread; only :meth:`cancel` may be called from another.

    No method raises for what a server or network does: that is an Outcome. ``learn`` is called with the session id
    before anything else happens with it. Always :meth:`end` it: it holds sockets and threads.
    """

    def __init__(
        self,
        transport: HttpTransport,
        settings: Settings,
        learn: Callable[[str], None],
    ) -> None:
        """Raises Failed before anything is contacted: invalid_binding, origin_not_admitted."""
        self._transport = transport
        self._settings = settings
        self._learn = learn
        self._channel = Channel(
            transport, settings.endpoint, settings.headers, name=settings.name, version=settings.version
        )
        self._session = Session()
        self._foreground, self._background, self._closing = Interrupt(), Interrupt(), Interrupt()
        self._answerer = Answerer(self._send_answer, elicitation=settings.elicitation)
        self._stream: GetStream | None = None
        self._session_fault: str | None = None
        self._end: Outcome | None = None
        self._network: dict[str, Any] = {}

    @property
    def state(self) -> State:
        """``none`` before initialize; ``refused``, ``open`` or ``closed`` after it; ``disconnected`` after end."""
        return self._session.state

    @property
    def revision(self) -> str | None:
        """The name of the negotiated revision; None while there is none."""
        return self._session.revision.name if self._session.revision else None

    @property
    def network(self) -> dict[str, Any]:
        """How the first connection was made, or failed: see :class:`protocol.mcp.network.Network`. Empty before."""
        return self._network

    @property
    def server(self) -> dict[str, Any]:
        """``serverInfo`` as the server sent it; empty while there is no session."""
        return self._session.server

    @property
    def capabilities(self) -> dict[str, Any]:
        """The server's ``capabilities`` as it sent them; empty while there is no session."""
        return self._session.capabilities

    def initialize(self) -> Outcome:
        """Open the session. ``result`` when it is open (``value`` is the InitializeResult); all else closes.

        Raises RuntimeError when it was called before.
        """
        if self._session.state != "none":
            raise RuntimeError(f"a connection that is {self._session.state} cannot be initialized")
        capabilities = CAPABILITY if self._settings.elicitation else {}
        params = initialize_params(self._settings.name, self._settings.version, capabilities)
        outcome = self._ask("initialize", params, self._take_session)
        negotiated = negotiate(outcome)
        if isinstance(negotiated, Outcome):
            return self._refused(negotiated)
        if self._session_fault is not None:
            unusable = outcome._replace(kind="unavailable", code=Code.PROTOCOL_ERROR, message=self._session_fault)
            return self._refused(unusable)
        self._settle(negotiated)
        failure = self._confirm()
        if failure is not None:
            return self._refused(failure)
        self._session.move("accept")
        self._stream = GetStream(self._channel, self._background, self._settings.max_response_bytes, self._hear)
        self._stream.start()
        return outcome

    def _take_session(self, opened: Opened) -> None:
        values = opened.fields(b"mcp-session-id")
        for value in values:
            self._learn(value)
        self._session_fault = session_id_fault(values)
        if values and self._session_fault is None:
            self._session.id = values[0]

    def _settle(self, negotiated: Negotiated) -> None:
        session = self._session
        session.revision, session.server, session.capabilities = negotiated
        self._channel.settle(session.revision, session.id)

    def _confirm(self) -> Outcome | None:
        asked = self._asked(_NO_ID, "notifications/initialized")
        attempt = Attempt(self._foreground, self._settings.timeout)
        return notify(self._channel, asked, notification_body(asked.method), attempt, self._settings.max_response_bytes)

    def _refused(self, outcome: Outcome) -> Outcome:
        self._session.move("refuse")
        self._channel.settle(self._session.revision, self._session.id)  # for the DELETE of a session it opened
        return outcome._replace(closes=True)

    def authorize(self, value: str) -> None:
        """Let every later request of the session carry this Authorization: a token was renewed or widened."""
        self._channel.authorize(value)

    def request(self, method: str, params: dict[str, Any] | None = None) -> Outcome:
        """Send one request, once. Not open: ``unsent`` with not_connected or disconnected, and nothing is sent.

        When the deadline passes or the request is cancelled after it was sent, the server is told so, once
        (``http["cancelNotification"]``).
        """
        refusal = self._session.refusal()
        if refusal is not None:
            return _unsent(refusal)
        outcome = self._ask(method, params)
        if outcome.closes:
            self._session.move("lose")
            self._background.set()
        return outcome

    def _ask(
        self, method: str, params: dict[str, Any] | None, on_head: Callable[[Opened], None] | None = None
    ) -> Outcome:
        asked = self._asked(self._session.next_id(), method)
        try:
            body = request_body(asked.id, method, params)
        except ValueError:
            return _unsent(Failure(Code.INVALID_ARGUMENTS, "A string of the arguments holds a lone surrogate."))
        attempt = Attempt(self._foreground, self._settings.timeout)
        limit = self._settings.max_response_bytes
        resume = self._settings.resume
        outcome = ask(self._channel, asked, body, attempt, limit, self._hear, on_head, resume=resume)
        self._network = self._network or attempt.network
        if outcome.kind == "lost" and outcome.code in _CANCELLABLE and method != "initialize":
            outcome.http["cancelNotification"] = self._tell_cancelled(asked.id, str(outcome.code))
        return outcome

    def _asked(self, identity: int, method: str) -> Asked:
        session, advice = self._session, self._settings.unauthorized
        return Asked(identity, method, self._channel.url, session.revision, session.id is not None, advice)

    def _tell_cancelled(self, identity: int, reason: str) -> dict[str, Any]:
        """Send the one best-effort `notifications/cancelled` (2025-11-25, utilities/cancellation)."""
        body = notification_body("notifications/cancelled", {"requestId": identity, "reason": reason})
        status, code = self._post(body, Attempt(self._closing, CANCEL_TIMEOUT))
        return {"status": status, "code": code and str(code)}

    def read(self, kind: Kind, limits: Limits, on_page: Callable[[int, int], None] | None = None) -> Inventory:
        """Read an inventory to its end; ``on_page`` is told pages and entries so far. May close the connection."""
        reading = read_inventory(kind, limits, declared=kind.capability in self.capabilities)
        params = next(reading)
        pages = entries = 0
        while True:
            outcome = self.request(kind.method, params)
            try:
                params = reading.send(outcome)
            except StopIteration as stop:
                inventory: Inventory = stop.value
                break
            pages, entries = pages + 1, entries + len(outcome.value[kind.member])
            if on_page is not None:
                on_page(pages, entries)
        if inventory.closes and self.state == "open":
            self._session.move("lose")
            self._background.set()
        return inventory

    def end(self) -> Outcome:
        """End the session with at most one DELETE of at most 1.5 s, whatever the state; once ended, send nothing more.

        ``result`` when the server confirmed (2xx) or never issued a session; else ``refused`` (see ``http["status"]``),
        ``lost`` or ``unsent`` with cleanup_unconfirmed. ``value`` says which: ``{"delete": "none"}``, ``"confirmed"``,
        ``"refused"``, ``"lost"`` or ``"unsent"``. A later call returns the recorded outcome.
        """
        if self._end is None:
            self._session.move("end")
            self._background.set()
            self._end = _deleted("none", {}, "The server never issued a session.")
            if self._session.id is not None:
                self._end = self._delete()
            self._release()
        return self._end

    def _delete(self) -> Outcome:
        attempt = Attempt(self._closing, DELETE_TIMEOUT)
        try:
            opened = self._channel.send("DELETE", None, attempt)
        except Failed as error:
            lost = unanswered("the DELETE of the session", error.failure, attempt)
            return _deleted(lost.kind, lost.http, lost.message)
        try:
            drain(opened, attempt)
        finally:
            opened.close()
        http = {"status": opened.status, "milliseconds": attempt.milliseconds()}
        if opened.status < 300:
            return _deleted("confirmed", http, "")
        return _deleted("refused", http, f"The server answered HTTP {opened.status} to the DELETE of the session.")

    def _release(self) -> None:
        """Give threads and sockets back. What a thread still holds is left to it: it is a daemon."""
        ended = self._answerer.close(_JOIN_TIMEOUT)
        if self._stream is not None:
            ended = self._stream.join(_JOIN_TIMEOUT) and ended
        if ended:
            self._background.close()
        self._foreground.close()
        self._closing.close()
        self._transport.close()

    def cancel(self) -> None:
        """From any thread: end the running request with code ``cancelled``, and every later one until rearm."""
        self._foreground.set()

    def rearm(self) -> None:
        """Forget a cancel. Call it at the start of each command."""
        self._foreground.clear()

    def stream(self) -> dict[str, Any]:
        """Return what the GET stream and the answers to the server's requests have come to so far, for ``facts``.

        See :meth:`GetStream.facts`; ``answers`` counts what was answered. Empty before there is a session.
        """
        return {} if self._stream is None else {**self._stream.facts(), "answers": self._answerer.facts()}

    def _hear(self, message: Request | Notification) -> None:
        if isinstance(message, Request):
            self._answerer.take(message)

    def _send_answer(self, body: bytes) -> None:
        self._post(body, Attempt(self._background, min(ANSWER_TIMEOUT, self._settings.timeout)))

    def _post(self, body: bytes, attempt: Attempt) -> tuple[int | None, Code | None]:
        """Send what has no reply. Returns the status, or the code of what went wrong."""
        try:
            opened = self._channel.send("POST", body, attempt)
        except Failed as error:
            return None, error.code
        try:
            drain(opened, attempt)
        finally:
            opened.close()
        return opened.status, None


#: Why a request that was sent may be waited for no longer, so that the server should be told.
_CANCELLABLE: Final = (Code.TIMEOUT, Code.CANCELLED)


def _unsent(failure: Failure) -> Outcome:
    return Outcome("unsent", failure.code, failure.message, None, b"", {}, False)


def _deleted(delete: str, http: dict[str, Any], message: str) -> Outcome:
    kind = _DELETED[delete]
    code = None if kind == "result" else Code.CLEANUP_UNCONFIRMED
    return Outcome(kind, code, message, {"delete": delete}, b"", http, True)


_DELETED: Final[dict[str, Any]] = {
    "none": "result",
    "confirmed": "result",
    "refused": "refused",
    "lost": "lost",
    "unsent": "unsent",
}
