"""Asking those who keep a collection: who they are, who sees what was sent, replies, limits, and what is forgotten."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth.models import Group
from django.utils import timezone

from hub.access.models import AuditEvent
from hub.access.permissions import Role
from hub.access.principals import Principal, local_operator
from hub.core.errors import Forbidden, InvalidInput, NotFound, RateLimited
from knowledge.models import Collection, CollectionGrant, OwnerRequest
from knowledge.questions import (
    ask_owner,
    own_requests,
    owned_collections,
    owners,
    prune_requests,
    reply_to_request,
    requests_to,
    withdraw_request,
)
from knowledge.types.search import SearchFilter
from tests.factories import new_collection, new_user, principal_with

pytestmark = pytest.mark.django_db
QUESTION = "督促は何日後に送りますか"


@pytest.fixture
def shelf() -> Collection:
    return new_collection(name="規程集")


@pytest.fixture
def reader(shelf: Collection) -> Principal:
    return principal_with(Role.READER, shelf)


@pytest.fixture
def curator(shelf: Collection) -> Principal:
    return principal_with(Role.CURATOR, shelf)


def test_the_owners_are_those_who_administer_the_collection_by_themselves_or_in_a_group(
    shelf: Collection, reader: Principal, curator: Principal
) -> None:
    office = Group.objects.create(name="総務")
    member, gone = new_user(username="総務の人"), new_user(username="辞めた人", is_active=False)
    office.user_set.add(member, gone)
    CollectionGrant.objects.create(collection=shelf, group=office, role=Role.ADMINISTRATOR)
    own = new_user(username="aoki", first_name="青木", last_name="")
    CollectionGrant.objects.create(collection=shelf, user=own, role=Role.ADMINISTRATOR)
    was = new_user(username="前任")
    ended = timezone.now() - timedelta(days=1)
    CollectionGrant.objects.create(collection=shelf, user=was, role=Role.ADMINISTRATOR, until=ended)
    new_collection(name="ほかの棚")
    (found,) = owned_collections(reader, SearchFilter())
    assert (found.slug, found.name, found.owners) == (shelf.slug, "規程集", ("総務の人", "青木"))
    assert owned_collections(reader, SearchFilter(collections=("elsewhere",))) == []


def test_what_is_sent_is_seen_by_curators_alone_and_the_reply_by_who_sent_it(
    shelf: Collection, reader: Principal, curator: Principal
) -> None:
    sent = ask_owner(reader, shelf.slug, QUESTION, " 様式も知りたい ")
    assert (sent.message, sent.user_id) == ("様式も知りたい", reader.user_id)
    assert list(requests_to(reader)) == []
    assert list(requests_to(principal_with(Role.CURATOR, new_collection()))) == []
    assert [one.pk for one in requests_to(curator)] == [sent.pk]
    with pytest.raises(NotFound):
        reply_to_request(reader, sent.pk, "自分で答える")
    with pytest.raises(InvalidInput):
        reply_to_request(curator, sent.pk, "  ")
    reply_to_request(curator, sent.pk, "七日後です。")
    assert list(requests_to(curator)) == []
    (own,) = own_requests(reader)
    assert (own.reply, own.replied_by_id) == ("七日後です。", curator.user_id)
    assert own_requests(curator) == []
    actions = AuditEvent.objects.filter(resource=f"collection:{shelf.slug}").order_by("pk")
    assert list(actions.values_list("action", flat=True)) == ["OWNER_REQUEST", "OWNER_REPLY"]
    assert QUESTION not in str(list(actions.values()))

    again = ask_owner(reader, shelf.slug, f"{QUESTION}？")
    assert (again.pk, again.reply, again.replied_at) == (sent.pk, "", None)
    CollectionGrant.objects.filter(user_id=reader.user_id).delete()
    assert own_requests(reader) == []


def test_what_can_not_be_sent_is_refused(shelf: Collection, reader: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFound):
        ask_owner(reader, new_collection().slug, QUESTION)
    with pytest.raises(InvalidInput):
        ask_owner(reader, shelf.slug, " ")
    with pytest.raises(InvalidInput):
        ask_owner(reader, shelf.slug, QUESTION, "長" * 2_001)
    with pytest.raises(Forbidden):
        ask_owner(local_operator(), shelf.slug, QUESTION)
    monkeypatch.setattr(owners, "MOST_A_DAY", 2)
    ask_owner(reader, shelf.slug, "一つ目")
    ask_owner(reader, shelf.slug, "二つ目")
    ask_owner(reader, shelf.slug, "二つ目", "書き直した")
    with pytest.raises(RateLimited):
        ask_owner(reader, shelf.slug, "三つ目")
    OwnerRequest.objects.update(asked_at=timezone.now() - timedelta(days=2))
    ask_owner(reader, shelf.slug, "三つ目")


def test_what_was_sent_is_withdrawn_by_its_sender_and_forgotten_after_its_time(
    shelf: Collection, reader: Principal, curator: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (ask_owner(reader, shelf.slug, text) for text in ("一つ目", "二つ目"))
    with pytest.raises(NotFound):
        withdraw_request(curator, first.pk)
    withdraw_request(reader, first.pk)
    now = timezone.now()
    days = settings.CONFIG.hub_question_days
    assert prune_requests(now + timedelta(days=days - 1)) == 0
    OwnerRequest.objects.update(replied_at=now + timedelta(days=5))
    assert prune_requests(now + timedelta(days=days + 1)) == 0
    assert prune_requests(now + timedelta(days=days + 6)) == 1
    assert not OwnerRequest.objects.filter(pk=second.pk).exists()
    monkeypatch.setattr(settings, "CONFIG", settings.CONFIG.model_copy(update={"hub_question_days": 0}))
    with pytest.raises(Forbidden):
        ask_owner(reader, shelf.slug, "三つ目")
