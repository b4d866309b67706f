from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.backends.parsers.errors import ParseError
from knowledge.backends.parsers.pages import is_garbled
from knowledge.structure import build_sections
from knowledge.types import BlockKind
from tests.knowledge.parsers.conftest import Parse, assert_valid, texts
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf

BODY = [
    (60, 700, 10, "この設計書は市立図書館の予約業務を対象とし、窓口と画面の両方で同じ手順により予約"),
    (60, 685, 10, "を受け付けるための方式を定めるものであり、貸出の会計は対象としないものとする。また"),
    (60, 670, 10, "夜間の処理は別に定める。"),
]


def write(folder: Path, pages: list[PdfPage], bookmarks: list[tuple[str, int]] | None = None) -> Path:
    path = folder / "設計書.pdf"
    path.write_bytes(write_pdf(pages, bookmarks=bookmarks or []))
    return path


def test_wrapped_japanese_lines_are_joined_to_one_paragraph(tmp_path: Path, parse: Parse) -> None:
    document = parse(write(tmp_path, [PdfPage(texts=BODY)]))

    assert_valid(document)
    assert texts(document) == ["".join(text for *_, text in BODY)]
    assert document.pages_count == 1
    assert document.blocks[0].page == 1


def test_characters_beyond_the_basic_plane_stay_whole(tmp_path: Path, parse: Parse) -> None:
    document = parse(write(tmp_path, [PdfPage(texts=[(60, 700, 10, "吉野の𠮷")])]))

    assert document.markdown == "吉野の𠮷\n"


def test_larger_lines_are_headings_and_numbers_set_their_level(tmp_path: Path, parse: Parse) -> None:
    pages = [
        PdfPage(texts=[(60, 780, 18, "予約業務基本設計書"), (60, 740, 14, "1. 目的"), *BODY]),
        PdfPage(texts=[(60, 740, 12, "1.1 範囲"), *BODY]),
    ]

    document = parse(write(tmp_path, pages))

    sections = build_sections(document.markdown, document.blocks)
    assert [(section.level, section.title, section.page) for section in sections] == [
        (1, "予約業務基本設計書", 1),
        (1, "1. 目的", 1),
        (2, "1.1 範囲", 2),
    ]
    assert document.title == "予約業務基本設計書"


def test_the_outline_of_a_pdf_decides_its_headings(tmp_path: Path, parse: Parse) -> None:
    page = PdfPage(texts=[(60, 780, 18, "飾りの大文字"), (60, 740, 10, "目的"), *BODY, (60, 630, 10, "範囲")])

    document = parse(write(tmp_path, [page], [("目的", 0), ("範囲", 0)]))

    assert texts(document, BlockKind.HEADING) == ["# 目的", "# 範囲"]


def test_running_headers_and_page_numbers_are_dropped(tmp_path: Path, parse: Parse) -> None:
    pages = [
        PdfPage(texts=[(60, 815, 9, "図書館 予約業務設計書"), *BODY, (290, 30, 9, f"- {number} -")])
        for number in range(1, 5)
    ]

    document = parse(write(tmp_path, pages))

    assert "予約業務設計書" not in document.markdown
    assert "- 1 -" not in document.markdown
    assert [block.page for block in document.blocks] == [1, 2, 3, 4]


def test_ruled_tables_become_tables_in_their_place(tmp_path: Path, parse: Parse) -> None:
    rules = [(60, y, 300, y) for y in (600, 580, 560)] + [(x, 560, x, 600) for x in (60, 140, 300)]
    cells = [(65, 585, 10, "項目"), (145, 585, 10, "説明"), (65, 565, 10, "応答"), (145, 565, 10, "2秒以内")]
    page = PdfPage(texts=[*BODY, *cells, (60, 500, 10, "以上のとおりとする。")], rules=rules)

    document = parse(write(tmp_path, [page]))

    assert [block.kind for block in document.blocks] == [BlockKind.PARAGRAPH, BlockKind.TABLE, BlockKind.PARAGRAPH]
    assert texts(document, BlockKind.TABLE) == ["| 項目 | 説明 |\n| --- | --- |\n| 応答 | 2秒以内 |"]


def test_a_scanned_page_needs_ocr_and_a_blank_one_does_not(tmp_path: Path, parse: Parse) -> None:
    document = parse(write(tmp_path, [PdfPage(texts=BODY), PdfPage(image=True), PdfPage()]))

    assert document.pages_needing_ocr == (2,)
    assert [page.characters for page in document.pages] == [sum(len(text) for *_, text in BODY), 0, 0]
    assert [notice.code for notice in document.notices] == ["needs_ocr"]
    assert document.pages_count == 3


def test_a_page_of_private_use_characters_is_garbled_and_not_indexed(tmp_path: Path, parse: Parse) -> None:
    garbled = PdfPage(texts=[(60, 700, 10, "\ue001\ue002\ue003\ue004\ue005")])

    document = parse(write(tmp_path, [garbled, PdfPage(texts=BODY)]))

    assert document.pages_needing_ocr == (1,)
    assert {block.page for block in document.blocks} == {2}


@pytest.mark.parametrize(
    ("text", "expected"), [("(cid:1490)(cid:2)(cid:33)", True), ("\ufffd\ufffd文", True), ("• 箇条書き", False)]
)
def test_garbled_text_is_recognised(text: str, expected: bool) -> None:
    assert is_garbled(text) is expected


def test_more_pages_than_allowed_are_refused(tmp_path: Path, parse: Parse) -> None:
    with pytest.raises(ParseError) as caught:
        parse(write(tmp_path, [PdfPage()] * 3), max_pages=2)
    assert caught.value.code == "too_many_pages"
    assert "3" in caught.value.ja


def test_a_truncated_pdf_is_corrupted_or_read_but_never_crashes(tmp_path: Path, parse: Parse) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7\n%broken")

    with pytest.raises(ParseError) as caught:
        parse(path)
    assert caught.value.code == "corrupted"
