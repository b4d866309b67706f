"""Uploading on the pages for everybody: each file told by itself, mended in place, tried again, taken back."""

from __future__ import annotations

import io
import re
import zipfile
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.permissions import Role
from hub.access.principals import local_operator
from hub.access.services import principal_for_user
from hub.access.sessions import CONFIRMED
from hub.core import temporary
from hub.core.errors import Unavailable
from knowledge.documents.batches import undo_batch
from knowledge.documents.deletion import delete_document
from knowledge.models import Collection, Document, DocumentType, UploadBatch
from knowledge.storage import get_blob_store
from knowledge.text.document_kinds import guess_kind
from tests.factories import new_user, upload_text, work_through
from tests.hub.admin.support import DESIGN, add_document, client_of, grant, make_user

pytestmark = pytest.mark.django_db
BATCH = "bat_test"
FETCHED = {"X-Requested-With": "fetch"}


@pytest.fixture(autouse=True)
def own_temp_dir(monkeypatch: Any, tmp_path: Path, queue: None) -> None:
    monkeypatch.setattr(temporary, "_root", tmp_path / "tmp")


@pytest.fixture
def uploader() -> User:
    made = new_user(username="登録者")
    grant(made, Role.REVIEWER, Collection.objects.get(slug="default"))
    return made


@pytest.fixture
def browser(uploader: User) -> Client:
    return client_of(uploader)


def send(client: Client, *files: tuple[str, bytes], **asked: Any) -> str:
    """Send files as the script does, and give the rows."""
    sent = [SimpleUploadedFile(name, content) for name, content in files]
    form = {"collection": "default", "batch": BATCH, "files": sent, **asked}
    return unescape(client.post("/documents/upload/files/", form, headers=FETCHED).content.decode())


def finish() -> None:
    for document in Document.objects.all():
        work_through(document)


def page_of(client: Client, **more: str) -> str:
    answer = client.get("/documents/upload/", {"batch": BATCH, **more})
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def test_files_go_where_they_are_to_and_each_is_told(browser: Client) -> None:
    shown = send(browser, ("設計.md", b"# A"), folder="案件/2025", below="図面")
    assert Document.objects.get().path == "案件/2025/図面/設計.md"
    assert "data-open" in shown
    finish()
    page = page_of(browser)
    assert "利用可能" in page
    assert "data-open" not in page
    assert AuditEvent.objects.filter(action="DOCUMENT_UPLOAD", principal="登録者").count() == 1


def test_a_browser_without_a_script_is_led_to_the_page_of_its_files(browser: Client) -> None:
    sent = [SimpleUploadedFile(name, b"# A") for name in ("設計.md", "計画.md")]
    answer = browser.post("/documents/upload/files/", {"collection": "default", "batch": BATCH, "files": sent})
    assert answer.headers["Location"] == f"/documents/upload/?batch={BATCH}"
    assert page_of(browser).count("<tr id=") == 2


def test_a_refused_file_is_told_and_does_not_stop_the_others(browser: Client, settings: Any) -> None:
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_max_upload_bytes": 2000})
    shown = send(browser, ("大きい.md", b"x" * 3000), ("小さい.md", "# 概要".encode()))
    assert Document.objects.get().path == "小さい.md"
    assert "HUB_MAX_UPLOAD_BYTES" in shown


def test_a_refused_file_is_offered_again_only_where_that_can_help(
    browser: Client, settings: Any, tmp_path: Path, monkeypatch: Any
) -> None:
    upload_text(local_operator(), tmp_path, "# 設計", name="設計.md")
    assert "data-again" in send(browser, ("設計.md", b"# B"))  # into another folder it may be taken in
    assert "data-again" not in send(browser, ("設計.md", b"# B"), folder="案件")

    def away(*_given: object, **_more: object) -> None:
        raise Unavailable("away")

    monkeypatch.setattr("hub.home.upload_form.create_document", away)
    assert "data-again" in send(browser, ("計画.md", b"# A"))
    settings.CONFIG = settings.CONFIG.model_copy(update={"hub_max_upload_bytes": 2000})
    shown = send(browser, ("大きい.md", b"x" * 3000))
    assert "HUB_MAX_UPLOAD_BYTES" in shown
    assert "data-again" not in shown
    assert shown.count("<td") == 3
    assert ">–</td>" in shown


def test_the_same_file_again_says_that_nothing_changed_and_what_another_type_means(browser: Client) -> None:
    send(browser, ("設計.md", DESIGN.encode()))
    finish()
    assert "変更なし" in send(browser, ("設計.md", DESIGN.encode()))
    shown = send(browser, ("設計.md", DESIGN.encode()), document_type="test_plan")
    assert "変更なし" in shown
    assert "種別が変わりました" in shown
    document = Document.objects.get()
    assert (document.versions.count(), document.document_type_id) == (1, "test_plan")


