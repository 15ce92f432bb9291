"""One MCP connection of one identity: initialize, requests in turn, the GET stream, and the one DELETE."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

from protocol.mcp.http import HttpTransport
from protocol.mcp.inventories import Kind
from protocol.mcp.paging import Inventory, Limits
from protocol.mcp.replies import Outcome

__all__ = ["Connection", "Settings", "State"]

State: TypeAlias = Literal["none", "open", "refused", "closed", "disconnected"]


class Settings(NamedTuple):
    """What a connection needs to know.

    ``endpoint`` is the whole URL, path joined. ``headers`` (pairs) go on every request. ``timeout`` bounds each
    request as a whole, in seconds; ``max_response_bytes`` the body of a reply, before and after decompression.
    """

    endpoint: str
    headers: tuple[tuple[str, str], ...] = ()
    timeout: float = 15.0
    max_response_bytes: int = 8 * 1024 * 1024
    name: str = "assay"
    version: str = "0"


class Connection:
    """A session of one alias. Methods are called from one thread; only :meth:`cancel` may be called from another.

    No method raises for what a server or network does: that is an Outcome. ``learn`` is called with the session id
    before anything else happens with it; ``on_progress`` with (done, total or None) of ``notifications/progress``.
    """

    def __init__(
        self,
        transport: HttpTransport,
        settings: Settings,
        learn: Callable[[str], None],
        on_progress: Callable[[float, float | None], None] | None = None,
    ) -> None:
        raise NotImplementedError

    @property
    def state(self) -> State:
        """``none`` before initialize; ``refused``, ``open`` or ``closed`` after it; ``disconnected`` after end."""
        raise NotImplementedError

    #: After a successful initialize: the revision's name, ``serverInfo`` and ``capabilities`` as the server sent them.
    revision: str | None
    server: dict[str, Any]
    capabilities: dict[str, Any]

    def initialize(self) -> Outcome:
        """Open the session. ``result`` when it is open (``value`` is the InitializeResult); all else closes."""
        raise NotImplementedError

    def request(self, method: str, params: dict[str, Any] | None = None) -> Outcome:
        """Send one request, once. Not open: ``unsent`` with not_connected or disconnected, and nothing is sent."""
        raise NotImplementedError

    def read(self, kind: Kind, limits: Limits, on_page: Callable[[int, int], None] | None = None) -> Inventory:
        """Read an inventory to its end; ``on_page`` is told pages and entries so far. May close the connection."""
        raise NotImplementedError

    def end(self) -> Outcome:
        """End the session with at most one DELETE of at most 1.5 s, whatever the state; once ended, send nothing more.

        ``result`` when the server confirmed (2xx) or never issued a session; else ``refused`` (see ``http["status"]``),
        ``lost`` or ``unsent`` with cleanup_unconfirmed. ``value`` says which: ``{"delete": "none"}``, ``"confirmed"``,
        ``"refused"``, ``"lost"`` or ``"unsent"``. A later call returns the recorded outcome.
        """
        raise NotImplementedError

    def cancel(self) -> None:
        """From any thread: end the running request with code ``cancelled``, and every later one until rearm."""
        raise NotImplementedError

    def rearm(self) -> None:
        """Forget a cancel. Call it at the start of each command."""
        raise NotImplementedError

    def stream(self) -> dict[str, Any]:
        """What the GET stream has come to so far, for ``facts``."""
        raise NotImplementedError
