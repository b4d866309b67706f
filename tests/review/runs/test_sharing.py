"""A review is the same whichever worker judges which check, and in whatever order."""

from __future__ import annotations

import random
from functools import partial

import pytest

from hub.access.principals import local_operator
from hub.core.lease import LeaseLost
from review.models import Review
from review.runs import execution
from review.runs.reviews import ReviewOptions, cancel_review, start_review
from review.runs.work import Work, lock_running
from tests.review.report.reports import reports_of

pytestmark = pytest.mark.django_db
OPERATOR = local_operator()


def start(review: Review, **options) -> Review:
    """Start another review of the same version."""
    return start_review(principal=OPERATOR, document_id=review.document_id_text, options=ReviewOptions(**options))


def mark_running(review: Review) -> None:
    """Mark a review as being judged, without a holder."""
    Review.objects.filter(pk=review.pk).update(status="running")


def judge_some(review: Review, *, count: int, seed: int) -> None:
    """Judge ``count`` checks in an order of chance, as a helper."""
    mark_running(review)
    review.refresh_from_db()
    work = Work.on(review, fence=partial(lock_running, review.pk))
    for position, entry in random.Random(seed).sample(work.open_checks(), count):
        assert work.judge(position, entry)


@pytest.mark.parametrize("orders", [3, pytest.param(10, marks=pytest.mark.long)])
def test_reviews_in_other_orders_of_checks_give_the_same_bytes(review, orders):
    expected = reports_of(review)
    for seed in range(orders):
        other = start(review)
        judge_some(other, count=30 * (seed + 1) // orders, seed=seed)
        assert execution.execute(other.pk)
        assert reports_of(other) == expected


def test_a_helper_leaves_what_only_a_model_can_tell_and_does_not_end_the_review(review):
    other = start(review)
    mark_running(other)
    execution.assist(other.pk)
    judged = set(other.results.values_list("item_version__item__code", flat=True))
    by_rules = {
        result.item_version.item.code
        for result in review.results.all()
        if not any(notice["code"] == "needs_llm" for notice in result.notices)
    }
    assert judged
    assert judged <= by_rules
    other.refresh_from_db()
    assert other.status == "running"
    assert 0 < other.progress < 100


@pytest.mark.parametrize("status", ["queued", "completed", "cancelled", "failed"])
def test_nobody_helps_with_a_review_that_does_not_run(review, status):
    other = start(review)
    Review.objects.filter(pk=other.pk).update(status=status)
    execution.assist(other.pk)
    assert not other.results.exists()


def test_a_helper_writes_nothing_once_the_review_was_cancelled(review):
    other = start(review)
    mark_running(other)
    other.refresh_from_db()
    work = Work.on(other, fence=partial(lock_running, other.pk))
    cancel_review(principal=OPERATOR, review_id=other.public_id)
    by_rules = next(pair for pair in work.open_checks() if pair[1].item_version.criteria.get("rules"))
    with pytest.raises(LeaseLost):
        work.judge(*by_rules)
    assert not other.results.exists()


@pytest.mark.parametrize(("parallel", "calls"), [(True, 1), (False, 0)])
def test_other_workers_are_asked_unless_the_caller_does_not_want_it(review, parallel, calls):
    other = start(review, parallel=parallel)
    asked: list[int] = []
    execution.execute(other.pk, call_for_help=asked.append)
    assert asked == [other.pk] * calls
    assert Review.objects.get(pk=other.pk).status == "completed"


def test_progress_only_grows_and_a_finished_check_forgives_earlier_interruptions(review):
    other = start(review)
    Review.objects.filter(pk=other.pk).update(attempts=execution.MAX_ATTEMPTS - 1)
    mark_running(other)
    other.refresh_from_db()
    work, seen = Work.on(other, fence=partial(lock_running, other.pk)), []
    for position, entry in reversed(work.open_checks()):
        work.judge(position, entry)
        seen.append(Review.objects.values_list("progress", "attempts").get(pk=other.pk))
    assert seen == sorted(seen, key=lambda pair: pair[0])
    assert seen[-1][1] == 0
