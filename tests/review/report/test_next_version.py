"""An annotated copy becomes the next version without the hub's notes and proposals, and with those of others."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import docx
import openpyxl
import pypdfium2
import pytest
from openpyxl.comments import Comment

from hub.access.principals import local_operator
from knowledge.originals import read_notes
from knowledge.parsers.docx.text import qn
from knowledge.storage import get_blob_store
from review.models import Review
from review.report import build_report
from review.report.answers import apply_answers
from review.report.facts import ReportOptions
from review.runs.reviews import review_facts
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf
from tests.review.report.pdf_answers import AnsweredPdf
from tests.review.report.test_annotated import OPERATOR, annotated, design_in_word, review_file
from tests.review.report.test_returned import Copy, quoting

pytestmark = pytest.mark.django_db


def stored_next(review: Review, content: bytes) -> tuple[bytes, str]:
    """Take a copy as the next version; gives its original as it is stored, and its text."""
    done = apply_answers(OPERATOR, review.public_id, content, next_version=True)
    version = Review.objects.select_related("version__content").get(public_id=done.next_review).version
    assert version is not None
    with get_blob_store().open(version.blob_id) as file:
        return file.read(), version.filename


def with_proposals(review: Review) -> bytes:
    options = ReportOptions(tracked_changes=True)
    content: bytes = build_report(
        principal=OPERATOR, review_id=review.public_id, report_format="annotated", language="ja", options=options
    ).content
    return content


def notes_in(content: bytes) -> list[str]:
    return [note["text"] for note in read_notes(local_operator(), content)[1]]


@pytest.mark.parametrize("tracked", [False, True])
def test_a_word_file_keeps_the_comments_of_others_alone(tmp_path: Path, tracked: bool):
    source = design_in_word(tmp_path / "設計.docx")
    before = [paragraph.text for paragraph in docx.Document(str(source)).paragraphs]
    review = review_file(source)
    copy = Copy(with_proposals(review) if tracked else annotated(review))
    copy.reply(quoting(review, "必要に応じ"), "山田 太郎", "条件を第3章に書きました。")
    copy.document.add_comment(copy.document.paragraphs[1].runs[0], text="図を直してください。", author="鈴木")
    content = copy.bytes()
    assert any("hub:" in text for text in notes_in(content))

    stored, _name = stored_next(review, content)
    assert sorted(notes_in(stored)) == sorted(["条件を第3章に書きました。", "図を直してください。"])
    assert b"hub:fnd" not in stored
    opened = docx.Document(BytesIO(stored))
    assert [paragraph.text for paragraph in opened.paragraphs] == before
    body = opened.element.xml
    assert body.count("commentReference ") == body.count("commentRangeStart ") == body.count("commentRangeEnd ") == 2
    assert 'w:author="Hub' not in body


def test_what_somebody_of_the_hubs_name_changed_stays(tmp_path: Path):
    review = review_file(design_in_word(tmp_path / "設計.docx"))
    copy = Copy(with_proposals(review))
    paragraph = copy.document.paragraphs[1]
    run = paragraph.add_run("（要確認）")._r
    change = run.makeelement(
        qn("w:ins"), {qn("w:author"): "Hub", qn("w:date"): "2031-04-01T09:00:00Z", qn("w:id"): "9001"}
    )
    run.addprevious(change)
    change.append(run)
    stored, _name = stored_next(review, copy.bytes())
    body = docx.Document(BytesIO(stored)).element.xml
    assert "（要確認）" in body
    assert body.count('w:author="Hub') == body.count("2031-04-01T09:00:00Z") == 1


def test_a_workbook_keeps_the_notes_of_others_alone(tmp_path: Path):
    book = openpyxl.Workbook()
    book.active.append(["要件ID", "機能"])
    book.active.append(["FR-001", "検索は必要に応じて行う。"])
    book.active.append(["FR-002", "予約は FR-009 に従う。"])
    book.active["B3"].comment = Comment("営業部に確認中です。", "佐藤")
    book.active["A1"].comment = Comment("番号は変えないでください。", "佐藤")
    book.save(tmp_path / "機能.xlsx")
    review = review_file(tmp_path / "機能.xlsx")
    content = annotated(review)
    assert sum("hub:fnd" in text for text in notes_in(content)) >= 2
    stored, _name = stored_next(review, content)
    assert sorted(notes_in(stored)) == sorted(["営業部に確認中です。", "番号は変えないでください。"])
    sheet = openpyxl.load_workbook(BytesIO(stored)).active
    assert [cell.coordinate for row in sheet for cell in row if cell.comment] == ["A1", "B3"]


def test_a_pdf_keeps_the_notes_of_others_alone(tmp_path: Path):
    path = tmp_path / "設計.pdf"
    lines = (
        "1. 目的",
        "本書は基本設計を定める。",
        "3. 機能",
        "必要に応じて適切に対応する。",
        "応答時間は TBD とする。",
    )
    texts = [(72.0, 760.0 - 30 * number, 11.0, line) for number, line in enumerate(lines)]
    path.write_bytes(write_pdf([PdfPage(texts=texts, written=[("Text", 300, 700, "図を直してください。")])]))
    review = review_file(path)
    content = annotated(review)
    assert any("hub:rev" in text for text in notes_in(content))
    answered = AnsweredPdf(content)
    finding = next(one for one in review_facts(review, everything=True).findings if one.evidence)
    first = answered.reply(answered.note_of(finding), "山田", "直します。")
    answered.reply(first, "鈴木", "お願いします。")
    content = answered.bytes()
    stored, _name = stored_next(review, content)
    assert notes_in(stored) == ["図を直してください。"]
    for sign in ("hub:rev", "hub:fnd", "直します", "お願い"):
        wide = sign.encode("utf-16-be")
        assert not any(
            form in stored for form in (sign.encode(), wide, wide.hex().encode(), wide.hex().upper().encode())
        )
    assert len(pypdfium2.PdfDocument(stored)) == len(pypdfium2.PdfDocument(path))


def test_notes_that_the_hub_did_not_write_stay(tmp_path: Path):
    review = review_file(design_in_word(tmp_path / "設計.docx"))
    copy = Copy(annotated(review))
    forged = f"【指摘 1】 偽物\nhub:fnd_0123456789ab:1:{'0' * 16}"
    copy.document.add_comment(copy.document.paragraphs[1].runs[0], text=forged, author="Hub")
    stored, _name = stored_next(review, copy.bytes())
    assert notes_in(stored) == [forged]
