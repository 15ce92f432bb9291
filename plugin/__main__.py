"""The executable: three flags, the offline verbs of a contract, or the host wire on stdin and stdout."""

import sys
from typing import Any

from protocol.wire.command_line import Program, run

__all__ = ["main"]

USAGE = """\
usage: plugin [--describe | --version | --help]
       plugin contract [validate | qualify | prepare | --help] …

Inspects MCP servers for a host that drives it: one JSON-RPC message a line on stdin and stdout.

  --describe  print commands, arguments, configuration and codes as one JSON document
  --version   print name and version
  --help      print this text

  contract    check a registry, a catalog or a call from files; contacts nothing
"""
ON_A_TERMINAL = "This is the MCP plugin of Assay: a host starts it. Run `assay run FLOW`, or `plugin --help`."


def main() -> int:
    """Run by ``sys.argv`` and return the exit status: 0, or 2 for a wrong command line."""
    if sys.argv[1:2] == ["contract"]:
        return _contract()
    return run(Program("plugin", USAGE, ON_A_TERMINAL, _described, _version, _serve))


def _contract() -> int:
    from contract.program import run as run_verb

    return run_verb("plugin contract", sys.argv[2:])


def _serve() -> int:
    from plugin.inspector import Inspector
    from protocol.wire.serving import serve

    serve("plugin", Inspector)


def _described() -> dict[str, Any]:
    from plugin.describe import describe

    return describe()


def _version() -> str:
    from plugin.identity import NAME, VERSION

    return f"{NAME} {VERSION}"


if __name__ == "__main__":
    sys.exit(main())
