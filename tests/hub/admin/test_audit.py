from __future__ import annotations

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from hub.access.models import AuditEvent
from hub.access.principals import Role, local_operator
from hub.access.services import principal_for_user, record_event
from knowledge.models import Collection, Document
from tests.hub.admin.support import client_of, grant, make_user

pytestmark = pytest.mark.django_db
LIST = "admin:access_auditevent_changelist"


@pytest.fixture
def collections() -> tuple[Collection, Collection]:
    rows = [Collection.objects.create(slug=slug, name=slug) for slug in ("jinji", "keiri")]
    for row in rows:
        record_event(principal=local_operator(), action="CONFIG_CHANGE", resource=f"collection:{row.slug}")
    record_event(principal=local_operator(), action="LOGIN", resource="user:1")
    return rows[0], rows[1]


def test_superusers_read_the_whole_trail(collections: tuple[Collection, Collection]) -> None:
    shown = client_of(make_user("佐藤", is_superuser=True)).get(reverse(LIST)).content.decode()
    assert all(text in shown for text in ("collection:jinji", "collection:keiri", "user:1"))


def test_auditors_read_what_they_audit(collections: tuple[Collection, Collection]) -> None:
    auditor = make_user("監査")
    grant(auditor, Role.AUDITOR, collections[0])
    shown = client_of(auditor).get(reverse(LIST)).content.decode()
    assert "collection:jinji" in shown
    assert "collection:keiri" not in shown
    assert "user:1" not in shown


def test_lines_have_titles_of_what_the_person_may_read_and_ids_alone_of_the_rest(
    collections: tuple[Collection, Collection],
) -> None:
    auditor = make_user("監査")
    grant(auditor, Role.AUDITOR, collections[0])
    kept, gone = (
        Document.objects.create(collection=collections[0], path=f"{title}.md", title=title)
        for title in ("人事の設計書", "消した設計書")
    )
    for document in (kept, gone):
        record_event(local_operator(), "DOCUMENT_READ", f"document:{document.public_id}")
    gone.delete()
    page = client_of(auditor).get(reverse(LIST)).content.decode()
    assert f'<a class="hub-link" href="/documents/{kept.public_id}/">人事の設計書</a>' in page
    assert "消した設計書" not in page
    page = client_of(make_user("佐藤", is_superuser=True)).get(reverse(LIST)).content.decode()
    assert f"document:{gone.public_id}" in page


def test_the_page_of_a_line_is_called_by_the_name_of_its_action() -> None:
    record_event(local_operator(), "DOCUMENT_READ", "document:doc_1", asked={})
    line = AuditEvent.objects.get(action="DOCUMENT_READ")
    address = reverse("admin:access_auditevent_change", args=[line.pk])
    shown = client_of(make_user("佐藤", is_superuser=True)).get(address).content.decode()
    title = shown.split("<title>")[1].split("</title>")[0]
    assert "文書を閲覧 document:doc_1 | 監査証跡" in title
    assert "DOCUMENT_READ" not in title
    assert "DOCUMENT_READ document:doc_1" not in shown  # the way to the page names it, too
    assert "</span>: なし" in shown


def test_the_page_of_a_line_says_in_words_what_it_is_about(collections: tuple[Collection, Collection]) -> None:
    document = Document.objects.create(collection=collections[0], path="a.md", title="人事の設計書")
    resource = f"document:{document.public_id}"
    details = {"verdict": "not_applicable", "check_item_id": "BD-E06", "closed": 1, "encrypted": True, "odd": "raw"}
    record_event(local_operator(), "RESULT_DECIDE", resource, **details, duration_ms=5320)
    address = reverse("admin:access_auditevent_change", args=[AuditEvent.objects.get(action="RESULT_DECIDE").pk])
    auditor, reader = make_user("監査"), make_user("佐藤", is_superuser=True)
    grant(auditor, Role.AUDITOR, collections[0])
    shown = client_of(reader).get(address).content.decode()
    assert "判定を決定 人事の設計書" in shown.split("<title>")[1].split("</title>")[0]
    assert f'<a class="hub-link" href="/documents/{document.public_id}/">人事の設計書</a>' in shown
    for stored, line in (
        ("verdict", "判定</span>: 対象外"),
        ("check_item_id", "チェック項目</span>: BD-E06"),
        ("closed", "解消した指摘</span>: 1"),
        ("encrypted", "暗号化</span>: はい"),
        ("duration_ms", "所要時間</span>: 5.3 秒"),
        ("odd", "odd</span>: raw"),
    ):
        assert f'<span title="{stored}">{line}' in shown
    assert address.replace("change", "history") not in shown
    document.delete()
    assert "人事の設計書" not in client_of(auditor).get(address).content.decode()


