"""An annotated PDF comes back with what people answered in a reader: replies, replies to these, and states."""

from __future__ import annotations

from pathlib import Path

import pytest

from hub.core.errors import InvalidInput
from review.models import Finding, Review
from review.report.answers import apply_answers, preview_answers
from review.runs.finding_schemas import FindingOut
from review.runs.reviews import review_facts
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf
from tests.review.report.pdf_answers import AnsweredPdf
from tests.review.report.test_annotated import OPERATOR, annotated, review_file

pytestmark = pytest.mark.django_db
LINES = (
    "図書予約システム 基本設計書",
    "1. 目的",
    "本書は、予約システムの基本設計を定める。",
    "3. 機能",
    "検索（FR-001）は、必要に応じて適切に対応する。",
    "なお、TBD の項目は後で決める。",
)


def reviewed_pdf(path: Path) -> Review:
    texts = [(72.0, 760.0 - 30 * number, 11.0, line) for number, line in enumerate(LINES)]
    path.write_bytes(write_pdf([PdfPage(texts=texts)]))
    return review_file(path)


def quoting_findings(review: Review) -> list[FindingOut]:
    return [one for one in review_facts(review, everything=True).findings if one.evidence and one.evidence[0].quote]


@pytest.fixture
def reviewed(tmp_path: Path) -> Review:
    return reviewed_pdf(tmp_path / "設計.pdf")


def test_replies_and_states_are_proposed_first_and_then_stored(reviewed: Review) -> None:
    vague, open_point, *_others = quoting_findings(reviewed)
    copy = AnsweredPdf(annotated(reviewed))
    copy.reply(
        copy.reply(copy.note_of(vague), "山田 太郎", "条件を書きます。"), "鈴木", "第3章に書きました。", day="20260402"
    )
    earlier = copy.state(copy.note_of(open_point), "鈴木", "Rejected")
    copy.state(earlier, "鈴木", "Completed")
    copy.state(copy.note_of(open_point), "鈴木", "Unmarked", model="Marked")
    content = copy.bytes()
    found = preview_answers(OPERATOR, reviewed.public_id, content)
    assert found.is_copy
    assert not found.errors
    assert {change.finding_id for change in found.changes} == {vague.id, open_point.id}
    assert Finding.objects.get(public_id=open_point.id).triage == "open"
    apply_answers(OPERATOR, reviewed.public_id, content)
    answered = Finding.objects.select_related("answer").get(public_id=vague.id)
    assert (answered.triage, answered.answer.text) == ("open", "山田 太郎: 条件を書きます。\n鈴木: 第3章に書きました。")
    assert (answered.answer.answered_by, str(answered.answer.answered_on)) == ("鈴木", "2026-04-02")
    assert Finding.objects.get(public_id=open_point.id).triage == "fixed"
    assert list(preview_answers(OPERATOR, reviewed.public_id, content).changes) == []


def test_a_state_that_was_taken_back_and_a_mark_alone_are_no_decision(reviewed: Review) -> None:
    first, second, *_others = quoting_findings(reviewed)
    copy = AnsweredPdf(annotated(reviewed))
    copy.state(copy.state(copy.note_of(first), "鈴木", "Completed"), "鈴木", "None")
    copy.state(copy.note_of(second), "鈴木", "Marked", model="Marked")
    assert list(preview_answers(OPERATOR, reviewed.public_id, copy.bytes()).changes) == []


def test_what_is_written_into_a_note_itself_below_its_last_line_is_its_answer(reviewed: Review) -> None:
    finding = quoting_findings(reviewed)[0]
    copy = AnsweredPdf(annotated(reviewed))
    note = copy.note_of(finding)
    copy.rewrite(note, f"{copy.text_of(note)}\r3秒と書きます。")
    (change,) = preview_answers(OPERATOR, reviewed.public_id, copy.bytes()).changes
    assert (change.finding_id, change.fields["text"][1]) == (finding.id, "3秒と書きます。")


def test_another_review_a_forged_note_and_a_plain_file_are_refused(reviewed: Review, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = AnsweredPdf(annotated(reviewed_pdf(tmp_path / "other" / "別.pdf")))
    with pytest.raises(InvalidInput) as refused:
        preview_answers(OPERATOR, reviewed.public_id, other.bytes())
    assert refused.value.error_code == "other_review"
    own, foreign, *_others = quoting_findings(reviewed)
    copy = AnsweredPdf(annotated(reviewed))
    note = copy.note_of(own)
    copy.rewrite(note, copy.text_of(note).replace(own.id, foreign.id))
    copy.reply(note, "山田", "対応しません。")
    found = preview_answers(OPERATOR, reviewed.public_id, copy.bytes())
    assert own.number in [error.row for error in found.errors]
    assert not found.changes
    with pytest.raises(InvalidInput) as refused:
        preview_answers(OPERATOR, reviewed.public_id, (tmp_path / "設計.pdf").read_bytes())
    assert refused.value.error_code == "not_an_answer_file"
