"""Asking those who keep a collection: who they are by rights, what a person sends them, what they reply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.access.services import record_event
from hub.core.errors import Forbidden, InvalidInput, NotFound, RateLimited
from knowledge.collections import get_collection
from knowledge.grants import administrators_of
from knowledge.models import Collection
from knowledge.models.questions import LONGEST_MESSAGE, LONGEST_QUESTION, OwnerRequest
from knowledge.questions.kept import folded
from knowledge.types.search import SearchFilter

MOST_COLLECTIONS = 30
MOST_OWNERS = 5
MOST_LISTED = 100
MOST_A_DAY = 20
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """A collection and the names of the people who administer it: by their own role, or by one of a group."""

    slug: str
    name: str
    owners: tuple[str, ...]


def takes_requests() -> bool:
    """Whether questions can be sent: where HUB_QUESTION_DAYS keeps any."""
    return bool(settings.CONFIG.hub_question_days)


def owned_collections(principal: Principal, asked: SearchFilter) -> list[Owned]:
    """List the collections that a question is asked of, with who administers them, some of each. Three queries.

    Where nobody has the role, it is for those who run the hub: the owners are empty.
    """
    collections = Collection.objects.visible_to(principal, Scope.SEARCH).order_by("name")
    if asked.collections:
        collections = collections.filter(slug__in=asked.collections)
    found = list(collections[:MOST_COLLECTIONS])
    names = administrators_of([one.pk for one in found])
    return [Owned(slug=one.slug, name=one.name, owners=tuple(names[one.pk][:MOST_OWNERS])) for one in found]


def ask_owner(principal: Principal, slug: str, question: str, message: str = "") -> OwnerRequest:
    """Send a question with the caller's name to those who keep a collection; sent again it is open again.

    :raises NotFound: the caller may not search the collection. :raises Forbidden: the caller is no person, or nothing
    is kept of questions here. :raises InvalidInput: there is no question, or it or the message is too long.
    :raises RateLimited: more than MOST_A_DAY in a day.
    """
    if principal.user_id is None or not takes_requests():
        raise Forbidden(_("Questions to those who keep a collection can't be sent here."))
    collection = get_collection(principal, slug, scope=Scope.SEARCH)
    question, message = question.strip(), message.strip()
    if not 0 < len(question) <= LONGEST_QUESTION:
        raise InvalidInput(_("{field}: give 1 to {limit} characters."), field="question", limit=LONGEST_QUESTION)
    _check_length("message", message)
    sent = OwnerRequest.objects.filter(user_id=principal.user_id, asked_at__gt=timezone.now() - DAY)
    same: dict[str, Any] = {"collection": collection, "folded": folded(question)}
    values: dict[str, Any] = {"question": question, "message": message, "asked_at": timezone.now()}
    nothing = {"reply": "", "replied_at": None, "replied_by": None}
    with transaction.atomic():
        # Of many at once, each counts those before it.
        get_user_model().objects.select_for_update().get(pk=principal.user_id)
        if sent.exclude(**same).count() >= MOST_A_DAY:
            text = _("You have sent {count} questions within a day. Send this one tomorrow.")
            raise RateLimited(text, count=MOST_A_DAY, retry_after_s=int(DAY.total_seconds()))
        row, _is_new = OwnerRequest.objects.update_or_create(
            user_id=principal.user_id, **same, defaults=values | nothing
        )
        record_event(principal, "OWNER_REQUEST", f"collection:{slug}", request=row.pk)
    return row


def requests_to(principal: Principal) -> QuerySet[OwnerRequest]:
    """The questions that wait for a reply in the collections that the caller curates, the oldest first.

    They have the names of who asked: these were told so when they sent them.
    """
    curated = Collection.objects.visible_to(principal, Scope.CURATE)
    return (
        OwnerRequest.objects.filter(collection__in=curated, replied_at=None)
        .select_related("user", "collection")
        .order_by("asked_at")
    )


def own_requests(principal: Principal) -> Sequence[OwnerRequest]:
    """List what a person sent, with the replies, of collections that they may still search; the latest first."""
    if principal.user_id is None:
        return []
    searched = Collection.objects.visible_to(principal, Scope.SEARCH)
    sent = OwnerRequest.objects.filter(user_id=principal.user_id, collection__in=searched)
    return list(sent.select_related("collection", "replied_by")[:MOST_LISTED])


def reply_to_request(principal: Principal, request_id: int, reply: str) -> OwnerRequest:
    """Reply to a question; it is off the list, and its sender reads the reply.

    :raises NotFound: it does not wait in a collection that the caller curates. :raises InvalidInput: no reply, or one
    that is too long.
    """
    reply = reply.strip()
    if not reply:
        raise InvalidInput(_("{field}: give 1 to {limit} characters."), field="reply", limit=LONGEST_MESSAGE)
    _check_length("reply", reply)
    with transaction.atomic():
        row = requests_to(principal).select_for_update(of=["self"]).filter(pk=request_id).first()
        if row is None:
            raise NotFound(_("There is no such question."), code="question_not_found")
        row.reply, row.replied_at, row.replied_by_id = reply, timezone.now(), principal.user_id
        row.save(update_fields=["reply", "replied_at", "replied_by"])
        record_event(principal, "OWNER_REPLY", f"collection:{row.collection.slug}", request=row.pk)
    return row


def withdraw_request(principal: Principal, request_id: int) -> None:
    """Delete one of the questions that a person sent. :raises NotFound: it is not one's own."""
    sent = OwnerRequest.objects.filter(pk=request_id)
    if principal.user_id is None or not sent.filter(user_id=principal.user_id).delete()[0]:
        raise NotFound(_("There is no such question."), code="question_not_found")


def prune_requests(now: datetime) -> int:
    """Delete what was sent, or was replied to, longer ago than HUB_QUESTION_DAYS. Gives how many."""
    before = now - timedelta(days=settings.CONFIG.hub_question_days)
    old = Q(replied_at__lt=before) | Q(replied_at=None, asked_at__lt=before)
    return OwnerRequest.objects.filter(old).delete()[0]


def _check_length(field: str, text: str) -> None:
    if len(text) > LONGEST_MESSAGE:
        raise InvalidInput(_("{field}: expected at most {limit} characters."), field=field, limit=LONGEST_MESSAGE)
