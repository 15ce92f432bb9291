"""What stands behind the serving half of the host wire: a service, as the loop and the router call it."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

from protocol.wire.context import Context
from protocol.wire.messages import Id
from protocol.wire.steps import Effect

__all__ = ["MakeService", "Notify", "Service"]

#: Sends one notification to the host, from any thread: method and params.
Notify: TypeAlias = Callable[[str, dict[str, Any]], None]


class Service(Protocol):
    """One plugin's bindings and commands. Params are those that ``protocol.wire.params`` has read.

    ``run``, the methods of ``requests`` and ``end`` are called on the main thread, one after another; all others may
    be called while one of them is under way. Refusals are Failed, or InvalidParams for params that make no sense.
    """

    @property
    def context(self) -> Context:
        """Whose redactor every message passes."""
        ...

    @property
    def initialized(self) -> bool:
        """Whether ``initialize`` has succeeded."""
        ...

    @property
    def requests(self) -> Mapping[str, Callable[[dict[str, Any]], Any]]:
        """The methods beside `run` that are carried out in their turn, each with what returns its result."""
        ...

    def initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        """Take bindings and origins, once."""
        ...

    def learn(self, params: dict[str, Any]) -> None:
        """Treat what the host has learnt as private."""
        ...

    def check(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the effect of a command whose arguments are admissible. Contacts nothing."""
        ...

    def run(self, params: dict[str, Any], identity: Id, cancelled: Callable[[], bool]) -> bytes:
        """Carry out a command and return its step result in JSON."""
        ...

    def effect(self, command: str) -> Effect:
        """Return the effect of a command: what its outcome is when it broke."""
        ...

    def facts(self, alias: str) -> dict[str, Any]:
        """Return what the facts of every result of an alias hold, also when its command broke."""
        ...

    def interrupt(self, params: dict[str, Any]) -> None:
        """End the request with these params, which is under way. Never waits."""
        ...

    def give_up(self, identity: Id) -> None:
        """Let go of what the request of that id began and left to a later one, if it began anything. Never waits."""
        ...

    def warm(self) -> None:
        """Get ready for the first command while the host thinks; on a thread of its own, after ``initialize``."""
        ...

    def end(self) -> None:
        """Give up everything that outlives a command: sessions, processes, files. Takes four seconds at most."""
        ...


#: Makes the service of one process.
MakeService: TypeAlias = Callable[[Notify], Service]
