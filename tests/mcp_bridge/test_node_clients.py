"""The TypeScript SDK as a client, in both of its versions, and the Inspector, over HTTP with a token and over stdio.

Needs MCP_NODE_CLIENTS, a folder in which these packages are installed (docs/mcp.md says how).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_bridge.conftest import DESIGN

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
SCRIPT = Path(__file__).parent / "node" / "typescript_client.mjs"
SCOPE = Path("node_modules", "@modelcontextprotocol")
MIN_NODE = 22
PATIENCE_S = 300
# The Inspector starts a stdio server with these and nothing else of the environment.
PASSED_ON = ("HUB_DATA_DIR", "DJANGO_SETTINGS_MODULE", "PYTHONPATH", "LC_ALL")


@pytest.fixture(scope="module")
def packages() -> Path:
    folder = Path(os.environ.get("MCP_NODE_CLIENTS", ""))
    if not (folder / SCOPE / "sdk").is_dir():
        pytest.skip("MCP_NODE_CLIENTS names no folder with the clients of docs/mcp.md#independent-clients")
    return folder


@pytest.fixture(scope="module")
def node(packages) -> str:
    home = os.environ.get("NODE_HOME")
    found = str(Path(home, "bin", "node")) if home else shutil.which("node")
    if not found or not Path(found).exists():
        pytest.skip("no Node: install Node 22, or set NODE_HOME to a folder with bin/node")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").split(".")[0]) < MIN_NODE:
        pytest.skip(f"Node {version.strip()} is too old: 22 or newer, by NODE_HOME")
    return found


def run(command: list[str], **more: Any) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False, **more)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.mark.usefixtures("model_items")
@pytest.mark.parametrize("transport", ["http", "stdio"])
@pytest.mark.parametrize("sdk", ["v1", "v2"])
def test_the_typescript_sdk_lists_calls_reads_prompts_subscribes_and_samples(
    request, node, packages, hub, sdk, transport
):
    text = f"{DESIGN}\n{sdk} {transport}\n"  # a model's verdict on the same text would be taken from the first run
    given = {
        "sdk": sdk,
        "packages": str(packages),
        "document": text,
        "filename": f"型-{sdk}-{transport}.md",
    }
    if transport == "http":
        site = request.getfixturevalue("site")
        given |= {"url": f"{site.url}/mcp/hub/", "token": hub.tokens["admin"]}
    else:
        server = hub.stdio("hub")
        given |= {"command": server.command, "args": server.args, "env": server.env}
    facts = json.loads(run([node, str(SCRIPT), json.dumps(given)]).splitlines()[-1])
    assert {"search", "review_document", "embed_document"} <= set(facts["tools"])
    assert facts["updated"]
    assert facts["samples"] == 1
    assert facts["results"] == [["pass", "llm"]]
    assert facts["items"] > 10
    assert "基本設計書" in facts["prompt"]


@pytest.fixture
def inspect(request, node, packages, hub, tmp_path):
    """Ask a server through the Inspector's CLI: over HTTP or stdio, in an era; gives what it prints."""
    program = packages / SCOPE / "inspector"
    if not program.is_dir():
        pytest.skip("MCP_NODE_CLIENTS has no @modelcontextprotocol/inspector")

    def ask(transport: str, era: str, *arguments: str) -> dict:
        patience = ("--connect-timeout", str(1000 * PATIENCE_S))
        command = [node, str(program / "clients/launcher/build/index.js"), "--cli", *patience]
        environment = {**os.environ, "HOME": str(tmp_path)}
        if transport == "http":
            site = request.getfixturevalue("site")
            given = [
                f"{site.url}/mcp/hub/",
                "--transport",
                "http",
                "--header",
                f"Authorization: {site.headers()['Authorization']}",
            ]
        else:
            server = hub.stdio("hub")
            named = {name: hub.environment[name] for name in PASSED_ON if hub.environment.get(name)}
            given = [part for name, value in named.items() for part in ("-e", f"{name}={value}")]
            given += [server.command, *server.args]
        return json.loads(run([*command, *given, "--protocol-era", era, *arguments], env=environment))

    return ask


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_the_inspector_lists_calls_reads_and_prompts(inspect, transport, era):
    tools = inspect(transport, era, "--method", "tools/list")["tools"]
    counted = inspect(transport, era, "--method", "tools/call", "--tool-name", "get_document_count")
    read = inspect(transport, era, "--method", "resources/read", "--uri", "smartreviewer://config")
    asked = ("--prompt-name", "review_document_template", "--prompt-args", "document_type=基本設計書")
    prompt = inspect(transport, era, "--method", "prompts/get", *asked)
    assert {"search", "review_document"} <= {tool["name"] for tool in tools}
    assert counted["structuredContent"]["documents"] >= 0
    assert "collections" in read["contents"][0]["text"]
    assert "基本設計書" in prompt["messages"][0]["content"]["text"]
