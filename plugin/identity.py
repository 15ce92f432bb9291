"""Who the plugin says it is: to a host, on `--version`, and to MCP servers as `clientInfo`."""

from typing import Final

from protocol.version import VERSION

__all__ = ["NAME", "PROVIDER", "VERSION"]

NAME: Final = "assay-mcp"
PROVIDER: Final = "MCP"
