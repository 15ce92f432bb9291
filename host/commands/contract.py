"""`assay contract`: the offline verbs of a contract, which the plugin executable has as well, and `pin`."""

import importlib
from collections.abc import Callable
from typing import Any, Final

import click

from contract.core.prepared import Domain
from contract.core.refusal import Refusal
from contract.program import WIDTH, perform, refuse
from contract.verbs import DOMAIN_HELP, INTRODUCTION, VERBS, Verb

__all__ = ["contract"]


#: What asks a server, apart from the verbs that read files only: verb -> the first line of its help.
_ONLINE: Final = {"pin": "Write a route for a tool as a server lists it now."}


class _Unusable(click.ClickException):
    """A wrong command line, told by one fixed sentence: click's own would quote it."""

    exit_code = 2

    def show(self, file: Any = None) -> None:  # noqa: ARG002 - click's signature
        refuse(Refusal.USAGE)


class _Offline(click.Command):
    """A command whose mistakes of use are told by the fixed sentence."""

    def make_context(self, *arguments: Any, **named: Any) -> click.Context:
        try:
            return super().make_context(*arguments, **named)
        except click.UsageError:
            raise _Unusable("") from None


class _Verbs(_Offline, click.Group):
    """The verbs in the order of their use; without one, or with another, the sentence is the same.

    What the offline verbs do not need is imported for the others only.
    """

    def list_commands(self, _context: click.Context) -> list[str]:
        return [*self.commands, *_ONLINE]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in _ONLINE:
            return super().get_command(context, name)
        command: click.Command = getattr(importlib.import_module(f"host.commands.{name}"), name)
        return command

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        offline = [(name, command.get_short_help_str(WIDTH)) for name, command in self.commands.items()]
        with formatter.section("Commands"):
            formatter.write_dl([*offline, *_ONLINE.items()])

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        if not set(words) - {"--"}:
            raise click.UsageError("")
        return super().parse_args(context, words)

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if words[0] not in self.list_commands(context):
            raise _Unusable("")
        return super().resolve_command(context, words)


@click.group(cls=_Verbs, help=f"{INTRODUCTION} `pin` alone is otherwise: it asks a server what it lists.")
def contract() -> None:
    pass


def _perform(name: str, verb: Verb) -> Callable[..., int]:
    def callback(domain: str = Domain.ASSAY, **paths: str) -> int:
        return perform(name, [paths[kind.name] for kind in verb.documents], Domain(domain))

    return callback


def _command(name: str, verb: Verb) -> click.Command:
    parameters: list[click.Parameter] = [click.Argument([kind.name]) for kind in verb.documents]
    if verb.domain:
        choice = click.Choice([domain.value for domain in Domain])
        parameters.append(click.Option(["--domain"], type=choice, default=Domain.ASSAY.value, help=DOMAIN_HELP))
    explained = f"{verb.summary}\n\n{verb.explanation}"
    return _Offline(name, callback=_perform(name, verb), params=parameters, help=explained, short_help=verb.summary)


for _name, _verb in VERBS.items():
    contract.add_command(_command(_name, _verb))
