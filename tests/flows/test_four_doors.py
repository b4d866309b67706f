"""The same documents through REST, MCP (HTTP and stdio, both eras), command line and admin: one set of facts."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import sys
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import requests
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.flows.hub_process import ROOT, HubProcess
from tests.mcp_bridge.pages import read_whole

pytestmark = pytest.mark.timeout(600)

MODES = ("auto", "legacy")
# What the hub server's search is asked for to give all that REST gives.
AS_REST = {"order": "document", "detail": "full"}


@asynccontextmanager
async def http_client(hub: HubProcess, mode: str):
    headers = {"Authorization": f"Bearer {hub.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{hub.url}/mcp/hub/", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


@asynccontextmanager
async def local_client(hub: HubProcess, mode: str):
    parameters = StdioServerParameters(
        command=sys.executable, args=[str(ROOT / "manage.py"), "mcp", "hub"], env=hub.environment(), cwd=str(ROOT)
    )
    async with Client(stdio_client(parameters), mode=mode) as client:
        yield client


TRANSPORTS = {"http": http_client, "stdio": local_client}


def call_tool(hub: HubProcess, transport: str, mode: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        async with TRANSPORTS[transport](hub, mode) as client:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result.content
            return result.structured_content

    return asyncio.run(run())


def read_pages(hub: HubProcess, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A result in one piece, as a client reads it on with cursors."""

    async def run() -> dict[str, Any]:
        async with http_client(hub, "auto") as client:
            return await read_whole(client, name, arguments)

    return asyncio.run(run())


def upload_by_rest(hub: HubProcess, path: Path) -> str:
    return hub.upload(path)["document_id"]


def upload_by_mcp(hub: HubProcess, path: Path) -> str:
    content = base64.b64encode(path.read_bytes()).decode()
    arguments = {"content": content, "filename": path.name, "content_encoding": "base64"}
    return call_tool(hub, "http", "auto", "upload_document", arguments)["document_id"]


def upload_by_command_line(hub: HubProcess, path: Path) -> str:
    hub.manage("index", "-d", str(path.parent), "--json")
    return _find(hub, path.name)


def upload_by_admin(hub: HubProcess, path: Path) -> str:
    browser = signed_in(hub)
    address = f"{hub.url}/admin/knowledge/document/upload/"
    token = _csrf_token(browser.get(address, timeout=30).text)
    data = {"csrfmiddlewaretoken": token, "collection": "default", "document_type": "other"}
    with path.open("rb") as file:
        response = browser.post(
            f"{hub.url}/documents/upload/files/",
            data=data,
            files={"files": (path.name, file)},
            headers={"Referer": address},
            timeout=60,
        )
    assert response.ok, response.text[:2000]
    return _find(hub, path.name)


def signed_in(hub: HubProcess) -> requests.Session:
    """A session of the first administrator, as a browser has after the login page."""
    browser = requests.Session()
    address = f"{hub.url}/admin/login/?next=/admin/"
    token = _csrf_token(browser.get(address, timeout=30).text)
    form = {"csrfmiddlewaretoken": token, "username": "admin", "password": hub.password, "next": "/admin/"}
    assert browser.post(address, data=form, headers={"Referer": address}, timeout=30).ok
    assert "sessionid" in browser.cookies
    return browser


def _csrf_token(page: str) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert found, page[:1000]
    return found[1]


def _find(hub: HubProcess, name: str) -> str:
    items = hub.call("GET", "/documents", params={"q": name, "collection": "default"}).json()["items"]
    assert items, name
    return items[0]["document_id"]


@pytest.mark.parametrize("upload", [upload_by_rest, upload_by_mcp, upload_by_command_line, upload_by_admin])
def test_a_document_comes_in_through_every_door(hub, tmp_path, upload: Callable[[HubProcess, Path], str]):
    folder = tmp_path / upload.__name__
    folder.mkdir()
    path = folder / f"{upload.__name__}.md"
    path.write_text(f"# 手順 {upload.__name__}\n\n## 1. 受付\n\n申請書は窓口で受け付ける。\n", encoding="utf-8")
    (document,) = hub.wait_until_finished(upload(hub, path))
    assert document["status"] == "ready"
    assert document["title"] == f"手順 {upload.__name__}"


REAL_DOCUMENTS = [
    (upload_by_mcp, "436_*.docx", "section_path"),
    (upload_by_command_line, "438-1_*.xlsx", "cell"),
    (upload_by_admin, "GIF研修シリーズDSS_L04*.pptx", "page"),
    (upload_by_rest, "451-1-1_*.pdf", "page"),
]


