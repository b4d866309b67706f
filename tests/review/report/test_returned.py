"""An annotated copy comes back: replies, resolved comments and changed words are proposed, shown, and then stored."""

from __future__ import annotations

import tracemalloc
import zipfile
from io import BytesIO
from pathlib import Path

import docx
import openpyxl
import pytest
from docx.comments import Comment as WordComment
from lxml import etree
from openpyxl.comments import Comment

from hub.access.principals import Classification
from hub.core.errors import Conflict, InvalidInput
from knowledge.models import Document
from review.models import Finding, Review
from review.report.annotated.references import reference_line
from review.report.annotated.returned import Quoted, _blocks, read_returned
from review.report.answers import apply_answers, preview_answers
from review.runs.finding_schemas import FindingOut
from review.runs.reviews import review_facts
from review.triage.decisions import Answer, TriageChange, triage_finding
from tests.review.report.test_annotated import OPERATOR, W, annotated, design_in_word, review_file

pytestmark = pytest.mark.django_db
W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
W15 = "{http://schemas.microsoft.com/office/word/2012/wordml}"


@pytest.fixture
def reviewed(tmp_path: Path) -> Review:
    return review_file(design_in_word(tmp_path / "設計.docx"))


def quoting(review: Review, quote: str) -> FindingOut:
    found = review_facts(review, everything=True).findings
    return next(one for one in found if quote in [each.quote for each in one.evidence])


class Copy:
    """A copy as Word would save it: python-docx writes the text, and threads are written as Word writes them."""

    def __init__(self, content: bytes) -> None:
        self.document = docx.Document(BytesIO(content))
        self.threads: list[tuple[str, str, str]] = []

    def comment_of(self, finding: FindingOut) -> WordComment:
        return next(one for one in self.document.comments if finding.id in "".join(p.text for p in one.paragraphs))

    def reply(self, finding: FindingOut, author: str, text: str) -> None:
        parent = self.comment_of(finding)._comment_elm
        run = self.document.paragraphs[0].runs[0]
        comment = self.document.add_comment(run, text=text, author=author)._comment_elm
        own = f"0000{len(self.threads):04X}"
        comment.findall(f"{W}p")[-1].set(f"{W14}paraId", own)
        comment.set(f"{W}date", "2026-03-31T10:00:00Z")
        self.threads.append((own, parent.findall(f"{W}p")[-1].get(f"{W14}paraId"), "0"))

    def follow(self, finding: FindingOut, author: str, text: str) -> None:
        """Put a comment without words and without a thread behind a finding's, as LibreOffice writes a reply."""
        body, number = self.document.element.body, self.comment_of(finding).comment_id
        run = self.document.paragraphs[0].runs[0]
        own = self.document.add_comment(run, text=text, author=author).comment_id
        for tag in ("commentRangeStart", "commentRangeEnd"):
            mark = body.find(f".//{W}{tag}[@{W}id='{own}']")
            mark.getparent().remove(mark)
        before, after = (body.find(f".//{W}commentReference[@{W}id='{one}']").getparent() for one in (number, own))
        before.addnext(after)

    def resolve(self, finding: FindingOut) -> None:
        own = self.comment_of(finding)._comment_elm.findall(f"{W}p")[-1].get(f"{W14}paraId")
        self.threads.append((own, "", "1"))

    def bytes(self) -> bytes:
        saved = BytesIO()
        self.document.save(saved)
        source, target = zipfile.ZipFile(saved), BytesIO()
        with zipfile.ZipFile(target, "w") as archive:
            for name in source.namelist():
                data = source.read(name)
                if "commentsExtended" in name and name.endswith(".xml"):
                    root = etree.fromstring(data)
                    for own, parent, done in self.threads:
                        for old in [one for one in root if one.get(f"{W15}paraId") == own]:
                            root.remove(old)
                        thread = etree.SubElement(root, f"{W15}commentEx")
                        thread.set(f"{W15}paraId", own)
                        thread.set(f"{W15}done", done)
                        if parent:
                            thread.set(f"{W15}paraIdParent", parent)
                    data = etree.tostring(root)
                archive.writestr(name, data)
        return target.getvalue()


