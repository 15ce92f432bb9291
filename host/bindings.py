"""`bindings.json`: which identity each alias is, its `{"env": NAME}` references, and which of its values are private."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from host.description import Description

__all__ = ["Binding", "Bindings", "Bound", "bind", "read_bindings"]


class Binding:
    """One alias as its plugin gets it. Its repr shows no value."""

    __slots__ = ("alias", "configuration", "provider")

    def __init__(self, alias: str, provider: str, configuration: dict[str, Any]) -> None:
        self.alias = alias
        self.provider = provider
        self.configuration = configuration

    def __repr__(self) -> str:
        return f"<Binding of {self.alias} to {self.provider}>"


class Bindings:
    """A bindings file as read, references not yet resolved. ``names`` are the environment variables that it names.

    Children must get the environment without any of ``names``, whether their alias is used or not.
    """

    names: frozenset[str]


class Bound(NamedTuple):
    """The bindings of one flow: what each alias's plugin is given, and every private value among it."""

    bindings: Mapping[str, Binding]
    private: tuple[str, ...]


def read_bindings(data: bytes, descriptions: Mapping[str, Description], *, trusted: bool) -> Bindings:
    """Read the text of a bindings file. ``trusted``: owned by the user and 0600 or stricter, or read from stdin.

    Any other file is refused unless every private field in it is `{"env": NAME}`; all of a provider without a
    description is private. Raises Failed (`invalid_binding`) with line and column, quoting no value.
    """
    raise NotImplementedError


def bind(
    providers: Mapping[str, str],
    bindings: Bindings | None,
    target: str | None,
    environment: Mapping[str, str],
    descriptions: Mapping[str, Description],
) -> Bound:
    """Resolve what one flow's aliases (alias to provider) are bound to.

    An alias whose provider has an `endpoint` field and whose binding names none gets ``target``; an alias without a
    binding is anonymous there. Raises Failed (`invalid_binding`): another provider in the file than in the flow, a
    missing or empty environment variable (named, with its alias and field), no endpoint and no target.
    """
    raise NotImplementedError
