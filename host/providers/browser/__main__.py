"""The executable of Browser: three flags, or the host wire on stdin and stdout."""

import sys
from typing import Any

from protocol.wire.command_line import Program, run

__all__ = ["main"]

NAME = "python -m host.providers.browser"
USAGE = f"""\
usage: {NAME} [--describe | --version | --help]

Drives Chromium for a host that drives it: one JSON-RPC message a line on stdin and stdout.

  --describe  print commands, arguments, configuration and codes as one JSON document
  --version   print name and version
  --help      print this text
"""
GREETING = "This is the Browser plugin of Assay: a host starts it. Run `assay run FLOW`."


def main() -> int:
    """Run by ``sys.argv`` and return the exit status: 0, or 2 for a wrong command line."""
    return run(Program(NAME, USAGE, GREETING, _described, _version, _serve))


def _serve() -> int:
    from host.providers.browser.service import BrowserService
    from protocol.wire.serving import serve

    serve("browser", BrowserService)


def _described() -> dict[str, Any]:
    from host.providers.browser.commands import described

    return described()


def _version() -> str:
    from host.providers.browser.commands import ABOUT
    from protocol.version import VERSION

    return f"{ABOUT.name} {VERSION}"


if __name__ == "__main__":
    sys.exit(main())
