"""A whole review by a real small model with grammar-bound answers, and its replay without any model.

The model can't judge: what is shown is that whatever it says becomes a result that holds, is counted and is repeatable.
"""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from hub.access.models import AuditEvent
from hub.access.principals import local_operator
from hub.llm.models import RecordedAnswer
from hub.llm.providers.registry import close_provider
from review.models import CheckItemVersion
from review.runs.estimates import estimate_review
from review.runs.reviews import ReviewOptions, replay_review
from tests.factories import upload_text, work_through
from tests.local_model import local_model
from tests.review.judging.conftest import ITEM, TEXT, codes, finish, run, verdicts

pytestmark = [pytest.mark.django_db, pytest.mark.long, pytest.mark.timeout(900)]
QUESTIONS = {
    "BD-A01": "本書の目的と対象範囲が書かれているか。",
    ITEM: "障害時の復旧手順が、担当と所要時間とともに具体的に書かれているか。",
}


@pytest.fixture(scope="module")
def url():
    with local_model() as running:
        yield running


def test_a_real_model_reviews_with_bound_answers_and_its_review_is_replayed_without_it(document, configure, url):
    for code, question in QUESTIONS.items():
        CheckItemVersion.objects.filter(item__code=code).update(criteria={"prompt": question})
    configure(
        llm_provider="openai",
        llm_base_url=url,
        llm_model="gemma3-270m",
        llm_structured_output="grammar",
        llm_second_opinion=False,
        llm_sweep=False,
        llm_timeout_s=600.0,
        llm_price_in=Decimal("0.1"),
        llm_price_out=Decimal("0.4"),
    )
    facts = run(document, check_items=tuple(QUESTIONS))

    assert facts.status == "completed"
    assert {result.method for result in facts.results} == {"llm"}
    assert not codes(facts) & {"llm_invalid_json", "llm_wrong_schema"}
    for result in facts.results:  # what such a model says is no pass unless its quotes stand in the text
        places = [TEXT[begin:end] for begin, end in result.judgement.grounds]
        assert all(places)
        assert result.verdict != "pass" or places
    for finding in facts.findings:
        assert all(TEXT[one.start_offset : one.end_offset] == one.quote for one in finding.evidence if one.verified)
    assert facts.usage.cost == pytest.approx((facts.usage.tokens_in + 4 * facts.usage.tokens_out) / 10_000_000)
    events = AuditEvent.objects.filter(action="LLM_INFERENCE")
    assert events.count() == RecordedAnswer.objects.count() > 0
    assert sum(event.details["tokens_in"] for event in events) == facts.usage.tokens_in
    json.dumps([row.text for row in RecordedAnswer.objects.all()])

    close_provider()
    configure(llm_provider="none", llm_model="", llm_base_url="")
    replay = replay_review(principal=local_operator(), review_id=facts.review_id)
    assert verdicts(finish(replay)) == verdicts(facts)
    assert events.count() == RecordedAnswer.objects.count()


def test_a_real_model_summarises_a_long_document_and_its_review_is_replayed_without_it(item, tmp_path, configure, url):
    configure(
        llm_provider="openai",
        llm_base_url=url,
        llm_model="gemma3-270m",
        llm_light_model="gemma3-270m",
        llm_structured_output="grammar",
        llm_second_opinion=False,
        llm_sweep=False,
        llm_timeout_s=600.0,
        llm_context_tokens=500,
    )
    chapters = [
        f"## {n} 業務{n}\n\n" + "\n\n".join(f"手続{n}-{k}では、利用者の情報を登録し、履歴に残す。" for k in range(1, 9))
        for n in range(1, 5)
    ]
    text = "# 窓口システム基本設計書\n\n" + "\n\n".join(chapters)
    document = work_through(upload_text(local_operator(), tmp_path, text, document_type="basic_design").document)
    told = estimate_review(
        principal=local_operator(), document_id=document.public_id, options=ReviewOptions(check_items=(ITEM,))
    )
    facts = run(document)

    assert facts.status == "completed"
    assert told.summary_requests > 1
    assert "llm_section_summaries" in codes(facts)
    assert not codes(facts) & {"llm_invalid_json", "llm_wrong_schema"}
    assert RecordedAnswer.objects.filter(text__contains="summaries").exists()
    assert facts.usage.tokens_out <= told.tokens_out

    close_provider()
    configure(llm_provider="none", llm_model="", llm_light_model="", llm_base_url="")
    replay = replay_review(principal=local_operator(), review_id=facts.review_id)
    assert verdicts(finish(replay)) == verdicts(facts)
