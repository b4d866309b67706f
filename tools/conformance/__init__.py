"""The official MCP conformance suite: running it (``python -m tools.conformance``), and the server that it asks for.

That server has canned tools, resources and prompts, no stored data. ``manage.py web`` loads it when
HUB_MCP_CONFORMANCE is set, and then only.
"""
