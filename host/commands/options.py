"""Options that several commands share, and the readings of their values."""

import functools
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from host.comparison import CLASSES

__all__ = ["fail_on", "flows", "github", "plugin", "quiet", "server"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

NONE = "none"

_allow_origins = click.option(
    "--allow-origin",
    "allow_origins",
    metavar="ORIGIN",
    multiple=True,
    help="Admit one more origin, such as https://auth.example.com. May be given several times.",
)
plugin = click.option(
    "--plugin", metavar="PATH", help="The MCP plugin's executable. Default: ASSAY_PLUGIN, else Assay's own."
)
quiet = click.option("-q", "--quiet", is_flag=True, help="Say nothing but what went wrong.")


github = click.option(
    "--github/--no-github",
    default=None,
    help="Write annotations and the job's summary for GitHub Actions. Default: where GITHUB_ACTIONS is true.",
)

#: What says which flows are meant, and for whom; the names of the parameters are those of `Options`.
_FLOWS: Final = (
    click.argument("flows", nargs=-1, required=True, metavar="FLOW|DIR..."),
    click.option(
        "--target",
        metavar="URL",
        help="The server's MCP endpoint. Its origin is admitted. Default: ASSAY_TARGET, else `target` of assay.toml.",
    ),
    click.option(
        "--bindings",
        metavar="FILE",
        help="Who each alias is; `-` reads standard input."
        " Default: ASSAY_BINDINGS, else bindings.json if there is one.",
    ),
    _allow_origins,
    click.option(
        "--input",
        "inputs",
        metavar="NAME=VALUE",
        multiple=True,
        help="A public value that the flow takes. May be given several times.",
    ),
    click.option(
        "--tag",
        "tags",
        metavar="TAG",
        multiple=True,
        help="Only flows that have this tag, or another one that is given. May be given several times.",
    ),
    plugin,
)


def flows(command: _Command) -> _Command:
    """Add what commands take that read flows."""
    return functools.reduce(lambda made, option: option(made), reversed(_FLOWS), command)


def _classes(_context: click.Context, parameter: click.Parameter, value: str | None) -> frozenset[str] | None:
    if value is None:
        return None
    names = {name.strip() for name in value.split(",") if name.strip()}
    known = [name for name in CLASSES if name != "unclassified"]
    unknown = sorted(names - {*known, NONE})
    if unknown or not names or (NONE in names and len(names) > 1):
        wrong = f"there is no class {unknown[0]!r}" if unknown else "name classes, or `none` alone"
        raise click.BadParameter(f"{wrong}; classes are {', '.join(known)}.", param=parameter)
    return frozenset(names - {NONE})


def fail_on(default: str) -> Callable[[_Command], _Command]:
    """Make the option `--fail-on`; ``default`` tells in its help what happens without it."""
    return click.option(
        "--fail-on",
        metavar="CLASSES",
        callback=_classes,
        help="Classes of change that count as failures: any of breaking,risk,routing,additive, or none."
        f" A change that cannot be classified counts as breaking. {default}",
    )


def server(command: _Command) -> _Command:
    """Add the options of commands that talk to one server without a flow."""
    options = [
        _allow_origins,
        click.option("--bearer-env", metavar="NAME", help="Send the bearer token that this variable holds."),
        click.option(
            "--header-env",
            "header_envs",
            metavar="HEADER=NAME",
            multiple=True,
            help="Send a private header; its value is in a variable.",
        ),
        click.option("--header", "headers", metavar="KEY=VALUE", multiple=True, help="Send a public header."),
        click.option("--ca-file", metavar="FILE", help="Trust the PEM certificates in this file as well."),
        click.option(
            "--timeout",
            metavar="SECONDS",
            type=click.FloatRange(0.1, 600),
            help="Deadline of each request, 0.1 to 600. Default: 15.",
        ),
        plugin,
        quiet,
    ]
    return functools.reduce(lambda made, option: option(made), reversed(options), command)
