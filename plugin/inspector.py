"""Everything behind the host wire: bindings, aliases, and the methods that a host can call."""

import gc
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from plugin.alias import Alias
from plugin.binding import private_values, read_binding
from plugin.checks.arguments import Checked, Surroundings, check_arguments, find_command
from plugin.commands import COMMANDS, DISCOVER, FINISH, Command, resolve
from plugin.identity import NAME, PROVIDER, VERSION
from plugin.step import Step, Verdict
from protocol.failures import Code, Failed
from protocol.mcp.origins import OriginError, origin
from protocol.wire.context import Context
from protocol.wire.messages import PROTOCOL, Id
from protocol.wire.params import InvalidParams
from protocol.wire.results import bounded
from protocol.wire.service import Notify
from protocol.wire.steps import Effect

if TYPE_CHECKING:  # imports the HTTP stack, which the first answer must not wait for
    from protocol.mcp.connection import Connection

__all__ = ["Inspector"]


class Inspector:
    """The state of one plugin process, and its service on the host wire (``protocol.wire.service``).

    ``initialize``, ``check``, ``learn``, ``interrupt`` and ``give_up`` may be called while another thread is in
    ``run``.
    """

    def __init__(self, notify: Notify) -> None:
        self.context = Context(notify)
        self.requests: Mapping[str, Callable[[dict[str, Any]], Any]] = {
            "compare": self.compare,
            "discover": self.discover,
        }
        self._aliases: dict[str, Alias] | None = None

    @property
    def initialized(self) -> bool:
        """Whether ``initialize`` has succeeded."""
        return self._aliases is not None

    def initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        """Take bindings and origins, once.

        Raises InvalidParams for another protocol or a second call, Failed (`invalid_binding`) naming alias and field.
        """
        if self._aliases is not None:
            raise InvalidParams("`initialize` was already answered; start another plugin for other bindings.")
        if params["protocol"] != PROTOCOL:
            raise InvalidParams(f"This plugin speaks version {PROTOCOL} of the host protocol.")
        origins = frozenset(_origin(text) for text in params["origins"])
        bindings = {alias: read_binding(alias, value) for alias, value in params["bindings"].items()}
        for binding in bindings.values():
            self.context.redactor.add(*private_values(binding))
        self.context.origins = origins
        self._aliases = {name: Alias(name, binding) for name, binding in bindings.items()}
        return {"protocol": PROTOCOL, "plugin": {"name": NAME, "version": VERSION, "provider": PROVIDER}}

    def learn(self, params: dict[str, Any]) -> None:
        """Treat what the host has learnt as private."""
        self.context.redactor.add(*params["values"])

    def check(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the effect of a command whose arguments are admissible. Raises Failed. Contacts nothing."""
        _, checked = self._checked(params, frozenset(params["open"]))
        return {"effect": checked.command.effect}

    def run(self, params: dict[str, Any], identity: Id, cancelled: Callable[[], bool]) -> bytes:
        """Carry out a command and return its encoded step result. Raises Failed when ``check`` would."""
        alias, checked = self._checked(params, frozenset())

        def admit() -> None:
            self._admit_beside_sign_in(alias, checked.command)
            alias.admit(checked.command, checked.values)

        return self._carry_out(Step(alias, checked, self.context, identity, cancelled), admit)

    def discover(self, params: dict[str, Any]) -> msgspec.Raw:
        """Find an alias's authorization server and return an encoded step result. Raises Failed: no such alias."""
        step = Step(self._alias(params), Checked(DISCOVER, {}), self.context, 0, lambda: False)
        return msgspec.Raw(self._carry_out(step, lambda: None))

    def _carry_out(self, step: Step, admit: Callable[[], None]) -> bytes:
        try:
            step.stop_if_cancelled()
            admit()
            result = resolve(step.command.handler)(step)
        except Failed as failed:
            result = step.result(Verdict("failed", failed.code, failed.failure.message))
            if step.command.name == FINISH and step.alias.sign_in is not None:
                step.alias.sign_in.give_up()  # a sign-in is good for one finish, also for one that did not get far
        if step.alias.sign_in is not None:
            step.alias.sign_in.note(step.facts.get("http"))
        return bounded(result, self.context.redactor)

    def _admit_beside_sign_in(self, alias: Alias, command: Command) -> None:
        """Refuse what may not run between the halves of a sign-in, whichever alias it is for. Raises Failed."""
        under_way = next((other for other in (self._aliases or {}).values() if other.signing_in), None)
        # Of its own alias a `disconnect` gives the sign-in up.
        if under_way is None or (alias is under_way and command.name in (FINISH, "disconnect")):
            return
        text = f"Nothing was sent: `{under_way.name}` is signing in, and until its `{FINISH}` no other command runs."
        raise Failed(Code.OAUTH_REQUIRED, text)

    def compare(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the diff of two states. Raises InvalidParams when they are not states of the inventory."""
        from plugin.comparison import compare_states  # not on the way to the first reply

        return compare_states(params["inventory"], params["before"], params["after"], params["catalogs"])

    def effect(self, command: str) -> Effect:
        """Return the effect of a command; one that is not known has none."""
        return "mutate" if command in COMMANDS and COMMANDS[command].effect == "mutate" else "observe"

    def facts(self, alias: str) -> dict[str, Any]:
        """Return how an alias stands: `connection`."""
        found = (self._aliases or {}).get(alias)
        return {"connection": found.state if found else "none"}

    def warm(self) -> None:
        """Import the HTTP stack while the host thinks about its first step."""
        for command in COMMANDS.values():
            try:
                resolve(command.handler)
            except (ImportError, AttributeError):
                return  # the step that needs it reports it
        gc.freeze()

    def end(self) -> None:
        """Give up sign-ins, and send each session that is still live its one DELETE."""
        from plugin.ending import end_all  # not on the way to the first reply

        for alias in (self._aliases or {}).values():
            if alias.sign_in is not None:
                alias.sign_in.close()
        end_all(self.live())

    def interrupt(self, params: dict[str, Any]) -> None:
        """End what runs for an alias with `cancelled`. Never waits."""
        alias = params.get("alias", "")
        found = (self._aliases or {}).get(alias)
        if found is not None:
            found.interrupt()

    def give_up(self, identity: Id) -> None:
        """From any thread: let go of the sign-in that the host's request of that id began, if it is still awaited."""
        for alias in (self._aliases or {}).values():
            if alias.sign_in is not None:
                alias.sign_in.give_up(identity)

    def live(self) -> "list[Connection]":
        """List the connections whose session no step has ended."""
        aliases = (self._aliases or {}).values()
        return [alias.connection for alias in aliases if alias.connection is not None and alias.ending is None]

    def _alias(self, params: dict[str, Any]) -> Alias:
        if self._aliases is None:
            raise InvalidParams("Send `initialize` first.")
        alias = self._aliases.get(params["alias"])
        if alias is None:
            names = ", ".join(f"`{name}`" for name in self._aliases) or "none"
            text = f"There is no binding for the alias `{params['alias']}`; there are {names}."
            raise Failed(Code.INVALID_ARGUMENTS, text)
        return alias

    def _checked(self, params: dict[str, Any], still_open: frozenset[str]) -> tuple[Alias, Checked]:
        alias = self._alias(params)
        surroundings = Surroundings(
            holds=self.context.redactor.holds,
            header_names=frozenset(name for name, _ in alias.binding.headers),
            has_query="?" in alias.binding.endpoint,
        )
        command = find_command(params["command"])
        return alias, check_arguments(command, params["arguments"], surroundings, still_open)


def _origin(text: str) -> str:
    try:
        return origin(text)
    except OriginError as error:
        raise InvalidParams(f"`origins` holds a text that is no origin: {error.reason}.") from None
