"""The tools of the example server in its two versions: what is listed, and what each of them answers.

Version 2 differs so that a comparison shows every class of change: see ``docs/protocol.md`` for the classes.
"""

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from mcp import types
from mcp.shared.exceptions import MCPError

__all__ = ["Desk", "listed"]

#: Numbers that most JSON tools change on the way, spelled as they must arrive.
NUMBERS = '{"large":9007199254740993,"price":1.10,"tiny":1e-400,"zero":-0,"digits":' + "1234567890" * 40 + "}"

TICKETS = {
    "T-1001": "Refund for a double charge",
    "T-1002": "Export stops at page three",
    "T-1003": "Refund to a closed account",
}


def hints(*, read_only: bool = True, idempotent: bool = True) -> types.ToolAnnotations:
    return types.ToolAnnotations(
        read_only_hint=read_only, destructive_hint=False, idempotent_hint=idempotent, open_world_hint=False
    )


def schema(*required: str, **optional: Any) -> dict[str, Any]:
    """An input schema of string arguments; ``optional`` names further ones with their schema."""
    properties = {name: {"type": "string"} for name in required} | optional
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def tool(name: str, description: str, inputs: dict[str, Any], annotations: types.ToolAnnotations) -> types.Tool:
    return types.Tool(name=name, description=description, input_schema=inputs, annotations=annotations)


#: Listed by both versions, as they are.
STEADY = (
    tool(
        "create_record", "Create a record and tell its id.", schema("title"), hints(read_only=False, idempotent=False)
    ),
    tool("get_record", "Read one record.", schema("id"), hints()),
    tool("restart_worker", "Restart the worker; it is always busy.", schema(), hints(read_only=False)),
    tool("read_numbers", "Read numbers that need an exact reader.", schema(), hints()),
    tool("read_twice", "Read JSON that repeats a member.", schema(), hints()),
    tool(
        "echo_request",
        "Tell what the request's Authorization header was, in a form of choice.",
        schema("form"),
        hints(),
    ),
)

VERSIONS: dict[int, tuple[types.Tool, ...]] = {
    1: (
        *STEADY,
        tool("search_tickets", "Find tickets by a word.", schema("query"), hints()),
        tool("preview_ticket", "Show a ticket as a customer sees it.", schema("id"), hints()),
        tool("summarize_ticket", "Summarise a ticket in one line.", schema("id"), hints()),
        tool("export_report", "Export the tickets of a team.", schema("team"), hints()),
        tool("list_audit_events", "List who did what.", schema(), hints()),
    ),
    2: (
        *STEADY,
        # additive: an optional argument more
        tool("search_tickets", "Find tickets by a word.", schema("query", limit={"type": "integer"}), hints()),
        # risk: no longer read-only
        tool("preview_ticket", "Show a ticket as a customer sees it.", schema("id"), hints(read_only=False)),
        # routing: another description
        tool("summarize_ticket", "Write a summary of a ticket for its customer.", schema("id"), hints()),
        # breaking: a required argument more
        tool("export_report", "Export the tickets of a team.", schema("team", "period"), hints()),
        # added; list_audit_events is removed, which is breaking
        tool("tag_ticket", "Put a tag on a ticket.", schema("id", "tag"), hints(read_only=False)),
    ),
}


#: Listed to the owner only, and available to nobody else.
OWNER = (
    tool("delete_workspace", "Pretend to delete the workspace.", schema(), hints(read_only=False)),
    tool("rotate_signing_key", "Pretend to rotate the signing key.", schema(), hints(read_only=False)),
    tool("invite_member", "Pretend to invite somebody.", schema("email"), hints(read_only=False)),
    tool("read_invoices", "List the invoices.", schema(), hints()),
)


def listed(version: int, *, owner: bool = False) -> list[types.Tool]:
    """The tools that ``version`` (1 or 2) lists to the owner, or to every other identity."""
    return [*VERSIONS[version], *(OWNER if owner else ())]


