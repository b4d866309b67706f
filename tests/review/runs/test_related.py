"""Related documents of a review: who may name them, pinned versions, findings across documents, and quotes."""

from __future__ import annotations

import pytest

from hub.access.principals import Role, local_operator
from hub.core.errors import Conflict, InvalidInput, NotFound
from knowledge.documents.deletion import delete_document
from knowledge.models import CollectionGrant, DocumentVersion
from review.models import Finding
from review.runs import execution
from review.runs.reviews import ReviewOptions, get_review, ordered_findings, start_review
from review.runs.schemas import review_out
from tests.factories import new_collection, principal_with, upload_text, work_through

pytestmark = pytest.mark.django_db

REQUIREMENTS = """# 要件定義書

## 3. 機能要件

| 要件ID | 要件名 |
|---|---|
| FR-001 | 利用者が図書を予約できること |
| FR-002 | 予約を取り消せること |

## 4. 非機能要件

| 要件ID | 要件名 |
|---|---|
| NFR-001 | 検索結果を 2 秒以内に表示すること |
"""
DESIGN = """# 基本設計書

## 3. 機能設計

予約登録画面は FR-001 と FR-009 を満たす。
"""


@pytest.fixture
def open_shelf():
    return new_collection()


@pytest.fixture
def closed_shelf():
    return new_collection()


@pytest.fixture
def design(tmp_path, open_shelf):
    more = {"document_type": "basic_design", "collection": open_shelf.slug}
    return work_through(upload_text(local_operator(), tmp_path, DESIGN, **more).document)


@pytest.fixture
def requirements(tmp_path, closed_shelf):
    more = {"document_type": "requirements", "collection": closed_shelf.slug, "name": "要件定義書.md"}
    return work_through(upload_text(local_operator(), tmp_path, REQUIREMENTS, **more).document)


def start(principal, document, *related):
    options = ReviewOptions(related_documents=tuple(each.public_id for each in related), check_items=("BD-B02",))
    return start_review(principal=principal, document_id=document.public_id, options=options)


def reviewed(document, *related):
    review = start(local_operator(), document, *related)
    assert execution.execute(review.pk)
    return review


def findings_of(principal, review):
    review = get_review(principal, review.public_id)
    return review_out(review, ordered_findings(list(review.results.all()))).findings


def identifiers(findings):
    return {finding.rule_id: finding.data["identifiers"] for finding in findings if "identifiers" in finding.data}


def test_requirements_named_as_related_settle_what_the_design_alone_leaves_open(design, requirements):
    alone = identifiers(findings_of(local_operator(), reviewed(design)))
    beside = findings_of(local_operator(), reviewed(design, requirements))

    assert alone == {"traceability.undefined_reference": ["FR-001", "FR-009"]}
    undefined = [f.data["identifiers"] for f in beside if f.rule_id == "traceability.undefined_reference"]
    upstream = [f.data["identifiers"] for f in beside if f.rule_id == "traceability.unreferenced_definition"]
    assert undefined == [["FR-009"]]
    assert upstream == [["FR-002"], ["NFR-001"]]


def test_a_quote_from_a_related_document_stands_in_its_text_under_its_id(design, requirements):
    findings = findings_of(local_operator(), reviewed(design, requirements))
    lost = next(f for f in findings if f.data.get("identifiers") == ["NFR-001"])
    (evidence,) = lost.evidence
    markdown = requirements.latest_version.content.markdown

    assert evidence.document_id == requirements.public_id
    assert evidence.verified
    assert markdown[evidence.start_offset : evidence.end_offset] == evidence.quote == "NFR-001"
    assert lost.location.start_offset is None


def test_who_may_not_see_the_related_document_sees_no_finding_that_rests_on_it(design, requirements, open_shelf):
    review = reviewed(design, requirements)
    outsider = principal_with(Role.READER, open_shelf)

    kept = Finding.objects.filter(result__review=review)
    assert [finding.rests_on for finding in kept] == [[requirements.public_id]] * 3
    assert findings_of(outsider, review) == []


def test_the_version_that_was_current_at_the_start_is_the_one_compared_with(design, requirements, tmp_path):
    review = start(local_operator(), design, requirements)
    (pinned,) = review.related.all()
    newer = REQUIREMENTS.replace("FR-002 |", "FR-009 |")
    path = {"name": "要件定義書.md", "collection": requirements.collection.slug}
    work_through(upload_text(local_operator(), tmp_path, newer, **path).document)
    execution.execute(review.pk)

    assert pinned.version_number == 1
    undefined = [f for f in findings_of(local_operator(), review) if f.rule_id == "traceability.undefined_reference"]
    assert undefined[0].data["identifiers"] == ["FR-009"]


def test_a_hidden_related_document_answers_like_an_unknown_one(design, requirements, open_shelf):
    reviewer = principal_with(Role.REVIEWER, open_shelf)
    with pytest.raises(NotFound) as hidden:
        start(reviewer, design, requirements)
    unknown = ReviewOptions(related_documents=("doc_00000000000000000000",))
    with pytest.raises(NotFound) as absent:
        start_review(principal=reviewer, document_id=design.public_id, options=unknown)

    assert hidden.value.error_code == absent.value.error_code == "document_not_found"


def test_the_document_itself_and_one_that_is_not_ready_are_refused(design, tmp_path):
    unread = upload_text(local_operator(), tmp_path, REQUIREMENTS, name="未処理.md").document
    with pytest.raises(InvalidInput, match=design.public_id):
        start(local_operator(), design, design)
    with pytest.raises(Conflict):
        start(local_operator(), design, unread)


def test_deleting_the_related_document_erases_what_quotes_it_and_nothing_else(design, requirements):
    review = reviewed(design, requirements)
    delete_document(principal=local_operator(), document_id=requirements.public_id)

    findings = findings_of(local_operator(), review)
    assert not [e for f in findings for e in f.evidence if e.document_id == requirements.public_id]
    assert "NFR-001" not in str([f.model_dump() for f in findings])
    assert "FR-009" in str([f.model_dump() for f in findings])


def test_a_review_whose_related_document_was_deleted_first_fails_with_the_reason(design, requirements):
    review = start(local_operator(), design, requirements)
    DocumentVersion.objects.filter(document=requirements).delete()
    execution.execute(review.pk)
    review.refresh_from_db()

    assert review.status == "failed"
    assert review.error == "a related document was deleted"


def test_reading_costs_one_query_more_however_many_findings(design, requirements, django_assert_num_queries):
    review = reviewed(design, requirements)
    with django_assert_num_queries(4):
        get_review(local_operator(), review.public_id)


def test_a_reader_of_both_sees_the_quotes(design, requirements, open_shelf, closed_shelf):
    reader = principal_with(Role.READER, open_shelf)
    CollectionGrant.objects.create(collection=closed_shelf, user_id=reader.user_id, role=Role.READER)

    findings = findings_of(reader, reviewed(design, requirements))

    assert any(e.document_id == requirements.public_id for f in findings for e in f.evidence)
