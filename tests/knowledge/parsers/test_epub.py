from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from knowledge.parsers import ParseError, ParseLimits, parse_isolated
from knowledge.text.structure import build_sections

CONTAINER = (
    '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
    '<rootfiles><rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
PACKAGE = (
    '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
    '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>運用の手引</dc:title></metadata>'
    '<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
    '<item id="b" href="b.xhtml" media-type="application/xhtml+xml"/></manifest>'
    '<spine><itemref idref="b"/><itemref idref="a"/></spine></package>'
)
CHAPTER = (
    '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head>'
    "<title>{0}</title></head><body><h1>{0}</h1><p>{1}</p></body></html>"
)


def write_epub(path: Path, *, chapter: str = CHAPTER) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("book.opf", PACKAGE)
        archive.writestr("a.xhtml", chapter.format("第2章 停止", "夜間に停止する。"))
        archive.writestr("b.xhtml", chapter.format("第1章 起動", "朝に起動する。"))
    return path


def test_the_chapters_of_a_book_are_sections_in_reading_order(tmp_path: Path) -> None:
    path = write_epub(tmp_path / "手引.epub")

    document = parse_isolated(path, filename=path.name, limits=ParseLimits())

    assert document.format == "epub"
    sections = build_sections(document.markdown, document.blocks)
    assert [section.title for section in sections] == ["第1章 起動", "第2章 停止"]
    assert "朝に起動する。" in document.markdown


def test_a_book_that_declares_entities_is_not_opened(tmp_path: Path) -> None:
    bomb = CHAPTER.replace("<!DOCTYPE html>", '<!DOCTYPE html [<!ENTITY a "aaaa">]>')
    with zipfile.ZipFile(write_epub(tmp_path / "a.epub"), "a") as archive:
        archive.writestr("c.xml", bomb.format("題", "文"))

    with pytest.raises(ParseError) as caught:
        parse_isolated(tmp_path / "a.epub", filename="a.epub", limits=ParseLimits())
    assert caught.value.code == "unsafe_xml"
