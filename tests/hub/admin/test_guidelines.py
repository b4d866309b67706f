"""Guidelines in the admin, and the same facts over REST and MCP."""

from __future__ import annotations

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import translation

from hub.access.principals import ALL_SCOPES, Scope, local_operator
from hub.access.services import create_token
from knowledge.admin.changed_fields import changed_fields
from knowledge.guidelines.diff import FieldChange
from knowledge.models import DocumentType, GuidelineArticle, GuidelineEdition, OntologyClass
from review.models import GuidelineMapping, SuspectMark
from tests.hub.admin.support import client_of, curator_client, make_user, second_client
from tests.knowledge.guidelines.test_guidelines import MARKDOWN

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]
IMPORT = "admin:knowledge_guideline_import"
FACTS = {"code": "house-guide", "prefix": "GL-", "name_ja": "設計書作成指針"}
FORM = {"code": "house-guide", "article_prefix": "GL-", "name_ja": "設計書作成指針"}


@pytest.fixture
def curator() -> Client:
    return curator_client()


@pytest.fixture
def rest() -> Client:
    user = make_user("rest", is_superuser=True)
    token = create_token(principal=local_operator(), user=user, name="t", scopes=ALL_SCOPES)[1]
    return Client(headers={"Authorization": f"Bearer {token}", "Accept-Language": "ja"})


def markdown(text: str = MARKDOWN) -> SimpleUploadedFile:
    return SimpleUploadedFile("指針.md", text.encode())


def test_a_file_is_previewed_stored_published_and_compared(curator: Client) -> None:
    preview = curator.post(reverse(IMPORT), {**FORM, "file": markdown()})
    assert not GuidelineEdition.objects.filter(guideline__code="house-guide").exists()
    carried = preview.context["carried"]
    stored = curator.post(reverse(IMPORT), {**FORM, "carried": carried, "store": "1"}, follow=True)
    edition = GuidelineEdition.objects.get(guideline__code="house-guide")
    assert "GL-1.1" in stored.content.decode()
    second_client().post(reverse("admin:knowledge_guideline_publish", args=[edition.guideline_id, 1]))
    edition.refresh_from_db()
    assert (edition.status, edition.published_by) == ("published", "承認")
    changed = MARKDOWN.replace("監視する項目を書く。", "監視する項目と閾値を書く。")
    page = curator.post(reverse(IMPORT), {"code": "house-guide", "file": markdown(changed)}).content.decode()
    assert "監視する項目と閾値を書く。" in page
    assert "<strong>本文</strong>" in page
    diff = curator.get(reverse("admin:knowledge_guideline_diff", args=[edition.guideline_id, 1]))
    assert "GL-1.1" in diff.content.decode()
    administrator = client_of(make_user("管理", is_superuser=True))
    administrator.post(reverse("admin:knowledge_guideline_retire", args=[edition.guideline_id, 1]))
    edition.refresh_from_db()
    assert edition.status == "retired"


def test_wrong_rows_and_tampered_previews_are_told(curator: Client) -> None:
    wrong = curator.post(reverse(IMPORT), {**FORM, "file": markdown("# 指針\n\n## 1 範囲\n\n- 重大度: 大\n")})
    assert "hub-problems" in wrong.content.decode()
    for given in ({"carried": "x:y:z", "store": "1"}, {}, {"code": ""}):
        assert curator.post(reverse(IMPORT), {**FORM, **given}).status_code == 200
    assert not GuidelineEdition.objects.filter(guideline__code="house-guide").exists()


def test_staff_without_a_role_read_and_may_not_act() -> None:
    client = client_of(make_user("nobody"))
    edition = GuidelineEdition.objects.get(guideline__code="public-practice-guides")
    page = reverse("admin:knowledge_guideline_change", args=[edition.guideline_id])
    assert "PG-1.3" in client.get(page).content.decode()
    assert client.get(reverse("admin:knowledge_guideline_changelist")).status_code == 200
    client.post(reverse("admin:knowledge_guideline_retire", args=[edition.guideline_id, 1]))
    edition.refresh_from_db()
    assert edition.status == "published"
    mapping = GuidelineMapping.objects.earliest("pk")
    assert client.get(reverse("admin:review_guidelinemapping_changelist")).status_code == 200
    assert client.post(reverse("admin:review_guidelinemapping_delete", args=[mapping.pk])).status_code == 403


def test_marks_are_cleared_on_their_page_with_a_reason(curator: Client) -> None:
    mapping = GuidelineMapping.objects.select_related("check_item").earliest("pk")
    mark = SuspectMark.objects.create(
        check_item=mapping.check_item,
        article_code=mapping.article_code,
        edition=GuidelineEdition.objects.get(guideline__code="public-practice-guides"),
        reason_ja="条項が変わりました。",
        reason_en="The article changed.",
    )
    assert "条項が変わりました。" in curator.get(reverse("admin:review_suspectmark_changelist")).content.decode()
    page = reverse("admin:review_suspectmark_change", args=[mark.pk])
    curator.post(page, {"cleared_reason": ""})
    mark.refresh_from_db()
    assert mark.cleared_at is None
    curator.post(page, {"cleared_reason": "観点への影響なし"})
    mark.refresh_from_db()
    assert (mark.cleared_by, mark.cleared_reason) == ("担当", "観点への影響なし")
    assert curator.post(page, {"cleared_reason": "上書き"}).status_code == 403


