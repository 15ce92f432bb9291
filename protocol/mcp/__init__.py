"""MCP as a client speaks it: revisions, messages, one session over Streamable HTTP, and the reading of inventories."""
