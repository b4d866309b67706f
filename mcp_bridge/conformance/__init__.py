"""The server that the official MCP conformance suite asks for: canned tools, resources and prompts, no stored data."""
