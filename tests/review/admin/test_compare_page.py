"""Two versions of a document side by side, with the findings of the newest review of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import Role
from hub.access.services import principal_for_user
from hub.access.turns import Turns
from hub.core.processes import PerProcess
from knowledge.documents import comparing
from review.models import Finding, Review
from tests.hub.admin.support import client_of, grant, make_user
from tests.review.conftest import DESIGN, review_text

pytestmark = pytest.mark.django_db
SENTENCE = "検索（FR-001）は <b>FR-006</b> の設定に従う。"
NOW = DESIGN.replace(SENTENCE, "検索（FR-001）は <b>FR-009</b> の設定に従う。")


def shown(user: Any, document_id: str, query: str = "") -> Any:
    return client_of(user).get(reverse("admin:review_compare_versions", args=[document_id]) + query)


@pytest.fixture
def versions(db: None, queue: None, tmp_path: Path) -> tuple[Review, Review]:
    first = review_text(tmp_path, DESIGN)
    return first, review_text(tmp_path, NOW)


def test_what_changed_stands_side_by_side_with_what_the_reviews_found(versions: tuple[Review, Review]) -> None:
    boss = make_user("佐藤", is_superuser=True)
    page = shown(boss, versions[1].document_id_text).content.decode()
    assert "FR-<del>006</del>" in page
    assert "FR-<ins>009</ins>" in page
    assert "&lt;b&gt;" in page
    for review in versions:
        desk = reverse("admin:review_review_triage", args=[review.pk])
        quoted = Finding.objects.filter(result__review=review, evidence__0__verified=True).first()
        assert f"{desk}#{quoted.public_id}" in page
    seen = set(AuditEvent.objects.filter(user=boss).values_list("action", "details__part"))
    assert {("DOCUMENT_READ", "difference"), ("RESULT_VIEW", "side_by_side")} <= seen


def test_a_reader_sees_it_and_a_stranger_does_not(versions: tuple[Review, Review]) -> None:
    document_id = versions[1].document_id_text
    reader, stranger = make_user("鈴木"), make_user("高橋")
    grant(reader, Role.READER, versions[1].version.document.collection)
    assert shown(reader, document_id, "?from=1&to=2").status_code == 200
    assert shown(stranger, document_id).status_code == 404
    assert shown(reader, document_id, "?from=1&to=7").status_code == 404
    assert shown(reader, document_id, "?from=x&to=&page=99999").status_code == 200


def test_a_document_with_one_version_says_so(review: Review) -> None:
    page = shown(make_user("佐藤", is_superuser=True), review.document_id_text)
    assert page.status_code == 200
    assert "比較できる別の版がありません" in page.content.decode()


def test_one_persons_comparisons_leave_a_turn_for_others(
    versions: tuple[Review, Review], monkeypatch: pytest.MonkeyPatch
) -> None:
    busy, other = (make_user(name, is_superuser=True) for name in ("佐藤", "田中"))
    turns = Turns(most=comparing.AT_ONCE, most_waiting=0, wait_s=0)
    monkeypatch.setattr(comparing, "_turns", PerProcess(lambda: turns))
    with turns.taken_by(principal_for_user(busy)):
        refused = shown(busy, versions[1].document_id_text)
        assert (refused.status_code, refused["Retry-After"]) == (429, "5")
        assert "この種の呼び出し" in refused.content.decode()
        assert shown(other, versions[1].document_id_text).status_code == 200
