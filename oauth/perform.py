"""Carries out the steps of a sign-in: the one place where its generators meet the network, the clock and the host."""

import threading
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from oauth.steps import Consent, Fetch, Flow, Learn, Listen, NoReply, Reply, Step, Wait
from protocol.failures import Code, Failed
from protocol.mcp.attempts import Interrupt

__all__ = ["Listening", "Performer"]

_Result = TypeVar("_Result")
#: Seconds that a browser has, once the callback is answered, to fetch the last page.
GRACE: Final = 1.0


class Listening(Protocol):
    """An open loopback listener (:class:`oauth.loopback.Listener`)."""

    port: int

    def expire(self, seconds: float) -> None: ...

    def wait(self) -> str | None: ...

    def close(self, grace: float) -> None: ...


class Performer:
    """One sign-in's hands. It holds the listener between the two halves, and lets go of it whatever happens.

    ``fetch`` sends one request; ``learn`` makes values private; ``consent`` hands the authorization URL to the host and
    raises Failed when that is refused. ``interrupt`` is the one that ``fetch`` waits with.
    """

    def __init__(
        self,
        fetch: Callable[[Fetch], Reply | NoReply],
        learn: Callable[..., None],
        consent: Callable[[str], None],
        interrupt: Interrupt,
        listen: Callable[[str, int, str], Listening] | None = None,
    ) -> None:
        self._fetch = fetch
        self._learn = learn
        self._consent = consent
        self._interrupt = interrupt
        self._listen = listen or _listen
        self._lock = threading.Lock()
        self._listener: Listening | None = None
        self._came = False

    def run(self, flow: Flow[_Result], *, keep: bool = False) -> _Result:
        """Drive a flow to its end and return its result. Raises Failed.

        With ``keep`` the listener stays open when the flow succeeds (the first half); else nothing is left open.
        """
        try:
            result = self._drive(flow)
        except BaseException:
            flow.close()
            self._release(0 if self._interrupt.is_set else GRACE)
            raise
        if not keep:
            self._release(GRACE)
        return result

    def cancel(self) -> None:
        """From any thread: end what runs with `cancelled`, and give up the listener."""
        self._interrupt.set()
        with self._lock:
            listener = self._listener
        if listener is not None:
            # Closed before it is let go of: whoever runs meanwhile must not return while it is still there.
            listener.close(0)
            with self._lock:
                if self._listener is listener:
                    self._listener = None

    def abandon(self) -> None:
        """From any thread: like :meth:`cancel`, unless the callback was taken: what it began is seen through."""
        with self._lock:
            if self._came:
                return
            self._interrupt.set()
        self.cancel()

    def close(self) -> None:
        """Give up a sign-in that is not going to be finished."""
        self._release(0)

    def _drive(self, flow: Flow[_Result]) -> _Result:
        answer: object = None
        while True:
            try:
                step = flow.send(answer)
            except StopIteration as end:
                result: _Result = end.value
                return result
            # What came back is made private even then.
            if not isinstance(step, Learn):
                self._stop_if_cancelled()
            answer = self._answer(step)
            # A request that was under way says itself what became of it: it may have been carried out.
            if not isinstance(step, Fetch | Learn):
                self._stop_if_cancelled()

    def _answer(self, step: Step) -> object:
        match step:
            case Fetch():
                return self._fetch(step)
            case Learn(values):
                if values:
                    self._learn(*values)
            case Listen(host, port, path):
                return self._open(host, port, path)
            case Consent(url, seconds):
                self._consent(url)
                self._expire(seconds)
            case Wait():
                return self._wait()
        return None

    def _open(self, host: str, port: int, path: str) -> int:
        self._release(0)
        self._came = False
        listener = self._listen(host, port, path)
        with self._lock:
            self._listener = listener
        return listener.port

    def _expire(self, seconds: float) -> None:
        listener = self._listener
        if listener is not None:  # a cancel may have taken it away
            listener.expire(seconds)

    def _wait(self) -> str | None:
        listener = self._listener
        query = None if listener is None else listener.wait()
        with self._lock:
            # Who gave it up first has had the last word by now: the interrupt is looked at after this.
            self._came = query is not None
        return query

    def _stop_if_cancelled(self) -> None:
        if self._interrupt.is_set:
            raise Failed(Code.CANCELLED, "The sign-in was cancelled; its listener is gone.")

    def _release(self, grace: float) -> None:
        with self._lock:
            listener, self._listener = self._listener, None
        if listener is not None:
            listener.close(grace)


def _listen(host: str, port: int, path: str) -> Listening:
    from oauth.loopback import Listener

    return Listener(host, port, path)
