"""The executable of a provider that the host brings: three flags, or the host wire on stdin and stdout."""

from importlib import import_module
from typing import Any

from protocol.wire.command_line import Program, run

__all__ = ["run_provider"]

_USAGE = """\
usage: {name} [--describe | --version | --help]

{does} for a host that drives it: one JSON-RPC message a line on stdin and stdout.

  --describe  print commands, arguments, configuration and codes as one JSON document
  --version   print name and version
  --help      print this text
"""
_GREETING = "This is the {provider} plugin of Assay: a host starts it. Run `assay run FLOW`."


def run_provider(package: str, provider: str, service: str, does: str) -> int:
    """Run by ``sys.argv`` and return the exit status: 0, or 2 for a wrong command line.

    ``package`` has the modules `commands` and `service`, which are imported when they are needed; ``service`` names the
    class in the latter, and ``does`` begins a sentence of `--help`.
    """

    def described() -> dict[str, Any]:
        found: dict[str, Any] = import_module(f"{package}.commands").described()
        return found

    def version() -> str:
        from protocol.version import VERSION

        return f"{import_module(f'{package}.commands').ABOUT.name} {VERSION}"

    def serve() -> int:
        from protocol.wire import serving

        serving.serve(package.rpartition(".")[2], getattr(import_module(f"{package}.service"), service))

    name = f"python -m {package}"
    usage, greeting = _USAGE.format(name=name, does=does), _GREETING.format(provider=provider)
    return run(Program(name, usage, greeting, described, version, serve))
