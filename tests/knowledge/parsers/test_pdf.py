from __future__ import annotations

from pathlib import Path

import pytest

from knowledge.parsers.errors import ParseError, is_garbled
from knowledge.text.structure import build_sections
from knowledge.types.documents import BlockKind
from tests.knowledge.parsers.conftest import Parse, assert_valid, texts
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf

BODY: list[tuple[float, float, float, str]] = [
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
    rules = [(60.0, y, 300.0, y) for y in (600.0, 580.0, 560.0)] + [(x, 560.0, x, 600.0) for x in (60.0, 140.0, 300.0)]
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
    ("text", "expected"),
    [
        ("(cid:1490)(cid:2)(cid:33)", True),
        ("\ufffd\ufffd文", True),
        ("• 箇条書き", False),
        ("設計書の要件を定義する。".encode().decode("cp932", "replace"), True),
        ("設計書の要件を定義する。".encode().decode("cp1252", "replace"), True),
        ("Ça va très bien à l’été, déjà créée.", False),
    ],
)
def test_garbled_text_is_recognised(text: str, expected: bool) -> None:
    assert is_garbled(text) is expected


def test_more_pages_than_allowed_are_refused(tmp_path: Path, parse: Parse) -> None:
    with pytest.raises(ParseError) as caught:
        parse(write(tmp_path, [PdfPage()] * 3), max_pages=2)
    assert caught.value.code == "too_many_pages"
    assert "3" in caught.value.text.ja


def test_a_truncated_pdf_is_corrupted_or_read_but_never_crashes(tmp_path: Path, parse: Parse) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7\n%broken")

    with pytest.raises(ParseError) as caught:
        parse(path)
    assert caught.value.code == "corrupted"


LEFT = [
    "受付の手順は左の段に書かれてい",
    "るとおりとする。窓口では申請書",
    "を確認して番号を渡す。その番号",
    "は画面に表示するものとする。",
]
RIGHT = [
    "審査の手順は右の段に書かれてい",
    "るとおりとする。担当者は書類を",
    "確認して結果を記録する。その結",
    "果は翌日に通知するものとする。",
]


def side_by_side(left: list[str], right: list[str]) -> list[tuple[float, float, float, str]]:
    """Draw two columns row by row, as some writers do."""
    rows = zip(left, right, strict=True)
    return [cell for row, pair in enumerate(rows) for cell in _row(740 - 18 * row, *pair)]


def _row(y: float, left: str, right: str) -> list[tuple[float, float, float, str]]:
    return [(60, y, 11, left), (320, y, 11, right)]


def test_two_columns_drawn_row_by_row_are_read_one_after_the_other(tmp_path: Path, parse: Parse) -> None:
    title = (60, 790, 16, "図書館の業務")
    end = (60, 600, 11, "以上の手順は毎年度の初めに見直し、改めたときは館内に掲示して利用者に知らせる。")

    document = parse(write(tmp_path, [PdfPage(texts=[title, *side_by_side(LEFT, RIGHT), end])]))

    assert texts(document) == ["# 図書館の業務", "".join(LEFT), "".join(RIGHT), end[3]]


def test_rows_of_a_table_without_rules_stay_rows(tmp_path: Path, parse: Parse) -> None:
    names = ["性能", "可用性の目標", "移行", "運用時間"]
    values = ["2秒以内に応答する", "99.9%", "夜間に行う", "9時から17時まで"]

    document = parse(write(tmp_path, [PdfPage(texts=side_by_side(names, values))]))

    for name, value in zip(names, values, strict=True):
        assert f"{name} {value}" in document.markdown


def test_a_paragraph_over_a_page_break_is_one_in_the_text_and_knows_both_pages(tmp_path: Path, parse: Parse) -> None:
    pages = [
        PdfPage(texts=[(60, 780, 16, "1. 目的"), BODY[0], BODY[1]]),
        PdfPage(texts=[(60, 780, 10, "夜間の処理は別に定める。"), (60, 700, 10, "窓口は平日に開く。")]),
    ]

    document = parse(write(tmp_path, pages))

    assert_valid(document)
    assert f"{BODY[0][3]}{BODY[1][3]}夜間の処理は別に定める。\n\n窓口は平日に開く。\n" in document.markdown
    assert [block.page for block in document.blocks] == [1, 1, 2, 2]


def test_a_finished_paragraph_does_not_reach_over_the_page_break(tmp_path: Path, parse: Parse) -> None:
    pages = [PdfPage(texts=list(BODY)), PdfPage(texts=[(60, 780, 10, "窓口は平日に開く。")])]

    assert parse(write(tmp_path, pages)).markdown.endswith("別に定める。\n\n窓口は平日に開く。\n")


def test_vertical_lines_are_read_from_the_right(tmp_path: Path, parse: Parse) -> None:
    columns = ["第一条本規程は図書館の予約に", "ついて必要な事項を定める。", "第二条予約は窓口で受ける。"]
    drawn: list[tuple[float, float, float, str]] = [
        (500 - 20 * number, 760 - 12 * place, 11, char)
        for number, column in enumerate(columns)
        for place, char in enumerate(column)
    ]

    document = parse(write(tmp_path, [PdfPage(texts=drawn)]))

    assert "".join(document.markdown.split()).replace("#", "") == "".join(columns)
