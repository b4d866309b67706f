"""The page of a watched source: a look before every scan, what could not be read, and that it is switched off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import Classification, HubRole, Role
from hub.access.services import principal_for_user
from knowledge.documents.source_state import switched_off
from knowledge.documents.sources import update_source
from knowledge.models import Collection, Document, Source
from tests.factories import make_holder
from tests.hub.admin.support import client_of, grant, make_user
from tests.knowledge.documents.source_support import run, watch, work_off

pytestmark = pytest.mark.django_db
OFF = "この取り込み元は無効です"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a readable and a broken file."""
    folder = tmp_path / "共有"
    folder.mkdir()
    (folder / "案内.md").write_text("# 案内\n\n本文。\n", encoding="utf-8")
    (folder / "壊れた.pdf").write_bytes(b"%PDF-1.4 broken")
    return folder


@pytest.fixture
def operator() -> User:
    """Somebody with a name who says what is watched and curates the collection."""
    user = make_holder(make_user("hsato"), HubRole.OPERATOR)
    User.objects.filter(pk=user.pk).update(last_name="佐藤", first_name="花子")
    grant(user, Role.CURATOR, Collection.objects.get(slug="default"))
    return user


def page_of(user: User, source: Source, **query: Any) -> str:
    address = reverse("admin:knowledge_source_change", args=[source.pk])
    return client_of(user).get(address, query).content.decode()


def test_a_look_is_offered_before_every_scan(folder, operator):
    source = watch(folder)
    run(source)
    (folder / "追加.md").write_text("# 追加\n\n本文。\n", encoding="utf-8")
    page = page_of(operator, source)
    assert 'href="?look=1"' in page
    assert "新しい文書" not in page
    looked = page_of(operator, source, look=1)
    assert "次の走査の対象" in looked
    assert "新しい文書 1 件" in looked
    assert "取り込み済みで、変わっていないファイル 2 件" in looked
    (folder / "追加.md").unlink()
    assert "新しい文書" not in page_of(operator, source, look=1)
    curator = make_user("suzuki")
    grant(curator, Role.CURATOR, Collection.objects.get(slug="default"))
    assert "look=1" not in page_of(curator, source)  # who may not say what is watched may not look either
    assert "新しい文書" not in page_of(curator, source, look=1)


def test_what_could_not_be_read_after_a_scan_is_counted_and_linked(folder, operator):
    source = watch(folder)
    assert run(source) == (2, 0, 0, 0, 0)
    assert "読めなかった" not in page_of(operator, source)
    work_off()
    page = page_of(operator, source)
    broken = Document.objects.get(path="壊れた.pdf")
    assert "取り込んだ後に読めなかった文書 1 件" in page
    assert f'href="{reverse("admin:knowledge_document_change", args=[broken.pk])}"' in page
    listed = client_of(operator).get(reverse("admin:knowledge_source_changelist")).content.decode()
    assert "取り込んだ後に読めなかったもの 1" in listed
    Document.objects.filter(pk=broken.pk).update(classification=Classification.C3)
    assert "読めなかった" not in page_of(operator, source)  # nor does a count say of what the person may not see
    Document.objects.filter(pk=broken.pk).update(classification=Classification.C2, collection=other_collection())
    assert "読めなかった" not in page_of(operator, source)


def other_collection() -> Collection:
    return Collection.objects.create(slug="other", name="別")


def test_a_source_that_is_off_says_so_since_when_and_by_whom(folder, operator):
    source = watch(folder)
    run(source)
    assert OFF not in page_of(operator, source)
    principal = principal_for_user(operator)
    update_source(principal=principal, name=source.name, enabled=False)
    line = AuditEvent.objects.filter(action="SOURCE_CHANGE").latest("pk")
    update_source(principal=principal, name=source.name, enabled=False, scan_every_minutes=30)
    page = page_of(operator, source)
    assert "佐藤 花子 (hsato) が無効にし" in page
    assert "「有効」をオンにして保存" in page
    source.refresh_from_db()
    off = switched_off(source)
    assert off is not None
    assert (off.at, off.by) == (line.at, "佐藤 花子 (hsato)")
    curator = make_user("suzuki")
    grant(curator, Role.CURATOR, Collection.objects.get(slug="default"))
    assert "有効にできるのは" in page_of(curator, source)
    update_source(principal=principal, name=source.name, enabled=True)
    source.refresh_from_db()
    assert switched_off(source) is None
    Source.objects.update(enabled=False)  # by a way that leaves no line
    page = page_of(operator, source)
    assert OFF in page
    assert "hsato" not in page.split(OFF)[1].split("</p>")[0]
