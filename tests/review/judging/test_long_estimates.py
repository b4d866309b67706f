"""What an estimate says of the requests that a long document costs."""

from __future__ import annotations

import pytest

from hub.access.principals import local_operator
from hub.llm.models import RecordedAnswer
from review.runs.estimates import estimate_review
from review.runs.reviews import ReviewOptions
from tests.review.judging.conftest import ITEM, run
from tests.review.judging.long_model import grounded, kinds, model


@pytest.mark.django_db
@pytest.mark.parametrize("light", ["light", ""])
def test_an_estimate_counts_summaries_choices_and_screening(long, configured, configure, light):
    configure(llm_light_model=light, llm_votes=2)
    configured.answer = model(grounded)
    facts = run(long)
    RecordedAnswer.objects.all().delete()
    told = estimate(long)
    assert told.requests == len(configured.requests)
    assert told.summary_requests == kinds(configured).count("summary")
    assert abs(told.tokens_in - facts.usage.tokens_in) <= 0.2 * facts.usage.tokens_in
    assert told.tokens_out >= facts.usage.tokens_out


@pytest.mark.django_db
def test_an_estimate_leaves_out_the_summaries_that_are_there(long, configured):
    configured.answer = model(grounded)
    before = estimate(long)
    run(long)
    after = estimate(long)
    assert (before.summary_requests > 0, after.summary_requests) == (True, 0)
    assert after.tokens_in < before.tokens_in


@pytest.mark.django_db
def test_an_estimate_knows_when_summaries_will_not_be_made(long, configured, configure):
    configure(hub_llm_token_budget=8_000)
    assert estimate(long).summary_requests == 0


def estimate(document):
    options = ReviewOptions(check_items=(ITEM,))
    return estimate_review(principal=local_operator(), document_id=document.public_id, options=options)
