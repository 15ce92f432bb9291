"""Plugin descriptions for tests of reading: small, and not growing with the real plugins."""

import copy
from typing import Any

from host.description import Description, read_description
from protocol.values.document import encode

__all__ = ["DESCRIPTIONS", "SIGNING_IN", "mcp_document", "shell_document"]

_TEXT = {"type": "string", "description": "Some text."}
_OBJECT = {"type": "string", "contentMediaType": "application/json", "contentSchema": {"type": "object"}}


def _command(
    name: str, effect: str, arguments: dict[str, Any], required: tuple[str, ...] = (), *, capture: bool = False
) -> dict[str, Any]:
    # Each test may change its own: no part of a document is shared with another part.
    properties = {argument: copy.deepcopy(schema) for argument, schema in arguments.items()}
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return {
        "name": name,
        "effect": effect,
        "summary": f"Does {name}.",
        "capture": capture,
        "arguments": schema,
        "expect": {"type": "object"},
    }


def mcp_document() -> dict[str, Any]:
    """Return a description like the MCP plugin's, new on every call."""
    common = {"path": _TEXT, "tokenFile": _TEXT}
    call = {"tool": _TEXT, "arguments": _OBJECT, "expect": _OBJECT, **common}
    return {
        "protocol": 1,
        "plugin": {"name": "assay-mcp", "version": "1.2.3", "provider": "MCP"},
        "configuration": {
            "type": "object",
            "properties": {
                "endpoint": {"type": "string", "writeOnly": True},
                "bearerToken": {"type": "string", "writeOnly": True},
                "headers": {
                    "type": ["object", "string"],
                    "additionalProperties": {"type": "string"},
                    "contentMediaType": "application/json",
                    "writeOnly": True,
                },
                "oauth": {
                    "type": ["object", "string"],
                    "contentMediaType": "application/json",
                    "properties": {
                        "issuer": {"type": "string"},
                        "scopes": {"type": "array", "items": {"type": "string"}},
                        "clientSecret": {"type": "string", "writeOnly": True},
                    },
                    "additionalProperties": False,
                },
                "timeoutMs": {"type": ["integer", "string"]},
                "keepText": {"type": "boolean"},
            },
            "required": ["endpoint"],
            "additionalProperties": False,
        },
        "commands": [
            _command("connect", "observe", {"headers": _OBJECT, "expect": _OBJECT, **common}),
            _command("tools", "observe", {"expect": _OBJECT, **common}),
            _command("call", "mutate", call, ("tool",)),
            _command("call_value", "mutate", {**call, "select": _TEXT}, ("tool", "select"), capture=True),
            _command("disconnect", "mutate", {}),
        ],
        "codes": [{"code": "timeout", "meaning": "Too late.", "remedy": "Wait.", "exit": 1}],
    }


def shell_document() -> dict[str, Any]:
    """Return a description like LocalBash's: its one argument is program text."""
    program = {"type": "string", "contentMediaType": "application/x-sh", "description": "A command line."}
    return {
        "protocol": 1,
        "plugin": {"name": "assay-shell", "version": "1.2.3", "provider": "LocalBash"},
        "configuration": {"type": "object", "properties": {"cwd": {"type": "string", "writeOnly": True}}},
        "commands": [_command("bash", "mutate", {"command": program}, ("command",))],
        "codes": [],
    }


def browser_document() -> dict[str, Any]:
    """Return a description like Browser's."""
    return {
        "protocol": 1,
        "plugin": {"name": "assay-browser", "version": "1.2.3", "provider": "Browser"},
        "configuration": {"type": "object", "properties": {"private": {"type": "object", "writeOnly": True}}},
        "commands": [
            _command("open", "observe", {"url": _TEXT}, ("url",)),
            _command("click", "mutate", {"selector": _TEXT}, ("selector",)),
            _command("screenshot", "observe", {"name": _TEXT}, ("name",)),
        ],
        "codes": [],
    }


def signing_in_document() -> dict[str, Any]:
    """Return a description like the MCP plugin's, with the two halves of a sign-in."""
    document = mcp_document()
    halves = [_command("oauth_begin", "mutate", {"path": _TEXT}), _command("oauth_finish", "mutate", {})]
    return document | {"commands": [*document["commands"], *halves]}


DESCRIPTIONS: dict[str, Description] = {
    "MCP": read_description(encode(mcp_document())),
    "LocalBash": read_description(encode(shell_document())),
}

#: Descriptions for flows that sign in.
SIGNING_IN: dict[str, Description] = {
    **DESCRIPTIONS,
    "MCP": read_description(encode(signing_in_document())),
    "Browser": read_description(encode(browser_document())),
}
