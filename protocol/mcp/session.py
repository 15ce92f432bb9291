"""One MCP session as a state machine: its ids, what was negotiated, and which moves are legal. No I/O."""

import re
from typing import Any, Final, Literal, TypeAlias

from protocol.failures import Code, Failure
from protocol.mcp.revisions import Revision

__all__ = ["DELETE_TIMEOUT", "Move", "Session", "State", "session_id_fault"]

#: Seconds that the DELETE of a session may take, whatever the timeout (the seed, "Session cleanup").
DELETE_TIMEOUT: Final = 1.5

#: How a connection stands, as ``facts.connection`` says it.
State: TypeAlias = Literal["none", "open", "refused", "closed", "disconnected"]
#: What may happen to it: ``initialize`` succeeds or fails, a reply is lost, it is ended.
Move: TypeAlias = Literal["accept", "refuse", "lose", "end"]

_MOVES: Final[dict[tuple[State, Move], State]] = {
    ("none", "accept"): "open",
    ("none", "refuse"): "refused",
    ("open", "lose"): "closed",
    ("none", "end"): "disconnected",
    ("open", "end"): "disconnected",
    ("refused", "end"): "disconnected",
    ("closed", "end"): "disconnected",
}

_REFUSALS: Final[dict[State, Failure]] = {
    "none": Failure(Code.NOT_CONNECTED, "The session was not initialized."),
    "refused": Failure(Code.NOT_CONNECTED, "The connection was refused. Look at the first step of this alias."),
    "closed": Failure(Code.NOT_CONNECTED, "The connection was closed after a lost or unusable reply."),
    "disconnected": Failure(Code.DISCONNECTED, "The connection was ended by `disconnect`."),
}

_SESSION_ID: Final = re.compile(r"[\x21-\x7e]+\Z")


def session_id_fault(values: list[str]) -> str | None:
    """Say what is wrong with the ``Mcp-Session-Id`` fields of a reply; None when nothing is, or there are none.

    An id is made of visible ASCII characters (2025-11-25, basic/transports, "Session Management").
    """
    if len(values) > 1:
        return "The reply to initialize has more than one Mcp-Session-Id."
    if values and not _SESSION_ID.match(values[0]):
        return "The server's Mcp-Session-Id is not made of visible ASCII characters."
    return None


class Session:
    """What is known of a session.

    ``revision`` and ``id`` are None until the server names them; a refused session may have an id, which is then still
    to be deleted. ``server`` and ``capabilities`` are as the server sent them.
    """

    def __init__(self) -> None:
        self.state: State = "none"
        self.revision: Revision | None = None
        self.id: str | None = None
        self.server: dict[str, Any] = {}
        self.capabilities: dict[str, Any] = {}
        self._last_id = 0

    def next_id(self) -> int:
        """Return an id that no request of the session had: 1, 2, 3 …"""
        self._last_id += 1
        return self._last_id

    def move(self, move: Move) -> None:
        """Go to the next state. Raises RuntimeError for a move that its state does not allow."""
        state = _MOVES.get((self.state, move))
        if state is None:
            raise RuntimeError(f"a connection that is {self.state} cannot {move}")
        self.state = state

    def refusal(self) -> Failure | None:
        """Return why no request may be sent now; None when one may."""
        return _REFUSALS.get(self.state)
