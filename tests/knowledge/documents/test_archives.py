"""A zip of documents and a mail: each file a document of its own; hostile archives are refused in words."""

from __future__ import annotations

import io
import struct
import zipfile
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from hub.access.models import AuditEvent
from hub.access.principals import ALL_SCOPES, Principal, Role, local_operator
from hub.access.services import create_token
from hub.core.errors import InvalidInput, NotFound
from hub.core.temporary import temp_root
from knowledge.collections import update_collection
from knowledge.documents.anonymising import read_anonymising
from knowledge.documents.archives import TakenArchive, take_in_archive
from knowledge.documents.uploads import Upload, hash_file
from knowledge.models import Blob, Document
from tests.factories import new_collection, principal_with, work_through
from tests.knowledge.parsers.outlook_writer import Message, attached, write_msg

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]


def zipped(*files: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return target.getvalue()


def in_cp932(data: bytes, name: str, placeholder: str) -> bytes:
    """Give an entry the name that Windows writes: CP932, without the flag of UTF-8."""
    raw = name.encode("cp932")
    assert len(raw) == len(placeholder)
    return data.replace(placeholder.encode(), raw)


def take_in(
    folder: Path, data: bytes, name: str = "資料.zip", who: Principal | None = None, **more: Any
) -> TakenArchive:
    file = folder / "uploaded"
    file.write_bytes(data)
    sha256, size_bytes = hash_file(file)
    upload = Upload(file=file, filename=name, sha256=sha256, size_bytes=size_bytes, **more)
    return take_in_archive(principal=who or local_operator(), upload=upload)


def outcomes_of(taken: TakenArchive) -> dict[str, str]:
    return {one.name: one.outcome.outcome if one.outcome else one.error.error_code for one in taken.files}


def paths() -> list[str]:
    return sorted(Document.objects.values_list("path", flat=True))


def test_each_document_of_a_zip_is_one_below_its_name_and_a_second_time_changes_nothing(tmp_path: Path) -> None:
    data = zipped(("基本設計/画面.md", "# 画面\n\n一覧を表示する。".encode()), ("要件.txt", "応答は3秒。".encode()))
    taken = take_in(tmp_path, data, path="案件/2025", batch="bat_zip")
    assert paths() == ["案件/2025/資料/基本設計/画面.md", "案件/2025/資料/要件.txt"]
    assert (taken.kind, taken.left_out, set(outcomes_of(taken).values())) == ("zip", 0, {"created"})
    assert set(outcomes_of(take_in(tmp_path, data, path="案件/2025")).values()) == {"unchanged"}
    assert not Blob.objects.filter(size_bytes=len(data)).exists()
    assert work_through(Document.objects.get(path__endswith="画面.md")).latest_version.status == "ready"
    lines = AuditEvent.objects.filter(action="ARCHIVE_UPLOAD").order_by("pk")
    assert (lines[0].details["files"], lines[0].details["refused"]) == (2, 0)
    assert AuditEvent.objects.filter(action="DOCUMENT_UPLOAD").count() == 4
    assert list(temp_root().rglob("unpacked-*")) == []


def test_a_folder_of_the_zips_own_name_is_not_doubled(tmp_path: Path) -> None:
    take_in(tmp_path, zipped(("資料/a.md", b"# a"), ("資料/図/b.md", b"# b")))
    assert paths() == ["資料/a.md", "資料/図/b.md"]


def test_names_of_windows_are_read_and_what_systems_hide_is_left_out_and_counted(tmp_path: Path) -> None:
    # 表 and ソ end in a backslash in CP932.
    data = in_cp932(zipped(("AAAAAA/BBBBBBBB.md", b"# a")), "設計書", "AAAAAA")
    data = in_cp932(data, "一覧表ソ", "BBBBBBBB")
    hidden = ("__MACOSX/._a.md", ".DS_Store", "図/Thumbs.db", "desktop.ini", "~$設計.docx")
    take_in(tmp_path, data)
    assert paths() == ["資料/設計書/一覧表ソ.md"]
    taken = take_in(tmp_path, zipped(("図\\a.md", b"# b"), *((name, b"x") for name in hidden)), name="b.zip")
    assert (outcomes_of(taken), taken.left_out) == ({"図/a.md": "created"}, 5)


def test_each_hostile_member_is_refused_by_itself_and_the_others_go_on(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link.md")
    link.external_attr = 0o120777 << 16
    inner = zipped(("奥.md", b"# a"))
    data = zipped(
        ("../../etc/cron.md", b"# a"), ("/abs.md", b"# a"), ("C:\\win.md", b"# a"), (link, b"/etc/passwd"),
        ("中.zip", inner), ("改名.md", inner), ("空.md", b""), ("良い.md", b"# good"), ("./良い.md", b"# other"),
        ("目録.exe", bytes(range(256))),
    )  # fmt: skip
    assert outcomes_of(take_in(tmp_path, data)) == {
        "../../etc/cron.md": "archive_bad_path",
        "/abs.md": "archive_bad_path",
        "C:/win.md": "archive_bad_path",
        "link.md": "archive_link",
        "中.zip": "archive_nested",
        "改名.md": "archive_nested",
        "空.md": "empty_file",
        "良い.md": "created",
        "./良い.md": "path_taken",
        "目録.exe": "created",  # and failed, with its reason, when it is read
    }
    assert paths() == ["資料/目録.exe", "資料/良い.md"]


def test_an_encrypted_and_a_damaged_member_are_told(tmp_path: Path) -> None:
    data = bytearray(zipped(("a.md", b"# a" * 50), ("b.md", b"# b" * 50), ("c.md", b"# c")))
    local, central = data.index(b"PK\x03\x04"), data.index(b"PK\x01\x02")
    data[local + 6] |= 1
    data[central + 8] |= 1
    second = data.index(b"PK\x01\x02", central + 4)
    struct.pack_into("<I", data, second + 16, 0xDEADBEEF)
    assert outcomes_of(take_in(tmp_path, bytes(data))) == {"a.md": "encrypted", "b.md": "corrupted", "c.md": "created"}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (lambda: zipped(("a.md", b"0" * 200_000_000)), "expanded_too_large"),
        (lambda: zipped(*((f"{n}.md", b"x") for n in range(10_000))), "archive_too_many"),
        (lambda: zipped((".DS_Store", b"x")), "archive_empty"),
        (lambda: zipped(("a.md", b"# a"))[:-30], "corrupted"),
    ],
    ids=["bomb", "10,000 members", "nothing in it", "cut"],
)
def test_what_passes_a_limit_is_refused_as_a_whole(tmp_path: Path, data: Any, code: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        take_in(tmp_path, data())
    assert refused.value.error_code == code
    assert paths() == []


def test_a_size_that_lies_does_not_pass(tmp_path: Path) -> None:
    data = bytearray(zipped(("a.md", b"0" * 200_000_000)))
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", data, data.index(mark) + place, 100)
    assert outcomes_of(take_in(tmp_path, bytes(data))) == {"a.md": "corrupted"}  # read to the size that it names
    assert paths() == []


def test_what_a_collection_anonymises_is_replaced_in_each_and_no_zip_goes_round_it(tmp_path: Path) -> None:
    collection = new_collection()
    update_collection(
        principal=principal_with(Role.CURATOR, collection), slug=collection.slug, anonymised_kinds=["email"]
    )
    reviewer = principal_with(Role.REVIEWER, collection)
    data = zipped(("a.md", b"# a\n\nyamada@example.jp"), ("yamada@example.jp.md", b"# b"), ("c.ipynb", b"{}"))
    taken = take_in(tmp_path, data, who=reviewer, collection=collection.slug)
    assert outcomes_of(taken) == {
        "a.md": "created", "yamada@example.jp.md": "name_not_anonymised", "c.ipynb": "not_anonymised"
    }  # fmt: skip
    assert taken.files[0].outcome.anonymised == {"email": 1}
    more = take_in(tmp_path, data, name="b.zip", anonymise=read_anonymising(["email"]))
    assert more.files[0].outcome.anonymised == {"email": 1}


def test_who_may_not_upload_is_told_before_anything_is_opened(tmp_path: Path) -> None:
    collection = new_collection()
    with pytest.raises(NotFound):
        take_in(tmp_path, b"no zip", who=principal_with(Role.REVIEWER, new_collection()), collection=collection.slug)


def mail() -> bytes:
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.jp", "議事録の送付"
    message.set_content("添付の通りです。")
    for content in ("# 一つ目", "# 二つ目"):
        message.add_attachment(content.encode(), maintype="text", subtype="markdown", filename="議事録.md")
    message.add_attachment(zipped(("a.md", b"# a")), maintype="application", subtype="zip", filename="a.zip")
    return message.as_bytes()


def test_a_mail_is_a_document_and_so_is_each_file_attached(tmp_path: Path) -> None:
    taken = take_in(tmp_path, mail(), name="送付.eml", path="メール")
    assert outcomes_of(taken) == {
        "送付.eml": "created", "議事録.md": "created", "議事録 (2).md": "created", "a.zip": "archive_nested"
    }  # fmt: skip
    assert paths() == ["メール/送付.eml", "メール/送付.eml/議事録 (2).md", "メール/送付.eml/議事録.md"]
    assert work_through(Document.objects.get(path="メール/送付.eml")).title == "議事録の送付"


def test_a_message_of_outlook_is_taken_apart_as_a_mail_is(tmp_path: Path) -> None:
    sent = Message(subject="設計書の送付", attachments=[attached("設計書.md", "# 設計書\n\n本文".encode("cp932"))])
    taken = take_in(tmp_path, write_msg(sent), name="送付.msg", path="メール")
    assert taken.kind == "msg"
    assert outcomes_of(taken) == {"送付.msg": "created", "設計書.md": "created"}
    assert paths() == ["メール/送付.msg", "メール/送付.msg/設計書.md"]
    assert work_through(Document.objects.get(path="メール/送付.msg")).title == "設計書の送付"
    assert work_through(Document.objects.get(path="メール/送付.msg/設計書.md")).title == "設計書"


def test_rest_takes_archives_at_their_own_address_and_says_so_at_the_other(tmp_path: Path) -> None:
    _row, token = create_token(
        principal=local_operator(), user=User.objects.create_superuser("管理者"), name="t", scopes=ALL_SCOPES
    )
    headers = {"Authorization": f"Bearer {token}", "Accept-Language": "ja"}

    def send(address: str, name: str, data: bytes) -> Any:
        return Client().post(f"/api/v1{address}", {"file": SimpleUploadedFile(name, data)}, headers=headers)

    data = zipped(("a.md", b"# a"), ("b.zip", zipped(("c.md", b"# c"))))
    refused = send("/documents", "資料.zip", data)
    assert (refused.status_code, refused.json()["code"]) == (422, "archive_of_documents")
    assert "アーカイブとして取り込む" in refused.json()["detail"]
    answer = send("/documents/archive", "資料.zip", data)
    assert answer.status_code == 202
    first, second = answer.json()["files"]
    assert (first["outcome"], first["path"]) == ("created", "資料/a.md")
    assert (second["outcome"], second["code"], second["document_id"]) == ("refused", "archive_nested", None)
    assert "取り出して" in second["detail"]
    single = send("/documents/archive", "b.md", b"# b").json()
    assert (single["kind"], single["files"][0]["path"]) == ("", "b.md")
