"""Mails: their headers, text and attachments in the encodings that Japanese programs write."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from knowledge.parsers.detect import detect_format
from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.mail import attachments, read_mail
from knowledge.parsers.registry import parse_file
from knowledge.types.documents import ParsedDocument


def parse(folder: Path, data: bytes) -> ParsedDocument:
    path = folder / "mail.eml"
    path.write_bytes(data)
    return parse_file(path, filename=path.name, limits=ParseLimits())


def made(body: str = "性能の打合せの結果です。", *, charset: str = "utf-8") -> EmailMessage:
    message = EmailMessage()
    message["From"] = "山田 太郎 <yamada@example.jp>"
    message["To"] = "設計担当 <design@example.jp>"
    message["Date"] = "Wed, 12 Nov 2025 10:00:00 +0900"
    message["Subject"] = "第3回 打合せ議事録の送付"
    message.set_content(body, charset=charset)
    return message


@pytest.mark.parametrize("charset", ["utf-8", "iso-2022-jp", "shift_jis", "euc-jp"])
def test_the_headers_are_a_table_and_the_text_follows(tmp_path: Path, charset: str) -> None:
    parsed = parse(tmp_path, made("1. 性能\n\n応答は3秒以内とする。", charset=charset).as_bytes())
    assert parsed.title == "第3回 打合せ議事録の送付"
    assert "| 差出人 | 山田 太郎 <yamada@example.jp> |" in parsed.markdown
    assert "| 日時 | 2025-11-12 10:00:00 +0900 |" in parsed.markdown
    assert [block.kind.value for block in parsed.blocks] == ["table", "heading", "paragraph"]
    assert "応答は3秒以内とする。" in parsed.markdown
    assert parsed.notices == ()


@pytest.mark.parametrize(
    "day", ["Mon, 01 Jan 99999999999999999999 00:00:00 +0000", "きのう", "Mon, 01 Jan 2026 99:00:00"]
)
def test_a_time_that_is_none_is_shown_as_it_is_written(tmp_path: Path, day: str) -> None:
    raw = made().as_bytes().replace(b"Wed, 12 Nov 2025 10:00:00 +0900", day.encode())
    assert f"| 日時 | {day} |" in parse(tmp_path, raw).markdown


def test_characters_of_windows_in_iso_2022_jp_are_read(tmp_path: Path) -> None:
    # ① is 0x2D21 and ㈱ 0x2D6A there, which the standard has no characters for.
    head = (
        b"From: a@example.jp\nSubject: =?ISO-2022-JP?B?GyRCLSEbKEI=?=\nContent-Type: text/plain; charset=ISO-2022-JP\n"
    )
    parsed = parse(tmp_path, head + b"\n\x1b$B-!!!-j\x1b(B\n")
    assert parsed.title == "①"
    assert "① ㈱" in parsed.markdown


def test_encoded_words_cut_inside_a_character_and_bytes_without_an_encoding_are_read(tmp_path: Path) -> None:
    subject = b"Subject: =?UTF-8?B?6K2w?=\r\n =?UTF-8?B?5LqL6Q==?=\r\n =?UTF-8?B?jLI=?=\r\n"
    raw = b"From: " + "総務課".encode("cp932") + b" <a@example.jp>\r\n"
    parsed = parse(tmp_path, subject + raw + "\r\n本文です。".encode())
    assert parsed.title == "議事録"
    assert "総務課 <a@example.jp>" in parsed.markdown


def test_plain_text_comes_before_html_and_html_is_read_without_what_runs(tmp_path: Path) -> None:
    both = made("平文の本文")
    both.add_alternative("<p>HTML の本文</p>", subtype="html")
    assert "HTML" not in parse(tmp_path, both.as_bytes()).markdown
    only = made()
    only.set_content(
        "<h1>通知</h1><script>alert(1)</script><p>明日</p><img src='http://example.jp/a.png'>", subtype="html"
    )
    markdown = parse(tmp_path, only.as_bytes()).markdown
    assert "# 通知" in markdown
    assert "明日" in markdown
    assert "alert" not in markdown


def test_attachments_are_named_and_taken_out_with_the_names_the_sender_gave(tmp_path: Path) -> None:
    message = made()
    message.add_attachment(
        "| 項目 |".encode(), maintype="application", subtype="octet-stream", filename="別紙1_一覧表.md"
    )
    inner = made("転送元の本文")
    inner.add_attachment(b"a", maintype="text", subtype="csv", filename="奥.csv")
    message.add_attachment(inner)
    message.add_attachment(b"x", maintype="application", subtype="pdf", filename="../../etc/passwd")
    data = message.as_bytes()
    found = attachments(read_mail(data))
    assert [one.name for one in found] == ["別紙1_一覧表.md", "attachment-2.eml", "passwd"]
    assert found[0].data == "| 項目 |".encode()
    assert "転送元の本文" in parse(tmp_path, found[1].data).markdown
    parsed = parse(tmp_path, data)
    assert "転送元" not in parsed.markdown
    assert [notice.code for notice in parsed.notices] == ["mail_attachments"]
    assert "3 件" in parsed.notices[0].ja
    assert "別紙1_一覧表.md" in parsed.notices[0].ja


def test_an_attachment_named_in_iso_2022_jp_as_outlook_does(tmp_path: Path) -> None:
    data = (
        b"From: a@example.jp\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"
        b"Content-Type: text/plain\n\nx\n--b\nContent-Type: application/octet-stream;\n"
        b' name="=?ISO-2022-JP?B?GyRCSUo8QRsoQi54bHN4?="\nContent-Disposition: attachment\n'
        b"Content-Transfer-Encoding: base64\n\nYWJj\n--b--\n"
    )
    assert [(one.name, one.data) for one in attachments(read_mail(data))] == [("品質.xlsx", b"abc")]


def test_pictures_inside_the_text_are_counted_and_signatures_are_no_attachments(tmp_path: Path) -> None:
    message = made()
    message.add_alternative("<p><img src='cid:a'></p>", subtype="html")
    shown = message.get_body(("html",))
    assert shown is not None
    shown.add_related(b"\x89PNG", "image", "png", cid="<a>")
    message.make_mixed()
    message.add_attachment(b"s", maintype="application", subtype="pgp-signature", disposition="inline")
    parsed = parse(tmp_path, message.as_bytes())
    assert [notice.code for notice in parsed.notices] == ["mail_pictures_left_out"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"Subject: a\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nx", "mail_sealed"),
        (b"Subject: a\nContent-Type: multipart/encrypted; boundary=b\n\n--b\n\nx\n--b--\n", "mail_sealed"),
        (b"\x00\x01\x02", "corrupted"),
        ("これはメールではない。".encode(), "corrupted"),
        (b"Subject: a\nContent-Type: text/plain\n\n\xff\x80\xfd\x80\x80\x81", "unknown_encoding"),
    ],
)
def test_what_can_not_be_read_is_named(tmp_path: Path, data: bytes, code: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse(tmp_path, data)
    assert caught.value.code == code


def test_parts_nested_without_end_are_refused(tmp_path: Path) -> None:
    depth = 20_000
    head = "".join(f'Content-Type: multipart/mixed; boundary="{n}"\n\n--{n}\n' for n in range(depth))
    with pytest.raises(ParseError, match="too_complex"):
        parse(tmp_path, b"Subject: a\n" + head.encode())


def test_a_name_alone_makes_no_mail(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(made().as_bytes())
    assert detect_format(path, filename="a.eml") == "eml"
    assert detect_format(path, filename="a.txt") == "txt"
