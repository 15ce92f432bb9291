"""`assay plugins`: what each plugin can do, from its own description."""

import click

from host.commands import options
from host.description import CommandDescription, Description
from host.documents import STANDARD_OUTPUT, write_document
from host.executable import PROVIDERS, current_environment
from host.preparation import describe_providers
from host.tables import table
from host.terminal import Terminal, line
from protocol.failures import Failed

__all__ = ["plugins"]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Write the plugins' descriptions as one document.")
@options.plugin
def plugins(as_json: bool, plugin: str | None) -> int:
    """Show the commands of each plugin, with their arguments and expectations.

    Everything comes from the plugin's `--describe`; `--json` gives it with every JSON Schema.
    """
    terminal = Terminal()
    _, descriptions, failures = describe_providers(list(PROVIDERS), plugin, current_environment())
    for failure in failures.values():
        raise Failed(failure.code, failure.message, data=failure.data)
    if as_json:
        documents = [description.document for description in descriptions.values()]
        write_document(STANDARD_OUTPUT, {"format": "assay-plugins/1", "plugins": documents}, terminal)
        return 0
    for description in descriptions.values():
        _show(terminal, description)
    return 0


def _show(terminal: Terminal, description: Description) -> None:
    heading = f"{description.provider}: {description.name} {description.version}"
    terminal.result(terminal.paint(line(heading), "heading"))
    rows = [_row(command) for command in description.commands.values()]
    table(terminal, ["command", "effect", "arguments (* required)", "expect", "what it does"], rows)


def _row(command: CommandDescription) -> list[str]:
    written = [argument for argument in command.arguments.values() if argument.kind != "values"]
    arguments = [f"{argument.name}{'*' if argument.required else ''}" for argument in written]
    name = f"{command.name} -> capture" if command.capture else command.name
    expected = command.expect.get("properties", {}) if isinstance(command.expect, dict) else {}
    return [name, command.effect, ", ".join(arguments), ", ".join(expected), command.summary]