def test_a_curator_is_no_auditor(collections: tuple[Collection, Collection]) -> None:
    curator = make_user("担当")
    grant(curator, Role.CURATOR, collections[0])
    assert client_of(curator).get(reverse(LIST)).status_code == 403


def test_nobody_changes_the_trail(collections: tuple[Collection, Collection]) -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    event = AuditEvent.objects.latest("pk")
    assert client.get(reverse("admin:access_auditevent_change", args=[event.pk])).status_code == 200
    assert client.post(reverse("admin:access_auditevent_change", args=[event.pk]), {"action": "x"}).status_code == 403
    assert client.post(reverse("admin:access_auditevent_delete", args=[event.pk]), {"post": "yes"}).status_code == 403
    assert client.get(reverse("admin:access_auditevent_add")).status_code == 403


def test_filters_and_search_narrow_the_trail(collections: tuple[Collection, Collection]) -> None:
    client = client_of(make_user("佐藤", is_superuser=True))
    by_action = client.get(reverse(LIST), {"action": "LOGIN"}).content.decode()
    assert "user:1" in by_action
    assert "collection:jinji" not in by_action
    by_resource = client.get(reverse(LIST), {"q": "collection:kei"}).content.decode()
    assert "collection:keiri" in by_resource
    assert "collection:jinji" not in by_resource


def test_what_is_done_to_accounts_and_groups_is_a_line(client: Client) -> None:
    admin = User.objects.create_superuser("管理者", password="correct horse battery")
    client.force_login(admin)
    given = {"name": "監査課"}
    client.post(reverse("admin:auth_group_add"), given)
    group = Group.objects.get()
    new = "bright lantern 47 meadows"
    made = {"username": "花子", "usable_password": "true", "password1": new, "password2": new}
    client.post(reverse("admin:auth_user_add"), made)
    hanako = User.objects.get(username="花子")
    joined = {"0": "2026-01-05", "1": "10:00:00"}
    change = {"username": "花子", "is_active": "on", "is_superuser": "on", "groups": [group.pk]}
    change |= {f"date_joined_{part}": value for part, value in joined.items()}
    answer = client.post(reverse("admin:auth_user_change", args=[hanako.pk]), change)
    assert answer.status_code == 302, answer.content[:2000]
    client.post(reverse("admin:auth_user_delete", args=[hanako.pk]), {"post": "yes"})
    own = {"old_password": "correct horse battery", "new_password1": new, "new_password2": new}
    client.post(reverse("admin:password_change"), own)
    lines = list(AuditEvent.objects.filter(action__startswith="ACCOUNT_").order_by("pk"))
    assert [(line.action, line.resource) for line in lines] == [
        ("ACCOUNT_CREATE", f"group:{group.pk}"),
        ("ACCOUNT_CREATE", f"user:{hanako.pk}"),
        ("ACCOUNT_CHANGE", f"user:{hanako.pk}"),
        ("ACCOUNT_DELETE", f"user:{hanako.pk}"),
        ("ACCOUNT_CHANGE", f"user:{admin.pk}"),
    ]
    assert lines[2].details["now"]["is_superuser"] is True
    assert lines[2].details["now"]["groups"] == ["監査課"]
    assert {line.kind for line in lines} == {"access"}
    assert new not in str([line.details for line in lines])


@pytest.mark.parametrize(
    ("file_format", "begins"), [("csv", b"\xef\xbb\xbfid,at,kind"), ("jsonl", b'{"id"'), ("cef", b"CEF:0|")]
)
def test_the_page_gives_what_it_shows_as_a_file_and_notes_it(file_format, begins):
    superuser = make_user("監査長", is_superuser=True)
    record_event(principal_for_user(superuser), "CONFIG_CHANGE", "collection:a")
    record_event(principal_for_user(superuser), "CONFIG_CHANGE", "collection:b")
    client = client_of(superuser)
    page = client.get(reverse("admin:access_auditevent_changelist"), {"q": "collection:a"})
    address = reverse("admin:access_auditevent_export", args=[file_format])
    assert f'href="{address}?q=collection%3Aa"' in page.content.decode()
    answer = client.get(address, {"q": "collection:a", "action": "CONFIG_CHANGE", "door": ""})
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    assert content.startswith(begins)
    assert (b"collection:a" in content, b"collection:b" in content) == (True, False)
    line = AuditEvent.objects.get(action="AUDIT_EXPORT")
    assert line.details == {"format": file_format, "asked": {"term": "collection:a", "action": "CONFIG_CHANGE"}}
    assert client.get(reverse("admin:access_auditevent_export", args=["exe"])).status_code == 404


