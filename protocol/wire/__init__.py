"""The wire between a host and a plugin executable: JSON-RPC 2.0, one message a line. See docs/protocol.md."""
