"""Samples of the operation: one a minute, kept for a month, and what they say."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from hub.access.principals import local_operator
from hub.access.services import principal_for_user
from hub.core.errors import Forbidden
from hub.core.measures import LLM_COST, Point, count
from knowledge.answering import Question, answer_question
from knowledge.models import DocumentVersion, OperationSample
from knowledge.operation import KEPT, MOST_POINTS, _measured, failures_by_reason, operation, quantile, take_sample
from tests.factories import new_user
from tests.hub.admin.support import add_document

pytestmark = pytest.mark.django_db
NOW = timezone.now().replace(second=30, microsecond=0)
EMPTY = {"waiting": 0, "finished": 0, "failed": 0, "stored_bytes": 0}


def test_a_minute_is_kept_once_with_what_ended_in_the_one_before(tmp_path, queue):
    document = add_document(tmp_path)
    DocumentVersion.objects.filter(document=document).update(finished_at=NOW - timedelta(seconds=60))
    assert take_sample(now=NOW)
    assert not take_sample(now=NOW + timedelta(seconds=10))
    sample = OperationSample.objects.get()
    assert (sample.waiting, sample.finished, sample.failed) == (0, 1, 0)
    assert sample.stored_bytes > 0
    assert sample.free_bytes > 0
    assert take_sample(now=NOW + timedelta(seconds=60))
    assert OperationSample.objects.latest("at").finished == 0


def test_what_is_older_than_a_month_goes(queue):
    OperationSample.objects.create(at=NOW - KEPT - timedelta(minutes=2), **EMPTY)
    take_sample(now=NOW)
    assert OperationSample.objects.get().at == NOW.replace(second=0)


def test_the_end_is_in_sight_at_the_rate_of_the_last_minutes(tmp_path, queue):
    document = add_document(tmp_path)
    row = DocumentVersion.objects.get(document=document)
    DocumentVersion.objects.filter(pk=row.pk).update(finished_at=NOW - timedelta(minutes=1))
    take_sample(now=NOW)
    found = operation(local_operator(), now=NOW, hours=24)
    assert (found.waiting, found.minutes_left) == (0, None)
    DocumentVersion.objects.filter(pk=row.pk).update(status="parsing")
    found = operation(local_operator(), now=NOW, hours=24)
    assert (found.waiting, found.per_minute, found.minutes_left) == (1, 1 / 15, 15.0)


def test_growth_and_searches_are_between_the_samples_of_the_period(queue, django_assert_num_queries):
    day = timedelta(days=1)
    OperationSample.objects.create(at=NOW - day * 2, **EMPTY | {"stored_bytes": 100}, searches={"0.1": 5})
    OperationSample.objects.create(
        at=NOW, **EMPTY | {"stored_bytes": 300}, free_bytes=1000, searches={"0.1": 95, "0.5": 9, "+Inf": 1}
    )
    with django_assert_num_queries(5):
        found = operation(local_operator(), now=NOW, hours=24 * 7)
    assert (found.growth_per_day, found.growth_days, found.days_left) == (100.0, 2.0, 10.0)
    assert (found.searches, found.p50, found.p95) == (100, 0.1, 0.5)


def test_the_first_hours_of_a_hub_forecast_nothing(queue):
    OperationSample.objects.create(at=NOW - timedelta(hours=23), **EMPTY)
    OperationSample.objects.create(at=NOW, **EMPTY | {"stored_bytes": 10**9}, free_bytes=10**9)
    found = operation(local_operator(), now=NOW, hours=24)
    assert found.free_bytes == 10**9
    assert (found.growth_per_day, found.growth_days, found.days_left) == (None, None, None)


def test_searches_after_the_sums_were_lost_count_alone(queue):
    OperationSample.objects.create(at=NOW - timedelta(hours=2), **EMPTY, searches={"0.1": 50})
    OperationSample.objects.create(at=NOW, **EMPTY, searches={"0.1": 3})
    assert operation(local_operator(), now=NOW, hours=24).searches == 3
    assert quantile({}, 0.5) is None


def test_the_first_searches_of_a_hub_count_and_none_beside_a_minute_that_could_not_be_read(queue):
    nothing = {"cost_usd": 0, "answered": 0, "no_evidence": 0}
    OperationSample.objects.create(at=NOW - timedelta(hours=2), **EMPTY, searches={}, sums=nothing)
    OperationSample.objects.create(at=NOW, **EMPTY, searches={"0.1": 19}, sums=nothing | {"answered": 19})
    found = operation(local_operator(), now=NOW, hours=24)
    assert (found.searches, found.questions) == (19, 19)
    OperationSample.objects.update(searches={}, sums={})
    OperationSample.objects.filter(at=NOW).update(searches={"0.1": 19}, sums=nothing)
    assert operation(local_operator(), now=NOW, hours=24).searches == 0


def test_a_month_of_minutes_is_shown_in_so_many_points(queue):
    minute = timedelta(minutes=1)
    OperationSample.objects.bulk_create(
        [OperationSample(at=NOW.replace(second=0) - minute * number, **EMPTY) for number in range(24 * 60)]
    )
    shown = operation(local_operator(), now=NOW, hours=24).intervals
    assert MOST_POINTS / 2 < len(shown) <= MOST_POINTS + 1
    assert list(shown) == sorted(shown, key=lambda one: one.until)


def test_an_interval_counts_all_of_its_minutes(queue):
    minute, begin = timedelta(minutes=1), NOW.replace(hour=0, minute=0, second=0)
    OperationSample.objects.bulk_create(
        [
            OperationSample(
                at=begin + minute * number,
                **EMPTY | {"finished": number % 2, "waiting": 50 if number == 3 else 1},
                searches={"0.1": 10 * number},
                sums={"cost_usd": 0.5 * number, "answered": 3 * number, "no_evidence": number},
            )
            for number in range(20)
        ]
    )
    found = operation(local_operator(), now=begin + minute * 20, hours=24)
    first, second = found.intervals
    assert (first.waiting, second.waiting) == (50, 1)
    assert (first.finished_per_minute, second.finished_per_minute) == (0.5, 0.5)
    assert (first.searches_per_minute, second.searches_per_minute, second.p95) == (10, 10, 0.1)
    assert (first.cost_usd, second.cost_usd) == (4.5, 5.0)
    assert (first.no_evidence_per_minute, second.no_evidence_per_minute) == (1, 1)
    assert (found.questions, found.no_evidence, found.cost_usd) == (76, 19, 9.5)


def test_a_sample_has_what_models_cost_and_questions_without_evidence(queue):
    before = _measured()["sums"]
    assert answer_question(local_operator(), Question(text="月面基地の高度は")).sentences == ()
    count(Point(family=LLM_COST, labels=("openai", "of-a-test"), value=1.25))
    take_sample(now=NOW)
    after = OperationSample.objects.get().sums
    assert after["no_evidence"] - before["no_evidence"] == 1
    assert after["answered"] == before["answered"]
    assert after["cost_usd"] - before["cost_usd"] == pytest.approx(1.25)


def test_failures_are_counted_by_reason_and_only_of_what_one_may_read(tmp_path, queue):
    for number in range(2):
        add_document(tmp_path, filename=f"壊れた{number}.pdf", text="%PDF-1.4 broken", document_type="other")
    ((code, reason, _english, number),) = failures_by_reason(local_operator())
    assert (bool(code), "壊れ" in reason, number) == (True, True, 2)
    assert failures_by_reason(principal_with_nothing()) == []


def principal_with_nothing():
    return principal_for_user(new_user())


def test_who_does_not_run_the_hub_is_refused(queue):
    with pytest.raises(Forbidden):
        operation(principal_with_nothing(), now=NOW, hours=24)
