"""The menu has eight doors at most, by what the person may do; Ctrl-K finds what they may open, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse
from django.utils import translation
from unfold.sites import UnfoldAdminSite

from hub.access.models import HubRoleGrant
from hub.access.principals import HubRole, Role, local_operator
from hub.admin_site import commands
from knowledge.models import Collection, Source
from review.runs import execution
from review.runs.reviews import start_review
from tests.factories import make_holder, upload_text, work_through
from tests.hub.admin.support import add_document, client_of, grant, make_user

pytestmark = pytest.mark.django_db
ALL = ["ホーム", "検索", "文書", "レビュー", "チェックリスト", "ナレッジ", "評価", "管理"]


def doors_of(client: Client, page: str = "admin:index") -> list[tuple[str, str]]:
    """Title and address of each door that the page's menu shows."""
    shown = client.get(reverse(page)).content.decode()
    found = re.findall(r'<a href="([^"]*)" class="hub-door"[^>]*><span[^>]*>\w+</span>([^<]+)</a>', shown)
    return [(title, address) for address, title in found]


def found_by(client: Client, words: str) -> dict[str, str]:
    shown = client.get(reverse("admin:search"), {"s": words, "extended": "1"}).content.decode()
    return dict(re.findall(r'<a href="([^"]*)" data-title="([^"]*)"', shown))


def test_a_superuser_has_eight_doors_and_each_opens(queue: None) -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    doors = doors_of(client)
    assert [title for title, _address in doors] == ALL
    assert {client.get(address).status_code for _title, address in doors} == {200}


@pytest.mark.parametrize("hub_role", ["", *HubRole])
def test_every_door_that_somebody_sees_opens_for_them(hub_role: str, queue: None) -> None:
    user = make_user("高橋")
    grant(user, Role.READER, Collection.objects.get(slug="default"))
    if hub_role:
        HubRoleGrant.objects.create(user=user, role=hub_role)
    client = client_of(user)
    doors = doors_of(client)
    assert 1 < len(doors) <= len(ALL)
    assert {client.get(address).status_code for _title, address in doors} == {200}


# Who sees how many pages behind which doors: the collection's roles, and the hub's operator.
EVERYBODY = {"ホーム": 5, "検索": 1, "文書": 5, "レビュー": 1, "チェックリスト": 4, "ナレッジ": 11, "管理": 2}
PAGES_OF = {
    Role.READER: EVERYBODY,
    Role.REVIEWER: EVERYBODY,
    Role.CURATOR: {**EVERYBODY, "文書": 6, "管理": 3},
    Role.AUDITOR: {**EVERYBODY, "管理": 3},
    HubRole.OPERATOR: {**EVERYBODY, "文書": 6, "管理": 4},
}


@pytest.mark.parametrize("role", PAGES_OF)
def test_everybody_sees_the_pages_of_their_role_alone_and_each_opens(role: Role | HubRole, queue: None) -> None:
    user = make_user("高橋")
    grant(user, role if isinstance(role, Role) else Role.READER, Collection.objects.get(slug="default"))
    if isinstance(role, HubRole):
        HubRoleGrant.objects.create(user=user, role=role)
    client = client_of(user)
    request = client.get(reverse("admin:index")).wsgi_request
    site: Any = admin.site  # Unfold has no types
    doors = {str(door["title"]): door["pages"] for door in commands.doors_of(site.get_sidebar_list(request))}
    links = [str(page["link"]) for pages in doors.values() for page in pages]
    assert {link: client.get(link).status_code for link in links} == dict.fromkeys(links, 200)
    assert {title: len(pages) for title, pages in doors.items()} == PAGES_OF[role]


def test_ctrl_k_finds_pages_documents_reviews_and_actions_by_title(tmp_path: Path, queue: None) -> None:
    design = add_document(tmp_path)
    review = start_review(principal=local_operator(), document_id=design.public_id)
    execution.execute(review.pk)
    client = client_of(make_user("佐藤", is_superuser=True))
    found = found_by(client, design.title[:4])
    assert reverse("admin:knowledge_document_change", args=[design.pk]) in found
    assert reverse("admin:review_review_triage", args=[review.pk]) in found
    assert reverse("admin:review_review_start") in found_by(client, "レビュー 開始")
    assert reverse("admin:access_auditevent_changelist") in found_by(client, "監査")
    assert found_by(client, "") == found_by(client, "\0") == found_by(client, "そのようなものはない") == {}


