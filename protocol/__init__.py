"""What both programs share: exact values, the host wire, and MCP itself. Imports none of our other packages."""
