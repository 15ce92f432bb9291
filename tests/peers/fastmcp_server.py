"""An MCP server made with FastMCP: `python fastmcp_server.py PORT`, in an environment of its own."""

import sys
from typing import Any

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from mcp.types import ToolAnnotations

server: FastMCP[Any] = FastMCP("ledger", version="1.0", list_page_size=2)

READS = ToolAnnotations(readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False)


@server.tool(annotations=READS)
def list_accounts() -> list[str]:
    """List the accounts."""
    return ["cash", "savings"]


@server.tool(annotations=READS)
def read_balance(account: str) -> dict[str, Any]:
    """Read the balance of an account."""
    return {"account": account, "balance": "12.50", "open": True}


@server.tool(annotations=READS)
def read_rate(currency: str) -> dict[str, Any]:
    """Read an exchange rate."""
    return {"currency": currency, "rate": 1.25}


@server.tool
def create_entry(title: str) -> dict[str, Any]:
    """Create an entry and tell its id."""
    return {"id": f"entry-{len(title)}", "title": title}


@server.tool(annotations=READS)
def get_entry(id: str) -> dict[str, Any]:  # noqa: A002 - the tool's argument is called so
    """Read an entry."""
    return {"id": id, "enabled": True, "members": ["ada", "grace"], "deleted_at": None}


@server.tool
def close_books() -> str:
    """Close the books, which is never allowed here."""
    raise ToolError("The books are closed by an owner only.")


@server.resource("ledger://rates", mime_type="application/json")
def rates() -> str:
    """The exchange rates."""
    return '{"EUR":1.10,"JPY":160}'


@server.resource("ledger://logo", mime_type="image/png")
def logo() -> bytes:
    """The logo."""
    return b"\x89PNG\r\n\x1a\n"


@server.resource("ledger://notes")
def notes() -> str:
    """The notes."""
    return "closed on Sundays"


@server.resource("ledger://accounts/{name}")
def account(name: str) -> str:
    """One account."""
    return name


@server.prompt
def greet() -> str:
    """Greet."""
    return "Hello."


@server.prompt
def summarize(account: str) -> str:
    """Summarise an account."""
    return f"Summarise the account {account}."


@server.prompt
def close() -> str:
    """Close the books."""
    return "Close the books."


if __name__ == "__main__":
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False, log_level="WARNING")
