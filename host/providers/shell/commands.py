"""What LocalBash says about itself: its one command, and the fields of its bindings. On the path of ``--describe``."""

from typing import Any, Final

from host.providers.commands import About, Argument, Command, configuration_schema, describe

__all__ = ["ABOUT", "COMMANDS", "COMMAND_LIMIT", "FIELDS", "PATH_LIMIT", "TIMEOUT_DEFAULT", "described"]

ABOUT: Final = About("assay-shell", "LocalBash")
#: Milliseconds that a command gets where the binding says nothing: a build or a test script, not a request.
TIMEOUT_DEFAULT: Final = 60_000
#: Longest command, in bytes: Linux takes 128 KiB in one word of a command line.
COMMAND_LIMIT: Final = 100_000
#: Longest path of a working directory, in characters.
PATH_LIMIT: Final = 4_096

FIELDS: Final[dict[str, dict[str, Any]]] = {
    "cwd": {
        "description": "Absolute path of the directory that commands run in.",
        "type": "string",
        "minLength": 4,
        "maxLength": PATH_LIMIT,
        "writeOnly": True,
        # What a plan takes where it does not know the binding.
        "examples": ["/usr/bin"],
    },
    "timeoutMs": {
        "description": "Deadline of each command, in milliseconds; then it is ended with all that it started.",
        "type": ["integer", "string"],
        "minimum": 100,
        "maximum": 600_000,
        "pattern": "^(0|[1-9][0-9]{0,9})$",
        "default": TIMEOUT_DEFAULT,
    },
}

_BASH: Final = Command(
    "bash",
    "mutate",
    "Run a bash command in the binding's directory; exit status 0 is success.",
    (
        Argument(
            "command",
            "Program text for bash. It takes no references: a `${…}` in it is the shell's own. Inputs and captures are"
            " environment variables, `RFL_` and the name in capitals.",
            {"contentMediaType": "application/x-sh", "minLength": 1, "maxLength": COMMAND_LIMIT},
        ),
        Argument(
            "environment",
            "The inputs and captures that have a value, by name.",
            {
                "contentMediaType": "application/json",
                "contentSchema": {
                    "type": "object",
                    "propertyNames": {"pattern": "^[a-z][a-z0-9_]*$"},
                    "additionalProperties": {"type": "string"},
                },
                "filledBy": "host",
            },
            required=False,
        ),
    ),
)
COMMANDS: Final = {_BASH.name: _BASH}


def described() -> dict[str, Any]:
    """Return the document of `--describe`."""
    return describe(ABOUT, configuration_schema(FIELDS, ["cwd"]), list(COMMANDS.values()))
