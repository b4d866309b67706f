"""A document of 100,000 characters through all steps: what is told before holds, in requests, tokens and US$."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from hub.access.principals import local_operator
from review.models import Review
from review.runs.estimates import estimate_review
from review.runs.reviews import ReviewOptions
from tests.factories import upload_text, work_through
from tests.hub.llm.conftest import configure, configured, server  # noqa: F401 (fixtures)
from tests.review.judging.conftest import finish, start
from tests.review.judging.second_model import findings_in, opinion, schema_of, shown_in

pytestmark = [pytest.mark.django_db, pytest.mark.long]

CHAPTER = "## {n} 業務{n}\n\n" + "受付の担当者は申請の内容を確かめ、不備があれば{n}日以内に申請者へ連絡する。\n" * 27
OPTIONS: dict[str, Any] = {"second_opinion": "on", "sweep": "on"}
SECONDS_A_REQUEST = 2


def busy(asked: dict[str, Any]) -> str:
    """A model that notes, proposes and overturns as much as it may; what of it does not hold is left out."""
    quoted = [
        {"passage": label, "quote": text.splitlines()[-1][:60]}
        for label, text in shown_in(asked).items()
        if label.startswith("p") and len(text) > 60
    ]
    name, labels = schema_of(asked), [label for label, _ in findings_in(asked)]
    if name == "reading":
        schema = asked["response_format"]["json_schema"]["schema"]
        wanted = schema["properties"]["findings"]["items"]["properties"]["category"]["enum"]
        words = {"subject": "受付", "attribute": "連絡の期限", "value": "10日以内"}
        said = {
            "item": "none",
            "topic": "none",
            "category": wanted[0],
            "kind": "wrong",
            "severity": "major",
            "message": "期限が章により違う。",
        }
        facts = [{**words, **one} for one in quoted[:12]]
        return dumped({"facts": facts, "findings": [{**said, "quotes": [one]} for one in quoted[:4]]})
    if name == "refuting":
        verdict = {"reason": "記述による。", "quotes": [], "severity": "major", "same_as": "none", "verdict": "stands"}
        return dumped({"verdicts": [{"finding": label, **verdict} for label in labels]})
    if name == "second_opinion":
        quotes = [one["quote"] for one in quoted[:1]]
        return dumped({"opinions": [opinion(label, "overturned", *quotes) for label in labels]})
    if name == "proofs":
        return dumped({"proofs": [{"finding": label, "reason": "否。", "holds": "no"} for label in labels]})
    raise AssertionError(f"nobody answers {name}")


def dumped(said: dict[str, Any]) -> str:
    return json.dumps(said, ensure_ascii=False)


def test_what_a_long_review_takes_is_told_before(db, tmp_path, configured, configure) -> None:  # noqa: F811
    configure(llm_price_in=Decimal(1), llm_price_out=Decimal(5))
    configured.answer = busy
    text = "# 業務設計書\n\n" + "\n\n".join(CHAPTER.format(n=n) for n in range(1, 101))
    assert len(text) >= 100_000
    document = work_through(upload_text(local_operator(), tmp_path, text, document_type="basic_design").document)
    items = ("BD-A01", "BD-A02", "BD-B01", "BD-B03", "BD-E01")
    told = estimate_review(
        principal=local_operator(),
        document_id=document.public_id,
        options=ReviewOptions(check_items=items, **OPTIONS),
    )
    finish(review := start(document, check_items=items, **OPTIONS))
    spent = Review.objects.get(pk=review.pk)
    asked = len(configured.requests)
    most = (
        told.requests + told.second_opinion_requests + told.sweep_requests,
        told.tokens_in + told.second_opinion_tokens_in + told.sweep_tokens_in,
        told.tokens_out + told.second_opinion_tokens_out + told.sweep_tokens_out,
    )
    assert asked <= most[0]
    assert spent.tokens_in <= most[1] * 1.35, "vocabularies differ by a third"
    assert spent.tokens_out <= most[2]
    assert told.fits
    assert told.cost is not None
    assert told.cost <= 1
    assert spent.cost is not None
    assert spent.cost <= 1
    assert asked * SECONDS_A_REQUEST <= 300
