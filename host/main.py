"""The command line `assay`: its subcommands, imported when they are used, and the one place where failures end."""

import contextlib
import importlib
import threading
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from host.outcome import ERROR_EXIT, INTERRUPTED_EXIT, REFUSED_EXIT, code_of_failure, exit_of_failure, gravest, remedy
from host.terminal import Terminal, block, line, open_streams
from protocol.failures import Code, Failed, Failure
from protocol.version import VERSION

__all__ = ["COMMANDS", "cli", "main"]

#: Command -> what `assay --help` says of it. Each is the function of that name in the module of that name.
COMMANDS: Final = {
    "init": "Write a first flow, settings and bindings.",
    "plan": "Check flows and list their steps; contacts no server.",
    "run": "Run flows and keep evidence. Also called `apply`.",
    "doctor": "Tell what is true of a server, and what is wrong with it.",
    "inspect": "Show what a server offers.",
    "call": "Call one tool and show the exact reply.",
    "login": "Sign in with OAuth in your own browser, and tell what was granted.",
    "report": "Write reports of kept runs: JUnit, HTML, JSON, GitHub.",
    "diff": "Compare inventories of two runs.",
    "contract": "Qualify one third-party tool offline, and pin it.",
    "plugins": "Show the commands of each plugin.",
}
ALIASES: Final = {"apply": "run"}


class _Lazy(click.Group):
    """Imports a subcommand when it is asked for, so that `--help` and the quick commands start quickly."""

    def list_commands(self, _context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        name = ALIASES.get(name, name)
        if name not in COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(f"host.commands.{name}"), name)
        return command

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if words and self.get_command(context, words[0]) is None and not words[0].startswith("-"):
            from host.problems import suggestion

            known = [*COMMANDS, *ALIASES]
            context.fail(f"There is no command {line(words[0])!r}. {suggestion(words[0], known, 'commands')}")
        return super().resolve_command(context, words)

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, "-V", "--version", prog_name="assay")
def cli() -> None:
    """Assay inspects MCP servers that you build or operate.

    A flow is a Markdown file: it connects as one identity or several, reads inventories, calls tools, and asserts what
    came back. `assay init URL` writes a first one.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status. Nothing escapes: every failure is a line on standard error."""
    open_streams()
    terminal = Terminal()
    with _threads_report_to(terminal):
        status = _run(terminal, arguments)
    if reason := terminal.close():
        # No defect, and nothing that a code would tell: what reads the output has not got it.
        terminal.problem(f"error: Standard output cannot be written to: {reason}. Not all of it was written.")
        terminal.problem("help: Make room where it goes, or send it elsewhere. What the command did is done.")
        status = gravest((status, ERROR_EXIT))
    return status


@contextlib.contextmanager
def _threads_report_to(terminal: Terminal) -> Iterator[None]:
    """Have a thread that breaks down say so in one line, and not in a traceback: its text may quote a plugin's line."""

    def report(details: threading.ExceptHookArgs) -> None:
        if details.exc_value is not None:
            terminal.problem(f"error: A defect in Assay: {_place(details.exc_value)}. [{Code.INTERNAL}]")

    before, threading.excepthook = threading.excepthook, report
    try:
        yield
    finally:
        threading.excepthook = before


def _run(terminal: Terminal, arguments: Sequence[str] | None) -> int:
    try:
        status = cli.main(args=arguments, prog_name="assay", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except SystemExit:
        return 0  # click prints help itself, and ends so when the reader goes away
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return _interrupted(terminal)
    except Failed as failed:
        # A command line as a whole is cancelled by its user only.
        return _interrupted(terminal) if failed.code is Code.CANCELLED else _tell(terminal, failed.failure)
    except Exception as error:  # noqa: BLE001 - the last line: a defect is told without a traceback, which may quote
        return _tell(terminal, Failure(Code.INTERNAL, f"A defect in Assay: {_place(error)}."))


def _interrupted(terminal: Terminal) -> int:
    terminal.problem("Interrupted.")
    return INTERRUPTED_EXIT


def _tell(terminal: Terminal, failure: Failure) -> int:
    status = exit_of_failure(failure)
    terminal.problem(f"error: {block(failure.message)} [{line(code_of_failure(failure))}]")
    terminal.last_words((failure.data or {}).get("diagnostics"))
    # What the host refuses before anything is contacted says itself what to do.
    advice = remedy(code_of_failure(failure))
    if status != REFUSED_EXIT and advice:
        terminal.problem(f"help: {advice}")
    return status


def _place(error: BaseException) -> str:
    """Say which exception came from where. Its text may quote what must not be shown, the system's aside."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    own = [frame for frame in frames if "host" in Path(frame.filename).parts]
    came = f", called from {Path(own[-1].filename).name}:{own[-1].lineno}" if own and own[-1] is not frames[-1] else ""
    reason = f" ({error.strerror})" if isinstance(error, OSError) and error.strerror else ""
    return f"{type(error).__name__}{where}{came}{reason}"