def test_replies_and_resolved_comments_are_proposed_first_and_then_stored(reviewed):
    first, second = quoting(reviewed, "必要に応じ"), quoting(reviewed, "FR-001")
    copy = Copy(annotated(reviewed))
    copy.reply(first, "山田 太郎", "条件を第3章に書きました。")
    copy.resolve(second)
    content = copy.bytes()
    found = preview_answers(OPERATOR, reviewed.public_id, content)
    assert found.is_copy
    assert not found.errors
    assert {change.finding_id for change in found.changes} == {first.id, second.id}
    assert Finding.objects.get(public_id=second.id).triage == "open"
    apply_answers(OPERATOR, reviewed.public_id, content)
    answered = Finding.objects.select_related("answer").get(public_id=first.id)
    assert (answered.triage, answered.answer.text) == ("open", "条件を第3章に書きました。")
    assert (answered.answer.answered_by, str(answered.answer.answered_on)) == ("山田 太郎", "2026-03-31")
    assert Finding.objects.get(public_id=second.id).triage == "fixed"
    assert list(preview_answers(OPERATOR, reviewed.public_id, content).changes) == []


def test_replies_of_a_program_that_keeps_no_threads_are_known_by_their_place(reviewed):
    first, second = quoting(reviewed, "必要に応じ"), quoting(reviewed, "FR-001")
    copy = Copy(annotated(reviewed))
    copy.follow(first, "山田 太郎", "条件を第3章に書きました。")
    copy.reply(second, "佐藤 花子", "番号を改めました。")
    found = preview_answers(OPERATOR, reviewed.public_id, copy.bytes())
    texts = {change.finding_id: change.fields["text"][1] for change in found.changes}
    assert texts == {first.id: "条件を第3章に書きました。", second.id: "番号を改めました。"}


def test_comments_that_the_document_had_before_are_no_answers(tmp_path):
    document = docx.Document(str(design_in_word(tmp_path / "設計.docx")))
    paragraph = document.add_paragraph("予約（")
    run = paragraph.add_run("FR-009")
    paragraph.add_run("）は窓口で受け付ける。")
    document.add_comment(run, text="前の版での指摘です。", author="鈴木 一郎")
    document.save(str(tmp_path / "設計.docx"))
    review = review_file(tmp_path / "設計.docx")
    finding = quoting(review, "FR-009")
    copy = Copy(annotated(review))
    assert list(preview_answers(OPERATOR, review.public_id, copy.bytes()).changes) == []
    copy.follow(finding, "山田 太郎", "3秒以内にしました。")
    (change,) = preview_answers(OPERATOR, review.public_id, copy.bytes()).changes
    assert (change.finding_id, change.fields["text"][1]) == (finding.id, "3秒以内にしました。")


def test_a_day_in_another_form_is_no_change_and_another_day_is():
    quoted = Quoted(words="2024/4/30", quote="2024/4/30")
    same, others = ("2024/04/30", "令和6年4月30日"), ("2024/5/30", "未定")
    assert [quoted.is_changed(now) for now in (*same, *others)] == [False, False, True, True]


def test_an_untouched_copy_changes_nothing(reviewed):
    found = preview_answers(OPERATOR, reviewed.public_id, Copy(annotated(reviewed)).bytes())
    assert (list(found.changes), list(found.errors)) == ([], [])
    assert found.unchanged > 3


def test_changed_words_are_proposed_as_fixed_and_become_the_next_version(reviewed):
    finding = quoting(reviewed, "FR-001")
    copy = Copy(annotated(reviewed))
    run = next(run for one in copy.document.paragraphs for run in one.runs if run.text == "FR-001")
    run.text = "要件8"
    content = copy.bytes()
    change = next(one for one in preview_answers(OPERATOR, reviewed.public_id, content).changes)
    assert change.finding_id == finding.id
    assert change.fields["triage"] == ("open", "fixed")
    assert "要件8" in change.fields["text"][1]
    done = apply_answers(OPERATOR, reviewed.public_id, content, next_version=True)
    following = Review.objects.select_related("version").get(public_id=done.next_review)
    assert following.version.number == 2
    assert following.checklist_version == reviewed.checklist_version
    with pytest.raises(Conflict):
        apply_answers(OPERATOR, reviewed.public_id, content, next_version=True)


def test_a_change_behind_the_words_that_are_read_under_a_comment_is_said_to_be_unknown():
    line = reference_line("rev_0123456789ab", "fnd_0123456789ab", 1)
    note = {"text": f"【指摘 7】\n{line}", "replies": [], "is_done": False, "words": "長" * 10_000, "is_cut": True}
    originals = {("fnd_0123456789ab", 1): Quoted(words="要件FR-001を満たす", quote="FR-001")}

    unknown = read_returned("rev_0123456789ab", [note], originals)
    replied = read_returned("rev_0123456789ab", [note | {"replies": [["山田", "2026-03-31", "同じです。"]]}], originals)
    whole = read_returned("rev_0123456789ab", [note | {"is_cut": False}], originals)

    assert ([error.row for error in unknown.errors], unknown.rows) == ([7], [])
    assert (replied.errors, [row.values["text"] for row in replied.rows]) == ([], ["同じです。"])
    assert (whole.errors, [row.values["triage"] for row in whole.rows]) == ([], ["fixed"])


