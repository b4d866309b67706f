"""Open streams over REST: asked again at each event whether their caller may still have it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User
from django.test import AsyncClient, RequestFactory
from django.utils import timezone
from pydantic import BaseModel

from hub.access.models import AccessToken
from hub.access.principals import ALL_SCOPES, Classification, Role, local_operator
from hub.access.services import create_token, principal_for_user
from hub.rest.responses import server_sent_events
from knowledge.models import CollectionGrant, Document
from review.models import Review
from review.runs.reviews import start_review
from review.runs.work import publish_progress
from tests.factories import new_collection, upload_text, work_through

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]


@pytest.fixture
def person() -> tuple[User, dict[str, str]]:
    user = User.objects.create(username="heidi")
    _row, token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)
    return user, {"Authorization": f"Bearer {token}"}


@pytest.fixture
def review(person, tmp_path) -> Review:
    collection = new_collection()
    CollectionGrant.objects.create(collection=collection, user=person[0], role=Role.READER)
    uploaded = upload_text(local_operator(), tmp_path, "# 設計\n\n本文。\n", collection=collection.slug)
    document = work_through(uploaded.document)
    return start_review(principal=local_operator(), document_id=document.public_id, checklist="basic-design")


def revoke() -> None:
    AccessToken.objects.update(revoked_at=timezone.now())


def expire() -> None:
    AccessToken.objects.update(expires_at=timezone.now())


def leave() -> None:
    User.objects.update(is_active=False)


def withdraw() -> None:
    CollectionGrant.objects.all().delete()


def classify_higher() -> None:
    Document.objects.update(classification=Classification.C3)


def nothing() -> None:
    """Rights stay."""


async def events_after(review: Review, headers: dict[str, str], change) -> list[bytes]:
    """The events of the stream that come after the change, until it ends."""
    response: Any = await AsyncClient().get(f"/api/v1/reviews/{review.public_id}/events", headers=headers)
    lines = aiter(response.streaming_content)
    assert b"queued" in await anext(lines)
    await sync_to_async(change)()
    given: list[bytes] = []

    async def read() -> None:
        given.extend([line async for line in lines if line.startswith(b"event")])

    reading = asyncio.ensure_future(read())
    while not reading.done():  # whoever listens from now on hears of it
        await sync_to_async(publish_progress)(review, status="completed", progress=100)
        await asyncio.wait([reading], timeout=0.05)
    await reading
    return given


@pytest.mark.parametrize("change", [revoke, expire, leave, withdraw, classify_higher])
def test_a_reviews_events_end_without_the_event_once_its_caller_may_not_have_it(review, person, change):
    assert async_to_sync(events_after)(review, person[1], change) == []


def test_a_reviews_events_go_on_as_long_as_rights_do(review, person):
    (event,) = async_to_sync(events_after)(review, person[1], nothing)
    assert b'"progress": 100' in event


class Sentence(BaseModel):
    text: str
    document_id: str


@pytest.mark.parametrize("change", [revoke, expire, leave, withdraw, classify_higher])
def test_an_answers_stream_ends_before_the_sentence_that_its_caller_may_not_have(review, person, change):
    def sentences():
        yield "sentence", Sentence(text="一", document_id=review.document_id_text)
        change()
        yield "sentence", Sentence(text="二", document_id=review.document_id_text)

    request: Any = RequestFactory().post("/api/v1/answer", headers=person[1])
    request.principal = principal_for_user(person[0])
    sent = server_sent_events(request, sentences()).getvalue().decode()
    assert ("一" in sent, "二" in sent) == (True, False)
