"""Qualifying one third-party MCP tool: the offline rules and verbs. The gated call comes later."""
