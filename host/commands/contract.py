"""`assay contract`: the offline verbs of a contract, as the plugin executable has them, and `pin`."""

from typing import Any, Final

import click

from contract.program import run
from contract.verbs import INTRODUCTION

__all__ = ["contract"]

#: What asks a server, apart from the verbs that read files only: verb -> its line of the help.
_ONLINE: Final = {"pin": "Write a route for a tool as a server lists it now. It alone asks a server."}


class _Words(click.Command):
    """Takes its words as they are: both programs read a command line of the offline verbs in one way."""

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        context.params["words"] = words
        return []


@click.command(cls=_Words, add_help_option=False, help=INTRODUCTION)
@click.pass_context
def contract(context: click.Context, words: list[str]) -> Any:
    if words[:1] != ["pin"]:
        return run("assay contract", words, _ONLINE)
    from host.commands.pin import pin  # which the offline verbs need not wait for

    with pin.make_context("pin", words[1:], parent=context) as inner:
        return pin.invoke(inner)
