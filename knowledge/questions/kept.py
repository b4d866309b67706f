"""Services around questions that were asked. A person finds their own; curators find what is missing, not who asked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.postgres.aggregates import ArrayAgg
from django.db import transaction
from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from hub.access.principals import Principal, Scope
from hub.core.errors import Forbidden, InvalidInput, NotFound
from knowledge.models import Collection
from knowledge.models.questions import LONGEST_QUESTION, LONGEST_REASON, AskedQuestion, NoQuestionsKept, Rating
from knowledge.text.folding import fold_compact
from knowledge.types.search import SearchFilter

MOST_OWN = 300
MOST_OPEN = 100
MOST_REASONS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenQuestion:
    """The same question of one or more people that nothing answered, or whose answer was not helpful.

    ``unanswered`` and ``disliked`` count people, ``times`` how often it was asked. ``key`` names it.
    """

    key: str
    text: str
    people: int
    times: int
    unanswered: int
    disliked: int
    reasons: tuple[str, ...]
    last_asked_at: datetime


def note_question(principal: Principal, text: str, asked: SearchFilter, *, is_answered: bool) -> int | None:
    """Keep that a person asked a question, and whether it was answered; gives the row's key.

    None where nothing is kept: of people who want that, by HUB_QUESTION_DAYS=0, of callers that are no people, and of
    questions that are longer than anybody would ask again. Asked again it is open again.
    """
    if not keeps_questions(principal) or principal.user_id is None or len(text) > LONGEST_QUESTION:
        return None
    collections = Collection.objects.visible_to(principal, Scope.SEARCH)
    if asked.collections:
        collections = collections.filter(slug__in=asked.collections)
    values = {
        "text": text,
        "collection_ids": sorted(collections.values_list("pk", flat=True)),
        "is_answered": is_answered,
        "rating": None,
        "reason": "",
        "asked_at": timezone.now(),
        "closed_at": None,
    }
    with transaction.atomic():
        row, is_new = AskedQuestion.objects.select_for_update().get_or_create(
            user_id=principal.user_id, folded=folded(text), defaults=values
        )
        if is_new:
            _drop_oldest(principal.user_id)
        else:
            AskedQuestion.objects.filter(pk=row.pk).update(**values, times=F("times") + 1)
    return row.pk


def own_questions(principal: Principal, *, most: int = MOST_OWN) -> Sequence[AskedQuestion]:
    """List a person's own questions: saved ones first, then the latest."""
    return list(_own(principal).order_by("-is_saved", "-asked_at")[:most])


def rate_answer(principal: Principal, question_id: int, rating: int, reason: str = "") -> None:
    """Say whether the answer to one's own question was helpful, and why.

    :raises NotFound: it is not one's own. :raises InvalidInput: neither good nor bad, or the reason is too long.
    """
    if rating not in Rating.values:
        raise InvalidInput(_("{field}: expected one of {allowed}."), field="rating", allowed="1, -1")
    if len(reason) > LONGEST_REASON:
        raise InvalidInput(_("{field}: expected at most {limit} characters."), field="reason", limit=LONGEST_REASON)
    row = _find(principal, question_id)
    row.rating, row.reason, row.closed_at = rating, reason.strip(), None
    row.save(update_fields=["rating", "reason", "closed_at"])


def save_question(principal: Principal, question_id: int, *, is_saved: bool) -> None:
    """Keep one's own question at the top of the list, however old it gets. :raises NotFound: it is not one's own."""
    _find(principal, question_id)
    _own(principal).filter(pk=question_id).update(is_saved=is_saved)


def forget_questions(principal: Principal, question_id: int | None = None) -> int:
    """Delete one of one's own questions, or all; gives how many. :raises NotFound: it is not one's own."""
    if question_id is not None:
        _find(principal, question_id)
        return _own(principal).filter(pk=question_id).delete()[0]
    return _own(principal).delete()[0]


def keeps_questions(principal: Principal) -> bool:
    """Whether questions of a person are kept. One query at most."""
    if principal.user_id is None or not settings.CONFIG.hub_question_days:
        return False
    return not NoQuestionsKept.objects.filter(user_id=principal.user_id).exists()