def test_who_runs_the_hub_is_told_of_documents_that_they_may_not_read(tmp_path: Path, queue: None) -> None:
    design = add_document(tmp_path)
    unreadable = work_through(upload_text(local_operator(), tmp_path, "", name="空.md").document)
    user = make_holder(make_user("高橋"), HubRole.OPERATOR)
    shown = client_of(user).get(reverse("admin:index")).content.decode()
    assert "閲覧できないコレクションの文書が 2 件あります（失敗 1 件）" in shown
    assert "閲覧できる文書に、失敗したものはありません。" in shown
    assert design.title not in shown
    assert unreadable.path not in shown
    grant(user, Role.READER, design.collection)
    shown = client_of(user).get(reverse("admin:index")).content.decode()
    assert "閲覧できないコレクション" not in shown
    assert unreadable.path in shown


def test_the_head_of_a_page_shows_a_title_as_it_is_written(tmp_path: Path, queue: None) -> None:
    document = add_document(tmp_path, filename="r6-notes.md", text="本文だけの覚え書き。")
    page = client_of(make_user("佐藤", is_superuser=True)).get(
        reverse("admin:knowledge_document_change", args=[document.pk])
    )
    assert document.title.startswith("r6-notes")
    assert "R6-notes" not in page.content.decode()


def test_every_kind_that_the_administration_shows_has_a_japanese_name() -> None:
    site: Any = admin.site  # Unfold has no types
    with translation.override("ja"):
        names = {model._meta.label: str(model._meta.verbose_name_plural) for model in site._registry}
    assert not {label: name for label, name in names.items() if re.search("[a-z]{3}", name)}


def test_ctrl_k_shows_nobody_what_they_may_not_open_and_keeps_nothing(
    tmp_path: Path, queue: None, django_assert_max_num_queries: Any
) -> None:
    design = add_document(tmp_path)
    user = make_user("高橋")
    client = client_of(user)
    words = design.title[:4]
    assert found_by(client, words) == {}
    grant(user, Role.READER, design.collection)
    with django_assert_max_num_queries(20):
        assert reverse("admin:knowledge_document_change", args=[design.pk]) in found_by(client, words)
    user.collectiongrant_set.all().delete()
    assert found_by(client, words) == {}
    assert reverse("admin:auth_user_changelist") not in found_by(client, "ユーザー")


def way_to(client: Client, address: str) -> list[str]:
    """What the way to a page says at its top, entry by entry."""
    shown = client.get(address).content.decode()
    found = re.findall(
        r'class="align-middle inline-block leading-5 min-w-0 truncate tracking-tight"\s*>([^<]*)<', shown
    )
    return [one.strip() for one in found]


def test_the_way_to_a_page_begins_with_the_entry_of_the_menu_under_which_it_is_found(tmp_path: Path) -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    document = add_document(tmp_path)
    source = Source.objects.create(name="共有", location="/srv", collection=Collection.objects.get(slug="default"))
    for name, given, expected in (
        ("index", (), ["ホーム", "概況"]),
        ("review_own_work", (), ["ホーム", "自分の仕事"]),
        ("hub_search", (), ["検索"]),
        ("knowledge_source_changelist", (), ["文書", "取り込み元"]),
        ("knowledge_source_change", (source.pk,), ["文書", "取り込み元", "共有"]),
        ("knowledge_document_change", (document.pk,), ["文書", document.title]),
        ("evaluation_evaluationdataset_changelist", (), ["評価", "評価データセット"]),
        ("review_judgeprompt_changelist", (), ["評価", "プロンプト"]),
        ("access_auditevent_changelist", (), ["管理", "監査証跡"]),
        ("mcp_bridge_promptversion_changelist", (), ["管理", "アシスタント用プロンプト"]),
    ):
        assert way_to(client, reverse(f"admin:{name}", args=given)) == expected, name


def test_the_menu_is_made_once_for_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    client, made = client_of(make_user("佐藤", is_superuser=True)), []
    listed = UnfoldAdminSite.get_sidebar_list
    monkeypatch.setattr(
        UnfoldAdminSite, "get_sidebar_list", lambda site, request: made.append(1) or listed(site, request)
    )
    client.get(reverse("admin:knowledge_source_changelist"))
    assert made == [1]
