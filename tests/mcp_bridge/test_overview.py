"""The hub server's tools that tell what is there, and its search: the best first, the least around it."""

from __future__ import annotations

import asyncio

import pytest

from mcp_bridge.servers.hub_search import part_shown
from tests.mcp_bridge.conftest import DESIGN
from tests.mcp_bridge.test_http import upload

pytestmark = pytest.mark.anyio


async def call(client, name, **arguments):
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    return result.structured_content


async def test_collections_are_listed_with_counts_and_types(site):
    async with site.client("hub") as client:
        await upload(client, "数える文書.md")
        listed = await call(client, "list_collections")
        (row,) = (row for row in listed["collections"] if row["slug"] == "default")
        counted = await call(client, "get_document_count", collection="default")
    assert row["documents"] == sum(row["types"].values()) == counted["documents"] > 0
    assert row["may_upload"] is True
    async with site.client("hub", owner="stranger") as stranger:
        hidden = await call(stranger, "list_collections")
    assert "default" not in {row["slug"] for row in hidden["collections"]}


async def test_a_section_is_read_by_number_heading_or_path_and_the_outline_leads_to_it(site):
    async with site.client("hub", language="en") as client:
        document_id = (await upload(client, "章を読む.md"))["document_id"]
        outline = (await call(client, "get_section", document_id=document_id))["outline"]
        assert sum(1 for row in outline if row["level"] > 1) > 1
        for row in outline:
            read = await call(client, "get_section", document_id=document_id, section=row["section"])
            assert read["text"] == DESIGN[read["start_offset"] :][: row["characters"]]
        numbered = next(row for row in outline if row["number"])
        by_number = await call(client, "get_section", document_id=document_id, section=numbered["number"])
        assert by_number["section_path"][-1] == numbered["section"]
        whole = await call(client, "get_section", document_id=document_id, outline=False)
        assert whole["text"] == DESIGN
        refused = await client.call_tool("get_section", {"document_id": document_id, "section": "99"})
    assert refused.is_error
    assert outline[0]["section"] in refused.content[0].text


async def test_a_section_that_is_not_there_is_refused_with_how_many_more_there_are(site):
    text = "# 長い目次\n\n" + "".join(f"## {number} 章その{number}\n\n本文である。\n\n" for number in range(1, 13))
    async with site.client("hub", language="ja") as client:
        document_id = (await upload(client, "長い目次.md", content=text, document_type="other"))["document_id"]
        refused = await client.call_tool("get_section", {"document_id": document_id, "section": "第百条"})
    assert refused.is_error
    assert "7 章その7、ほか 5 件" in refused.content[0].text


async def test_a_long_section_is_read_in_pages(site):
    text = "# 長い文書\n\n" + "貸出期間は二週間とする。\n" * 2_100
    async with site.client("hub") as client:
        document_id = (await upload(client, "長い文書.md", content=text, document_type="other"))["document_id"]
        asked, parts = {"document_id": document_id, "section": "長い文書"}, []
        while True:
            page = await call(client, "get_section", **asked)
            parts.append(page["text"])
            if "next_cursor" not in page:
                break
            asked["cursor"] = page["next_cursor"]
    assert "".join(parts) == text
    assert len(parts) > 1


async def test_the_best_passage_comes_first_without_neighbours(site):
    async with site.client("hub") as client:
        document_id = (await upload(client, "最良.md"))["document_id"]
        asked = {"query": "検索の応答時間は何秒か", "filter": {"document_id": document_id}}
        found = await call(client, "search", **asked)
        full = await call(client, "search", **asked, detail="full", order="document", with_context=True)
    first = found["results"][0]
    assert first["chunk_id"] == found["best"] == full["best"]
    assert "3秒以内" in first["content"]
    assert DESIGN[first["start_offset"] : first["end_offset"]] == first["content"]
    assert not any("is_context" in hit for hit in found["results"])
    assert [hit["start_offset"] for hit in full["results"]] == sorted(hit["start_offset"] for hit in full["results"])


def test_of_a_long_passage_whole_sentences_that_name_most_are_shown():
    content = "前置きの文である。" * 60 + "応答時間は3秒以内とする。" + "後の文である。" * 60
    at = content.index("応答時間")
    start, end = part_shown(content, [(at, at + 4)])
    assert start <= at < end
    assert end - start <= 400
    assert content[start - 1] == content[end - 1] == "。"


async def test_equal_calls_while_a_review_runs_are_one_review(site):
    async with site.client("hub") as client:
        document_id = (await upload(client, "二度.md"))["document_id"]
        asked = {"document_id": document_id, "options": {"wait_seconds": 0}}
        first, second = await asyncio.gather(*(call(client, "review_document", **asked) for _number in range(2)))
        listed = await call(client, "list_reviews", document_id=document_id)
        if first["status"] == "queued":
            assert first["review_id"] == second["review_id"]
        assert {first["review_id"], second["review_id"]} == {row["review_id"] for row in listed["items"]}
        shown = await call(client, "review_document", document_id=document_id, review_id=first["review_id"])
        again = await call(client, "review_document", document_id=document_id)
        listed = await call(client, "list_reviews", document_id=document_id)
        refused = await client.call_tool("review_document", {"document_id": "doc_x", "review_id": first["review_id"]})
    assert shown["review_id"] == first["review_id"]
    assert shown["status"] == "completed"
    assert again["review_id"] != first["review_id"], "one that has finished is not joined"
    unchanged = {"fixed": 0, "new": 0, "open": again["total_findings"], "undecided": 0}
    assert {name: again["since"][name] for name in unchanged} == unchanged
    assert {row["title"] for row in listed["items"]} == {"図書館システム基本設計書"}
    assert refused.is_error


async def test_a_reader_who_may_not_review_is_offered_get_review():
    from hub.access.principals import Scope
    from tests.mcp_bridge.test_servers import client_of

    async with client_of("hub", scopes=frozenset({Scope.READ}), toolsets=("default",)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert "get_review" in names
    assert "review_document" not in names
