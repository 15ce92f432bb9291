"""One alias's way to a token: the sign-in under way, the grant that came of it, and its renewal."""

import secrets
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from oauth.authentication import NONE
from oauth.challenge import Demand, Probe, demand
from oauth.discovery import Found, Target
from oauth.fetching import Fetcher
from oauth.flow import ENTROPY, Pending, begin, finish
from oauth.perform import Performer
from oauth.record import Entry
from oauth.scopes import check_again
from oauth.token import Grant, refresh, refresh_due
from plugin.identity import NAME, VERSION
from protocol.failures import Code, Failed
from protocol.mcp.attempts import Interrupt
from protocol.mcp.challenge import Challenge
from protocol.mcp.http import HttpTransport
from protocol.wire.messages import Id

__all__ = ["SignIn"]

#: Statuses of a refusal whose challenge a later sign-in answers (RFC 6750, section 3.1).
_CHALLENGING: Final = (401, 403)


class SignIn:
    """Carries out the two halves for one alias, keeps the grant, and renews it.

    ``timeout`` bounds each request, in seconds. ``learn`` makes values private everywhere; ``consent`` hands the
    authorization URL to the host, given what tells whether to stop. Everything is called from one thread, but for
    :meth:`cancel` and :meth:`give_up`.
    """

    def __init__(
        self,
        target: Target,
        transport: HttpTransport,
        timeout: float,
        learn: Callable[..., None],
        consent: Callable[[str, Callable[[], bool]], None],
    ) -> None:
        self._target = target
        self._transport = transport
        self._interrupt = Interrupt()
        fetch = Fetcher(transport, self._interrupt, name=NAME, version=VERSION, timeout=timeout)
        stopped = lambda: self._interrupt.is_set  # noqa: E731
        self._performer = Performer(fetch, learn, lambda url: consent(url, stopped), self._interrupt)
        self._lock = threading.Lock()
        self._pending: Pending | None = None
        self._began: Id | None = None
        self._count = 0
        self._grant: Grant | None = None
        self._found: Found | None = None
        self._received = 0.0
        self._demand: Demand | None = None

    @property
    def awaited(self) -> bool:
        """Whether it was begun and is neither finished nor given up."""
        return self._pending is not None

    @property
    def token(self) -> str | None:
        """The access token; None before the first sign-in succeeded."""
        return self._grant.access_token if self._grant else None

    @property
    def public_listed(self) -> bool:
        """Whether the issuer lists that public clients are welcome, which is all that a binding admits by default."""
        return self._found is not None and NONE in (self._found.server.token_methods or ())

    @property
    def challenged(self) -> bool:
        """Whether the last refusal asked for a token, or for more scopes: what another sign-in can answer."""
        return self._demand is not None

    def note(self, http: dict[str, Any] | None) -> None:
        """Remember the challenge of a refusal, from `facts.http` of a step, for the next sign-in."""
        if http is not None and http.get("status") in _CHALLENGING:
            parsed = [
                Challenge(entry["scheme"], entry["parameters"], entry.get("token"), entry.get("fault"))
                for entry in http.get("challenge") or ()
            ]
            self._demand = demand(parsed)

    def begin(
        self, headers: tuple[tuple[str, str], ...], identity: Id, ready: Callable[[], None], record: list[Entry]
    ) -> Pending:
        """Go to the open consent page. ``identity`` is the host's request; ``headers`` go to the endpoint alone.

        ``ready`` is called once a cancel can reach it. Beside a grant it is a step-up: the last challenge is answered,
        with the scopes that were asked for before. Raises Failed.
        """
        granted = self._grant is not None
        check_again(self._target.settings, self._count, granted=granted)
        self._count += 1
        self._interrupt.clear()
        ready()
        flow = begin(
            self._target,
            Probe(self._target.endpoint, headers, NAME, VERSION),
            secrets.token_bytes(ENTROPY),
            record,
            demand=self._demand if granted else None,
            previous=self._grant.requested if self._grant else (),
            known=self._found.metadata_url if self._found else None,
        )
        pending = self._performer.run(flow, keep=True)
        with self._lock:
            self._pending, self._began = pending, identity
        if self._interrupt.is_set:
            self.give_up()
            raise Failed(Code.CANCELLED, "The sign-in was cancelled; its listener is gone.")
        return pending

    def finish(self, ready: Callable[[], None], record: list[Entry]) -> Grant:
        """Go from the callback to the token and keep it. Whatever comes of it, the sign-in is over. Raises Failed."""
        self._interrupt.clear()
        with self._lock:
            pending, self._pending = self._pending, None
        if pending is None:
            self._performer.close()  # whoever is giving it up just now is waited for
            text = "There is no sign-in to finish. Run `oauth_begin` first; each is good for one `oauth_finish`."
            raise Failed(Code.OAUTH_REQUIRED, text)
        try:
            ready()
            grant = self._performer.run(finish(pending, record))
        finally:
            self._began = None
            self._performer.close()
        self._install(grant, pending.found)
        return grant

    @property
    def due(self) -> bool:
        """Whether the token is to be renewed before it is used again."""
        return self._grant is not None and refresh_due(self._grant, time.monotonic() - self._received)

    def renew(self, ready: Callable[[], None], record: list[Entry], seconds: float | None = None) -> Grant:
        """Trade the refresh token for a new token, once, within ``seconds``; the old one is not used again.

        Raises Failed.
        """
        assert self._grant is not None
        assert self._found is not None
        self._interrupt.clear()
        ready()
        grant, self._grant = self._grant, self._grant._replace(refresh_token=None)
        renewed = self._performer.run(refresh(grant, self._found, record, seconds))
        self._install(renewed, self._found)
        return renewed

    def _install(self, grant: Grant, found: Found) -> None:
        self._grant, self._found, self._received = grant, found, time.monotonic()
        self._demand = None

    def cancel(self) -> None:
        """From any thread: end what runs with `cancelled`."""
        self._performer.cancel()

    def give_up(self, identity: Id | None = None) -> bool:
        """From any thread: let go of a sign-in that is not going to be finished, or cancel its finish.

        With ``identity`` only the one that this request began, and its finish only while it waits for the callback;
        tells whether it was that one.
        """
        with self._lock:
            if identity is not None and identity != self._began:
                return False
            self._pending = self._began = None
        if identity is None:
            self._performer.cancel()
        else:
            self._performer.abandon()
        return True

    def close(self) -> None:
        """Forget the token and give every descriptor back. Only :meth:`cancel` and this may be called any more."""
        self.give_up()
        self._grant = None
        self._transport.close()
        self._interrupt.close()
