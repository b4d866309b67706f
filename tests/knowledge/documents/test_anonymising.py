"""Chosen personal data is replaced before anything of a file is stored, or the file is refused."""

from __future__ import annotations

import csv
import io
import json
import logging
import sys

import pytest
from django.test import Client

from hub.access.models import AuditEvent
from hub.access.principals import Role, Scope, local_operator
from hub.access.services import create_token
from hub.core.errors import InvalidInput
from hub.core.temporary import temp_root
from knowledge.collections import update_collection
from knowledge.documents.anonymising import read_anonymising
from knowledge.models import Blob, Chunk, Document, DocumentVersion, VersionContent
from knowledge.parsers.anonymising.html import replace_in_html
from knowledge.parsers.anonymising.slots import Replacer
from knowledge.storage import get_blob_store
from knowledge.types.anonymising import KINDS
from tests.factories import new_collection, principal_with, upload_file, upload_text, work_through

pytestmark = pytest.mark.django_db
ALL = read_anonymising(KINDS, ["氏名"])
SECRETS = (
    "yamada@example.jp",
    "03-1234-5678",
    "123456789018",
    "4111 1111 1111 1111",
    "7654321",
    "神南1-2-3",
    "山田 太郎",
)
TEXT = (
    "# 利用者登録の設計\n\n## 1. 連絡先\n\n氏名：山田 太郎\n担当は yamada@example.jp、電話 03-1234-5678。\n"
    "個人番号 123456789018、カード 4111 1111 1111 1111、普通預金 7654321。\n住所は東京都渋谷区神南1-2-3。\n"
    "\n| 氏名 | 電話番号 |\n|---|---|\n| 山田 太郎 | 0312345678 |\n| 鈴木 花子 | 0398765432 |\n"
)


def _stored(document: Document) -> str:
    """All that is kept of a document: its bytes, its Markdown, its chunks, its row."""
    done = work_through(document)
    with get_blob_store().local_path(done.latest_version.blob_id) as path:
        kept = path.read_bytes().decode()
    kept += VersionContent.objects.get(version=done.latest_version).markdown
    kept += "".join(Chunk.objects.filter(version=done.latest_version).values_list("content", flat=True))
    return kept + json.dumps([done.title, done.path, done.metadata], ensure_ascii=False)


def test_nothing_of_the_chosen_kinds_is_stored_indexed_logged_or_left_behind(tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    done = upload_text(
        local_operator(), tmp_path, TEXT, anonymise=ALL, title="山田 yamada@example.jp", metadata={"氏名": "山田 太郎"}
    )
    kept = _stored(done.document)
    assert [secret for secret in (*SECRETS, "0312345678", "鈴木 花子") if secret in kept + caplog.text] == []
    assert done.anonymised == {
        "email": 2, "phone": 3, "my_number": 1, "card": 1, "account": 1, "address": 1, "field": 4
    }  # fmt: skip
    assert "応答" not in kept
    assert "## 1. 連絡先" in kept
    assert "氏名：[FIELD-1]" in kept
    assert "| [FIELD-1] | [PHONE-" in kept
    left = [path for path in temp_root().rglob("*") if path.is_file()]
    assert [path for path in left if any(secret.encode() in path.read_bytes() for secret in SECRETS)] == []


def test_the_audit_line_and_the_version_say_how_much_and_never_what(tmp_path):
    done = upload_text(local_operator(), tmp_path, TEXT, anonymise=ALL)
    line = AuditEvent.objects.get(action="DOCUMENT_UPLOAD")
    assert line.details["anonymised"] == done.anonymised == done.document.latest_version.anonymised
    assert [secret for secret in SECRETS if secret in json.dumps(line.details, ensure_ascii=False)] == []


def test_what_the_collections_curators_chose_can_be_added_to_by_an_upload_and_not_taken_off(tmp_path):
    collection = new_collection()
    curator = principal_with(Role.CURATOR, collection)
    update_collection(principal=curator, slug=collection.slug, anonymised_kinds=["email"])
    reviewer = principal_with(Role.REVIEWER, collection)
    plain = upload_text(reviewer, tmp_path, TEXT, collection=collection.slug)
    assert plain.anonymised == {"email": 1}
    more = upload_text(
        reviewer, tmp_path, TEXT, collection=collection.slug, name="b.md", anonymise=read_anonymising(["phone"])
    )
    assert set(more.anonymised) == {"email", "phone"}
    assert upload_text(reviewer, tmp_path, TEXT, collection=collection.slug).outcome == "unchanged"


def test_nothing_chosen_stores_the_bytes_as_they_are(tmp_path):
    done = upload_text(local_operator(), tmp_path, TEXT)
    assert done.anonymised is None
    assert done.document.latest_version.anonymised is None
    assert _stored(done.document).startswith(TEXT)
    assert "anonymised" not in AuditEvent.objects.get(action="DOCUMENT_UPLOAD").details


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.pdf", b"%PDF-1.4\nyamada@example.jp", "not_anonymised"),
        ("a.ipynb", b'{"cells": [], "metadata": {"a": "yamada@example.jp"}}', "not_anonymised"),
        ("a.html", b"<p>yamada<i>@exam</i>ple.jp</p><a href='mailto:x%40example.jp'>", "left_in_clear"),
        ("yamada@example.jp.md", b"# a\n\nb\n", "name_not_anonymised"),
        ("a.md", b"\x89PNG\r\n\x1a\n\x00\x00", "not_anonymised"),
        ("a.md", b"\x80\x81\x00\x02\xff\xfe\x00", "unknown_encoding"),
    ],
)
def test_what_can_not_be_rewritten_surely_is_refused_in_words_and_nothing_of_it_is_kept(tmp_path, name, data, code):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InvalidInput) as refused:
        upload_file(local_operator(), path, anonymise=read_anonymising(["email"]))
    assert refused.value.error_code == code, refused.value
    assert "yamada" not in str(refused.value)
    assert not Blob.objects.exists()
    assert not DocumentVersion.objects.exists()
    assert list(temp_root().rglob("anonymised-*")) == []


