"""embed_document and its resource, against a real web server."""

from __future__ import annotations

import json

import pytest
from mcp import MCPError

from tests.mcp_bridge.test_http import upload

pytestmark = pytest.mark.anyio


async def state(client, document_id: str) -> dict:
    read = await client.read_resource(f"smartreviewer-rag://embeddings/{document_id}")
    return json.loads(read.contents[0].text)


async def test_missing_vectors_are_made_and_those_that_are_there_only_when_asked(site, operator):
    async with site.client("hub") as client:
        document_id = (await upload(client, "埋め込み.md"))["document_id"]
        ready = await state(client, document_id)
        lost = int(operator("forget_vectors", document_id))
        pending = await state(client, document_id)
        made = (await client.call_tool("embed_document", {"document_id": document_id})).structured_content
        again = (await client.call_tool("embed_document", {"document_id": document_id})).structured_content
        forced = {"document_id": document_id, "force_reembed": True, "model": ready["model"]}
        anew = (await client.call_tool("embed_document", forced)).structured_content
        found = await client.call_tool(
            "vector_search", {"query": "検索の応答時間", "threshold": 0, "filter": {"document_id": document_id}}
        )
    assert (ready["status"], pending["status"]) == ("ready", "pending")
    assert ready["chunks_count"] == lost == made["newly_embedded"] == anew["newly_embedded"] > 0
    assert again["newly_embedded"] == 0
    assert made["status"] == again["status"] == anew["status"] == "completed"
    assert made["chunks_embedded"] == lost
    assert (made["model_used"], made["embedding_dimension"]) == (ready["model"], ready["dimension"])
    assert len(found.structured_content["chunks"]) == lost


async def test_a_model_that_is_not_there_is_refused_with_those_that_are(site):
    async with site.client("rag") as client, site.client("core") as core:
        document_id = (await upload(core, "別のモデル.md"))["document_id"]
        used = (await state(client, document_id))["model"]
        refused = await client.call_tool("embed_document", {"document_id": document_id, "model": "no-such-model"})
    assert refused.is_error
    assert "no-such-model" in refused.content[0].text
    assert used in refused.content[0].text


async def test_only_who_may_change_a_document_may_embed_it(site):
    async with site.client("core") as core:
        document_id = (await upload(core, "他人の文書.md"))["document_id"]
    async with site.client("rag", owner="stranger") as stranger:
        refused = await stranger.call_tool("embed_document", {"document_id": document_id})
        with pytest.raises(MCPError, match="There is no document"):
            await state(stranger, document_id)
    assert refused.is_error
    assert "There is no document" in refused.content[0].text
