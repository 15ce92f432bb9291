"""One alias: its binding, what its first command fixed, and what became of its connection."""

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from plugin.binding import Binding
from plugin.commands import BEGIN, FINISH, Command
from protocol.failures import Code, Failed
from protocol.wire.steps import Status

if TYPE_CHECKING:  # imports the HTTP stack, and the contract's rules, which the first answer must not wait for
    from contract.core.route import Route
    from oauth.perform import Performer
    from plugin.signin import SignIn
    from protocol.mcp.connection import Connection

__all__ = ["Alias", "Ending"]

_SIGN_IN: Final = (BEGIN, FINISH)
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
    (``failed`` is then true). ``sign_in`` is None until the first `oauth_begin`; ``discovery`` carries out a `discover`
    and is None else. ``route`` is that of the contract, None until it was read. ``headers`` are the public ones of
    `connect`.
    """

    def __init__(self, name: str, binding: Binding) -> None:
        self.name = name
        self.binding = binding
        self.connection: Connection | None = None
        self.sign_in: SignIn | None = None
        self.discovery: Performer | None = None
        self.route: Route | None = None
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

    @property
    def signing_in(self) -> bool:
        """Whether a sign-in was begun and is neither finished nor given up."""
        return self.sign_in is not None and self.sign_in.awaited

    def interrupt(self) -> None:
        """From any thread: end what runs for this alias with `cancelled`."""
        for running in (self.connection, self.sign_in, self.discovery):
            if running is not None:
                running.cancel()

    def admit(self, command: Command, values: dict[str, Any]) -> None:
        """Let a command pass, or raise Failed: `binding_fixed`, `not_connected`, `disconnected`, `oauth_required`.

        The first command that passes fixes path and token file, named or not.
        """
        if command.name != "disconnect":
            self._admit_token(command)
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
        if self.state in ("refused", "closed") and not self._may_sign_in_again(command):
            reason = "its connection was refused" if self.state == "refused" else "a lost or unusable reply closed it"
            raise self._refuse(Code.NOT_CONNECTED, reason)
        if command.name == "connect" and self.state == "open":
            reason = "it is connected already, and an alias is one session. Take this `connect` out"
            raise self._refuse(Code.BINDING_FIXED, reason)

    def _admit_token(self, command: Command) -> None:
        if self.binding.oauth is None:
            if command.name in _SIGN_IN:
                raise self._refuse(Code.INVALID_BINDING, "its binding has no `oauth`, which says how to sign in")
        elif command.name not in _SIGN_IN and self.state != "disconnected" and not self._has_token:
            raise self._refuse(Code.OAUTH_REQUIRED, "it has no token before `oauth_begin` and `oauth_finish` succeed")

    @property
    def _has_token(self) -> bool:
        return self.sign_in is not None and self.sign_in.token is not None

    def _may_sign_in_again(self, command: Command) -> bool:
        """Tell whether the connection was refused for a token that a further sign-in may better."""
        challenged = self.sign_in is not None and self.sign_in.challenged
        return command.name in _SIGN_IN and self.state == "refused" and challenged

    def signed_in(self, authorization: str) -> None:
        """Use a new token: in the open session, or by connecting anew where it was refused for the old one."""
        if self.state == "open" and self.connection is not None:
            self.connection.authorize(authorization)
        elif self.state == "refused":
            if self.connection is not None:
                self.connection.end()
            self.connection, self.failed = None, False

    def _refuse(self, code: Code, reason: str) -> Failed:
        return Failed(code, f"Nothing was sent for the alias `{self.name}`: {reason}.")
