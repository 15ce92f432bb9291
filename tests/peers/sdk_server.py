"""An MCP server made with the official SDK: `python -m tests.peers.sdk_server PORT [--json] [--stateless]`.

It offers tools, resources, templates and prompts, two entries a page, and the helpers of a gateway.
"""

import argparse
import json
from collections.abc import Sequence
from typing import Any, TypeVar

import uvicorn
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

Context = ServerRequestContext[Any]
Listed = TypeVar("Listed")
Page = types.PaginatedRequestParams | None

PAGE = 2
SCHEMA = {"type": "object", "properties": {}}
NAMES = ["list_accounts", "read_balance", "list_servers", "describe_server", "describe_tools"]
TOOLS = [types.Tool(name=name, description=f"Does {name}.", input_schema=SCHEMA) for name in NAMES]
RESOURCES = [
    types.Resource(uri="ledger://rates", name="rates", mime_type="application/json"),
    types.Resource(uri="ledger://logo", name="logo", mime_type="image/png"),
    types.Resource(uri="ledger://notes", name="notes"),
]
TEMPLATES = [types.ResourceTemplate(uri_template="ledger://accounts/{name}", name="account")]
PROMPTS = [
    types.Prompt(name="greet"),
    types.Prompt(name="summarize", arguments=[types.PromptArgument(name="account", required=True)]),
    types.Prompt(name="close"),
]
SERVERS = {"billing": ["charge", "refund"], "support": ["search_tickets"]}


def page(entries: Sequence[Listed], params: Page) -> tuple[list[Listed], str | None]:
    """Return the page that a cursor asks for, and the next cursor."""
    start = int(params.cursor) if params is not None and params.cursor else 0
    following = start + PAGE
    return list(entries[start:following]), str(following) if following < len(entries) else None


async def list_tools(context: Context, params: Page) -> types.ListToolsResult:
    entries, following = page(TOOLS, params)
    return types.ListToolsResult(tools=entries, next_cursor=following)


async def list_resources(context: Context, params: Page) -> types.ListResourcesResult:
    entries, following = page(RESOURCES, params)
    return types.ListResourcesResult(resources=entries, next_cursor=following)


async def list_templates(context: Context, params: Page) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=TEMPLATES)


async def list_prompts(context: Context, params: Page) -> types.ListPromptsResult:
    entries, following = page(PROMPTS, params)
    return types.ListPromptsResult(prompts=entries, next_cursor=following)


async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    if uri == "ledger://rates":
        rates = types.TextResourceContents(uri=uri, mime_type="application/json", text='{"EUR":1.10,"JPY":160}')
        return types.ReadResourceResult(contents=[rates])
    if uri == "ledger://logo":
        return types.ReadResourceResult(contents=[types.BlobResourceContents(uri=uri, blob="iVBORw0KGgo=")])
    raise MCPError(-32002, "Resource not found")


async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    if params.name not in {prompt.name for prompt in PROMPTS}:
        raise MCPError(types.INVALID_PARAMS, "There is no such prompt")
    text = types.TextContent(text=f"{params.name} {json.dumps(params.arguments or {})}")
    return types.GetPromptResult(description="A prompt.", messages=[types.PromptMessage(role="user", content=text)])


async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    arguments = params.arguments or {}
    answers: dict[str, Any] = {
        "list_accounts": {"accounts": ["cash", "savings"]},
        "read_balance": {"account": arguments.get("account"), "balance": "12.50"},
        "list_servers": {"servers": [{"slug": slug, "name": slug.title()} for slug in SERVERS]},
        "describe_server": {"tools": [{"name": name} for name in SERVERS.get(str(arguments.get("server")), [])]},
        "describe_tools": {"tools": sorted(name for names in SERVERS.values() for name in names)},
    }
    if params.name not in answers:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
    content = types.TextContent(text=json.dumps(answers[params.name]))
    return types.CallToolResult(content=[content], structured_content=answers[params.name])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.peers.sdk_server", description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("--json", action="store_true", help="answer in JSON, not in event streams")
    parser.add_argument("--stateless", action="store_true", help="have no sessions")
    options = parser.parse_args()
    server: Server[Any] = Server(
        "ledger",
        version="1.0",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
    application = server.streamable_http_app(json_response=options.json, stateless_http=options.stateless)
    uvicorn.run(application, host="127.0.0.1", port=options.port, log_level="warning", timeout_graceful_shutdown=1)


if __name__ == "__main__":
    main()
