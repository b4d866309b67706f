"""Whatever an argument of a tool is given, the call is answered, and never by a failure inside the hub.

The arguments are those that tools/list names: a new one is tried without being named here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.mcp_bridge.conftest import DESIGN, TestSite, new_hub, start_site, stop_site
from tests.properties.hostile import JSON_VALUES, LARGE_JSON_VALUES
from tests.properties.operations import Operation, Place

pytestmark = pytest.mark.timeout(1800)

OFTEN = ("500 characters", "NUL", "1e999")
OFTEN_TURNS, TURNS, LARGE_TURNS = 2, 24, 48
PROTOCOL = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
INSIDE = frozenset({-32603, -32000})


@pytest.fixture(scope="module")
def any_site() -> Iterator[TestSite]:
    """A web server of a hub of its own: some calls write."""
    with new_hub() as made:
        site = start_site(made)
        yield site
        stop_site(site)


@pytest.fixture(scope="module")
def document_id(any_site: TestSite) -> str:
    """A document that has been taken in."""
    arguments = {"content": DESIGN, "filename": "設計書.md", "wait_seconds": 50}
    sent = answer_of(call(any_site, "upload_document", json.dumps(arguments).encode()))
    return str(sent["result"]["structuredContent"]["document_id"])


def call(site: TestSite, tool: str, arguments: bytes) -> httpx2.Response:
    """Call a tool with arguments as they stand, valid JSON or not."""
    params = b'{"name":%s,"_meta":%s,"arguments":%s}' % (
        json.dumps(tool).encode(),
        json.dumps(META).encode(),
        arguments,
    )
    headers = site.headers(
        **{
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Mcp-Protocol-Version": PROTOCOL,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
    )
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}' % params
    return httpx2.post(f"{site.url}/mcp/hub/", headers=headers, content=body, timeout=120)


def answer_of(response: httpx2.Response) -> dict[str, Any]:
    lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: ")]
    answer: dict[str, Any] = json.loads(lines[-1] if lines else response.text)
    return answer


def tools(site: TestSite, document_id: str) -> list[Operation]:
    """Each tool as an operation whose body are its arguments."""
    headers = site.headers(**{"Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": PROTOCOL})
    headers |= {"Mcp-Method": "tools/list"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    listed = answer_of(httpx2.post(f"{site.url}/mcp/hub/", headers=headers, json=body, timeout=60))
    examples = {
        "document_id": document_id,
        "query": "応答時間",
        "text": "予約を行う。",
        "content": "# 題\n\n本文。\n",
        "filename": "題.md",
        "domain": "system_design",
        "ontology_domain": "system_design",
        "inference_type": "subclass",
        "entity": "図書館システム",
        "cypher_query": "MATCH (n) RETURN n LIMIT 1",
        "wait_seconds": 0,
        "+wait_seconds": True,
        "post review_document check_items": ["BD-A01"],
        "+check_items": True,
    }
    return [
        Operation(
            {
                "components": {"schemas": tool["inputSchema"].get("$defs", {})},
                "paths": {
                    tool["name"]: {
                        "post": {"requestBody": {"content": {"application/json": {"schema": tool["inputSchema"]}}}}
                    }
                },
            },
            tool["name"],
            "post",
            examples,
        )
        for tool in listed["result"]["tools"]
    ]


def values(number: int, *, all_of_them: bool) -> Iterator[tuple[str, bytes]]:
    for index, (name, value) in enumerate(JSON_VALUES.items()):
        is_turn = (index + number) % (OFTEN_TURNS if name in OFTEN else TURNS) == 0
        if all_of_them or is_turn:
            yield name, value
    for index, (name, value) in enumerate(LARGE_JSON_VALUES.items()):
        if all_of_them or (index + number) % LARGE_TURNS == 0:
            yield name, value


def problem_with(response: httpx2.Response) -> str:
    """Say in what the answer is a failure of the hub; empty when it is none."""
    if response.status_code >= 500:
        return f"HTTP {response.status_code}: {response.text[:200]}"
    if response.status_code >= 400:
        return ""
    error = answer_of(response).get("error", {})
    return str(error)[:300] if error.get("code") in INSIDE else ""


def failures(site: TestSite, document_id: str, *, all_of_them: bool) -> list[str]:
    found: list[tuple[Operation, Place]] = [
        (tool, place) for tool in tools(site, document_id) for place in tool.places()
    ]
    assert len(found) > 80, "tools/list names hardly any argument"
    failed = []
    for number, (tool, place) in enumerate(found):
        for name, value in values(number, all_of_them=all_of_them):
            problem = problem_with(call(site, tool.address, tool.call(place, value).body))
            if problem:
                failed.append(f"{place}: {name}: {problem}")
    return failed


def test_no_value_in_any_argument_is_a_failure_inside_the_hub(any_site, document_id):
    failed = failures(any_site, document_id, all_of_them=False)
    assert not failed, "\n".join(failed)


@pytest.mark.long
def test_no_value_of_all_in_any_argument_is_a_failure_inside_the_hub(any_site, document_id):
    failed = failures(any_site, document_id, all_of_them=True)
    assert not failed, "\n".join(failed)
