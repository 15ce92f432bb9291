"""The one table of commands: what a host may run, with which arguments and expectations, and who carries it out.

It is on the path of ``plugin --describe``: handlers are named, and imported only when a command first runs.
"""

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

__all__ = [
    "BEGIN",
    "COMMANDS",
    "DISCOVER",
    "FINISH",
    "TEXT_LIMIT",
    "URI_LIMIT",
    "Argument",
    "Command",
    "resolve",
]

#: Longest name of a tool or prompt, in characters. MCP recommends 128; the rest is room for servers that differ.
TEXT_LIMIT: Final = 1024
#: Longest resource URI, in characters: what common servers accept of a URL.
URI_LIMIT: Final = 8192
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
_URI = Argument("uri", "URI of the resource to read.", required=True, schema={"minLength": 1, "maxLength": URI_LIMIT})
_PROMPT = Argument(
    "name", "Name of the prompt to render.", required=True, schema={"minLength": 1, "maxLength": TEXT_LIMIT}
)
_PROMPT_ARGUMENTS = Argument(
    "arguments", "The prompt's arguments, sent as they are written.", json=True, schema={"type": "object"}
)
_HELPER = Argument(
    "tool",
    "Name of the gateway's tool where it is not the command's usual one.",
    schema={"minLength": 1, "maxLength": TEXT_LIMIT},
)
_HTTP = Argument(
    "http",
    "Stands in place of `expect`: the request is refused with this HTTP status (400 to 499, not 408) and, where named,"
    " with a challenge of this scope or error.",
    json=True,
    schema={
        "type": "object",
        "properties": {
            "status": {"type": "integer", "minimum": 400, "maximum": 499, "not": {"const": 408}},
            "scope": {"type": "string", "minLength": 1},
            "error": {"type": "string", "minLength": 1},
        },
        "required": ["status"],
        "additionalProperties": False,
    },
)
_SELECT = Argument(
    "select",
    "JSON Pointer (RFC 6901) to the string, number or boolean to capture; empty selects the whole.",
    required=True,
    schema={"format": "json-pointer"},
)

_INVENTORY_KEYS = ("present", "absent", "only", "count")
_CALL_KEYS = ("rpcError", "isError", "textIncludes", "textExcludes", "redacted", "json")
_VALUE_KEYS = ("textIncludes", "textExcludes", "redacted", "json")
_READING_KEYS = ("rpcError", "textIncludes", "textExcludes", "redacted", "json", "count")
_HELPER_KEYS = ("present", "absent", "only", *_CALL_KEYS)

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
        (*_INVENTORY_KEYS, "noTrueAnnotations"),
    ),
    Command(
        "resources",
        "observe",
        "List every resource and assert their URIs.",
        "plugin.handlers.inventory:resources",
        (_EXPECT, _PATH, _TOKEN_FILE),
        _INVENTORY_KEYS,
    ),
    Command(
        "resource_templates",
        "observe",
        "List every resource template and assert their URI templates.",
        "plugin.handlers.inventory:resource_templates",
        (_EXPECT, _PATH, _TOKEN_FILE),
        _INVENTORY_KEYS,
    ),
    Command(
        "prompts",
        "observe",
        "List every prompt with the names of its arguments.",
        "plugin.handlers.inventory:prompts",
        (_EXPECT, _PATH, _TOKEN_FILE),
        _INVENTORY_KEYS,
    ),
    Command(
        "read_resource",
        "observe",
        "Read one resource and assert its text or the server's refusal.",
        "plugin.handlers.reading:read_resource",
        (_URI, _EXPECT, _HTTP, _PATH, _TOKEN_FILE),
        _READING_KEYS,
    ),
    Command(
        "get_prompt",
        "observe",
        "Render one prompt and assert its messages or the server's refusal.",
        "plugin.handlers.reading:get_prompt",
        (_PROMPT, _PROMPT_ARGUMENTS, _EXPECT, _HTTP, _PATH, _TOKEN_FILE),
        _READING_KEYS,
    ),
    Command(
        "call",
        "mutate",
        "Call one tool once and assert its result or the server's refusal.",
        "plugin.handlers.call:call",
        (_TOOL, _ARGUMENTS, _EXPECT, _HTTP, _PATH, _TOKEN_FILE),
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
        "servers",
        "mutate",
        "Call a gateway's list_servers tool and assert the slugs of its member servers.",
        "plugin.handlers.gateway:servers",
        (_HELPER, _ARGUMENTS, _EXPECT, _PATH, _TOKEN_FILE),
        _HELPER_KEYS,
    ),
    Command(
        "describe_server",
        "mutate",
        "Call a gateway's describe_server tool and assert the tool names of one member server.",
        "plugin.handlers.gateway:describe_server",
        (_HELPER, _ARGUMENTS, _EXPECT, _PATH, _TOKEN_FILE),
        _HELPER_KEYS,
    ),
    Command(
        "describe_tools",
        "mutate",
        "Call a gateway's describe_tools tool and assert its tool names.",
        "plugin.handlers.gateway:describe_tools",
        (_HELPER, _ARGUMENTS, _EXPECT, _PATH, _TOKEN_FILE),
        _HELPER_KEYS,
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
        "Begin to sign in: find the authorization server, become its client, and have its consent page shown.",
        "plugin.handlers.oauth:oauth_begin",
        (_PATH,),
    ),
    Command(
        FINISH,
        "mutate",
        "End a sign-in: await the browser's way back, get the token for its code, and use it from here on.",
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
