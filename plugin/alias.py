"""One alias: its binding, what its first command fixed, and what became of its connection."""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from plugin.binding import Binding
from plugin.commands import Command
from protocol.failures import Code, Failed
from protocol.wire.steps import Status

if TYPE_CHECKING:  # imports the HTTP stack, which the first answer must not wait for
    from protocol.mcp.connection import Connection

__all__ = ["Alias", "Ending"]

_FIXED: Final = {"path": "path", "tokenFile": "token file"}


class Ending(NamedTuple):
    """How `disconnect` came out; every later `disconnect` reports it again."""

    status: Status
    code: Code | None
    message: str
    state: dict[str, Any]
    http: dict[str, Any]


class Alias:
    """What the plugin knows of one alias.

    ``connection`` is None until the first inspection command opens it, and stays None when nothing could be sent
    (``failed`` is then true). ``headers`` are the public ones of `connect`.
    """

    def __init__(self, name: str, binding: Binding) -> None:
        self.name = name
        self.binding = binding
        self.connection: Connection | None = None
        self.failed = False
        self.headers: dict[str, str] = {}
        self.ending: Ending | None = None
        self._fixed: dict[str, str | None] | None = None

    @property
    def state(self) -> str:
        """``none``, ``open``, ``refused``, ``closed`` or ``disconnected``: `facts.connection` of every step."""
        if self.ending is not None:
            return "disconnected"
        if self.connection is not None:
            return self.connection.state
        return "refused" if self.failed else "none"

    @property
    def path(self) -> str | None:
        """The path that the first command fixed."""
        return self._fixed["path"] if self._fixed else None

    @property
    def token_file(self) -> str | None:
        """The token file that the first command fixed."""
        return self._fixed["tokenFile"] if self._fixed else None

    def admit(self, command: Command, values: dict[str, Any]) -> None:
        """Let a command pass, or raise Failed: `binding_fixed`, `not_connected` or `disconnected`.

        The first command that passes fixes path and token file, named or not.
        """
        if self._fixed is None:
            self._fixed = {name: values.get(name) for name in _FIXED}
        for name, noun in _FIXED.items():
            if name in values and values[name] != self._fixed[name]:
                first = "another" if self._fixed[name] else "no"
                raise self._refuse(Code.BINDING_FIXED, f"the first command of the alias named {first} {noun}")
        if command.name == "disconnect":
            return
        if self.state == "disconnected":
            raise self._refuse(Code.DISCONNECTED, "an earlier step disconnected it")
        if self.state in ("refused", "closed"):
            reason = "its connection was refused" if self.state == "refused" else "a lost or unusable reply closed it"
            raise self._refuse(Code.NOT_CONNECTED, reason)
        if command.name == "connect" and self.state == "open":
            raise self._refuse(Code.BINDING_FIXED, "it is already connected, and `connect` is an alias's first command")

    def _refuse(self, code: Code, reason: str) -> Failed:
        return Failed(code, f"Nothing was sent for the alias `{self.name}`: {reason}.")
