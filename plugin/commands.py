"""The one table of commands: what a host may run, with which arguments and expectations, and who carries it out.

It is on the path of ``plugin --describe``: handlers are named, and imported only when a command first runs.
"""

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

__all__ = ["BEGIN", "COMMANDS", "DISCOVER", "FINISH", "TEXT_LIMIT", "Argument", "Command", "resolve"]

#: Longest tool name, in characters. MCP recommends 128; the rest is room for servers that do not follow it.
TEXT_LIMIT: Final = 1024
#: The two halves of a sign-in. Between them no other command runs.
BEGIN: Final = "oauth_begin"
FINISH: Final = "oauth_finish"


class Argument(NamedTuple):
    """One argument. Its value is always a string; ``json`` says that the string holds a JSON object.

    ``schema`` describes the string of a plain argument, or the object in a JSON one. ``expect`` takes the schema of the
    command's own expectation keys instead.
    """

    name: str
    meaning: str
    required: bool = False
    json: bool = False
    schema: dict[str, Any] | None = None


class Command(NamedTuple):
    """One command. ``handler`` is "module:function", ``expect`` the keys of plugin.expectations that it accepts."""

    name: str
    effect: Literal["observe", "mutate"]
    summary: str
    handler: str
    arguments: tuple[Argument, ...]
    expect: tuple[str, ...] = ()
    capture: bool = False


_PATH = Argument(
    "path",
    "Segments appended to the endpoint after one slash; fixed by the alias's first command.",
    schema={"minLength": 1, "maxLength": 256, "pattern": r"^[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*$"},
)
_TOKEN_FILE = Argument(
    "tokenFile",
    "Name of a file in the binding's tokenDirectory that holds the bearer token; fixed by the alias's first command.",
    schema={"minLength": 1, "maxLength": 128, "pattern": r"^[A-Za-z0-9._-]+$"},
)
_EXPECT = Argument("expect", "What has to hold of the reply; without it the step has to succeed.", json=True)
_HEADERS = Argument(
    "headers",
    "Public headers, sent on every MCP request of the alias. Credentials belong in the binding.",
    json=True,
    schema={
        "type": "object",
        "additionalProperties": {"type": "string", "minLength": 1, "maxLength": 16384},
        "minProperties": 1,
        "maxProperties": 32,
    },
)
_TOOL = Argument("tool", "Name of the tool to call.", required=True, schema={"minLength": 1, "maxLength": TEXT_LIMIT})
_ARGUMENTS = Argument(
    "arguments", "The tool's arguments, sent as they are written.", json=True, schema={"type": "object"}
)
_SELECT = Argument(
    "select",
    "JSON Pointer (RFC 6901) to the string, number or boolean to capture; empty selects the whole.",
    required=True,
    schema={"format": "json-pointer"},
)

_CALL_KEYS = ("rpcError", "isError", "textIncludes", "textExcludes", "redacted", "json")
_VALUE_KEYS = ("textIncludes", "textExcludes", "redacted", "json")

_ROWS = (
    Command(
        "connect",
        "observe",
        "Open a session, or assert the HTTP status that refuses one.",
        "plugin.handlers.connect:connect",
        (_HEADERS, _EXPECT, _PATH, _TOKEN_FILE),
        ("status",),
    ),
    Command(
        "tools",
        "observe",
        "Read the whole tool inventory: hints, and hashes of schemas and texts.",
        "plugin.handlers.inventory:tools",
        (_EXPECT, _PATH, _TOKEN_FILE),
        ("present", "absent", "only", "count", "noTrueAnnotations"),
    ),
    Command(
        "call",
        "mutate",
        "Call one tool once and assert its result or the server's refusal.",
        "plugin.handlers.call:call",
        (_TOOL, _ARGUMENTS, _EXPECT, _PATH, _TOKEN_FILE),
        _CALL_KEYS,
    ),
    Command(
        "call_value",
        "mutate",
        "Call one tool once and capture a public scalar of its result.",
        "plugin.handlers.call:call_value",
        (_TOOL, _ARGUMENTS, _SELECT, _EXPECT, _PATH, _TOKEN_FILE),
        _VALUE_KEYS,
        capture=True,
    ),
    Command(
        "disconnect",
        "mutate",
        "End the session: one DELETE at the most, whose outcome is kept.",
        "plugin.handlers.disconnect:disconnect",
        (_PATH, _TOKEN_FILE),
    ),
    Command(
        BEGIN,
        "mutate",
        "Start one private OAuth attempt and open the consent page in the host's Browser.",
        "plugin.handlers.oauth:oauth_begin",
        (_PATH,),
    ),
    Command(
        FINISH,
        "mutate",
        "Wait for consent, exchange the code once and install the token in this binding.",
        "plugin.handlers.oauth:oauth_finish",
        (),
    ),
)

#: Every command by its name.
COMMANDS: Final[dict[str, Command]] = {command.name: command for command in _ROWS}
#: What the wire's method `discover` carries out: no command of flows, and none of the table.
DISCOVER: Final = Command(
    "discover",
    "observe",
    "Find the authorization server of an endpoint, without consent.",
    "plugin.handlers.discovery:discover",
    (),
)


def resolve(handler: str) -> Callable[..., Any]:
    """Import what a handler's "module:function" names. Raises ImportError or AttributeError when it does not exist."""
    from importlib import import_module

    module, _, function = handler.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
