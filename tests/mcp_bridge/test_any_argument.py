"""Whatever an argument of a tool is given, the call is answered, never by a failure inside the hub or at length.

The arguments are those that tools/list names: a new one is tried without being named here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from mcp_bridge.servers import SERVERS
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


def call(site: TestSite, tool: str, arguments: bytes, *, server: str = "hub") -> httpx2.Response:
    """Call a tool with arguments as they stand, valid JSON or not."""
    params = b'{"name":%s,"_meta":%s,"arguments":%s}' % (
        json.dumps(tool).encode(),
        json.dumps(META).encode(),
        arguments,
    )
    return send(site, "tools/call", params, server=server, name=tool)


def send(site: TestSite, method: str, params: bytes, *, server: str, name: str = "") -> httpx2.Response:
    """Send a request with parameters as they stand."""
    headers = site.headers(
        **{
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "Mcp-Protocol-Version": PROTOCOL,
            "Mcp-Method": method,
            **({"Mcp-Name": name} if name else {}),
        }
    )
    body = b'{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}' % (method.encode(), params)
    return httpx2.post(f"{site.url}/mcp/{server}/", headers=headers, content=body, timeout=120)


def answer_of(response: httpx2.Response) -> dict[str, Any]:
    lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: ")]
    answer: dict[str, Any] = json.loads(lines[-1] if lines else response.text)
    return answer


def listed(site: TestSite, server: str) -> list[dict[str, Any]]:
    """The tools that a server lists."""
    answer = answer_of(send(site, "tools/list", json.dumps({"_meta": META}).encode(), server=server))
    found: list[dict[str, Any]] = answer["result"]["tools"]
    return found


def tools(site: TestSite, document_id: str) -> list[Operation]:
    """Each tool as an operation whose body are its arguments."""
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
        for tool in listed(site, "hub")
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


MOST = 25_000  # HUB_MCP_OUTPUT_CHARS (20,000) and the notice of what is left out
# Sections, requirements and findings without end, and lines that are as long as whole pages.
WIDE = "# 幅の広い設計書\n\n" + "".join(
    f"## {number} 機能その{number}\n\nFR-{number:03} を実現する。応答時間は{number}秒以内とし、適切に処理する。"
    f"FR-{(number * 7) % 120 + 1:03} を参照する。利用者が見れる。{'詳細は別に定める。' * 12}\n\n"
    for number in range(1, 121)
)
LONG = "# 長い行\n\n" + "利用者は画面から予約の内容を確かめ" * 1_600 + "\n"
WIDEST = {"limit": 0, "top_k": 0, "row_limit": 0, "max_results": 0, "context_size": 0, "max_depth": 0, "depth": 0}
WHOLE = "hub"  # the server that has what all others have
TURNS_WITH = ("detail", "format", "mode", "order", "check_type", "inference_type", "traversal")


@pytest.fixture(scope="module")
def wide(any_site: TestSite) -> dict[str, Any]:
    """Arguments by name that ask for much: documents that are large in several ways, one of them reviewed."""
    documents = {"幅.md": WIDE, "行.md": LONG, **{f"同じ{number}.md": DESIGN for number in range(8)}}
    sent = [
        structured(any_site, "upload_document", content=content, filename=name, wait_seconds=100)
        for name, content in documents.items()
    ]
    document_id = sent[0]["document_id"]
    started = structured(any_site, "review_document", document_id=document_id, checklist="basic-design")
    return {
        "document_id": document_id,
        "review_id": started["review_id"],
        "query": "機能の応答時間は何秒か",
        "text": "利用者が見れるように、適切に処理する。\n\n" * 2_000,
        "domain": "system_design",
        "ontology_domain": "system_design",
        "inference_type": "subclass",
        "entity": document_id,
        "cypher_query": "MATCH (n) RETURN n",
        "check_item_id": "BD-B02",
        "threshold": 0,
        "with_context": True,
    }


def structured(site: TestSite, tool: str, **arguments: object) -> dict[str, Any]:
    result = answer_of(call(site, tool, json.dumps(arguments).encode()))["result"]
    assert not result.get("isError"), result["content"]
    facts: dict[str, Any] = result["structuredContent"]
    return facts


def sizes(answer: dict[str, Any]) -> dict[str, int]:
    """Characters of what a client may show its model: text, structured content, resources, an error's words."""
    result = answer.get("result", {})
    parts = {
        "text": "".join(one.get("text", "") for one in result.get("content", ())),
        "structuredContent": result.get("structuredContent", ""),
        "contents": "".join(one.get("text", "") for one in result.get("contents", ())),
        "error": answer.get("error", ""),
    }
    return {
        name: len(part if isinstance(part, str) else json.dumps(part, ensure_ascii=False, separators=(",", ":")))
        for name, part in parts.items()
    }


