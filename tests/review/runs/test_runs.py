"""Running a review: verdicts, verified evidence, resuming, cancelling, who may."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models.functions import Now
from django.utils import translation

from hub.access.principals import Role, local_operator
from hub.core.errors import Conflict, InvalidInput, NotFound
from knowledge.models import DocumentVersion
from review.judging.engine import judge
from review.models import CheckItemVersion, Finding, Review
from review.report import build_report
from review.runs import execution, work
from review.runs.reviews import ReviewOptions, cancel_review, get_review, ordered_findings, start_review
from review.runs.schemas import review_out
from tests.factories import new_collection, principal_with, upload_file, upload_text, work_through

pytestmark = pytest.mark.django_db

SAMPLE = Path(__file__).resolve().parents[3] / "knowledge" / "data" / "sample" / "基本設計書_図書予約システム.md"


@pytest.fixture
def document():
    return work_through(upload_file(local_operator(), SAMPLE, document_type="basic_design").document)


def finish(review: Review) -> Review:
    assert execution.execute(review.pk)
    return get_review(local_operator(), review.public_id)


def show(review: Review):
    return review_out(review, ordered_findings(list(review.results.all())))


def start(document, **options) -> Review:
    return start_review(principal=local_operator(), document_id=document.public_id, options=ReviewOptions(**options))


def test_the_sample_has_the_defects_that_were_put_into_it(document):
    facts = show(finish(start(document)))
    found = {finding.rule_id for finding in facts.findings}
    assert {
        "document.version_mismatch",
        "structure.number_order",
        "traceability.undefined_reference",
        "terminology.variant",
        "coverage.missing_topic",
    } <= found
    undefined = next(item for item in facts.findings if item.rule_id == "traceability.undefined_reference")
    assert undefined.data["identifiers"] == ["FR-006"]
    assert facts.verdict == "fail"
    assert facts.status == "completed"


def test_every_quote_stands_in_the_stored_text_where_it_says(document):
    facts = show(finish(start(document)))
    markdown = document.latest_version.content.markdown
    quotes = [evidence for finding in facts.findings for evidence in finding.evidence]
    assert quotes
    for evidence in quotes:
        assert evidence.verified
        assert markdown[evidence.start_offset : evidence.end_offset] == evidence.quote


def test_lines_and_section_of_a_finding_are_those_of_its_first_quote(document):
    facts = show(finish(start(document)))
    lines = document.latest_version.content.markdown.split("\n")
    undefined = next(item for item in facts.findings if item.rule_id == "traceability.undefined_reference")
    first, last = undefined.location.line_range
    assert "FR-006" in "\n".join(lines[first - 1 : last])
    assert undefined.location.section_path[-1] == "3.2 予約登録"


def test_findings_come_in_document_order_and_missing_things_last(document):
    places = [finding.location.start_offset for finding in show(finish(start(document))).findings]
    there = [place for place in places if place is not None]
    assert there == sorted(there)
    assert places == there + [None] * (len(places) - len(there))


def test_every_failed_check_has_a_suggestion(document):
    facts = show(finish(start(document)))
    suggested = {suggestion.finding_id for suggestion in facts.suggestions}
    failed = {result.check_item_id for result in facts.results if result.verdict == "fail"}
    assert failed
    for check_item in failed:
        assert any(item.id in suggested for item in facts.findings if item.check_item_id == check_item)


def test_the_same_document_gives_the_same_fingerprints_and_verdicts(document):
    first, second = show(finish(start(document))), show(finish(start(document)))
    assert [item.fingerprint for item in first.findings] == [item.fingerprint for item in second.findings]
    assert [item.verdict for item in first.results] == [item.verdict for item in second.results]


def test_killed_in_the_middle_a_review_goes_on_where_it_was_and_ends_the_same(document, monkeypatch):
    undisturbed = show(finish(start(document)))
    review = start(document)
    calls: list[int] = []

    def judge_two_then_die(*args, **kwargs):
        calls.append(1)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return judge(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(work, "judge", judge_two_then_die)
        with pytest.raises(KeyboardInterrupt):
            execution.execute(review.pk)
    assert review.results.count() == 2
    assert execution.execute(review.pk) is False  # the dead worker's lease still holds
    Review.objects.filter(pk=review.pk).update(lease_expires_at=Now() - timedelta(seconds=1))
    assert execution.take_stuck() == [review.pk]
    resumed = show(finish(review))
    assert [item.fingerprint for item in resumed.findings] == [item.fingerprint for item in undisturbed.findings]
    assert resumed.summary.total_checks == undisturbed.summary.total_checks


def test_a_cancelled_review_keeps_what_it_has_and_is_not_worked_on(document):
    review = start(document)
    cancel_review(principal=local_operator(), review_id=review.public_id)
    assert execution.execute(review.pk) is False
    review.refresh_from_db()
    assert review.status == "cancelled"


def test_a_crashed_rule_is_an_error_and_never_a_pass(document):
    item = CheckItemVersion.objects.get(item__code="BD-C02")
    item.criteria = {"rules": [{"rule_id": "no.such_rule"}]}
    item.save()
    facts = show(finish(start(document)))
    result = next(result for result in facts.results if result.check_item_id == "BD-C02")
    assert result.verdict == "error"
    assert facts.verdict == "error"
    assert facts.summary.complete is False


def test_an_item_without_rules_is_skipped_with_the_reason(document):
    item = CheckItemVersion.objects.get(item__code="BD-C02")
    item.criteria = {"prompt": "読みやすいか"}
    item.save()
    facts = show(finish(start(document)))
    result = next(result for result in facts.results if result.check_item_id == "BD-C02")
    assert result.verdict == "skipped"
    assert result.notices[0]["code"] == "needs_llm"
    assert facts.summary.complete is False


def test_a_review_waits_for_its_document_and_then_runs(tmp_path):
    done = upload_file(local_operator(), SAMPLE, document_type="basic_design")
    review = start(done.document)
    assert DocumentVersion.objects.get(pk=review.version_id).goes_first
    assert execution.execute(review.pk) is False
    assert execution.take_stuck() == []
    work_through(done.document)
    assert execution.take_stuck() == [review.pk]
    assert finish(review).status == "completed"


def test_a_document_that_could_not_be_read_is_refused_with_the_reason(tmp_path):
    failed = work_through(upload_text(local_operator(), tmp_path, "", document_type="basic_design").document)
    with pytest.raises(Conflict, match=r"空|empty"):
        start(failed)


def test_max_findings_limits_the_answer_and_the_total_tells(document):
    facts = show(finish(start(document, max_findings=2)))
    assert len(facts.findings) == 2
    assert facts.total_findings == Finding.objects.count() > 2


def test_findings_that_are_less_sure_are_neither_shown_nor_counted_and_verdicts_stay(document):
    every, sure = (show(finish(start(document, min_confidence=least))) for least in (0.0, 0.8))
    wanted = [each for each in every.findings if each.confidence is not None and each.confidence >= 0.8]
    assert 0 < len(sure.findings) == sure.total_findings == len(wanted) < every.total_findings
    assert [result.verdict for result in sure.results] == [result.verdict for result in every.results]
    assert [notice["code"] for notice in sure.notices] == ["below_min_confidence"]


def test_only_the_chosen_items_are_judged(document):
    facts = show(finish(start(document, check_items=("BD-C01",))))
    assert [result.check_item_id for result in facts.results] == ["BD-C01"]


@pytest.mark.parametrize(
    "options",
    [
        {"check_items": ("XX-99",)},
        {"judge": "oracle"},
        {"suggestion_level": "loud"},
        {"force_strategy": "guess"},
    ],
)
def test_options_that_can_not_be_are_refused_by_name(document, options):
    with pytest.raises(InvalidInput):
        start(document, **options)


def test_a_type_without_check_list_asks_for_one(tmp_path):
    other = work_through(upload_text(local_operator(), tmp_path, "# メモ\n\n本文。\n").document)
    with pytest.raises(InvalidInput, match="basic-design"):
        start(other)


def test_a_review_of_a_hidden_document_answers_like_an_unknown_one(document):
    review = start(document)
    outsider = principal_with(Role.READER, new_collection())
    with pytest.raises(NotFound) as hidden:
        get_review(outsider, review.public_id)
    with pytest.raises(NotFound) as absent:
        get_review(outsider, "rev_00000000000000000000")
    assert hidden.value.error_code == absent.value.error_code


def test_a_reader_can_not_start_a_review(document):
    reader = principal_with(Role.READER, document.collection)
    with pytest.raises(NotFound):
        start_review(principal=reader, document_id=document.public_id)


@pytest.mark.parametrize(("language", "word"), [("ja", "要件ID"), ("en", "Findings")])
def test_the_markdown_report_speaks_the_language_asked_for(document, language, word):
    review = finish(start(document))
    report = build_report(
        principal=local_operator(), review_id=review.public_id, report_format="markdown", language=language
    )
    text = report.content.decode()
    assert word in text
    assert "FR-006" in text


def test_messages_suggestions_and_names_come_in_the_active_language(document):
    review = finish(start(document))
    japanese, english = show(review), None
    with translation.override("en"):
        english = show(review)
    for ours, theirs in zip(japanese.findings, english.findings, strict=True):
        assert ours.message != theirs.message
        assert re.search("[ぁ-ん]", ours.message)
        assert re.search("[A-Za-z]{3,} ", theirs.message)
    assert english.results[0].name == "Version management"


def test_showing_a_review_costs_the_same_queries_however_many_findings(document, django_assert_num_queries):
    review = finish(start(document))
    with django_assert_num_queries(4):  # one of them for the paths of the graph
        show(get_review(local_operator(), review.public_id))
