"""What the host's providers have in common behind the wire: bindings, checks of arguments, and results."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from host.origins import origin
from host.providers.commands import About, Command
from host.providers.outcome import Asked, Outcome
from protocol.failures import Code, Failed
from protocol.values.document import JsonError, parse
from protocol.version import VERSION
from protocol.wire.context import Context
from protocol.wire.messages import PROTOCOL
from protocol.wire.params import InvalidParams
from protocol.wire.results import bounded
from protocol.wire.service import Notify
from protocol.wire.steps import Effect, StepResult

__all__ = ["ProviderService"]


class ProviderService(ABC):
    """A service (``protocol.wire.service``) whose commands are a table; what they do is the subclass's."""

    def __init__(self, notify: Notify, about: About, commands: Mapping[str, Command]) -> None:
        self.context = Context(notify)
        self.requests: dict[str, Callable[[dict[str, Any]], Any]] = {"compare": _refuse_comparison}
        self._about = about
        self._commands = commands
        self._aliases: frozenset[str] | None = None

    @abstractmethod
    def bind(self, alias: str, configuration: Any) -> Callable[[], None]:
        """Read one binding and return what takes it over, once all are known to be right. Raises Failed."""

    @abstractmethod
    def read(self, alias: str, values: Mapping[str, Any]) -> None:
        """Look at the arguments that hold no reference, strings or objects. Raises Failed. Contacts nothing."""

    @abstractmethod
    def perform(self, asked: Asked) -> Outcome:
        """Carry out a command. Raises Failed for what is decided before anything of it happened."""

    @abstractmethod
    def interrupt(self, params: dict[str, Any]) -> None:
        """End the request with these params, which is under way. Never waits."""

    def give_up(self, identity: str | int) -> None:  # noqa: B027 - most providers leave nothing to a later request
        """Let go of what a request of that id began and left to a later one."""

    @abstractmethod
    def warm(self) -> None:
        """Get ready for the first command, on a thread of its own."""

    @abstractmethod
    def end(self) -> None:
        """Give up everything that outlives a command."""

    @property
    def initialized(self) -> bool:
        """Whether ``initialize`` has succeeded."""
        return self._aliases is not None

    def initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        """Take bindings and origins, once. Raises InvalidParams, or Failed (`invalid_binding`)."""
        if self._aliases is not None:
            raise InvalidParams("`initialize` was already answered; start another plugin for other bindings.")
        if params["protocol"] != PROTOCOL:
            raise InvalidParams(f"This plugin speaks version {PROTOCOL} of the host protocol.")
        origins = frozenset(map(_origin, params["origins"]))
        for take in [self.bind(alias, value) for alias, value in params["bindings"].items()]:
            take()
        self.context.origins = origins
        self._aliases = frozenset(params["bindings"])
        plugin = {"name": self._about.name, "version": VERSION, "provider": self._about.provider}
        return {"protocol": PROTOCOL, "plugin": plugin}

    def learn(self, params: dict[str, Any]) -> None:
        """Treat what the host has learnt as private."""
        self.context.redactor.add(*params["values"])

    def effect(self, command: str) -> Effect:
        """Return the effect of a command; one that is not known has none."""
        return self._commands[command].effect if command in self._commands else "observe"

    def facts(self, _alias: str) -> dict[str, Any]:
        """Return what every result holds: nothing, for no alias here has a connection."""
        return {}

    def check(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the effect of a command whose arguments are admissible. Raises Failed. Contacts nothing."""
        return {"effect": self._checked(params, frozenset(params["open"]))[0].effect}

    def run(self, params: dict[str, Any], _identity: str | int, cancelled: Callable[[], bool]) -> bytes:
        """Carry out a command and return its encoded step result. Raises Failed when ``check`` would."""
        command, values = self._checked(params, frozenset())
        try:
            if cancelled():
                raise Failed(Code.CANCELLED, "The step was cancelled before anything was done.")
            outcome = self.perform(Asked(params["alias"], command.name, values, cancelled))
        except Failed as failed:
            outcome = Outcome(failed.failure.message, "failed", failed.code)
        result = StepResult(
            status=outcome.status,
            code=None if outcome.code is None else str(outcome.code),
            message=self.context.message(outcome.message),
            effect=command.effect,
            state=outcome.state,
            facts=dict(outcome.facts),
            artifacts=list(outcome.artifacts),
            display=outcome.display,
        )
        return bounded(result, self.context.redactor)

    def require_alias(self, alias: str) -> None:
        """Raise InvalidParams before ``initialize``, Failed (`invalid_arguments`) for an alias without a binding."""
        if self._aliases is None:
            raise InvalidParams("Send `initialize` first.")
        if alias not in self._aliases:
            names = ", ".join(f"`{name}`" for name in sorted(self._aliases)) or "none"
            raise Failed(Code.INVALID_ARGUMENTS, f"There is no binding for the alias `{alias}`; there are {names}.")

    def _checked(self, params: dict[str, Any], still_open: frozenset[str]) -> tuple[Command, dict[str, Any]]:
        self.require_alias(params["alias"])
        command = self._commands.get(params["command"])
        if command is None:
            names = ", ".join(f"`{name}`" for name in self._commands)
            raise Failed(Code.INVALID_ARGUMENTS, f"There is no command `{params['command']}`; there are {names}.")
        values = _values(command, params["arguments"])
        known = {name: value for name, value in values.items() if name not in still_open}
        for name, value in known.items():
            if self.context.redactor.holds(value):
                told = "holds a private value of a binding; arguments are kept as evidence"
                raise Failed(Code.PRIVATE_OPERAND, f"`{name}` {told}.", where=name)
        self.read(params["alias"], known)
        return command, values


def _values(command: Command, arguments: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments, JSON ones parsed. Raises Failed (`invalid_arguments`); no value is quoted."""
    known = {argument.name: argument for argument in command.arguments}
    for name in arguments:
        if name not in known:
            names = ", ".join(f"`{one}`" for one in known)
            raise Failed(Code.INVALID_ARGUMENTS, f"`{command.name}` takes no argument `{name}`; it takes {names}.")
    for name, argument in known.items():
        if argument.required and name not in arguments:
            raise Failed(Code.INVALID_ARGUMENTS, f"`{name}` is required by `{command.name}`.", where=name)
    return {
        name: _object(name, text) if known[name].schema.get("contentMediaType") == "application/json" else text
        for name, text in arguments.items()
    }


def _object(name: str, text: str) -> dict[str, Any]:
    try:
        document = parse(text)
    except JsonError as error:
        told = f"`{name}` is not strict JSON: {error.reason}."
        raise Failed(Code.INVALID_ARGUMENTS, told, where=name) from None
    if not isinstance(document.value, dict) or document.repeated:
        raise Failed(Code.INVALID_ARGUMENTS, f"`{name}` is one JSON object, no member twice.", where=name)
    return document.value


def _origin(text: str) -> str:
    try:
        return origin(text)
    except ValueError as error:
        raise InvalidParams(f"`origins` holds a text that is no origin: {error}.") from None


def _refuse_comparison(_params: dict[str, Any]) -> Any:
    raise InvalidParams("This plugin reads no inventory, so it has none to compare.")
