"""Which program carries out a provider's commands, and what that program says about itself."""

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from host.description import DESCRIPTION_LIMIT
from protocol.failures import Code, Failed

__all__ = ["PLUGIN_VARIABLE", "PROVIDERS", "Executable", "current_environment", "describe", "find", "without"]

#: Names the executable of the MCP provider, as `--plugin` does.
PLUGIN_VARIABLE: Final = "ASSAY_PLUGIN"
#: Provider -> the import package that is run when no executable is named.
_MODULES: Final = {"MCP": "plugin", "LocalBash": "host.providers.shell", "Browser": "host.providers.browser"}
#: The provider whose executable can be named: the others come along with the host.
_NAMEABLE: Final = "MCP"
#: Providers that have an executable in this version.
PROVIDERS: Final = tuple(_MODULES)
#: Seconds that `--describe` may take; it imports next to nothing.
DESCRIBE_SECONDS: Final = 30.0


class Executable(NamedTuple):
    """A provider's program: what to start, and the environment variables that it needs beside the user's."""

    provider: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]


def current_environment() -> dict[str, str]:
    """Return a copy of the environment that the command was started with."""
    return dict(os.environ)


def find(provider: str, named: str | None, environment: Mapping[str, str]) -> Executable:
    """Return the executable of ``provider``: the named one, else ASSAY_PLUGIN's, else the package that came along.

    Only the MCP provider's can be named.

    Raises Failed (``provider_missing``) when there is none, or when the named one cannot be run.
    """
    module = _MODULES.get(provider)
    if module is None:
        known = ", ".join(_MODULES)
        raise Failed(
            Code.PROVIDER_MISSING,
            f"No plugin executable is known for the provider `{provider}`. This version of Assay brings: {known}.",
        )
    given, source = (named, "--plugin") if named else (environment.get(PLUGIN_VARIABLE), PLUGIN_VARIABLE)
    if given and provider == _NAMEABLE:
        return Executable(provider, (_runnable(given, source, environment),), {})
    # -P, not -I: the user's own site-packages and PYTHONPATH may be where Assay lives, and both switches keep a folder
    # called `plugin` in the working directory from being run in place of ours.
    return Executable(provider, (sys.executable, "-P", "-m", module), _search_path(module))


def _runnable(given: str, source: str, environment: Mapping[str, str]) -> str:
    places = (given, os.path.join(os.curdir, given))
    found = next(filter(None, (shutil.which(place, path=environment.get("PATH")) for place in places)), None)
    if found is not None:
        return os.path.abspath(found)
    path = Path(given)
    if not os.path.exists(path):
        reason = "there is no such file"
    elif os.path.isdir(path):
        reason = "it is a folder"
    else:
        reason = "it is not executable (`chmod +x` makes it so)"
    raise Failed(Code.PROVIDER_MISSING, f"The plugin executable {given!r} (from {source}) cannot be run: {reason}.")


def _search_path(module: str) -> dict[str, str]:
    """Let a child find our packages when they are run from a source folder that is not installed."""
    if importlib.util.find_spec(module) is None:
        raise Failed(
            Code.PROVIDER_MISSING,
            f"The package `{module}` is not installed beside the host. Install Assay whole, or name an executable with"
            " `--plugin PATH`.",
        )
    root = str(Path(__file__).resolve().parent.parent)
    installed = {Path(entry).resolve() for entry in sys.path if entry.endswith(("site-packages", "dist-packages"))}
    if Path(root) in installed:
        return {}
    return {"PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))}


def without(environment: Mapping[str, str], names: frozenset[str], executable: Executable) -> dict[str, str]:
    """Return the environment that a child gets: the user's, without the variables that a binding names."""
    kept = {name: value for name, value in environment.items() if name not in names}
    return kept | dict(executable.environment)


def describe(executable: Executable, environment: Mapping[str, str]) -> bytes:
    """Return what the program prints on `--describe`. Raises Failed: ``provider_missing``, ``plugin_died``."""
    program = " ".join(executable.argv)
    status, output, diagnostics = _run([*executable.argv, "--describe"], environment)
    if status or not output or len(output) > DESCRIPTION_LIMIT:
        raise Failed(
            Code.PLUGIN_DIED,
            f"`{program} --describe` ended with status {status} and {len(output)} bytes of output: it is no plugin of"
            " Assay.",
            data={"diagnostics": diagnostics[-2048:].decode("utf-8", "replace")},
        )
    return output


def _run(argv: list[str], environment: Mapping[str, str]) -> tuple[int, bytes, bytes]:
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            start_new_session=True,
        )
    except OSError as error:
        reason = error.strerror or "the system refused"
        raise Failed(Code.PROVIDER_MISSING, f"{argv[0]} could not be started: {reason}.") from None
    with process:
        try:
            output, diagnostics = process.communicate(timeout=DESCRIBE_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failed(
                Code.PLUGIN_DIED, f"`{' '.join(argv)}` gave no answer within {DESCRIBE_SECONDS:.0f} seconds."
            ) from None
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, output, diagnostics