def test_a_mapping_is_made_on_its_page(curator: Client) -> None:
    item = GuidelineMapping.objects.earliest("pk").check_item
    form = {
        "article_code": "PG-1.7",
        "check_item": item.pk,
        "relation": "direct",
        "rationale_ja": "一覧の件数を確かめる。",
    }
    curator.post(reverse("admin:review_guidelinemapping_add"), form)
    made = GuidelineMapping.objects.get(article_code="PG-1.7")
    refused = curator.post(reverse("admin:review_guidelinemapping_add"), {**form, "article_code": "PG-77"}, follow=True)
    assert "PG-77" in refused.content.decode()
    curator.post(reverse("admin:review_guidelinemapping_delete", args=[made.pk]), {"post": "yes"})
    assert not GuidelineMapping.objects.filter(pk=made.pk).exists()


def test_rest_imports_publishes_and_shows(rest: Client) -> None:
    base = "/api/v1/guidelines"
    preview = rest.post(f"{base}/import/preview", {**FACTS, "file": markdown()}).json()
    assert preview["articles"] == ["GL-1", "GL-1.1", "GL-1.2"]
    made = rest.post(f"{base}/import", {**FACTS, "file": markdown()})
    assert made.status_code == 201, made.content
    assert rest.get(f"{base}/GL-1.1").status_code == 404
    assert rest.post(f"{base}/house-guide/editions/1/publish").json()["status"] == "published"
    article = rest.get(f"{base}/GL-1.1").json()
    assert (article["title"], article["parent_article"]) == ("性能要件", "GL-1")
    assert rest.get(f"{base}/GL-1").json()["child_articles"] == ["GL-1.1", "GL-1.2"]
    assert {row["code"] for row in rest.get(base).json()} == {"house-guide", "public-practice-guides"}
    assert len(rest.get(f"{base}/house-guide/articles", {"document_type": "basic_design"}).json()) == 1
    assert rest.get(f"{base}/house-guide/editions/1/diff").json()["changes"][0]["kind"] == "added"
    wrong = rest.post(f"{base}/import", {"code": "house-guide", "file": markdown("# 指針\n\n## 範囲\n")})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "guideline_rows_invalid")


def test_rest_and_mcp_say_the_same_of_mappings(rest: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from mcp_bridge.servers import knowledge

    found = rest.get("/api/v1/guidelines/mappings", {"guideline_article": "PG-5.1"}).json()
    assert found[0]["relation"] == "direct"
    saved = rest.put(
        "/api/v1/guidelines/mappings",
        json.dumps({"article": "PG-1.7", "check_item": "BD-B01", "relation": "indirect"}),
        content_type="application/json",
    ).json()
    assert saved["article_title"] == "件数の制限とページ送り"
    assert rest.delete("/api/v1/guidelines/mappings/PG-1.7/BD-B01").status_code == 204
    assert rest.get("/api/v1/guidelines/suspects").json() == {"suspects": [], "results": [], "total_results": 0}
    assert (
        rest.post(
            "/api/v1/guidelines/suspects/99999999999999999999/clear",
            json.dumps({"reason": "x"}),
            content_type="application/json",
        ).status_code
        == 404
    )

    class Caller:
        principal = local_operator()

    monkeypatch.setattr(knowledge, "current_caller", lambda: Caller)
    told = knowledge.get_guideline_mapping(guideline_article="PG-5.1").model_dump(mode="json")
    assert told["mappings"] == found
    article = rest.get("/api/v1/guidelines/PG-5.1").json()
    assert knowledge.read_guideline("PG-5.1") == article
    assert article["related_check_items"] == ["BD-B01"]
    assert Scope.READ is next(tool.scope for tool in knowledge.TOOLS)


def test_fields_that_differ_are_called_by_their_names_and_values_are_in_words() -> None:
    element = {"name": "目標値", "words": ["秒"], "patterns": ["[0-9]+"]}
    changes = [
        FieldChange(field="severity", before="minor", after="major"),
        FieldChange(field="document_types", before=[], after=["basic_design", "unknown_type"]),
        FieldChange(field="headings", before=["性能"], after=["性能", "応答"]),
        FieldChange(field="required_elements", before=[], after=[element]),
    ]
    with translation.override("ja"):
        assert changed_fields(GuidelineArticle, changes) == [
            ("重大度", "軽微", "重要"),
            ("文書種別", "", f"{DocumentType.objects.get(code='basic_design')}, unknown_type"),
            ("見出し語", "性能", "性能, 応答"),
            ("必須要素", "", "目標値 (秒 / [0-9]+)"),
        ]
        of_an_ontology = [FieldChange(field="is_topic", before="False", after="True")]
        assert changed_fields(OntologyClass, of_an_ontology) == [("文書に記載を期待する", "いいえ", "はい")]
