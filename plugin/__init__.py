"""The plugin executable: inspects one or more MCP servers for a host that drives it over stdin and stdout."""
