from __future__ import annotations

import zipfile
from pathlib import Path

import docx
import openpyxl
import pytest

from knowledge.parsers.archives import check_archive
from knowledge.parsers.detect import ACCEPTED_SUFFIXES, detect_format
from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from tests.knowledge.parsers.containers import write_container

OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


def code_of(folder: Path, name: str, content: bytes) -> str:
    path = folder / "upload"
    path.write_bytes(content)
    with pytest.raises(ParseError) as caught:
        detect_format(path, filename=name)
    return caught.value.code


def zipped(folder: Path, entries: dict[str, bytes]) -> Path:
    path = folder / "upload.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.md", "# 題".encode(), "md"),
        ("a.TXT", "本文".encode(), "txt"),
        ("a.json", b'{"a": 1}', "txt"),
        ("a", "拡張子のない文書".encode("cp932"), "txt"),
        ("a.csv", b"a,b", "csv"),
        ("a.doc", b"<!DOCTYPE html><html><body>a</body></html>", "html"),
        ("a.txt", b"%PDF-1.7 ...", "pdf"),
        ("a.ipynb", b'{"cells": []}', "ipynb"),
        ("a.txt", b"{\\rtf1 a}", "rtf"),
        ("a.bin", write_container({"WordDocument": b"x"}), "doc"),
        ("a.bin", write_container({"PowerPoint Document": b"x"}), "ppt"),
    ],
)
def test_content_decides_before_the_name(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    path = tmp_path / "upload"
    path.write_bytes(content)

    assert detect_format(path, filename=name) == expected


def test_office_files_are_known_by_their_main_part(tmp_path: Path) -> None:
    docx.Document().save(str(tmp_path / "a"))
    openpyxl.Workbook().save(tmp_path / "b")

    assert detect_format(tmp_path / "a", filename="a.zip") == "docx"
    assert detect_format(tmp_path / "b", filename="b.docx") == "xlsx"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.md", b"", "empty_file"),
        ("~$設計書.docx", b"\x05user" + bytes(40), "lock_file"),
        ("a.docx", write_container({"EncryptedPackage": b"x"}), "encrypted"),
        ("a.jtd", write_container({"DocumentText": b"x"}), "ichitaro"),
        ("a.jtd", b"something of Ichitaro", "ichitaro"),
        ("a.bin", write_container({"Contents": b"x"}), "unsupported_format"),
        ("a.doc", OLE2 + bytes(600), "corrupted"),
        ("a.odt", b"not a zip", "corrupted"),
        ("a.docx", "ただの文".encode(), "corrupted"),
        ("a.docx", b"PK\x03\x04 truncated", "corrupted"),
        ("a.txt", bytes(range(256)), "unknown_encoding"),
        ("a.txt", b"\x00", "unknown_encoding"),
        ("a.txt", "　\n".encode(), "empty_file"),
        ("a.bin", bytes(range(256)), "unsupported_format"),
    ],
)
def test_what_can_not_be_read_is_named(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    assert code_of(tmp_path, name, content) == expected


def test_open_document_and_plain_zips_are_named(tmp_path: Path) -> None:
    text = zipped(tmp_path, {"mimetype": b"application/vnd.oasis.opendocument.text"})
    assert detect_format(text, filename="a.zip") == "odt"
    plain = zipped(tmp_path, {"a.txt": b"a"})
    with pytest.raises(ParseError, match="archive_of_documents"):
        detect_format(plain, filename="a.zip")
    with pytest.raises(ParseError, match="corrupted"):
        detect_format(plain, filename="a.docx")


def test_a_head_cut_inside_a_character_is_still_text(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(("a" + "図書館" * 40_000).encode())

    assert detect_format(path, filename="a.txt") == "txt"


@pytest.mark.parametrize(
    ("entries", "limits", "expected"),
    [
        ({"a.xml": b"0" * 4_000_000}, ParseLimits(ratio_free_bytes=1 << 20), "expanded_too_large"),
        ({"a.xml": b"0" * 4_000_000}, ParseLimits(max_expanded_bytes=1 << 20), "expanded_too_large"),
        ({f"{n}.xml": b"" for n in range(30)}, ParseLimits(max_archive_entries=20), "expanded_too_large"),
        ({"a.xml": b'<!DOCTYPE a [<!ENTITY x "y">]><a/>'}, ParseLimits(), "unsafe_xml"),
        ({"a.xml": b" " * 262_140 + b"<!DOCTYPE a><a/>"}, ParseLimits(), "unsafe_xml"),
        ({"a.xml": "<!DOCTYPE a><a/>".encode("utf-16-le")}, ParseLimits(), "unsafe_xml"),
    ],
)
def test_dangerous_containers_are_refused(
    tmp_path: Path, entries: dict[str, bytes], limits: ParseLimits, expected: str
) -> None:
    with pytest.raises(ParseError) as caught:
        check_archive(zipped(tmp_path, entries), format_name="docx", limits=limits)
    assert caught.value.code == expected


def test_sizes_that_the_directory_understates_are_counted(tmp_path: Path) -> None:
    path = zipped(tmp_path, {"a.xml": b"0" * 3_000_000})
    data = path.read_bytes()
    path.write_bytes(data.replace((3_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little")))

    with pytest.raises(ParseError) as caught:
        check_archive(path, format_name="docx", limits=ParseLimits(max_expanded_bytes=1 << 20))
    assert caught.value.code in ("corrupted", "expanded_too_large")


def test_an_honest_container_passes(tmp_path: Path) -> None:
    check_archive(zipped(tmp_path, {"a.xml": b"<a/>"}), format_name="docx", limits=ParseLimits())


def test_pictures_and_mails_are_among_what_an_upload_sends() -> None:
    assert {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".eml", ".xls"} <= set(ACCEPTED_SUFFIXES)
