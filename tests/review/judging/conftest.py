"""A document, a check item for a model only, and a language model that says what a test makes it say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction

from hub.access.principals import local_operator
from knowledge.models import Document
from review.models import CheckItemVersion, Review
from review.runs import execution
from review.runs.reviews import ReviewOptions, get_review, ordered_findings, start_review
from review.runs.schemas import ReviewOut, review_out
from tests.factories import upload_text, work_through
from tests.hub.llm.conftest import configure, configured, server  # noqa: F401 (fixtures)
from tests.llm_server import prompt_of
from tests.review.judging.long_text import long_text

ITEM = "BD-C02"
TEXT = """# 図書館システム基本設計書

## 1 目的

本書は図書館システムの基本設計を示す。対象は貸出、返却、予約の各業務とする。

## 2 性能

利用者検索の応答時間は３秒以内とする。繁忙期でも5秒を超えないこと。

## 3 障害時の対応

障害時は適切に対応する。復旧の手順は別途定める。

## 4 バックアップ

バックアップは毎日午前2時に取得し、30日間保管する。
"""
GROUND = "利用者検索の応答時間は3秒以内とする。"
VAGUE = "障害時は適切に対応する。"


@pytest.fixture
def item(db) -> CheckItemVersion:
    """BD-C02 as an item without rules."""
    version = CheckItemVersion.objects.get(item__code=ITEM)
    version.criteria = {
        "prompt": "障害時の復旧手順が、担当と所要時間とともに具体的に書かれているか。",
        "rubric": {"100": "担当・手順・所要時間がある", "0": "何もない"},
        "required_elements": ["担当", "手順", "所要時間"],
    }
    version.save()
    return version


@pytest.fixture(scope="module")
def read_once(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """TEXT, read once for the tests of a module, in a transaction that is taken back at the end."""
    with django_db_blocker.unblock(), transaction.atomic():
        folder = tmp_path_factory.mktemp("design")
        outcome = upload_text(local_operator(), folder, TEXT, document_type="basic_design")
        yield work_through(outcome.document).pk
        transaction.set_rollback(True)


@pytest.fixture
def document(read_once: int, item: CheckItemVersion) -> Document:
    return Document.objects.get(pk=read_once)


def judged(
    verdict: str, *, quotes: tuple[str, ...] = (), findings: tuple[dict[str, str], ...] = (), **more: Any
) -> Callable[[dict[str, Any]], str]:
    """A model that gives this judgement; each quote is cited from the passage that the prompt shows first."""

    def answer(asked: dict[str, Any]) -> str:
        grounds = [{"passage": "p1", "quote": quote} for quote in quotes]
        blank = {"severity": "major", "kind": "wrong", "message": "具体的でない。"}
        facts = {
            "reason": "本文の記述による。",
            "grounds": grounds,
            "findings": [
                {**blank, "suggestion": "担当と所要時間を書く。", **_quoting(**finding)} for finding in findings
            ],
            "score": 80 if verdict == "pass" else 20,
            "verdict": verdict,
            **more,
        }
        assert prompt_of(asked)
        return json.dumps(facts, ensure_ascii=False)

    return answer


def _quoting(*, passage: str = "p1", quote: str = "", other: str = "", **more: str) -> dict[str, Any]:
    """A finding with its quotes from a passage; ``other`` is the other side of a contradiction."""
    return {**more, "quotes": [{"passage": passage, "quote": one} for one in (quote, other) if one]}


FAIL = judged("fail", findings=({"quote": VAGUE},))
PASS = judged("pass", quotes=(GROUND,))


def start(document, **options: Any) -> Review:
    asked = ReviewOptions(**{"check_items": (ITEM,), **options})
    return start_review(principal=local_operator(), document_id=document.public_id, options=asked)


def finish(review: Review) -> ReviewOut:
    assert execution.execute(review.pk)
    return show(review)


def show(review: Review) -> ReviewOut:
    stored = get_review(local_operator(), review.public_id)
    return review_out(stored, ordered_findings(list(stored.results.all())))


def run(document, **options: Any) -> ReviewOut:
    return finish(start(document, **options))


def codes(facts: ReviewOut) -> set[str]:
    return {notice["code"] for result in facts.results for notice in result.notices}


def verdicts(facts: ReviewOut) -> str:
    """Everything that a verdict consists of, as bytes would be compared."""
    left_out = {"execution_time_ms"}
    results = [result.model_dump(exclude=left_out) for result in facts.results]
    findings = [finding.model_dump(exclude={"id"}) for finding in facts.findings]
    return json.dumps([facts.verdict, results, findings], ensure_ascii=False, sort_keys=True, default=str)


@pytest.fixture(scope="module")
def uploaded(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The long document, read once for the tests of a module, in a transaction that is taken back at the end."""
    with django_db_blocker.unblock(), transaction.atomic():
        folder = tmp_path_factory.mktemp("long")
        outcome = upload_text(local_operator(), folder, long_text(), document_type="basic_design", name="長い.md")
        yield work_through(outcome.document).pk
        transaction.set_rollback(True)


@pytest.fixture
def long(uploaded: int, db: None, item: CheckItemVersion, configure) -> Document:  # noqa: F811 (fixture)
    configure(llm_context_tokens=1000, llm_light_model="light")
    return Document.objects.get(pk=uploaded)