def test_the_next_version_goes_to_the_document_and_not_to_an_open_one_at_its_path(reviewed):
    document = reviewed.version.document
    Document.objects.filter(pk=document.pk).update(classification=Classification.C3)
    twin = Document.objects.get(pk=document.pk)
    twin.pk, twin.public_id, twin.latest_version, twin.current_version = None, "doc_twin", None, None
    twin.classification = document.collection.classification
    twin.save()
    done = apply_answers(OPERATOR, reviewed.public_id, annotated(reviewed), next_version=True)
    assert Review.objects.get(public_id=done.next_review).version.document == document
    assert not twin.versions.exists()


def test_a_note_of_very_many_lines_of_the_hub_is_read_once():
    line = f"hub:fnd_0123456789ab:1:{'0' * 16}"
    text = "\n".join([line, "返答です。"] * 2000)
    blocks = list(_blocks(text))
    assert len(blocks) == 2000
    assert {block.below for block in blocks} == {"返答です。"}
    headed = "\n".join(["【指摘 7】 重大", line, "返答です。"] * 2000)
    assert {(block.number, block.below) for block in _blocks(headed)} == {(7, "返答です。")}


def test_a_note_of_very_many_heads_takes_no_memory_by_their_number():
    line = f"hub:fnd_0123456789ab:1:{'0' * 16}"
    text = "【指摘 1】\n" * 50_000 + f"【指摘 7】 重大\n{line}\n返答です。\n" + "【指摘 1】\n" * 50_000
    tracemalloc.start()
    (block,) = _blocks(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (block.number, block.below) == (1, "返答です。")
    assert peak < 100_000


def test_what_was_decided_in_the_hub_meanwhile_is_never_overwritten(reviewed):
    finding = quoting(reviewed, "FR-001")
    copy = Copy(annotated(reviewed))
    copy.reply(finding, "山田", "直しました")
    change = TriageChange(triage="accepted", answer=Answer(text="検討中"))
    triage_finding(principal=OPERATOR, finding_id=finding.id, change=change)
    found = preview_answers(OPERATOR, reviewed.public_id, copy.bytes())
    assert not found.changes
    assert [error.row for error in found.errors] == [finding.number]


def test_copies_of_another_review_and_forged_notes_are_refused(reviewed, tmp_path):
    (tmp_path / "other").mkdir()
    other = review_file(design_in_word(tmp_path / "other" / "別.docx"))
    with pytest.raises(InvalidInput) as refused:
        preview_answers(OPERATOR, reviewed.public_id, annotated(other))
    assert refused.value.error_code == "other_review"
    own, foreign = quoting(reviewed, "FR-001"), quoting(reviewed, "必要に応じ")
    copy = Copy(annotated(reviewed))
    line = copy.comment_of(own).paragraphs[-1]
    line.runs[0].text = line.text.replace(own.id, foreign.id)
    copy.resolve(foreign)
    found = preview_answers(OPERATOR, reviewed.public_id, copy.bytes())
    assert own.number in [error.row for error in found.errors]
    plain = BytesIO()
    docx.Document().save(plain)
    with pytest.raises(InvalidInput) as refused:
        preview_answers(OPERATOR, reviewed.public_id, plain.getvalue())
    assert refused.value.error_code == "not_an_answer_file"


def test_what_is_written_below_a_note_of_a_workbook_is_its_answer(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["要件ID", "機能"])
    book.active.append(["FR-001", "検索は必要に応じて行う。"])
    book.active.append(["FR-002", "予約は FR-009 に従う。"])
    book.save(tmp_path / "機能.xlsx")
    review = review_file(tmp_path / "機能.xlsx")
    vague, open_point = quoting(review, "必要に応じ"), quoting(review, "FR-009")
    returned = openpyxl.load_workbook(BytesIO(annotated(review)))
    sheet = returned.active
    sheet["B2"].comment = Comment(f"{sheet['B2'].comment.text}\n月次で行うと書きます。", "鈴木")
    sheet["B3"] = "予約は利用者が行う。"
    saved = BytesIO()
    returned.save(saved)
    found = preview_answers(OPERATOR, review.public_id, saved.getvalue())
    assert not found.errors
    by_finding = {change.finding_id: change.fields for change in found.changes}
    assert by_finding[vague.id]["text"][1] == "月次で行うと書きます。"
    assert by_finding[open_point.id]["triage"][1] == "fixed"
