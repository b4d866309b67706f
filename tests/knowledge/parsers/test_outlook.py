"""Messages of Outlook (msg): what an eml says of the same mail, in the encodings that Outlook writes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.mail import attachments, read_mail
from knowledge.parsers.outlook import read_outlook
from knowledge.parsers.process.isolation import parse_isolated
from knowledge.parsers.registry import parse_file
from knowledge.types.documents import ParsedDocument
from tests.knowledge.parsers.outlook_writer import UTF_16, Message, attached, write_msg

SENT = 0x0039
TEN_OCLOCK = int((datetime(2025, 11, 12, 1, tzinfo=UTC) - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10**7


def parse(folder: Path, message: Message | bytes) -> ParsedDocument:
    path = folder / "送付.msg"
    path.write_bytes(message if isinstance(message, bytes) else write_msg(message))
    return parse_file(path, filename=path.name, limits=ParseLimits())


@pytest.mark.parametrize(
    ("charset", "code_page"),
    [(UTF_16, None), ("cp932", 932), ("cp932", None), ("iso2022_jp", 50220), ("utf-8", 65001)],
)
def test_headers_and_text_are_read_in_each_encoding_also_without_its_name(
    tmp_path: Path, charset: str, code_page: int | None
) -> None:
    people = [(1, "設計担当", "design@example.jp"), (2, "品質保証室", "qa@example.jp"), (3, "隠し", "bcc@example.jp")]
    message = Message(charset=charset, code_page=code_page, to=people, properties={SENT: TEN_OCLOCK})
    parsed = parse(tmp_path, message)
    assert (parsed.format, parsed.title) == ("msg", "第3回 打合せ議事録の送付")
    assert "| 差出人 | 山田 太郎 <yamada@example.jp> |" in parsed.markdown
    assert "| 宛先 | 設計担当 <design@example.jp> |" in parsed.markdown
    assert "| CC | 品質保証室 <qa@example.jp> |" in parsed.markdown
    assert "| 日時 | 2025-11-12 01:00:00 +0000 |" in parsed.markdown
    assert "bcc@example.jp" not in parsed.markdown
    assert [block.kind.value for block in parsed.blocks] == ["table", "heading", "paragraph"]
    assert "応答は3秒以内とする。" in parsed.markdown
    assert parsed.notices == ()


def test_the_date_is_that_of_the_headers_where_the_mail_came_with_them(tmp_path: Path) -> None:
    headers = "Received: from a\r\n by b\r\nDate: Wed, 12 Nov 2025 10:00:00 +0900\r\nSubject: x\r\n"
    parsed = parse(tmp_path, Message(properties={SENT: TEN_OCLOCK, 0x007D: headers}))
    assert "| 日時 | 2025-11-12 10:00:00 +0900 |" in parsed.markdown


def test_html_is_read_where_there_is_no_plain_text_and_a_path_of_folders_is_no_address(tmp_path: Path) -> None:
    html = "<html><body><h1>通知</h1><script>alert(1)</script><p>明日①に切り替える。</p></body></html>"
    sender = {0x5D01: "", 0x0C1F: "/O=HOUSE/OU=GROUP/CN=YAMADA"}
    message = Message(text=None, html=html.encode("cp932"), code_page=932, properties=sender)
    parsed = parse(tmp_path, message)
    assert "# 通知" in parsed.markdown
    assert "明日①に切り替える。" in parsed.markdown
    assert "alert" not in parsed.markdown
    assert "| 差出人 | 山田 太郎 |" in parsed.markdown
    both = parse(tmp_path, Message(html=html.encode("cp932"), code_page=932))
    assert "通知" not in both.markdown


def test_attached_files_are_taken_out_and_an_attached_message_is_a_mail(tmp_path: Path) -> None:
    deep = Message(subject="奥のメール", text="奥の本文", attachments=[attached("奥.csv", b"a,b\n1,2")])
    message = Message(
        attachments=[
            attached("別紙1_一覧表.xlsx", b"PK" * 5000),
            attached("../../etc/passwd", b"x"),
            attached("図.png", b"\x89PNG", p370E="image/png", p3712="a@b", p3714=4),
            {0x3707: "共有.docx", 0x3705: 7},
        ],
        inner=[("転送: 結果/案", deep)],
    )
    data = write_msg(message)
    found = attachments(read_mail(data))
    assert [one.name for one in found] == ["別紙1_一覧表.xlsx", "passwd", "転送: 結果_案.eml"]
    assert found[0].data == b"PK" * 5000
    forwarded = found[2].data
    assert [(one.name, one.data) for one in attachments(read_mail(forwarded))] == [("奥.csv", b"a,b\n1,2")]
    path = tmp_path / "a.eml"
    path.write_bytes(forwarded)
    assert parse_file(path, filename=path.name, limits=ParseLimits()).title == "奥のメール"
    notices = {notice.code: notice.ja for notice in parse(tmp_path, data).notices}
    assert set(notices) == {"mail_attachments", "mail_pictures_left_out", "mail_attachments_elsewhere"}
    assert "3 件（別紙1_一覧表.xlsx" in notices["mail_attachments"]


def test_a_text_in_packed_rtf_alone_and_what_is_sealed_is_said(tmp_path: Path) -> None:
    parsed = parse(tmp_path, Message(text=None, properties={0x1009: b"packed"}))
    assert [notice.code for notice in parsed.notices] == ["mail_text_in_rtf"]
    assert parsed.title == "第3回 打合せ議事録の送付"
    with pytest.raises(ParseError, match="mail_sealed"):
        parse(tmp_path, Message(kind="IPM.Note.SMIME", attachments=[attached("smime.p7m", b"x")]))


def test_what_was_signed_in_the_open_is_read_with_what_it_brings(tmp_path: Path) -> None:
    signed = (
        'Content-Type: multipart/signed; boundary="b"\n\n--b\nContent-Type: multipart/mixed; boundary="c"\n\n'
        "--c\nContent-Type: text/plain; charset=utf-8\n\n署名した本文です。\n--c\nContent-Type: text/csv\n"
        "Content-Disposition: attachment; filename=a.csv\n\n1,2\n--c--\n--b\n"
        "Content-Type: application/pkcs7-signature\n\nx\n--b--\n"
    ).encode()
    message = Message(kind="IPM.Note.SMIME.MultipartSigned", text=None, attachments=[attached("smime.p7m", signed)])
    assert "署名した本文です。" in parse(tmp_path, message).markdown
    assert [one.name for one in attachments(read_mail(write_msg(message)))] == ["a.csv"]


def test_messages_nested_without_end_and_streams_that_share_sectors_are_refused(tmp_path: Path) -> None:
    nested = Message()
    for _level in range(12):
        nested = Message(inner=[("転送", nested)])
    with pytest.raises(ParseError, match="too_complex"):
        parse(tmp_path, nested)
    shared = bytearray(write_msg(Message(attachments=[attached(f"{n}.bin", bytes(100_000)) for n in range(3)])))
    size = (100_000).to_bytes(4, "little")
    while (at := shared.find(size, 512)) >= 0:  # each says that it is as large as the whole file
        shared[at : at + 4] = len(shared).to_bytes(4, "little")
    with pytest.raises(ParseError, match="corrupted"):
        parse(tmp_path, bytes(shared))


@pytest.mark.parametrize("keep", [513, 2000, 4000])
def test_a_message_that_ends_early_is_refused_in_the_child(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "a.msg"
    path.write_bytes(write_msg(Message())[:keep])
    with pytest.raises(ParseError, match="corrupted"):
        parse_isolated(path, filename=path.name, limits=ParseLimits())


def test_attachments_are_read_in_time_that_grows_with_their_number_alone() -> None:
    few, many = (
        write_msg(Message(attachments=[attached(f"{n}.txt", b"x") for n in range(count)])) for count in (50, 200)
    )
    assert calls_of(lambda: read_outlook(many)) < 5 * calls_of(lambda: read_outlook(few))


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called: the same on every machine, which time is not."""
    called = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal called
        called += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return called