def test_csv_keeps_its_encoding_its_quotes_and_the_rows_without_anything_to_replace(tmp_path):
    text = '番号,氏名,備考\r\n1,"山田\n太郎","a, ""b"""\r\n2,,なし\r\n'
    path = tmp_path / "名簿.csv"
    path.write_bytes(text.encode("cp932"))
    done = upload_file(local_operator(), path, anonymise=read_anonymising([], ["氏名"]))
    with get_blob_store().local_path(done.document.latest_version.blob_id) as stored:
        kept = stored.read_bytes().decode("cp932")
    assert kept == '番号,氏名,備考\r\n1,[FIELD-1],"a, ""b"""\r\n2,,なし\r\n'
    assert list(csv.reader(io.StringIO(kept, newline=""))) == [
        ["番号", "氏名", "備考"],
        ["1", "[FIELD-1]", 'a, "b"'],
        ["2", "", "なし"],
    ]


def test_html_is_replaced_across_tags_in_attributes_comments_and_character_references(tmp_path):
    page = (
        "<html><head><meta charset=utf-8><title>届出</title></head><body><p>電話 03-<b>1234</b>-5678、a&#64;example.jp"
        "<a href='mailto:b@example.jp'>送る</a></p><!-- c@example.jp --><script>var d='d@example.jp'</script>"
        "<table><tr><th>氏名<th>部署</tr><tr><td rowspan=2>山田 &amp; 太郎<td>総務</tr><tr><td>営業</tr></table>"
        "<p>1 &lt; 2</p></body></html>"
    )
    done = upload_text(local_operator(), tmp_path, page, name="届出.html", anonymise=ALL)
    kept = _stored(done.document)
    assert done.anonymised == {"email": 4, "phone": 1, "field": 1}
    assert "example.jp" not in kept
    assert "1234" not in kept
    assert "太郎" not in kept
    assert "<th>部署</tr>" in kept
    assert "<td>総務</tr><tr><td>営業" in kept
    assert "<p>1 &lt; 2</p>" in kept


@pytest.mark.parametrize(
    ("table", "kept"),
    [
        ("| 氏名 | 山田 | 様 |\n|--|--|--|\n| 住所 | 港区 | 1 |\n| 部署 | 総務 | 2 |\n", ["様", "港区", "総務"]),
        ("| 氏名 | フリガナ |\n|--|--|\n| 山田 | ヤマダ |\n| 佐藤 | サトウ |\n", ["| 氏名 | フリガナ |"]),
        ("| 区分 | 氏　名 |\n|--|--|\n| 正 | 山田 |\n| 副 | 佐藤 |\n", ["| 正 | [FIELD-1] |", "| 副 | [FIELD-2] |"]),
    ],
)
def test_labels_beside_below_and_above_are_known_and_no_value_stays(tmp_path, table, kept):
    wanted = read_anonymising([], ["氏名", "フリガナ", "住所"] if "住所" not in table else ["氏名"])
    done = upload_text(local_operator(), tmp_path, f"# 名簿\n\n{table}", anonymise=wanted)
    text = _stored(done.document)
    assert [name for name in ("山田", "佐藤", "ヤマダ", "サトウ") if name in text] == []
    assert [part for part in kept if part not in text] in ([], ["港区", "総務"])


def test_every_door_replaces_and_says_how_much(tmp_path):
    collection = new_collection(anonymised_kinds=["email"], anonymised_fields=["氏名"])
    reviewer = principal_with(Role.REVIEWER, collection)
    _row, token = create_token(
        principal=local_operator(), user=_user(reviewer), name="a", scopes=frozenset({Scope.READ, Scope.UPLOAD})
    )
    client = Client(headers={"authorization": f"Bearer {token}"})
    file = io.BytesIO(TEXT.encode())
    file.name = "設計書.md"
    answer = client.post(
        "/api/v1/documents", {"file": file, "collection": collection.slug, "anonymise_kinds": "phone, card"}
    )
    assert answer.status_code == 202, answer.content
    assert answer.json()["anonymised"] == {"email": 1, "phone": 3, "card": 1, "field": 3}
    versions = client.get(f"/api/v1/documents/{answer.json()['document_id']}/versions").json()
    assert versions[0]["anonymised"] == answer.json()["anonymised"]
    refused = client.post("/api/v1/documents", {"file": io.BytesIO(b"a"), "anonymise_kinds": "names"})
    assert refused.status_code == 422


def _user(principal):
    from django.contrib.auth.models import User

    return User.objects.get(pk=principal.user_id)


def test_the_choice_is_bounded_and_unknown_kinds_are_named():
    with pytest.raises(InvalidInput, match="names"):
        read_anonymising(["names"])
    with pytest.raises(InvalidInput):
        read_anonymising([], ["あ" * 41])
    assert read_anonymising([" "], [""]) is None


def test_a_page_without_ends_takes_linear_time():
    def operations(size: int) -> int:
        text = "<html><p>" + "<a <!-- <script>" * size + "a@b " * size + "<table><td>" * size
        lines = 0

        def count(_frame, event, _argument):
            nonlocal lines
            lines += event == "call"

        sys.setprofile(count)
        try:
            replace_in_html(text, Replacer(read_anonymising(["email"])))
        finally:
            sys.setprofile(None)
        return lines

    assert operations(800) < 3 * operations(400)
