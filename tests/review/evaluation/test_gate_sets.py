"""The gate before search uses another embedding set: real vectors, real questions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.utils import translation

from hub.access.principals import local_operator
from hub.core.errors import Conflict
from hub.evaluation.models import EvaluationRun
from knowledge.embedding_sets import switching
from knowledge.models import EmbeddingSet
from review.evaluation import cases, datasets, gate
from tests.knowledge.embedding_sets.sets import QUESTION, add_corpus, build, make, switch

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("queue")]
ME = local_operator()


@pytest.fixture(autouse=True)
def guarded(db, tmp_path, settings) -> Iterator[None]:
    add_corpus(tmp_path)
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_evaluation_gate": "refuse"})
    datasets.create_dataset(principal=ME, code="questions")
    rows = cases.rows_of([{"query": QUESTION, "relevant": ["認証.md"]}])
    cases.import_cases(principal=ME, dataset="questions", rows=rows)
    datasets.change_dataset(principal=ME, code="questions", guards=["embedding_set"])
    make("next")
    build("next")
    with translation.override("en"):
        yield


def test_a_set_that_finds_less_is_refused_with_the_question_and_going_back_is_not_asked() -> None:
    first = EmbeddingSet.objects.get(is_active=True)
    assert switch("next").is_active
    measured = EvaluationRun.objects.order_by("-pk")[0]
    assert (measured.subject, measured.baseline.subject) == ("next", first.name)
    back = gate.compare(principal=ME, name=f"embedding_set:{first.name}").runs[0]
    flips = [{"case": 1, "query": QUESTION, "before": 1.0, "after": 0.0}]
    EvaluationRun.objects.filter(pk=back.pk).update(metrics={**back.metrics, "regression": True}, flips=flips)
    with pytest.raises(Conflict, match=QUESTION) as refused:
        switch(first.name)
    assert refused.value.error_code == "evaluation_regression"
    assert switching.roll_back(principal=ME) == first


def test_a_set_whose_model_is_away_is_not_measured_by_words_alone() -> None:
    EmbeddingSet.objects.filter(name="next").update(fingerprint="gone")
    with pytest.raises(Conflict, match="can't be measured now") as refused:
        switch("next")
    assert refused.value.error_code == "evaluation_unknown"
