"""Getting a token for an MCP server: discovery, registration, PKCE, the loopback callback, and the exchange."""
