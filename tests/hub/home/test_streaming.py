"""An answer that a model writes comes sentence by sentence, to those who may still have it; whole without a script."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.test import Client

from hub.access.factor_models import HubSession
from hub.access.permissions import Role
from knowledge.models import AskedQuestion, Collection, CollectionGrant
from tests.factories import new_user
from tests.hub.admin.support import client_of, grant
from tests.hub.llm.conftest import configure, configured, server  # noqa: F401 (fixtures)
from tests.knowledge.answering.conftest import PASSAGES, label_before, says
from tests.knowledge.search.shelf import Library
from tests.llm_server import LlmServer

QUESTION = "検索の応答時間は何秒以内か"
STREAM = f"/answer/stream/?q={quote(QUESTION)}"
SENTENCES = ("応答時間は通常時3秒以内とする。", "検索画面は2秒以内に表示する。")


@pytest.fixture
def reader(db: None) -> User:
    library = Library(slug="default")
    library.add("基本設計書.md", list(PASSAGES), title="図書館システム基本設計書")
    made = new_user(username="読者")
    grant(made, Role.READER, Collection.objects.get(slug="default"))
    return made


@pytest.fixture
def model(configured: LlmServer) -> LlmServer:  # noqa: F811
    def answer(asked: dict[str, Any]) -> str:
        label = label_before(asked, "応答時間は通常時3秒")
        return says(*((text, label, text) for text in SENTENCES))

    configured.answer = answer
    return configured


def events_of(parts: Iterator[bytes]) -> Iterator[tuple[str, str]]:
    """The names and the HTML of events."""
    for part in parts:
        name, data = part.decode().strip().split("\n")
        yield name.removeprefix("event: "), json.loads(data.removeprefix("data: "))["html"]


def test_each_sentence_comes_with_its_chip_and_then_the_whole(reader: User, model: LlmServer) -> None:
    client = client_of(reader)
    page = client.get(f"/?q={quote(QUESTION)}").content.decode()
    assert f'data-stream="/answer/stream/?q={quote(QUESTION)}"' in page
    response: Any = client.get(STREAM)
    assert response["Content-Type"] == "text/event-stream"
    first, second, whole = events_of(response.streaming_content)
    assert [first[0], second[0], whole[0]] == ["sentence", "sentence", "answer"]
    assert SENTENCES[0] in first[1]
    assert 'class="chip"' in first[1]
    assert "<html" not in whole[1]
    assert 'class="rate"' in whole[1]
    (kept,) = AskedQuestion.objects.all()
    assert (kept.user_id, kept.is_answered) == (reader.pk, True)
    plain = client.get(f"/answer/?q={quote(QUESTION)}").content.decode()
    assert all(text in plain and text in whole[1] for text in SENTENCES)


def test_without_a_model_the_page_asks_for_the_whole(reader: User) -> None:
    assert "data-stream" not in client_of(reader).get(f"/?q={quote(QUESTION)}").content.decode()


def test_what_can_not_be_asked_is_an_error_before_the_stream(reader: User, model: LlmServer) -> None:
    assert client_of(reader).get(f"{STREAM}&collection=nowhere").status_code == 404
    assert Client().get(STREAM).status_code == 302


@pytest.mark.parametrize("lost", ["session", "account", "role"])
def test_a_stream_ends_before_what_the_person_may_not_have_any_more(reader: User, model: LlmServer, lost: str) -> None:
    response: Any = client_of(reader).get(STREAM)
    parts = events_of(response.streaming_content)
    assert next(parts)[0] == "sentence"
    if lost == "session":
        HubSession.objects.all().delete()
    elif lost == "account":
        User.objects.filter(pk=reader.pk).update(is_active=False)
    else:
        CollectionGrant.objects.filter(user=reader).delete()
    assert list(parts) == []
