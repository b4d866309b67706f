"""A draft of an ontology is tried: what documents treat by it, how saved questions are searched, and by whom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from hub.access.services import principal_for_user
from hub.core.errors import Forbidden, NotFound
from hub.evaluation.models import EvaluationCase, EvaluationDataset
from knowledge.document_checks import try_draft
from knowledge.evaluation.synonyms import questions_read_otherwise
from knowledge.models import Document, Ontology
from knowledge.ontology.ontologies import draft_from, get_ontology
from tests.factories import make_hub_curator, upload_text, work_through
from tests.hub.admin.support import client_of, grant, make_user

pytestmark = pytest.mark.django_db
OPERATOR = local_operator()
TEXT = """# 受発注システム 基本設計書

## 1. 守りの固さ

通信は TLS 1.3 で暗号化し、利用者は多要素認証で確かめる。

## 2. 目的

本書は、受発注システムの基本設計を定める。
"""
TRIAL = "admin:knowledge_ontology_trial"


@pytest.fixture
def draft() -> Ontology:
    return draft_from(principal=OPERATOR, domain="system_design")


@pytest.fixture
def document(tmp_path: Path, db: None) -> Document:
    return work_through(upload_text(OPERATOR, tmp_path, TEXT, document_type="basic_design").document)


def rename(draft: Ontology, code: str, **fields: Any) -> None:
    draft.classes.filter(code=code).update(**fields)


def labels(changes: Any) -> list[str]:
    return [(one.after or one.before).topic.code for one in changes]


def test_a_new_topic_with_its_heading_is_found_and_one_that_is_dropped_is_lost(
    draft: Ontology, document: Document
) -> None:
    same = try_draft(OPERATOR, document.public_id, draft)
    assert (same.found, same.lost, same.others) == ((), (), ())
    rename(draft, "purpose", is_topic=False)
    untreated = draft.classes.filter(is_topic=True).exclude(code="Security").order_by("position").last()
    rename(draft, untreated.code, synonyms=["守りの固さ"], label_ja="守りの固さ", exclusions=[])
    tried = try_draft(OPERATOR, document.public_id, draft)
    assert labels(tried.found) == [untreated.code]
    assert labels(tried.lost) == ["purpose"]
    assert tried.as_before == same.as_before - 2
    assert get_ontology(OPERATOR, "system_design").classes.get(code="purpose").is_topic


def test_questions_are_named_that_the_draft_would_search_by_other_synonyms(draft: Ontology) -> None:
    dataset = EvaluationDataset.objects.create(code="shitsumon")
    for number, query in enumerate(("守りの固さはどこに書いてありますか", "目的は何ですか")):
        EvaluationCase.objects.create(
            dataset=dataset, kind="retrieval", digest=str(number), input={"query": query}, expected={"relevant": []}
        )
    assert questions_read_otherwise(OPERATOR, draft).changes == []
    security = draft.classes.get(code="Security")
    rename(draft, "Security", synonyms=[*security.synonyms, "守りの固さ"])
    found = questions_read_otherwise(OPERATOR, draft)
    (changed,) = found.changes
    assert found.looked_at == 2
    assert changed.question.startswith("守りの固さ")
    assert security.label_ja in changed.added
    assert changed.dropped == []


def test_only_curators_of_ontologies_try_drafts_and_only_on_documents_that_they_may_see(
    draft: Ontology, document: Document
) -> None:
    curator, reader = make_hub_curator(make_user("担当")), make_user("読者")
    grant(reader, Role.CURATOR, document.collection)
    with pytest.raises(NotFound):
        try_draft(principal_for_user(curator), document.public_id, draft)
    for refused in (
        lambda: try_draft(principal_for_user(reader), document.public_id, draft),
        lambda: questions_read_otherwise(principal_for_user(reader), draft),
    ):
        with pytest.raises(Forbidden):
            refused()
    assert document.title not in shown(client_of(curator), draft, document)
    answer = client_of(reader).get(reverse(TRIAL, args=[draft.pk]))
    assert answer.status_code == 403
    assert draft.domain not in answer.content.decode()


def test_the_page_shows_what_changes_and_the_reading_is_recorded(draft: Ontology, document: Document) -> None:
    curator = make_hub_curator(make_user("担当"))
    grant(curator, Role.READER, document.collection)
    rename(draft, "purpose", is_topic=False)
    page = shown(client_of(curator), draft, document)
    assert "記載なしになる" in page
    assert document.title in page
    read = AuditEvent.objects.get(action="DOCUMENT_READ", user=curator, details__part="ontology_trial")
    assert read.resource == f"document:{document.public_id}"
    published = get_ontology(OPERATOR, "system_design")
    for version, leads in ((draft, True), (published, False)):
        form = reverse("admin:knowledge_ontologyclass_change", args=[version.classes.get(code="purpose").pk])
        link = f'href="{reverse(TRIAL, args=[version.pk])}"'
        assert (link in client_of(curator).get(form).content.decode()) is leads
    assert client_of(curator).get(reverse(TRIAL, args=[published.pk])).status_code == 404


def shown(client: Any, draft: Ontology, document: Document) -> str:
    response = client.post(reverse(TRIAL, args=[draft.pk]), {"documents": document.public_id})
    assert response.status_code == 200
    return str(response.content.decode())
