"""The executable: three flags, or the host wire on stdin and stdout."""

import sys

__all__ = ["main"]

USAGE = """\
usage: plugin [--describe | --version | --help]

Inspects MCP servers for a host that drives it: one JSON-RPC message a line on stdin and stdout.

  --describe  print commands, arguments, configuration and codes as one JSON document
  --version   print name and version
  --help      print this text
"""
ON_A_TERMINAL = "This is the MCP plugin of Assay: a host starts it. Run `assay run FLOW`, or `plugin --help`."


def main() -> int:
    """Run by ``sys.argv`` and return the exit status: 0, or 2 for a wrong command line."""
    match sys.argv[1:]:
        case []:
            return _serve()
        case ["--describe"]:
            return _print(_described())
        case ["--version"]:
            return _print(_version())
        case ["--help"]:
            return _print(USAGE)
        case [option]:
            return _refuse(f"plugin: {option!r} is not an option; `plugin --help` lists them.")
    return _refuse("plugin: give one option at most; `plugin --help` lists them.")


def _serve() -> int:
    if sys.stdin is not None and sys.stdin.isatty():
        return _refuse(ON_A_TERMINAL)
    from plugin.loop import serve

    return serve()


def _described() -> str:
    import json

    from plugin.describe import describe

    return json.dumps(describe(), indent=1) + "\n"


def _version() -> str:
    from plugin.identity import NAME, VERSION

    return f"{NAME} {VERSION}\n"


def _print(text: str) -> int:
    sys.stdout.write(text)
    sys.stdout.flush()
    return 0


def _refuse(line: str) -> int:
    sys.stderr.write(line + "\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
