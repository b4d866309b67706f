"""Where things stand on PDF pages: turned pages, running lines, tables without rules, cells."""

from __future__ import annotations

from pathlib import Path

from knowledge.parsers.pdf.tables import table_texts
from knowledge.types.documents import BlockKind
from tests.knowledge.parsers.conftest import Parse, texts
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf

FIRST = "この設計書は市立図書館の予約業務を対象とし、窓口と画面の両方で同じ手順により予約"
SECOND = "を受け付けるための方式を定めるものであり、貸出の会計は対象としないものとする。"
BODY = [(60.0, 700.0, 10.0, FIRST), (60.0, 685.0, 10.0, SECOND)]


class TurnedPage(PdfPage):
    """A page whose text runs upwards, as writers of landscape tables leave it."""

    def content(self) -> bytes:
        return b"\n".join(
            f"BT /F1 {size} Tf 0 1 -1 0 {x} {y} Tm <{text.encode('utf-16-be').hex()}> Tj ET".encode()
            for x, y, size, text in self.texts
        )


def write(folder: Path, pages: list[PdfPage]) -> Path:
    path = folder / "設計書.pdf"
    path.write_bytes(write_pdf(pages))
    return path


def test_a_page_that_is_shown_turned_is_read_from_its_top(tmp_path: Path, parse: Parse) -> None:
    page = TurnedPage(texts=[(60, 60, 16, "1. 目的"), (100, 60, 10, FIRST), (115, 60, 10, SECOND)])
    path = write(tmp_path, [page])
    path.write_bytes(path.read_bytes().replace(b"595 842]", b"595 842] /Rotate 90"))

    assert texts(parse(path)) == ["# 1. 目的", FIRST + SECOND]


def test_headings_at_the_top_of_every_page_are_no_running_header(tmp_path: Path, parse: Parse) -> None:
    pages = [
        PdfPage(texts=[(60, 815, 8, "基本設計書"), (60, 780, 14, f"別紙{index}"), *BODY, (290, 20, 8, f"- {index} -")])
        for index in range(1, 4)
    ]

    assert texts(parse(write(tmp_path, pages)), BlockKind.HEADING) == ["# 別紙1", "# 別紙2", "# 別紙3"]
    assert "基本設計書" not in parse(write(tmp_path, pages)).markdown


def test_two_pages_are_enough_to_know_a_running_header(tmp_path: Path, parse: Parse) -> None:
    pages = [PdfPage(texts=[(60, 815, 8, "基本設計書 第1.2版"), *BODY, (290, 20, 8, f"{n}/2")]) for n in (1, 2)]

    assert texts(parse(write(tmp_path, pages))) == [FIRST + SECOND, FIRST + SECOND]


def test_lines_whose_parts_line_up_are_a_table(tmp_path: Path, parse: Parse) -> None:
    rows = [("年度", "件数", "金額"), ("令和4年度", "1200", "3400千円"), ("令和5年度", "1350", "3600千円")]
    cells = [
        (60 + 150 * column, 700 - 16 * index, 10, text)
        for index, row in enumerate(rows)
        for column, text in enumerate(row)
    ]
    lead = [(60, 740, 10, "次の表に示す。")]

    document = parse(write(tmp_path, [PdfPage(texts=[*lead, *cells])]))

    assert texts(document) == [
        "次の表に示す。",
        "| 年度 | 件数 | 金額 |\n| --- | --- | --- |\n| 令和4年度 | 1200 | 3400千円 |\n| 令和5年度 | 1350 | 3600千円 |",
    ]


def test_radicals_become_the_kanji_that_they_stand_for(tmp_path: Path, parse: Parse) -> None:
    assert parse(write(tmp_path, [PdfPage(texts=[(60, 700, 10, "⼊⼒と住⺠の画⾯")])])).markdown == "入力と住民の画面\n"


def test_full_lines_of_a_cell_are_joined_and_written_breaks_stay() -> None:
    rows = [
        ["項目", "説明"],
        ["予約", "窓口と画面の両方で同じ手\n順により受け付ける。\n別に定める。"],
        ["用紙", "・A4\n・A3"],
    ]
    boxes = [[(0.0, 0.0, 50.0, 10.0), (50.0, 0.0, 150.0, 10.0)]] * 3

    assert table_texts(rows, boxes)[1:] == [
        ["予約", "窓口と画面の両方で同じ手順により受け付ける。\n別に定める。"],
        ["用紙", "・A4\n・A3"],
    ]


def test_merged_cells_of_a_head_name_their_columns() -> None:
    rows = [["No.", "権限", None, "説明"], [None, "職員", "市民", None], ["1", "○", "×", "登録"]]
    wide, left, right = (10.0, 0.0, 50.0, 10.0), (10.0, 10.0, 30.0, 20.0), (30.0, 10.0, 50.0, 20.0)
    first, last = (0.0, 0.0, 10.0, 20.0), (50.0, 0.0, 90.0, 20.0)

    assert table_texts(rows, [[first, wide, None, last], [None, left, right, None], [first, left, right, last]]) == [
        ["No.", "権限 / 職員", "権限 / 市民", "説明"],
        ["1", "○", "×", "登録"],
    ]
