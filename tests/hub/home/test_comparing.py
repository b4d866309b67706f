"""Two versions side by side at home, and decisions carried over there, for reviewers without rights as staff."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.permissions import Role
from hub.access.principals import local_operator
from knowledge.documents.deletion import delete_document
from knowledge.models import Collection
from review.models import Finding, Review, Triage
from review.runs.related import pin_related
from review.triage.decisions import TriageChange, triage_findings
from tests.factories import new_user, upload_text, work_through
from tests.hub.admin.support import add_document, client_of, grant
from tests.review.conftest import DESIGN, review_text

pytestmark = pytest.mark.django_db
CHANGED = DESIGN.replace("<b>FR-006</b>", "<b>FR-009</b>")


@pytest.fixture
def versions(queue: None, tmp_path: Path) -> tuple[Review, Review]:
    first = review_text(tmp_path, DESIGN)
    finding = Finding.objects.filter(result__review=first).first()
    assert finding is not None
    change = TriageChange(triage=Triage.ACCEPTED, comment="次の版で直す")
    triage_findings(principal=local_operator(), finding_ids=[finding.public_id], change=change)
    return first, review_text(tmp_path, CHANGED)


def person(role: Role, name: str = "点検者") -> Client:
    user = new_user(username=name)
    grant(user, role, Collection.objects.get(slug="default"))
    return client_of(user)


def shown(client: Client, review: Review) -> str:
    return str(client.get(reverse("review", args=[review.public_id])).content.decode())


def test_the_offer_and_the_comparison_say_under_which_other_conditions_the_earlier_review_was_made(
    versions: tuple[Review, Review], tmp_path: Path
) -> None:
    client, second = person(Role.REVIEWER), versions[1]
    compared = reverse("document-compare", args=[second.document_id_text])
    assert "条件が異なる" not in shown(client, second)
    (tmp_path / "other").mkdir()
    requirements = add_document(
        tmp_path / "other", text="# 要件定義書\n\nFR-001 予約できること。\n", filename="要件.md"
    )
    assert requirements.current_version
    pin_related(second, [(requirements, requirements.current_version)])
    judged = second.results.order_by("pk")[0]
    judged.steps = ["rules", "judge"]
    judged.save(update_fields=["steps"])
    for page in (shown(client, second), client.get(compared).content.decode()):
        assert "条件が異なる" in page
        assert "関連文書: 前回は なし、今回は 要件定義書 v1" in page
        assert "言語モデルによる手順: 前回は なし、今回は 言語モデルによる判定" in page
        assert "チェックリスト: 前回は" not in page
    requirements.collection = Collection.objects.create(slug="closed", name="非公開")
    requirements.save(update_fields=["collection"])
    assert "要件定義書" not in shown(client, second)


def test_two_related_documents_with_one_title_are_told_apart(versions: tuple[Review, Review], tmp_path: Path) -> None:
    client, (first, second) = person(Role.REVIEWER), versions
    compared = reverse("document-compare", args=[second.document_id_text])
    for review, name in ((first, "旧"), (second, "新")):
        (tmp_path / name).mkdir()
        related = add_document(tmp_path / name, text="# 要件定義書\n\nFR-001 予約。\n", filename=f"{name}要件.md")
        assert related.current_version
        pin_related(review, [(related, related.current_version)])
    told = "関連文書: 前回は 要件定義書 (旧要件.md) v1、今回は 要件定義書 (新要件.md) v1"
    assert told in client.get(compared).content.decode()
    delete_document(principal=local_operator(), document_id=first.related.get().document_id_text)
    told = "関連文書: 前回は 削除された文書、今回は 要件定義書 v1"
    assert told in client.get(compared).content.decode()


def test_a_version_without_a_finished_review_is_named(queue: None, tmp_path: Path) -> None:
    review = review_text(tmp_path, DESIGN)
    work_through(upload_text(local_operator(), tmp_path, CHANGED, document_type="basic_design").document)
    page = person(Role.READER).get(reverse("document-compare", args=[review.document_id_text])).content.decode()
    assert "v2 には完了したレビューがないため" in page
    assert "v1 には完了したレビューがないため" not in page


def test_a_document_with_one_version_is_led_back_to(queue: None, tmp_path: Path) -> None:
    document = add_document(tmp_path, text=DESIGN)
    page = person(Role.READER).get(reverse("document-compare", args=[document.public_id])).content.decode()
    assert f'href="{reverse("document", args=[document.public_id])}"' in page


def test_what_changed_stands_side_by_side_with_findings_that_lead_to_their_review(
    versions: tuple[Review, Review],
) -> None:
    client, address = person(Role.READER), reverse("document-compare", args=[versions[1].document_id_text])
    page = client.get(address).content.decode()
    assert "FR-<del>006</del>" in page
    assert "FR-<ins>009</ins>" in page
    for review in versions:
        quoted = Finding.objects.filter(result__review=review, evidence__0__verified=True).first()
        assert quoted is not None
        assert f"{reverse('review', args=[review.public_id])}#{quoted.public_id}" in page
    assert address in shown(client, versions[1])
    assert address in client.get(reverse("document", args=[versions[1].document_id_text])).content.decode()
    seen = set(AuditEvent.objects.filter(user__username="点検者").values_list("action", "details__part"))
    assert {("DOCUMENT_READ", "difference"), ("RESULT_VIEW", "side_by_side")} <= seen


def test_a_stranger_and_a_version_that_is_not_there_are_not_found(versions: tuple[Review, Review]) -> None:
    address = reverse("document-compare", args=[versions[1].document_id_text])
    assert client_of(new_user(username="高橋")).get(address).status_code == 404
    reader = person(Role.READER)
    assert reader.get(address + "?from=1&to=7").status_code == 404
    assert reader.get(address + "?from=x&to=&page=99999").status_code == 200


def test_a_document_with_one_version_says_so(queue: None, tmp_path: Path) -> None:
    review = review_text(tmp_path, DESIGN)
    page = person(Role.READER).get(reverse("document-compare", args=[review.document_id_text]))
    assert page.status_code == 200
    assert "比較できる別の版がありません" in page.content.decode()


def test_a_reviewer_carries_decisions_over_once(versions: tuple[Review, Review]) -> None:
    first, second = versions
    client, address = person(Role.REVIEWER), reverse("review-carry", args=[second.public_id])
    assert f'action="{address}"' in shown(client, second)
    answer = client.post(address, {"base": first.public_id}, follow=True)
    assert answer.redirect_chain == [(reverse("review", args=[second.public_id]), 302)]
    page = answer.content.decode()
    assert "引き継ぎ 1 件" in page
    assert "次の版で直す" in page
    assert f'action="{address}"' not in page
    carried = Finding.objects.filter(result__review=second).exclude(carried={}).get()
    assert (carried.triage, carried.carried["review_id"]) == (Triage.ACCEPTED, first.public_id)


def test_a_reader_is_offered_nothing_and_carries_nothing(versions: tuple[Review, Review]) -> None:
    first, second = versions
    reader, address = person(Role.READER), reverse("review-carry", args=[second.public_id])
    assert address not in shown(reader, second)
    assert reader.post(address, {"base": first.public_id}).status_code == 302
    assert not Finding.objects.filter(result__review=second).exclude(carried={}).exists()
    stranger = client_of(new_user(username="高橋"))
    assert stranger.post(address, {"base": first.public_id}).status_code == 404
