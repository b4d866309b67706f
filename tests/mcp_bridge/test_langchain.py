"""langchain-mcp-adapters as a client. It needs version 1 of the SDK, so it runs in an environment of its own.

MCP_LANGCHAIN_PYTHON names the Python of one that has it; without, one is made, and the tests skipped where it can't be.
"""

from __future__ import annotations

import json
import os
import subprocess
import venv
from pathlib import Path

import pytest

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]
PACKAGE = "langchain-mcp-adapters"
PATIENCE_S = 300
CLIENT = """
import asyncio, json, sys
from langchain_mcp_adapters.client import MultiServerMCPClient

async def main():
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"hub": json.loads(sys.argv[1])}).get_tools()}
    counted = await tools["get_document_count"].ainvoke({})
    print(json.dumps({"tools": sorted(tools), "counted": str(counted)}))

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def other_python(tmp_path_factory) -> str:
    if given := os.environ.get("MCP_LANGCHAIN_PYTHON"):
        return given
    home = tmp_path_factory.mktemp("langchain")
    venv.create(home, with_pip=True)
    python = str(Path(home, "bin", "python"))
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{PACKAGE} can not be installed: {done.stderr.strip().splitlines()[-1]}")
    return python


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_langchain_lists_and_calls(request, hub, other_python, transport):
    if transport == "http":
        site = request.getfixturevalue("site")
        server = {"transport": "streamable_http", "url": f"{site.url}/mcp/hub/", "headers": site.headers()}
    else:
        command = hub.stdio("hub")
        server = {"transport": "stdio", "command": command.command, "args": command.args, "env": command.env}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    asked = [other_python, "-c", CLIENT, json.dumps(server)]
    done = subprocess.run(asked, env=environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout.splitlines()[-1])
    assert {"search", "review_document", "get_document_count"} <= set(facts["tools"])
    assert "documents" in facts["counted"]