def test_a_type_is_guessed_from_the_text_shown_as_a_guess_and_corrected(browser: Client, uploader: User) -> None:
    send(browser, ("資料.md", DESIGN.encode()), ("メモ.md", "# 打合せメモ\n\n本文".encode()))
    finish()
    types = dict(Document.objects.values_list("path", "document_type_id"))
    assert types == {"資料.md": "basic_design", "メモ.md": "other"}
    assert page_of(browser).count(">推定<") == 1
    guessed = Document.objects.get(path="資料.md")
    told = browser.post(f"/documents/{guessed.public_id}/type/", {"document_type": "requirements"}, headers=FETCHED)
    assert "要件定義書" in told.content.decode()
    assert ">推定<" not in page_of(browser)
    guessed.refresh_from_db()
    assert guessed.document_type_id == "requirements"


def test_a_type_that_was_told_is_not_guessed_and_a_new_version_keeps_its_own(browser: Client) -> None:
    send(browser, ("資料.md", DESIGN.encode()), document_type="test_plan")
    finish()
    send(browser, ("資料.md", f"{DESIGN}\n追記".encode()))
    finish()
    assert Document.objects.get().document_type_id == "test_plan"


def test_a_file_that_failed_is_mended_in_place_whatever_the_mended_one_is_called(browser: Client) -> None:
    send(browser, ("壊れた.pdf", b"%PDF-1.4 broken"), folder="案件")
    finish()
    page = page_of(browser)
    assert "ファイルが壊れている" in page
    document = Document.objects.get()
    own_page = browser.get(f"/documents/{document.public_id}/").content.decode()
    assert f'name="mends" value="{document.public_id}"' in own_page  # there, too, it can be mended
    send(browser, ("直した 基本設計書.md", DESIGN.encode()), mends=document.public_id)
    finish()
    document.refresh_from_db()
    assert Document.objects.count() == 1
    assert document.path == "案件/壊れた.pdf"
    assert document.document_type_id == "basic_design"
    assert "ファイルが壊れている" not in page_of(browser)
    assert "data-mend" not in page_of(browser)
    assert 'name="mends"' not in browser.get(f"/documents/{document.public_id}/").content.decode()


def test_the_rows_are_asked_for_until_all_is_done(browser: Client) -> None:
    send(browser, ("設計.md", b"# A"), ("計画.md", b"# B"))
    ids = ",".join(Document.objects.values_list("public_id", flat=True))
    address = f"/documents/upload/rows/?batch={BATCH}&of={ids}"
    before = unescape(browser.get(address, headers=FETCHED).content.decode())
    assert before.count("data-open") == 2
    assert "処理中 2" in before
    finish()
    after = unescape(browser.get(address, headers=FETCHED).content.decode())
    assert "data-open" not in after
    assert "利用可能 2" in after


def test_what_failed_of_a_batch_is_tried_again(browser: Client) -> None:
    send(browser, ("壊れた.pdf", b"%PDF-1.4 broken"), ("設計.md", b"# A"))
    finish()
    assert "失敗 1" in page_of(browser)
    browser.post("/documents/upload/retry/", {"batch": BATCH})
    assert "処理中 1" in page_of(browser)
    assert Document.objects.get(path="設計.md").latest_version.status == "ready"


def test_a_batch_is_taken_back_and_what_was_there_before_comes_back(browser: Client) -> None:
    send(browser, ("前から.md", "# 元の本文\n\n一。".encode()), batch="bat_before")
    finish()
    send(browser, ("前から.md", "# 新しい本文\n\n二。".encode()), ("新しい.md", b"# A"))
    finish()
    answer = browser.post("/documents/upload/undo/", {"batch": BATCH}, follow=True)
    assert "1 件を削除" in answer.content.decode()
    document = Document.objects.get()
    finish()
    document.refresh_from_db()
    assert [one.number for one in document.versions.order_by("number")] == [1, 2, 3]
    assert "元の本文" in document.current_version.content.markdown


def test_taking_a_batch_back_asks_who_is_there(browser: Client) -> None:
    send(browser, ("新しい.md", b"# A"))
    finish()
    session = browser.session
    del session[CONFIRMED]
    session.save()
    page = f"/documents/upload/?batch={BATCH}"
    answer = browser.post("/documents/upload/undo/", {"batch": BATCH}, headers={"Referer": f"http://testserver{page}"})
    assert answer.status_code == 302
    assert answer["Location"] == f"{reverse('admin:hub_confirm')}?{urlencode({'next': page})}"
    assert Document.objects.exists()