def calls_for_much(tool: dict[str, Any], wide: dict[str, Any], *, all_of_them: bool) -> Iterator[dict[str, Any]]:
    """Arguments with which a tool has much to tell; of those that choose each value, and each argument at its worst.

    Unless ``all_of_them``, of these the first choices and the first argument.
    """
    fields = tool["inputSchema"]["properties"]
    most = {name: fields[name]["maximum"] for name in WIDEST if name in fields}
    given = {name: value for name, value in wide.items() if name in fields} | most
    if tool["name"] in ("upload_document", "embed_document", "run_evaluation", "cancel_review"):
        given = {}  # they change things; of theirs only refusals are tried
    else:
        yield given
    chosen = [(name, value) for name in TURNS_WITH for value in fields.get(name, {}).get("enum", ()) if given]
    for name, value in chosen if all_of_them else chosen[1:2]:
        yield {**given, name: value}
    for name in fields if all_of_them else list(fields)[:1]:
        yield {**given, name: "誤" * 30_000}
        yield {**given, name: {"誤" * 100: ["誤" * 200] * 300}}


def test_no_tool_of_any_server_says_more_than_a_client_shows(any_site, wide):
    assert_short(any_site, wide, all_of_them=False)


@pytest.mark.long
def test_no_tool_of_any_server_says_more_than_a_client_shows_whatever_it_is_given(any_site, wide):
    assert_short(any_site, wide, all_of_them=True)


def assert_short(site: TestSite, wide: dict[str, Any], *, all_of_them: bool) -> None:
    too_long, largest, asked = [], 0, set()
    for server in dict.fromkeys((WHOLE, *SERVERS)):
        for tool in listed(site, server):
            if tool["name"] in asked and not all_of_them:  # the same function, at another server
                continue
            asked.add(tool["name"])
            for arguments in calls_for_much(tool, wide, all_of_them=all_of_them):
                answer = answer_of(call(site, tool["name"], json.dumps(arguments).encode(), server=server))
                largest = max(largest, *sizes(answer).values())
                if max(sizes(answer).values()) > MOST:
                    too_long.append(f"{server} {tool['name']} {str(arguments)[:200]}: {sizes(answer)}")
    assert not too_long, "\n".join(too_long)
    assert largest > 15_000, "nothing asked for much"


def test_no_resource_says_more_than_a_client_shows(any_site, wide):
    addresses = [
        f"smartreviewer://documents/{wide['document_id']}",
        f"smartreviewer://results/{wide['review_id']}",
        "smartreviewer://check-items",
        "smartreviewer://config",
        f"smartreviewer-rag://chunks/{wide['document_id']}",
        f"smartreviewer-rag://embeddings/{wide['document_id']}",
        "smartreviewer-knowledge://ontology/system_design",
        "smartreviewer-knowledge://graph/schema",
        "smartreviewer-knowledge://guidelines/PG-1.1",
        "smartreviewer://documents/" + "誤" * 3_000,
        "nothing://" + "x" * 3_000,
    ]
    for address in addresses:
        params = json.dumps({"uri": address, "_meta": META}).encode()
        answer = answer_of(send(any_site, "resources/read", params, server="hub", name=quote(address, safe=":/")))
        assert max(sizes(answer).values()) <= MOST, address[:80]
        assert "contents" in answer.get("result", ()) or len(address) > 1_000, answer
