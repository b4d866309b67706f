"""The texts of the MCP prompts: those that ship, curated versions of them, and how their places are filled."""
