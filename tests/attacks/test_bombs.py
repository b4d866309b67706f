"""Files that unpack to far more than they are, at every door that opens what a zip holds: refused by name, cheaply."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from time import process_time

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from docx import Document as WordDocument
from docx.oxml.ns import nsdecls
from openpyxl import Workbook
from pptx import Presentation

from hub.access.principals import ALL_SCOPES, local_operator
from hub.access.services import create_token
from hub.core.errors import InvalidInput
from knowledge.models import Document
from knowledge.originals.annotated import read_notes
from tests.factories import new_user, work_through

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queue")]
# Packed to a thousandth; more than an honest part has.
BLANKS = b" " * 100_000_000
OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
"""What an OpenDocument file says that it is, but for the last word."""


def saved(made: object) -> bytes:
    target = io.BytesIO()
    made.save(target)  # type: ignore[attr-defined]
    return target.getvalue()


def with_blanks(package: bytes, part: str) -> bytes:
    """A package with one more part, of blanks."""
    target = io.BytesIO(package)
    with zipfile.ZipFile(target, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(part, BLANKS)
    return target.getvalue()


def open_document(kind: str) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("mimetype", kind)
        archive.writestr("content.xml", "<x/>")
        archive.writestr("META-INF/container.xml", "<x/>")
    return target.getvalue()


BOMBS: dict[str, Callable[[], bytes]] = {
    "a.docx": lambda: with_blanks(saved(WordDocument()), "word/more.xml"),
    "a.xlsx": lambda: with_blanks(saved(Workbook()), "xl/worksheets/more.xml"),
    "a.pptx": lambda: with_blanks(saved(Presentation()), "ppt/slides/more.xml"),
    "a.odt": lambda: with_blanks(open_document(f"{OPEN_DOCUMENT}text"), "styles.xml"),
    "a.ods": lambda: with_blanks(open_document(f"{OPEN_DOCUMENT}spreadsheet"), "styles.xml"),
    "a.odp": lambda: with_blanks(open_document(f"{OPEN_DOCUMENT}presentation"), "styles.xml"),
    "a.epub": lambda: with_blanks(open_document("application/epub+zip"), "c.xml"),
}


@pytest.fixture
def caller() -> Client:
    token = create_token(principal=local_operator(), user=new_user(is_superuser=True), name="t", scopes=ALL_SCOPES)[1]
    return Client(headers={"Authorization": f"Bearer {token}", "Accept-Language": "en"})


def sent(caller: Client, door: str, name: str, content: bytes) -> dict[str, object]:
    file = SimpleUploadedFile(name, content)
    answer = caller.post(f"/api/v1{door}", {"file": file, "path": f"爆/{name}"})
    assert answer.status_code < 500
    return answer.json()


@pytest.mark.parametrize("name", BOMBS)
def test_a_document_that_unpacks_to_far_more_fails_by_name_and_costs_its_caller_nothing(caller: Client, name: str):
    content = BOMBS[name]()
    assert len(content) < 1_000_000
    begun = process_time()
    found = sent(caller, "/documents", name, content)
    document = work_through(Document.objects.get(public_id=found["document_id"]))
    assert process_time() - begun < 5, "it is opened in a child"
    version = document.latest_version
    assert version is not None
    assert (version.status, version.status_code) == ("failed", "expanded_too_large")


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx"])
def test_a_copy_that_comes_back_is_no_other_door(name: str):
    with pytest.raises(InvalidInput) as refused:
        read_notes(local_operator(), BOMBS[name]())
    assert refused.value.error_code == "file_not_read"
    assert "圧縮" in str(refused.value) or "unpack" in str(refused.value)


def commented(comments: str, body: str) -> bytes:
    """A Word file with these comments and this text."""
    made = WordDocument()
    made.add_comment(made.add_paragraph("甲").add_run("乙"), text="丙", author="佐藤")
    package = io.BytesIO(saved(made))
    target = io.BytesIO()
    parts = {"word/comments.xml": ("w:comments", comments), "word/document.xml": ("w:document", body)}
    with zipfile.ZipFile(package) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in source.namelist():
            tag, inside = parts.get(name, ("", ""))
            archive.writestr(name, f"<{tag} {nsdecls('w')}>{inside}</{tag}>" if tag else source.read(name))
    return target.getvalue()


def comment(number: int, inside: str) -> str:
    return f'<w:comment w:id="{number}" w:author="佐藤">{inside}</w:comment>'


def test_a_small_copy_brings_no_more_text_in_its_notes_than_it_has():
    times = 200
    text = "<w:r><w:t>【指摘 1】</w:t><w:br/></w:r>" * 1_000
    content = commented(comment(1, "<w:p>" * times + text + "</w:p>" * times), "<w:body/>")
    assert len(content) < 50_000
    _format, (note,) = read_notes(local_operator(), content)
    assert note["text"].count("【指摘 1】") == 1_000


def test_a_copy_with_very_many_comments_on_the_same_words_is_refused_by_name():
    numbers = range(2_000)
    begun, ended = ("".join(f'<w:commentRange{side} w:id="{one}"/>' for one in numbers) for side in ("Start", "End"))
    body = f"<w:body>{begun}<w:p><w:r><w:t>{'書' * 10_000}</w:t></w:r></w:p>{ended}</w:body>"
    content = commented("".join(comment(one, "<w:p/>") for one in numbers), body)
    assert len(content) < 100_000
    with pytest.raises(InvalidInput) as refused:
        read_notes(local_operator(), content)
    assert refused.value.error_code == "file_not_read"
    assert "16 MB" in str(refused.value)
    assert "コメント" in str(refused.value) or "comments" in str(refused.value)


def nested(content: bytes, times: int) -> bytes:
    for _number in range(times):
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(10):
                archive.writestr(f"{number}.zip", content)
        content = target.getvalue()
    return content


def mail(*, levels: int = 0, attached: dict[str, bytes] | None = None) -> bytes:
    made = EmailMessage()
    made["Subject"] = "設計書の送付"
    made.set_content("添付します。")
    for name, content in (attached or {}).items():
        made.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    data = made.as_bytes()
    for number in range(levels):
        head = f'MIME-Version: 1.0\r\nSubject: {number}\r\nContent-Type: multipart/mixed; boundary="b{number}"\r\n\r\n'
        data = f"{head}--b{number}\r\n".encode() + data + f"\r\n--b{number}--\r\n".encode()
    return data


def test_a_zip_of_zips_of_zips_is_opened_once(caller: Client):
    found = sent(caller, "/documents/archive", "a.zip", nested(b"# x", 5))
    told = [one["code"] for one in found["files"]]  # type: ignore[attr-defined]
    assert told == ["archive_nested"] * 10
    assert not Document.objects.filter(path__startswith="爆").exists()


def test_what_a_mail_brings_is_guarded_as_if_it_came_alone(caller: Client):
    brought = {"a.docx": BOMBS["a.docx"](), "b.zip": nested(b"x", 3)}
    found = sent(caller, "/documents/archive", "a.eml", mail(attached=brought))
    told = {one["name"]: one for one in found["files"]}  # type: ignore[attr-defined]
    assert told["b.zip"]["code"] == "archive_nested"
    version = work_through(Document.objects.get(public_id=told["a.docx"]["document_id"])).latest_version
    assert version is not None
    assert version.status_code == "expanded_too_large"


@pytest.mark.parametrize("levels", [50, 3000])
def test_a_mail_in_mails_without_end_is_read_or_refused(caller: Client, levels: int):
    found = sent(caller, "/documents", f"{levels}.eml", mail(levels=levels))
    version = work_through(Document.objects.get(public_id=found["document_id"])).latest_version
    assert version is not None
    assert version.status in ("ready", "failed")
    assert version.status_code in ("", "too_complex", "corrupted", "no_text")
