from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from hub.access.models import AuditEvent
from hub.access.principals import Role
from hub.core import temporary
from knowledge.ingest.content import content_of, store_content
from knowledge.models import Collection, DeletionReceipt, Document, VersionContent
from knowledge.parsers.markdown import markdown_blocks
from knowledge.types.documents import ParsedDocument
from tests.hub.admin.support import DESIGN, add_document, client_of, grant, make_user

pytestmark = pytest.mark.django_db
LIST = "admin:knowledge_document_changelist"
CHANGE = "admin:knowledge_document_change"


@pytest.fixture(autouse=True)
def own_temp_dir(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(temporary, "_root", tmp_path / "tmp")


@pytest.fixture
def superuser_client() -> Any:
    return client_of(make_user("佐藤", is_superuser=True))


def test_the_list_shows_state_reason_and_chunks(superuser_client: Any, tmp_path: Path) -> None:
    document = add_document(tmp_path)
    add_document(tmp_path, filename="壊れた.pdf", text="%PDF-1.4 broken")
    shown = superuser_client.get(reverse(LIST)).content.decode()
    assert document.latest_version is not None
    assert f"{document.latest_version.chunks_count} チャンク" in shown
    assert "ファイルが壊れている" in shown
    failed = superuser_client.get(reverse(LIST), {"state": "failed"}).content.decode()
    assert "壊れた.pdf" in failed
    assert "基本設計書.md" not in failed


def test_a_document_that_failed_is_offered_to_be_tried_again_and_no_review(
    superuser_client: Any, tmp_path: Path
) -> None:
    ready, failed = add_document(tmp_path), add_document(tmp_path, filename="壊れた.pdf", text="%PDF-1.4 broken")
    main = [
        re.findall(r"hub-button hub-button-main[^>]*>([^<]+)<", shown.content.decode())
        for shown in (superuser_client.get(reverse(CHANGE, args=[one.pk])) for one in (ready, failed))
    ]
    assert main == [["レビューを開始"], ["処理をやり直す"]]


def test_staff_see_documents_of_their_collections_only(tmp_path: Path) -> None:
    hidden_in = Collection.objects.create(slug="himitsu", name="秘密の箱")
    seen = add_document(tmp_path, work=False)
    hidden = add_document(tmp_path, filename="秘密.md", text="# 秘密", collection="himitsu", work=False)
    staff = make_user("高橋")
    grant(staff, Role.READER, seen.collection)
    client = client_of(staff)
    shown = client.get(reverse(LIST)).content.decode()
    assert "基本設計書.md" in shown
    assert "秘密" not in shown
    absent = client.get(reverse(CHANGE, args=[hidden.pk + 1000]))
    refused = client.get(reverse(CHANGE, args=[hidden.pk]))
    assert refused.status_code == absent.status_code == 302
    assert refused["Location"] == absent["Location"]
    for name in ("admin:knowledge_document_file", "admin:knowledge_document_retry"):
        method = client.get if name.endswith("file") else client.post
        assert method(reverse(name, args=[hidden.pk])).status_code == 404
    progress = client.get(reverse("admin:knowledge_document_progress"), {"of": f"{seen.pk},{hidden.pk}"}).json()
    assert list(progress) == [str(seen.pk)]
    client.post(reverse("admin:knowledge_document_delete_many"), {"pk": [hidden.pk], "confirmed": "1"})
    assert Document.objects.filter(pk=hidden.pk).exists()
    grant(staff, Role.READER, hidden_in)
    assert client.get(reverse(CHANGE, args=[hidden.pk])).status_code == 200


def test_the_page_marks_the_passage_and_escapes_the_text(superuser_client: Any, tmp_path: Path) -> None:
    document = add_document(tmp_path)
    start = DESIGN.index("画面の応答時間")
    place = {"start": start, "end": start + len("画面の応答時間"), "version": 1}
    shown = superuser_client.get(reverse(CHANGE, args=[document.pk]), place).content.decode()
    assert '<mark id="passage">画面の応答時間</mark>は通常時3秒以内' in shown
    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert" in shown
    assert "2.3 同時利用者数</a>" in shown
    assert AuditEvent.objects.filter(action="DOCUMENT_READ", resource=f"document:{document.public_id}").exists()


def test_a_long_text_is_shown_in_parts(superuser_client: Any, tmp_path: Path) -> None:
    document = add_document(tmp_path, work=False)
    VersionContent.objects.create(version=document.versions.get(), markdown="# 長い文書\n\n" + "あ" * 90_000)
    shown = superuser_client.get(reverse(CHANGE, args=[document.pk]), {"start": 45_000}).content.decode()
    assert shown.count("あ") < 41_000
    assert "前の部分" in shown
    assert "次の部分" in shown


def test_a_public_id_leads_to_the_page(superuser_client: Any, tmp_path: Path) -> None:
    document = add_document(tmp_path, work=False)
    link = reverse("admin:knowledge_document_by_id", args=[document.public_id])
    response = superuser_client.get(link, {"start": 3})
    assert response["Location"] == reverse(CHANGE, args=[document.pk]) + "?start=3#passage"
    assert superuser_client.get(reverse("admin:knowledge_document_by_id", args=["doc_none"])).status_code == 404


def test_the_original_is_an_attachment(superuser_client: Any, tmp_path: Path) -> None:
    document = add_document(tmp_path, filename="頁.html", text="<script>alert(1)</script>", work=False)
    response = superuser_client.get(reverse("admin:knowledge_document_file", args=[document.pk]))
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"].startswith("attachment")
    assert response.getvalue() == b"<script>alert(1)</script>"


def test_retry_works_on_a_document_again(superuser_client: Any, tmp_path: Path) -> None:
    document = add_document(tmp_path)
    asked = {"action": "retry", "_selected_action": [document.pk], "index": 0}
    shown = superuser_client.post(reverse(LIST), asked, follow=True).content.decode()
    assert "処理をやり直します: 1 件" in shown
    progress = superuser_client.get(reverse("admin:knowledge_document_progress"), {"of": document.pk}).json()
    assert progress[str(document.pk)]["done"] is False


def test_a_reader_may_not_retry(tmp_path: Path) -> None:
    document = add_document(tmp_path)
    reader = make_user("高橋")
    grant(reader, Role.READER, document.collection)
    response = client_of(reader).post(reverse("admin:knowledge_document_retry", args=[document.pk]), follow=True)
    assert "キュレーターか、文書を登録した人だけ" in response.content.decode()
    document.refresh_from_db()
    assert document.latest_version is not None
    assert document.latest_version.status == "ready"


def test_deleting_asks_first_and_tells_the_receipt(superuser_client: Any, tmp_path: Path) -> None:
    document = add_document(tmp_path)
    asked = {"action": "delete_documents", "_selected_action": [document.pk], "index": 0}
    question = superuser_client.post(reverse(LIST), asked).content.decode()
    assert "完全に削除します" in question
    assert Document.objects.filter(pk=document.pk).exists()
    answer = {"pk": [document.pk], "confirmed": "1"}
    shown = superuser_client.post(reverse("admin:knowledge_document_delete_many"), answer, follow=True)
    receipt = DeletionReceipt.objects.get()
    assert receipt.principal == "佐藤"
    assert f"チャンク {receipt.counts['chunks']}" in shown.content.decode()
    assert receipt.public_id in shown.content.decode()
    assert not Document.objects.exists()


def test_the_list_takes_the_same_number_of_queries_for_one_and_for_many(
    superuser_client: Any, tmp_path: Path, django_assert_max_num_queries: Any, queue: None
) -> None:
    add_document(tmp_path, filename="0.md", text="# 0", work=False)
    with CaptureQueriesContext(connection) as for_one:
        superuser_client.get(reverse(LIST))
    for number in range(1, 20):
        add_document(tmp_path, filename=f"{number}.md", text=f"# {number}", work=False)
    with django_assert_max_num_queries(len(for_one)):
        superuser_client.get(reverse(LIST))


def test_the_text_is_rendered_and_can_be_seen_as_it_is_stored(superuser_client: Any, tmp_path: Path) -> None:
    text = "# 手数料\n\n| 種類 | **金額** |\n|---|---|\n| 住民票 | 300円 |\n| 戸籍 | 450円 |\n\n[条例](http://x.jp)による。\n"
    document = add_document(tmp_path, filename="手数料.md", text=text)
    place = {"version": 1, "start": text.index("| 戸籍"), "end": text.index("\n\n[条例]")}
    link = reverse(CHANGE, args=[document.pk])
    shown = superuser_client.get(link, place).content.decode()
    assert "<strong>金額</strong></th>" in shown
    assert '<td><mark id="passage">戸籍</mark></td>\n<td><mark>450円</mark></td>' in shown
    assert "http://x.jp" not in shown
    stored = superuser_client.get(link, {**place, "stored": ""}).content.decode()
    assert '<mark id="passage">| 戸籍 | 450円 |</mark>' in stored
    assert "[条例](http://x.jp)による。" in stored


def test_parts_of_a_long_text_begin_with_lines_and_lose_none(superuser_client: Any, tmp_path: Path) -> None:
    rows = "".join(f"| F{number:05} | {'長い説明' * 6} |\n" for number in range(3000))
    text = f"# 一覧\n\n| 番号 | 説明 |\n|---|---|\n{rows}"
    document = add_document(tmp_path, filename="一覧.md", work=False)
    parsed = ParsedDocument(format="md", markdown=text, blocks=markdown_blocks(text))
    store_content(content_of(document.versions.get(), parsed))
    seen: list[str] = []
    at: int | None = 0
    while at is not None:
        page = superuser_client.get(reverse(CHANGE, args=[document.pk]), {"start": at})
        window = page.context_data["text"]
        seen += re.findall(r"F[0-9]{5}", str(window.html))
        assert "番号</th>" in window.html
        at = window.next_at
    assert seen == [f"F{number:05}" for number in range(3000)]
    middle = {"start": text.index("| F01500"), "end": text.index("| F01501")}
    window = superuser_client.get(reverse(CHANGE, args=[document.pk]), middle).context_data["text"]
    assert '<mark id="passage">F01500</mark>' in window.html
