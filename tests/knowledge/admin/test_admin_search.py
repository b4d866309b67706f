from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse

from hub.access.principals import Role
from knowledge.models import Collection
from tests.hub.admin.support import DESIGN, add_document, client_of, grant, make_user

PAGE = "admin:hub_search"


@pytest.mark.django_db
def test_a_code_is_marked_whole_and_never_inside_of_another(tmp_path: Path) -> None:
    text = "# 要件\n\nFR-001 は NFR-001、FR-002、FR-0010 と別の要件である。\n"
    add_document(tmp_path, filename="要件.md", text=text)
    shown = client_of(make_user("佐藤", is_superuser=True)).get(reverse(PAGE), {"q": "FR-001"}).content.decode()
    assert "<mark>FR-001</mark> は NFR-001、FR-002、FR-0010 と" in shown


@pytest.mark.django_db
def test_results_show_score_place_marks_and_lead_to_the_passage(tmp_path: Path) -> None:
    document = add_document(tmp_path)
    client = client_of(make_user("佐藤", is_superuser=True))
    shown = client.get(reverse(PAGE), {"q": "画面の応答時間"}).content.decode()
    link = reverse("admin:knowledge_document_by_id", args=[document.public_id])
    assert f'href="{link}?version=1&amp;start={DESIGN.index("## 2. 性能要件")}' in shown
    assert "<mark>" in shown
    assert "&lt;script&gt;alert" in shown
    assert "<script>alert" not in shown
    assert "2. 性能要件 › 2.1 応答時間" in shown
    assert 'class="hub-legs"' not in shown


@pytest.mark.django_db
def test_rows_that_go_on_with_a_table_are_shown_under_its_header(tmp_path: Path) -> None:
    rows = "".join(f"| JB{n:03d} | 口座振替依頼の作成 その{n} | {n % 24}:15 | {n} |\n" for n in range(1, 60))
    header = "| ジョブID | ジョブ名 | 起動時刻 | 処理時間上限（分） |"
    add_document(tmp_path, filename="詳細設計.md", text=f"# バッチ一覧\n\n{header}\n|---|---|---|---|\n{rows}")
    page = client_of(make_user("佐藤", is_superuser=True)).get(reverse(PAGE), {"q": "JB055", "explain": "on"})
    best = page.context_data["shown"].hits[0]
    assert header not in best.hit.content
    shown = page.content.decode()
    assert "処理時間上限（分）</th>" in best.text.html
    assert "<mark>JB055</mark></td>" in best.text.html
    assert best.text.html in shown
    assert "| JB055 |" not in shown


@pytest.mark.django_db
def test_explain_tells_words_from_pairs_of_characters(tmp_path: Path) -> None:
    add_document(tmp_path)
    page = client_of(make_user("佐藤", is_superuser=True)).get(reverse(PAGE), {"q": "応答時間", "explain": "on"})
    best = page.context_data["shown"].hits[0]
    assert {"応答", "時間"} <= set(best.words)
    assert "答時" in best.pairs
    assert not set(best.words) & set(best.pairs)
    assert 'title="' + " ".join(best.pairs) in page.content.decode()


@pytest.mark.django_db
def test_explain_shows_what_each_leg_said(tmp_path: Path) -> None:
    add_document(tmp_path)
    client = client_of(make_user("佐藤", is_superuser=True))
    shown = client.get(reverse(PAGE), {"q": "応答時間", "explain": "on", "mode": "hybrid"}).content.decode()
    assert "<td>語で検索</td>" in shown
    assert "<td>意味で検索</td>" in shown


@pytest.mark.django_db
def test_a_bad_query_is_told_and_keeps_what_was_typed() -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    shown = client.get(reverse(PAGE), {"q": "応答", "collection": "存在しない"}).content.decode()
    assert 'role="alert"' in shown
    assert 'value="応答"' in shown


@pytest.mark.django_db
def test_staff_find_nothing_outside_of_their_collections(tmp_path: Path) -> None:
    Collection.objects.create(slug="himitsu", name="秘密の箱")
    add_document(tmp_path, collection="himitsu")
    staff = make_user("高橋")
    grant(staff, Role.READER, Collection.objects.get(slug="default"))
    shown = client_of(staff).get(reverse(PAGE), {"q": "画面の応答時間"}).content.decode()
    assert "該当する箇所は見つかりませんでした" in shown
    assert "秘密の箱" not in shown
