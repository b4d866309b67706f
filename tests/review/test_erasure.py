"""When a reviewed document goes, its text goes out of its reviews; verdicts, counts and places stay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core import serializers

from hub.access.principals import local_operator
from hub.core.lease import Lease
from knowledge.documents.deletion import delete_document
from knowledge.models import DeletionReceipt, Document
from review.erasure import ERASED
from review.models import CheckResult, Finding, Review, Suggestion
from review.report import build_report
from review.runs import execution
from review.runs.reviews import get_review, ordered_findings, start_review
from review.runs.schemas import review_out
from tests.factories import upload_file, upload_text, work_through

pytestmark = pytest.mark.django_db

SAMPLE = Path(__file__).resolve().parents[2] / "knowledge" / "data" / "sample" / "基本設計書_図書予約システム.md"


@pytest.fixture
def document() -> Document:
    return work_through(upload_file(local_operator(), SAMPLE, document_type="basic_design").document)


def reviewed(document: Document) -> Review:
    review = start_review(principal=local_operator(), document_id=document.public_id)
    assert execution.execute(review.pk)
    return get_review(local_operator(), review.public_id)


def show(review: Review):
    fresh = get_review(local_operator(), review.public_id)
    return review_out(fresh, ordered_findings(list(fresh.results.all())))


def delete(document: Document) -> DeletionReceipt:
    return delete_document(principal=local_operator(), document_id=document.public_id)


def everything_stored() -> str:
    rows = [*Review.objects.all(), *CheckResult.objects.all(), *Finding.objects.all(), *Suggestion.objects.all()]
    return json.dumps(serializers.serialize("python", rows), ensure_ascii=False, default=str)


def words_of(text: str) -> set[str]:
    """Lines and headings of the document that are long enough to be its own."""
    lines = {line.strip(" #|-").strip() for line in text.splitlines()}
    return {line for line in lines if len(line) >= 8}


def test_nothing_of_the_text_stays_and_verdicts_and_counts_do(document):
    text = document.latest_version.content.markdown
    review = reviewed(document)
    before = show(review)
    stored = everything_stored()
    assert any(line in stored for line in words_of(text))
    receipt = delete(document)
    stored = everything_stored()
    assert [line for line in words_of(text) if line in stored] == []
    assert "FR-006" not in stored
    after = show(review)
    assert after.verdict == before.verdict
    assert after.status == "completed"
    assert after.summary == before.summary
    assert after.total_findings == before.total_findings
    assert [(item.rule_id, item.severity, item.fingerprint) for item in after.findings] == [
        (item.rule_id, item.severity, item.fingerprint) for item in before.findings
    ]
    assert [item.location.line_range for item in after.findings] == [
        item.location.line_range for item in before.findings
    ]
    assert (receipt.counts["reviews"], receipt.counts["findings"]) == (1, before.total_findings)


def test_a_finding_still_says_what_it_was_about(document):
    reviewed(document)
    delete(document)
    finding = Finding.objects.get(rule_id="traceability.undefined_reference")
    assert finding.message_ja.endswith(ERASED.ja)
    assert len(finding.message_ja) > len(ERASED.ja)
    missing = Finding.objects.filter(rule_id="coverage.missing_topic").first()
    assert list(missing.data) == ["topic"]


def test_the_report_of_an_erased_review_can_still_be_made(document):
    review = reviewed(document)
    delete(document)
    report = build_report(
        principal=local_operator(), review_id=review.public_id, report_format="markdown", language="ja"
    )
    assert ERASED.ja in report.content.decode()


def test_a_review_under_way_ends_and_its_worker_writes_nothing_more(document, monkeypatch):
    review = start_review(principal=local_operator(), document_id=document.public_id)
    real, calls = Lease.renew, []

    def renew_and_delete(lease):
        calls.append(1)
        real(lease)
        if len(calls) == 2:
            delete(document)

    monkeypatch.setattr(Lease, "renew", renew_and_delete)
    assert execution.execute(review.pk)
    review.refresh_from_db()
    assert (review.status, review.error, review.version_id) == ("failed", "the document was deleted", None)
    assert review.results.count() == 1
    assert not Finding.objects.exclude(evidence=[]).exists()
    assert execution.take_stuck() == []


def test_reviews_of_other_documents_keep_their_quotes(document, tmp_path):
    other = work_through(
        upload_text(
            local_operator(), tmp_path, SAMPLE.read_text(encoding="utf-8"), name="写し.md", document_type="basic_design"
        ).document
    )
    kept = show(reviewed(other))
    reviewed(document)
    delete(document)
    assert show(Review.objects.get(public_id=kept.review_id)) == kept


def test_a_document_without_reviews_has_none_in_its_receipt(tmp_path):
    document = upload_text(local_operator(), tmp_path, "# メモ\n\n本文。\n").document
    assert set(delete(document).counts) == {"versions", "chunks", "blobs", "overwritten"}