def test_taking_back_twice_changes_nothing_more_and_later_versions_stay(browser: Client, uploader: User) -> None:
    send(browser, ("前から.md", b"# 1"), batch="bat_before")
    send(browser, ("前から.md", b"# 2"))
    principal = principal_for_user(uploader)
    assert undo_batch(principal, BATCH).restored == ("前から.md",)
    again = undo_batch(principal, BATCH)
    assert (again.restored, again.deleted, again.refused, again.left) == ((), (), (), 0)
    send(browser, ("前から.md", b"# 4"), batch="bat_later")
    (refused,) = undo_batch(principal, BATCH).refused
    assert refused[0] == "前から.md"
    assert Document.objects.get().versions.count() == 4


def test_taking_back_gives_the_type_back_that_the_upload_changed(browser: Client, uploader: User) -> None:
    for code in ("basic_design", "test_plan"):
        DocumentType.objects.get_or_create(code=code, defaults={"name_ja": code, "name_en": code})
    principal = principal_for_user(uploader)
    for name in ("前から.md", "直した.md"):
        send(browser, (name, b"# 1"), batch="bat_before", document_type="basic_design")
        send(browser, (name, b"# 2"), document_type="test_plan")
    Document.objects.filter(path="直した.md").update(document_type="other")
    assert len(undo_batch(principal, BATCH).restored) == 2
    types = dict(Document.objects.values_list("path", "document_type"))
    assert types == {"前から.md": "basic_design", "直した.md": "other"}


def test_taking_back_gives_the_title_back_that_the_uploads_changed(uploader: User, tmp_path: Path) -> None:
    principal = principal_for_user(uploader)
    for name in ("前から.md", "直した.md"):
        upload_text(principal, tmp_path, "# 1", name=name, title="前の題名", batch="bat_before")
        upload_text(principal, tmp_path, "# 2", name=name, title="途中の題名", batch=BATCH)
        upload_text(principal, tmp_path, "# 3", name=name, title="後の題名", batch=BATCH)
    Document.objects.filter(path="直した.md").update(title="人の付けた題名")
    assert len(undo_batch(principal, BATCH).restored) == 2
    titles = dict(Document.objects.values_list("path", "title"))
    assert titles == {"前から.md": "前の題名", "直した.md": "人の付けた題名"}


def test_what_came_in_while_a_batch_is_taken_back_stays(browser: Client, uploader: User, monkeypatch: Any) -> None:
    send(browser, ("設計.md", b"# A"))
    delete = delete_document

    def overtaken(**asked: Any) -> Any:
        send(browser, ("設計.md", b"# B"), batch="bat_later")
        return delete(**asked)

    monkeypatch.setattr("knowledge.documents.batches.delete_document", overtaken)
    done = undo_batch(principal_for_user(uploader), BATCH)
    assert (done.deleted, [path for path, _error in done.refused]) == ((), ["設計.md"])
    assert Document.objects.get().latest_version.number == 2


def test_a_mended_file_loses_what_the_one_before_lost(browser: Client) -> None:
    failing = b"# A\n\nmail: taro@example.co.jp\n"
    send(browser, ("設計.md", failing), anonymise_kinds="email")
    document = Document.objects.get()
    assert document.latest_version.anonymised == {"email": 1}
    mended = b"# A\n\nmail: taro@example.co.jp, hanako@example.co.jp\n"
    send(browser, ("直した.md", mended), mends=document.public_id)
    document.refresh_from_db()
    assert document.latest_version.number == 2
    with get_blob_store().open(document.latest_version.blob_id) as file:
        assert b"@example" not in file.read()


@pytest.mark.parametrize("wrong", ["a\x00b"])
def test_forms_with_characters_that_no_name_has_are_refused_in_words(browser: Client, wrong: str) -> None:
    for address in ("/documents/upload/retry/", "/documents/upload/undo/"):
        assert browser.post(address, {"batch": wrong}).status_code in (404, 422)
    for form in ({"name": wrong, "query": ""}, {"name": "a", "query": wrong}, {"forget": wrong}):
        assert browser.post("/documents/views/", form).status_code in (302, 404, 422), form
    sent = {"files": [SimpleUploadedFile("a.md", b"# A")], "collection": "default"}
    assert browser.post("/documents/upload/files/", {**sent, "batch": wrong}).status_code < 500
    assert browser.post("/documents/upload/files/", {**sent, "mends": wrong}).status_code < 500
    assert browser.post("/documents/upload/files/", {**sent, "below": wrong}).status_code < 500
    assert browser.post("/documents/change/", {"document": wrong, "document_type": "other"}).status_code < 500
    for query in ({"batch": wrong}, {"batch": BATCH, "of": wrong}, {"batch": BATCH, "state": wrong}):
        assert browser.get("/documents/upload/rows/", query).status_code < 500