@pytest.mark.parametrize(("upload", "pattern", "place"), REAL_DOCUMENTS)
def test_a_real_document_is_found_by_its_own_words_through_every_door(
    hub, test_data, tmp_path, upload: Callable[[HubProcess, Path], str], pattern: str, place: str
):
    (source,) = test_data.joinpath("documents").glob(pattern)
    path = tmp_path / f"実{source.name}"
    path.write_bytes(source.read_bytes())
    (document,) = hub.wait_until_finished(upload(hub, path))
    chunks = hub.call("GET", f"/documents/{document['document_id']}/chunks", params={"limit": 200}).json()["items"]
    wanted = max(chunks, key=lambda chunk: len(set(chunk["content"])))
    words = " ".join(re.findall(r"[\wー]{3,}", wanted["content"])[:12])
    asked = {"query": words, "limit": 10, "collection": "default"}
    answers = {
        "rest": hub.call(
            "POST", "/search", json={"query": words, "limit": 10, "filter": {"collection": "default"}}
        ).json(),
        "mcp http": call_tool(hub, "http", "auto", "search", {**asked, **AS_REST}),
        "mcp http legacy": call_tool(hub, "http", "legacy", "search", {**asked, **AS_REST}),
        "mcp stdio": call_tool(hub, "stdio", "legacy", "search", {**asked, **AS_REST}),
        "command line": json.loads(
            hub.manage("search", words, "--limit", "10", "--collection", "default", "--json").stdout
        ),
    }
    for door, answer in answers.items():
        found = next((hit for hit in answer["results"] if hit["content"] == wanted["content"]), None)
        assert found, door
        assert found[place] == wanted[place], door
        assert found[place], door
    page = signed_in(hub).get(f"{hub.url}/admin/search/", params={"q": words, "limit": "10"}, timeout=30).text
    assert path.name in page


@pytest.fixture(scope="module")
def searched(hub) -> dict[str, Any]:
    """What REST finds: the others must find the same."""
    sample = hub.call("GET", "/documents", params={"collection": "sample"}).json()["items"]
    hub.wait_until_finished(*(document["document_id"] for document in sample))
    body = {
        "query": "予約の取消はいつまでできるか",
        "limit": 4,
        "filter": {"collection": "sample"},
        "order": "document",
    }
    return hub.call("POST", "/search", json=body).json()


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("mode", MODES)
def test_search_finds_the_same_through_mcp_as_through_rest(hub, searched, transport, mode):
    arguments = {"query": "予約の取消はいつまでできるか", "limit": 4, "collection": "sample", **AS_REST}
    found = call_tool(hub, transport, mode, "search", arguments)
    ours = [{**hit, "legs": None} for hit in found["results"]]
    assert ours == searched["results"]
    assert found["total_found"] == searched["total_found"]


def test_search_finds_the_same_on_the_command_line_as_through_rest(hub, searched):
    done = hub.manage("search", "予約の取消はいつまでできるか", "--limit", "4", "--collection", "sample", "--json")
    found = json.loads(done.stdout)["results"]
    assert sorted(hit["chunk_id"] for hit in found) == sorted(hit["chunk_id"] for hit in searched["results"])
    by_id = {hit["chunk_id"]: hit for hit in searched["results"]}
    assert all(hit == by_id[hit["chunk_id"]] for hit in found)


def test_search_finds_the_same_in_the_admin_as_through_rest(hub, searched):
    address = f"{hub.url}/admin/search/"
    page = (
        signed_in(hub)
        .get(address, params={"q": "予約の取消はいつまでできるか", "collection": "sample", "limit": "10"}, timeout=30)
        .text
    )
    assert "3.4 予約取消" in page


def test_counts_agree_between_mcp_and_the_command_line(hub):
    counted = call_tool(hub, "http", "auto", "get_document_count", {"collection": "sample"})
    said = json.loads(hub.manage("count", "--collection", "sample", "--json").stdout)
    assert {name: counted[name] for name in said} == said


def test_a_review_has_the_same_facts_through_mcp_as_through_rest(hub):
    items = hub.call("GET", "/documents", params={"document_type": "basic_design", "collection": "sample"}).json()
    arguments = {"document_id": items["items"][0]["document_id"], "options": {"wait_seconds": 60}, "detail": "full"}
    through_mcp = read_pages(hub, "review_document", arguments)
    through_rest = hub.call("GET", f"/reviews/{through_mcp['review_id']}").json()
    for field in ("verdict", "status", "progress", "total_findings", "summary", "usage", "checklist"):
        assert through_mcp[field] == through_rest[field], field
    for field in ("findings", "suggestions", "results"):
        assert [pick(row, theirs) for row, theirs in zip(through_mcp[field], through_rest[field], strict=True)] == (
            through_rest[field]
        ), field


def pick(row: dict[str, Any], like: dict[str, Any]) -> dict[str, Any]:
    """The fields that both doors promise: MCP adds the seed's names to some shapes."""
    return {name: row.get(name) for name in like}


def test_check_items_are_the_same_through_mcp_and_rest(hub):
    ours = read_pages(hub, "get_check_items", {"checklist": "basic-design"})["check_items"]
    theirs = hub.call("GET", "/check-items", params={"checklist": "basic-design"}).json()
    assert [pick(row, like) for row, like in zip(ours, theirs, strict=True)] == theirs
