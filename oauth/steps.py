"""What a sign-in may ask of the world, and what it is answered: the whole vocabulary of its generators."""

from collections.abc import Generator
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from protocol.failures import Code

__all__ = ["Consent", "Fetch", "Flow", "Learn", "Listen", "NoReply", "Reply", "Step", "Wait"]

_REDIRECTS: Final = frozenset((301, 302, 303, 307, 308))


class Fetch(NamedTuple):
    """Send one request, once, and follow no redirect. Answered with a :class:`Reply` or a :class:`NoReply`.

    ``document`` names what is asked for. With ``head_only`` the body of the reply is neither read nor returned.
    ``seconds`` bounds the request as a whole where it has less time than any other.
    """

    document: str
    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    head_only: bool = False
    seconds: float | None = None

    def __repr__(self) -> str:
        return f"<Fetch {self.method} {self.document}>"


class Reply(NamedTuple):
    """A whole reply: header names in lower case, the body decompressed."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def __repr__(self) -> str:
        return f"<Reply {self.status}>"

    @property
    def redirects(self) -> bool:
        """Whether it sends its reader elsewhere (RFC 9110, section 15.4). A 304 does not."""
        return self.status in _REDIRECTS

    def field(self, name: str) -> str:
        """Return the first value of a header (its name in lower case), or an empty string."""
        return next((value for field, value in self.headers if field == name), "")


class NoReply(NamedTuple):
    """No usable reply: ``code`` is the transport's; ``sent`` tells whether the request may have been carried out."""

    code: Code
    message: str
    sent: bool


class Listen(NamedTuple):
    """Open the loopback listener for one callback. Answered with its port.

    ``host`` is the name in the redirect URI, which the callback's Host header has to repeat; ``port`` 0 takes a free
    one.
    """

    host: str
    port: int
    path: str


class Learn(NamedTuple):
    """Make values private everywhere, before anything else happens with them. Answered with None."""

    values: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Learn {len(self.values)}>"


class Consent(NamedTuple):
    """Open the authorization URL in the host's browser. Answered with None.

    Once it is open the callback has ``seconds`` to come; then the listener is gone by itself.
    """

    url: str
    seconds: float

    def __repr__(self) -> str:
        return "<Consent>"


class Wait(NamedTuple):
    """Wait for the callback. Answered with its query, as it was on the wire, or with None when time has run out."""


Step: TypeAlias = Fetch | Listen | Learn | Consent | Wait

_Result = TypeVar("_Result")
#: A part of a sign-in: it yields steps, is sent their answers, and returns its result or raises Failed.
Flow: TypeAlias = Generator[Step, Any, _Result]