class Request(NamedTuple):
    """What a tool sees of its call: the arguments, and the value of the Authorization header or nothing."""

    arguments: Mapping[str, str]
    authorization: str


class Desk:
    """A support desk in memory: answers the calls of one server process. Ids count up from R-1.

    Who bears the ``owner`` token may use the owner's tools; without one nobody may.
    """

    def __init__(self, version: int, owner: str | None = None) -> None:
        self._version = version
        self._owner = owner
        self._records: dict[str, dict[str, Any]] = {}
        self._answers: dict[str, Callable[[Request], types.CallToolResult]] = {
            "create_record": self._create_record,
            "get_record": self._get_record,
            "restart_worker": lambda _: answer("The worker is busy; nothing was restarted.", failed=True),
            "read_numbers": lambda _: answer(NUMBERS),
            "read_twice": lambda _: answer('{"id":1,"id":2}'),
            "echo_request": self._echo_request,
            "search_tickets": self._search_tickets,
            "list_audit_events": lambda _: answer("[]"),
        }

    def tools(self, authorization: str) -> list[types.Tool]:
        """The tools of whoever sends this Authorization header."""
        owner = self._owner is not None and authorization == f"Bearer {self._owner}"
        return listed(self._version, owner=owner)

    def call(self, name: str, arguments: Mapping[str, Any], authorization: str) -> types.CallToolResult:
        """Answer one call. Raises MCPError -32602 for a tool that is not listed: the protocol's own refusal."""
        required = {entry.name: entry.input_schema["required"] for entry in self.tools(authorization)}
        if name not in required:
            raise MCPError(types.INVALID_PARAMS, f"The tool {name} is not available to this identity.")
        words = {key: str(value) for key, value in arguments.items()}
        missing = [key for key in required[name] if key not in words]
        if missing:
            return answer(f"Missing: {', '.join(missing)}.", failed=True)
        return self._answers.get(name, done)(Request(words, authorization))

    def _create_record(self, request: Request) -> types.CallToolResult:
        record = {"id": f"R-{len(self._records) + 1}", "title": request.arguments["title"], "enabled": True}
        self._records[str(record["id"])] = record | {"members": ["ada", "grace"], "deleted_at": None}
        return structured({"id": record["id"]})

    def _get_record(self, request: Request) -> types.CallToolResult:
        record = self._records.get(request.arguments["id"])
        return structured(record) if record else answer("There is no such record.", failed=True)

    def _search_tickets(self, request: Request) -> types.CallToolResult:
        word = request.arguments["query"].casefold()
        found = [{"id": key, "subject": subject} for key, subject in TICKETS.items() if word in subject.casefold()]
        return structured({"tickets": found, "total": len(found)})

    def _echo_request(self, request: Request) -> types.CallToolResult:
        secret = request.authorization.removeprefix("Bearer ")
        form = request.arguments["form"]
        if form == "error":
            raise MCPError(-32000, f"Refused: {secret}", data={"seen": {"authorization": secret}})
        if form == "member":
            return structured({secret: "seen"})
        forms: dict[str, Callable[[str], str]] = {
            "plain": lambda text: f"The header was Bearer {text}.",
            "nested": lambda text: json.dumps({"log": json.dumps({"line": json.dumps({"authorization": text})})}),
            "percent": lambda text: "https://desk.invalid/?seen=" + quote(text, safe="").replace("-", "%2D"),
            "base64": lambda text: base64.b64encode(f"Bearer {text}".encode()).decode(),
        }
        if form not in forms:
            return answer(f"Forms: {', '.join([*forms, 'member', 'error'])}.", failed=True)
        return answer(forms[form](secret))


def done(_: Request) -> types.CallToolResult:
    return answer("Done.")


def answer(text: str, *, failed: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=failed)


def structured(value: dict[str, Any]) -> types.CallToolResult:
    content = types.TextContent(text=json.dumps(value))
    return types.CallToolResult(content=[content], structured_content=value)
