"""Searches beside a review that takes as long as the test wants."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tests.llm_server import llm_server
from tests.mcp_bridge.conftest import DESIGN, start_site, stop_site

pytestmark = pytest.mark.anyio
SEARCHES = 16


@pytest.fixture
def slow_model():
    """A model that says when it is asked, and answers when it is let go: (server, asked, let_go)."""
    asked, let_go = threading.Event(), threading.Event()

    def answer(_request) -> str:
        asked.set()
        let_go.wait(60)
        return "{}"

    with llm_server(answer) as server:
        yield server, asked, let_go
        let_go.set()


@pytest.fixture
def judged_site(hub, model_items, slow_model):
    """A web server whose reviews ask the slow model."""
    site = start_site(
        hub,
        LLM_PROVIDER="openai",
        LLM_BASE_URL=slow_model[0].url,
        LLM_MODEL="試験モデル",
        LLM_SECOND_OPINION="false",
        LLM_SWEEP="false",
    )
    yield site
    slow_model[2].set()
    stop_site(site)


async def test_searches_end_while_a_slow_review_still_runs(judged_site, slow_model):
    _server, asked, let_go = slow_model
    async with judged_site.client("hub") as reviewer, judged_site.client("hub") as searcher:
        document = await reviewer.call_tool(
            "upload_document",
            {"content": DESIGN, "filename": "遅いレビュー.md", "document_type": "basic_design", "wait_seconds": 60},
        )
        arguments = {
            "document_id": document.structured_content["document_id"],
            "check_items": ["BD-C01", "BD-C02"],
            "detail": "full",
        }
        review = asyncio.create_task(reviewer.call_tool("review_document", arguments))
        assert await asyncio.to_thread(asked.wait, 60), "the review never asked the model"

        calls = [searcher.call_tool("search", {"query": f"応答時間 {number}"}) for number in range(SEARCHES)]
        found = await asyncio.gather(*calls)

        assert not review.done()
        assert not let_go.is_set()
        let_go.set()
        reviewed = await review
    assert not any(result.is_error for result in found)
    assert all(result.structured_content["results"] for result in found)
    assert reviewed.structured_content["status"] == "completed"