def test_who_reads_no_lines_gets_no_file():
    answer = client_of(make_user("職員")).get(reverse("admin:access_auditevent_export", args=["csv"]))
    assert answer.status_code == 403
    assert not AuditEvent.objects.filter(action="AUDIT_EXPORT").exists()


def test_people_are_called_by_name_and_user_name_while_the_account_that_acted_has_it() -> None:
    person = make_user("hsato")
    User.objects.filter(pk=person.pk).update(last_name="佐藤", first_name="花子")
    record_event(principal_for_user(person), "DOCUMENT_READ", "document:doc_1")
    line = AuditEvent.objects.get(action="DOCUMENT_READ")
    client = client_of(make_user("監査", is_superuser=True))
    pages = [reverse(LIST), reverse("admin:access_auditevent_change", args=[line.pk])]
    assert all("佐藤 花子 (hsato)" in client.get(page).content.decode() for page in pages)
    User.objects.filter(pk=person.pk).update(username="h.sato")
    User.objects.filter(pk=make_user("hsato").pk).update(last_name="鈴木", first_name="一郎")
    for page in pages:
        shown = client.get(page).content.decode()
        assert "hsato" in shown
        assert "(hsato)" not in shown


def found(client: Client, term: str) -> list[str]:
    answer = client.get(reverse(LIST), {"q": term})
    return [line.resource for line in answer.context["cl"].result_list]


def test_people_are_found_by_name_in_the_lines_that_one_may_read(
    collections: tuple[Collection, Collection],
) -> None:
    person, auditor = make_user("hsato"), make_user("監査")
    User.objects.filter(pk=person.pk).update(last_name="佐藤", first_name="花子")
    grant(auditor, Role.AUDITOR, collections[0])
    for row in collections:
        record_event(principal_for_user(person), "CONFIG_CHANGE", f"collection:{row.slug}")
    own, whole = client_of(auditor), client_of(make_user("監査長", is_superuser=True))
    for term in ("佐藤", "花子 佐藤", "佐藤花子", "hsat", "hsato"):
        assert found(own, term) == ["collection:jinji"], term
        assert found(whole, term) == ["collection:keiri", "collection:jinji"], term
    assert found(whole, "鈴木") == []
    User.objects.filter(pk=person.pk).update(username="h.sato")
    User.objects.filter(pk=make_user("hsato").pk).update(last_name="鈴木")
    assert found(whole, "佐藤") == []  # those lines are shown with the user name of their day alone
    assert found(whole, "鈴木") == []
    assert len(found(whole, "hsato")) == 2


def test_the_way_to_a_line_names_what_it_is_about(collections: tuple[Collection, Collection]) -> None:
    person, auditor = make_user("hsato"), make_user("監査")
    User.objects.filter(pk=person.pk).update(last_name="佐藤", first_name="花子")
    document = Document.objects.create(collection=collections[0], path="a.md", title="人事の設計書")
    grant(auditor, Role.AUDITOR, collections[0])
    for action, resource, named, reader in (
        ("ACCOUNT_CHANGE", f"user:{person.pk}", "佐藤 花子", make_user("監査長", is_superuser=True)),
        ("DOCUMENT_READ", f"document:{document.public_id}", "人事の設計書", auditor),
    ):
        record_event(local_operator(), action, resource)
        line = AuditEvent.objects.get(action=action, resource=resource)
        page = client_of(reader).get(reverse("admin:access_auditevent_change", args=[line.pk])).content.decode()
        assert f"{timezone.localtime(line.at):%Y-%m-%d %H:%M} {named}" in page
        assert f"{timezone.localtime(line.at):%Y-%m-%d %H:%M} {resource}" not in page


def test_what_has_no_title_is_named_once(collections: tuple[Collection, Collection]) -> None:
    shown = client_of(make_user("佐藤", is_superuser=True)).get(reverse(LIST)).content.decode()
    assert '<span title="collection:jinji">コレクション jinji</span>' in shown
    assert shown.count("jinji") == 2