def test_a_batch_is_its_uploaders_own(browser: Client, tmp_path: Path) -> None:
    send(browser, ("設計.md", b"# A"))
    other = new_user()
    grant(other, Role.CURATOR, Collection.objects.get(slug="default"))
    stranger = client_of(other)
    for address in ("/documents/upload/", "/documents/upload/rows/"):
        assert stranger.get(address, {"batch": BATCH}).status_code == 404
    for address in ("/documents/upload/retry/", "/documents/upload/undo/"):
        assert stranger.post(address, {"batch": BATCH}).status_code == 404
    send(stranger, ("別.md", b"# B"))  # the same name is another batch
    assert UploadBatch.objects.count() == 2
    assert "別.md" not in page_of(browser)


def test_an_upload_goes_only_where_one_may_upload(tmp_path: Path) -> None:
    reader = new_user()
    grant(reader, Role.READER, Collection.objects.get(slug="default"))
    client = client_of(reader)
    assert 'role="alert"' in send(client, ("設計.md", b"# A"))
    document = add_document(tmp_path, work=False)
    send(client, ("設計.md", b"# A"), mends=document.public_id)
    told = client.post(f"/documents/{document.public_id}/type/", {"document_type": "other"})
    assert told.status_code == 403
    assert document.versions.count() == 1
    assert Document.objects.count() == 1
    assert "<form" not in re.sub(
        r"(?s)<header.*?</header>|<dialog.*?</dialog>", "", client.get("/documents/upload/").content.decode()
    )


def test_an_upload_may_say_how_it_is_cut(browser: Client) -> None:
    send(browser, ("設計.md", b"# A"), chunk_strategy="fixed", chunk_size="120")
    assert str(Document.objects.get().chosen_policy) == "fixed 120/50 tokens"
    assert "9999" in send(browser, ("手順.md", b"# C"), chunk_size="9999")
    assert not Document.objects.filter(path="手順.md").exists()


def test_the_admins_address_leads_to_the_page_for_everybody() -> None:
    answer = client_of(make_user("佐藤", is_superuser=True)).get("/admin/knowledge/document/upload/")
    assert answer.headers["Location"] == "/documents/upload/"


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("要件定義書に基づく基本設計書", "basic_design"),
        ("受発注システム基本設計書（要件定義書 別冊）", "basic_design"),
        ("基本設計書レビュー記録", None),
        ("基本設計書 作成ガイドライン", "guideline"),
        ("要件定義書・基本設計書対応表", None),
        ("総合試験計画書_v1.2", "test_plan"),
        ("Detailed Design of the Loan Service", "detailed_design"),
        ("令和7年度 予算書", None),
    ],
)
def test_a_title_names_its_kind_last(title: str, kind: str | None) -> None:
    assert guess_kind(title, "x.md", []) == kind
    assert guess_kind("", f"{title}.docx", []) == kind


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("D1_基本設計書_SmartReviewer", "basic_design"),
        ("要件定義書 PreviewServer", "requirements"),
        ("基本設計書 review", None),
        ("Basic design review", None),
    ],
)
def test_a_name_that_has_a_word_in_it_is_not_that_word(title: str, kind: str | None) -> None:
    assert guess_kind(title, "x.md", []) == kind


def test_a_heading_names_the_kind_where_neither_title_nor_file_name_does() -> None:
    assert guess_kind("図書館システム", "doc01.docx", ["図書館システム", "詳細設計書"]) == "detailed_design"
    assert guess_kind("図書館システム", "doc01.docx", ["はじめに", "範囲", "目的", "基本設計"]) is None
    assert guess_kind("運用手順書", "x.md", [], {"manual": ("運用手順書",)}) == "manual"


def test_a_zip_of_documents_gives_a_row_for_each_and_one_for_what_was_left_out(browser: Client) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in ("図/設計.md", "../外.md", ".DS_Store"):
            archive.writestr(name, "# A")
    shown = send(browser, ("資料.zip", target.getvalue()), folder="案件", below="図面")
    assert Document.objects.get().path == "案件/図面/資料/図/設計.md"
    assert shown.count("<tr") == 3
    assert "資料.zip: ../外.md" in shown
    assert "取り込まなかったファイル（システムやソフトが隠して置くもの）: 1 件" in shown
    undo_batch(principal_for_user(User.objects.get(username="登録者")), BATCH)
    assert not Document.objects.exists()
