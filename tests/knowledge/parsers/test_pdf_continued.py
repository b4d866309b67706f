"""Ruled tables that go on over a page: their rows keep the names of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from knowledge.types.documents import BlockKind
from tests.knowledge.parsers.conftest import Parse, assert_valid, texts
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf

LEFTS = (60.0, 130.0, 260.0)
RIGHT = 530.0
ROW = 24.0
HEAD = ("項番", "画面名", "説明")
TOP, FOOT = 790.0, 70.0
PER_PAGE = int((TOP - FOOT) // ROW)

Rows = Sequence[Sequence[str]]


def items(first: int, count: int) -> list[tuple[str, str, str]]:
    return [(f"G-{number:03}", f"予約{number}の画面", "窓口で使う。") for number in range(first, first + count)]


def ruled(
    rows: Rows,
    *,
    top: float = TOP,
    lefts: Sequence[float] = LEFTS,
    shaded: bool = False,
    extra: Sequence[tuple[float, float, float, str]] = (),
) -> PdfPage:
    """A page with a ruled table whose first row begins at ``top``; ``extra`` are further (x, y, size, text)."""
    page = PdfPage(texts=[*extra])
    bottom = top - ROW * len(rows)
    page.rules = [(lefts[0], top - ROW * line, RIGHT, top - ROW * line) for line in range(len(rows) + 1)]
    page.rules += [(x, top, x, bottom) for x in (*lefts, RIGHT)]
    page.shades = [(lefts[0], top - ROW, RIGHT - lefts[0], ROW)] if shaded else []
    for line, row in enumerate(rows):
        page.texts += [(x + 4, top - ROW * line - 16, 10, text) for x, text in zip(lefts, row, strict=True) if text]
    return page


def tables(folder: Path, parse: Parse, *pages: PdfPage) -> list[list[str]]:
    """The lines of each table with the page where it stands before them."""
    path = folder / "一覧.pdf"
    path.write_bytes(write_pdf(list(pages)))
    document = parse(path)
    assert_valid(document)
    blocks = [block for block in document.blocks if block.kind is BlockKind.TABLE]
    lines = [text.split("\n") for text in texts(document, BlockKind.TABLE)]
    return [[f"p{block.page}", *found] for block, found in zip(blocks, lines, strict=True)]


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def test_rows_on_the_next_pages_stand_below_the_head_of_the_first(tmp_path: Path, parse: Parse) -> None:
    full = [HEAD, *items(1, PER_PAGE - 1)]
    second = items(PER_PAGE, PER_PAGE)
    last = items(2 * PER_PAGE, 1)

    first, middle, end = tables(tmp_path, parse, ruled(full), ruled(second), ruled(last))

    assert [first[0], middle[0], end[0]] == ["p1", "p2", "p3"]
    assert {found[1] for found in (first, middle, end)} == {row(*HEAD)}
    assert first[3:] + middle[3:] + end[3:] == [row(*item) for item in items(1, 2 * PER_PAGE)]


def test_running_heads_and_a_remark_that_it_goes_on_do_not_part_a_table(tmp_path: Path, parse: Parse) -> None:
    heading = [(60, 815, 9, "画面一覧　第2版"), (290, 40, 9, "- 1 -")]
    remark = [*heading, (60, 772, 10, "表1（続き）")]
    full = [HEAD, *items(1, PER_PAGE - 1)]

    found = tables(tmp_path, parse, ruled(full, extra=heading), ruled(items(PER_PAGE, 3), top=760, extra=remark))

    assert [lines[1] for lines in found] == [row(*HEAD)] * 2


OTHER = ("記号", "帳票名", "用途")


@pytest.mark.parametrize(
    ("second", "head"),
    [
        pytest.param(ruled([HEAD, *items(PER_PAGE, 3)]), HEAD, id="its head is repeated"),
        pytest.param(ruled([OTHER, *items(PER_PAGE, 3)], shaded=True), OTHER, id="another head of the same colour"),
        pytest.param(ruled(items(PER_PAGE, 3), lefts=(60, 180, 300)), items(PER_PAGE, 1)[0], id="other columns"),
        pytest.param(
            ruled(items(PER_PAGE, 3), top=740, extra=[(60, 770, 10, "次の表は帳票である。")]),
            items(PER_PAGE, 1)[0],
            id="a line above",
        ),
    ],
)
def test_another_table_on_the_next_page_keeps_its_own_first_row(
    tmp_path: Path, parse: Parse, second: PdfPage, head: Sequence[str]
) -> None:
    first, other = tables(tmp_path, parse, ruled([HEAD, *items(1, PER_PAGE - 1)], shaded=True), second)

    assert (first[1], other[1]) == (row(*HEAD), row(*head))
    assert len(set(other)) == len(other)


def test_a_table_that_had_room_below_it_has_ended(tmp_path: Path, parse: Parse) -> None:
    _first, other = tables(tmp_path, parse, ruled([HEAD, *items(1, 5)]), ruled(items(6, 3)))

    assert other[1] == row(*items(6, 1)[0])


def test_a_table_without_a_head_has_none_to_carry_on(tmp_path: Path, parse: Parse) -> None:
    _first, other = tables(tmp_path, parse, ruled(items(1, PER_PAGE)), ruled(items(PER_PAGE + 1, 3)))

    assert other[1] == row(*items(PER_PAGE + 1, 1)[0])


def test_a_row_that_the_page_break_cuts_is_one_row_where_it_begins(tmp_path: Path, parse: Parse) -> None:
    cut = ("G-900", "取消の画面", "利用者は予約を")
    full = [HEAD, *items(1, PER_PAGE - 2), cut]
    rest = ("", "", "取り消せるものとする。")

    first, second = tables(tmp_path, parse, ruled(full), ruled([rest, *items(PER_PAGE, 3)]))

    assert first[-1] == row("G-900", "取消の画面", "利用者は予約を取り消せるものとする。")
    assert second[3:] == [row(*item) for item in items(PER_PAGE, 3)]


def test_a_row_that_goes_on_over_a_whole_page_below_a_repeated_head_is_one_row(tmp_path: Path, parse: Parse) -> None:
    cut = ("G-900", "取消の画面", "予約を取り消す。")
    full = [HEAD, *items(1, PER_PAGE - 2), cut]
    middle = [HEAD, ("", "", "期限は前日とする。")]
    last = [HEAD, ("", "", "手数料は取らない。"), *items(PER_PAGE, 2)]
    pages = [ruled(full), ruled(middle, top=FOOT + 2 * ROW), ruled(last)]

    first, second = tables(tmp_path, parse, *pages)

    assert first[-1] == row("G-900", "取消の画面", "予約を取り消す。<br>期限は前日とする。<br>手数料は取らない。")
    assert second[:2] == ["p3", row(*HEAD)]
    assert second[3:] == [row(*item) for item in items(PER_PAGE, 2)]


def test_rows_that_often_leave_their_first_cell_empty_are_rows(tmp_path: Path, parse: Parse) -> None:
    sparse = [("", "", "書面でも出せる。"), *items(2, PER_PAGE - 3)]
    full = [HEAD, *items(100, 1), *sparse]
    below = [("", "", "取り消せるものとする。"), *items(PER_PAGE, 2)]

    first, second = tables(tmp_path, parse, ruled(full), ruled(below))

    assert first[-1] == row(*sparse[-1])
    assert second[3:] == [row(*item) for item in below]


def test_a_merged_cell_that_goes_on_over_the_break_is_named_on_the_next_page(tmp_path: Path, parse: Parse) -> None:
    def merged(rows: Rows, first: int) -> PdfPage:
        """The first column is one cell from the row ``first`` on."""
        page = ruled(rows)
        page.rules = [
            (LEFTS[1] if first < line < len(rows) and y == end else x, y, right, end)
            for line, (x, y, right, end) in enumerate(page.rules)
        ]
        return page

    full = [HEAD, ("認証", *items(1, 1)[0][1:]), *[("", *item[1:]) for item in items(2, PER_PAGE - 2)]]
    below = [("", *item[1:]) for item in items(PER_PAGE, 3)]

    first, second = tables(tmp_path, parse, merged(full, 1), merged(below, 0))

    assert first[3].startswith("| 認証 |")
    assert second[3:] == [row("認証", *items(PER_PAGE, 1)[0][1:]), *[row(*item) for item in below[1:]]]
