"""REST, with and without a stream, and MCP give the same facts."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.db import connections
from django.test import AsyncClient, Client

from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
from hub.core.errors import NotFound
from hub.rest.request_threads import request_threads
from mcp_bridge.caller import Caller, caller_context
from mcp_bridge.servers import rag
from tests.factories import new_collection
from tests.knowledge.answering.conftest import QUESTION

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]


@pytest.fixture
def post(library):
    user = User.objects.create_superuser("管理者")
    _row, token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)

    def send(body: object):
        return Client().post(
            "/api/v1/answer", body, content_type="application/json", headers={"Authorization": f"Bearer {token}"}
        )

    return send


def through_mcp(**arguments: object) -> dict:
    with caller_context(Caller(principal=local_operator())):
        return rag.answer(**arguments).model_dump(mode="json")  # type: ignore[arg-type]


def test_the_answer_has_its_shape_and_is_the_same_through_mcp(post):
    given = post({"query": QUESTION, "limit": 3}).json()
    assert given["query"] == QUESTION
    assert given["mode"] == "extractive"
    assert given["answer"].startswith("応答時間は通常時3秒以内とする。")
    citation = given["sentences"][0]["citations"][0]
    assert citation["quote"] == "応答時間は通常時3秒以内とする。"
    assert set(citation) >= {"chunk_id", "document_id", "version", "section_path", "page", "cell", "start_offset"}
    assert through_mcp(query=QUESTION, limit=3) == given


def test_a_collection_restricts_in_both_ways(post):
    new_collection(slug="elsewhere")
    for body in ({"collection": "elsewhere"}, {"filter": {"collection": "elsewhere"}}):
        assert post({"query": QUESTION, **body}).json()["answer"] is None
    assert through_mcp(query=QUESTION, collection="elsewhere")["answer"] is None
    assert post({"query": QUESTION, "collection": "design"}).json()["answer"]


def test_a_collection_that_is_not_there_is_refused_in_both_ways(post):
    for more in ({}, {"stream": True}):
        refused = post({"query": QUESTION, "collection": "nowhere", **more})
        assert (refused.status_code, refused.json()["code"]) == (404, "collection_not_found")
    with pytest.raises(NotFound, match="nowhere"):
        through_mcp(query=QUESTION, collection="nowhere")


def test_a_stream_gives_each_sentence_and_then_the_same_answer(post):
    response = post({"query": QUESTION, "stream": True})
    assert response["Content-Type"] == "text/event-stream"
    events = [
        (name.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for name, data in (event.split("\n") for event in response.getvalue().decode().strip().split("\n\n"))
    ]
    *sentences, (last, whole) = events
    assert last == "answer"
    assert {name for name, _data in sentences} == {"sentence"}
    assert [data for _name, data in sentences] == whole["sentences"]
    assert whole == post({"query": QUESTION}).json()


@pytest.mark.django_db(transaction=True)  # the thread has a connection of its own, which sees what is committed
def test_a_stream_is_read_in_a_worker_thread_under_asgi(library):
    user = User.objects.create_superuser("管理者")
    _row, token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)

    async def read() -> str:
        response: Any = await AsyncClient().post(
            "/api/v1/answer",
            {"query": QUESTION, "stream": True},
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        text = b"".join([part async for part in response.streaming_content]).decode()
        while not request_threads().idle:
            await asyncio.sleep(0.01)
        async with request_threads().lend() as thread:
            await thread.run(connections.close_all)
        return text

    received = async_to_sync(read)()
    assert received.startswith("event: sentence\ndata: {")
    assert received.count("event: answer\n") == 1


@pytest.mark.parametrize(
    "body", [{"query": ""}, {"query": QUESTION, "limit": 21}, {"query": "a\0b"}, {"query": "a" * 10_001}, {}]
)
@pytest.mark.parametrize("stream", [True, False])
def test_bad_input_is_a_problem_before_any_stream_begins(post, body, stream):
    response = post({**body, "stream": stream})
    assert response.status_code == 422, response.content
    assert response["Content-Type"] == "application/problem+json"
