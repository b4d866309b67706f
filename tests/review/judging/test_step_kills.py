"""A real worker is killed in the middle of a step of a review: the review goes on from what was answered."""

from __future__ import annotations

import json
import threading
from collections import Counter
from typing import Any

import pytest

from hub.access.principals import local_operator
from hub.llm.models import RecordedAnswer
from review.models import Finding, Review
from review.runs.reviews import get_review, review_facts
from review.runs.schemas import ReviewOut
from tests.hub.llm.conftest import configure, configured, server  # noqa: F401 (fixtures)
from tests.llm_server import Fault
from tests.review.judging.conftest import start
from tests.review.judging.second_model import schema_of
from tests.review.judging.test_three_runs import OPTIONS, document, model, said, shown  # noqa: F401 (fixture)
from tests.review.runs.test_worker_kills import (  # noqa: F401 (fixture)
    kill_processes_of,
    let_the_lease_run_out,
    start_worker,
    wait_until,
)

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("queue", "item"),
    pytest.mark.timeout(240),
    pytest.mark.long,
]


class Holding:
    """A model that does not answer the ``number``-th request of a kind until it may."""

    def __init__(self, kind: str, number: int) -> None:
        self.kind, self.number = kind, number
        self.reached, self.may_answer = threading.Event(), threading.Event()
        self.seen = 0
        self.inner = model()

    def __call__(self, asked: dict[str, Any]) -> str:
        if schema_of(asked) == self.kind:
            self.seen += 1
            if self.seen == self.number:
                self.reached.set()
                self.may_answer.wait(60)
        return str(self.inner(asked))


@pytest.fixture
def worker(configured, start_worker, monkeypatch) -> Any:  # noqa: F811
    for name, value in (("PROVIDER", "openai"), ("BASE_URL", configured.url), ("MODEL", "strong"), ("TIMEOUT_S", "20")):
        monkeypatch.setenv(f"LLM_{name}", value)
    return start_worker(1)


def killed_at(kind: str, number: int, document: Any, configured: Any, worker: Any) -> Review:  # noqa: F811
    """A review whose worker was killed while it waited for an answer; the queue has it again."""
    configured.answer = held = Holding(kind, number)
    configured.requests.clear()
    review = start(document, **OPTIONS)
    wait_until(held.reached.is_set, f"no {kind} request came")
    kill_processes_of(worker)
    held.may_answer.set()
    return review


def ended(review: Review) -> ReviewOut:
    wait_until(lambda: Review.objects.get(pk=review.pk).status == "completed", "the review is not finished")
    return review_facts(get_review(local_operator(), review.public_id), everything=True)


STEPS = [("second_opinion", 1), ("proofs", 1), ("reading", 2), ("refuting", 1)]


@pytest.mark.parametrize(("kind", "number"), STEPS)
def test_a_killed_step_goes_on_from_what_was_answered(document, configured, worker, kind, number) -> None:  # noqa: F811
    configured.answer = model()
    undisturbed = shown(start(document, **OPTIONS))
    bodies = {json.dumps(one, sort_keys=True) for one in configured.requests}
    RecordedAnswer.objects.all().delete()
    review = killed_at(kind, number, document, configured, worker)
    let_the_lease_run_out(review)
    facts = ended(review)
    assert said(facts) == said(undisturbed)
    asked = Counter(json.dumps(one, sort_keys=True) for one in configured.requests)
    assert set(asked) == bodies
    twice = [json.loads(body) for body, times in asked.items() if times > 1]
    assert [schema_of(one) for one in twice] == [kind], "only what had no answer is asked again"
    assert max(asked.values()) == 2
    stored = Finding.objects.filter(result__review=review)
    assert stored.count() == len(facts.findings) + len(facts.overturned) + len(facts.candidates)
    assert stored.values("fingerprint", "result").distinct().count() == stored.count()


@pytest.mark.parametrize(("kind", "number"), STEPS)
def test_when_the_model_is_gone_by_then_the_rules_result_is_left(
    document,  # noqa: F811
    configured,  # noqa: F811
    worker,
    kind,
    number,
) -> None:
    review = killed_at(kind, number, document, configured, worker)
    asked = len(configured.requests)
    configured.script = [Fault.REFUSE] * 50
    let_the_lease_run_out(review)
    facts = ended(review)
    step = "sweep" if kind in ("reading", "refuting") else "second_opinion"
    failed = {one.step: one.state for one in facts.steps}
    assert failed[step] in ("partly", "failed") or kind == "refuting"
    assert {notice["code"] for notice in facts.notices} & {"second_opinion_failed", "sweep_failed"}
    assert not any(one.check_item_id == "READ-01" for one in facts.findings), "nothing untested counts"
    assert bool(facts.overturned) is (step == "sweep"), "what was proven before holds, nothing else"
    assert {one.rule_id for one in facts.findings} >= {"structure.duplicate_number", "coverage.missing_topic"}
    assert len(configured.requests) > asked