def keep_questions(principal: Principal, *, wanted: bool) -> None:
    """Keep one's questions from now on, or none, which deletes those that there are."""
    if principal.user_id is None:
        raise Forbidden(_("Only people have questions of their own."))
    with transaction.atomic():
        if wanted:
            NoQuestionsKept.objects.filter(user_id=principal.user_id).delete()
        else:
            NoQuestionsKept.objects.get_or_create(user_id=principal.user_id)
            _own(principal).delete()


def open_questions(principal: Principal) -> list[OpenQuestion]:
    """List what nothing answered in the collections that the caller curates, the most asked first. Three queries.

    A question is shown to curators who may themselves ask all the collections that it was asked of: what it says may
    come from any of them. Who asked is not told.
    """
    groups = (
        _open_to(principal)
        .values("folded")
        .annotate(
            words=Max("text"),
            people=Count("pk"),
            all_times=Sum("times"),
            unanswered=Count("pk", filter=Q(is_answered=False)),
            disliked=Count("pk", filter=Q(rating=Rating.BAD)),
            reasons=ArrayAgg("reason", filter=~Q(reason=""), distinct=True, default=[]),
            last=Max("asked_at"),
        )
        .order_by("-people", "-all_times", "-last")[:MOST_OPEN]
    )
    return [
        OpenQuestion(
            key=one["folded"],
            text=one["words"],
            people=one["people"],
            times=one["all_times"],
            unanswered=one["unanswered"],
            disliked=one["disliked"],
            reasons=tuple(one["reasons"][:MOST_REASONS]),
            last_asked_at=one["last"],
        )
        for one in groups
    ]


def find_open_question(principal: Principal, key: str) -> tuple[str, list[Collection]]:
    """Find a question of the caller's list: its words, and the collections that it was asked of and they curate.

    Three queries. :raises NotFound: it is not on the list.
    """
    rows = list(_open_to(principal).filter(folded=key).order_by("-asked_at").values_list("text", "collection_ids"))
    if not rows:
        raise NotFound(_("There is no such question."), code="question_not_found")
    asked = {pk for _text, collection_ids in rows for pk in collection_ids}
    curated = Collection.objects.visible_to(principal, Scope.CURATE).filter(pk__in=asked).order_by("name")
    return rows[0][0], list(curated)


def close_question(principal: Principal, key: str) -> int:
    """Take a question off the list of open ones until it is asked again; gives of how many people it was.

    :raises NotFound: it is not on the caller's list.
    """
    closed = _open_to(principal).filter(folded=key).update(closed_at=timezone.now())
    if not closed:
        raise NotFound(_("There is no such question."), code="question_not_found")
    return closed


def prune_questions(now: datetime) -> int:
    """Delete what is older than HUB_QUESTION_DAYS and was not saved; all of it where that is 0. Gives how many."""
    days = settings.CONFIG.hub_question_days
    old = AskedQuestion.objects.filter(asked_at__lt=now - timedelta(days=days), is_saved=False)
    return (old if days else AskedQuestion.objects.all()).delete()[0]


def _open_to(principal: Principal) -> QuerySet[AskedQuestion]:
    curated = list(Collection.objects.visible_to(principal, Scope.CURATE).values_list("pk", flat=True))
    asked = list(Collection.objects.visible_to(principal, Scope.SEARCH).values_list("pk", flat=True))
    return AskedQuestion.objects.filter(
        Q(is_answered=False) | Q(rating=Rating.BAD),
        closed_at=None,
        collection_ids__overlap=curated,
        collection_ids__contained_by=asked,
    ).order_by()


def _own(principal: Principal) -> QuerySet[AskedQuestion]:
    if principal.user_id is None:
        return AskedQuestion.objects.none()
    return AskedQuestion.objects.filter(user_id=principal.user_id)


def _find(principal: Principal, question_id: int) -> AskedQuestion:
    row = _own(principal).filter(pk=question_id).first()
    if row is None:
        raise NotFound(_("There is no such question."), code="question_not_found")
    return row


def _drop_oldest(user_id: int) -> None:
    beyond = AskedQuestion.objects.filter(user_id=user_id, is_saved=False).order_by("-asked_at")[MOST_OWN:]
    AskedQuestion.objects.filter(pk__in=list(beyond.values_list("pk", flat=True))).delete()


def folded(text: str) -> str:
    """Give what is the same for the same question, however it is typed; 64 hex digits."""
    words = fold_compact(text).rstrip("?。.!")
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()
