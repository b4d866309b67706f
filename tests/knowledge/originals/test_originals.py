"""Where in the original a cited span stands: words of a page in boxes, cells of a sheet outlined."""

from __future__ import annotations

import dataclasses
import io
import time
from functools import partial
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from PIL import Image

from hub.access.models import AuditEvent
from hub.access.permissions import Role
from hub.access.principals import local_operator
from hub.access.turns import Turns
from hub.core.errors import Conflict, InvalidInput, NotFound, TooManyAtOnce, Unavailable
from hub.core.processes import PerProcess
from knowledge.models import Collection, Document
from knowledge.originals import (
    WIDTHS,
    MarkedPage,
    SheetWindow,
    asking,
    draw_page,
    mark_cells,
    mark_document,
    mark_pages,
    original_of,
    shown,
    takes_a_while,
)
from knowledge.parsers.errors import ParseError
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.office import conversion
from knowledge.parsers.process.isolation import as_it_is, parse_isolated, run_isolated
from knowledge.types.documents import ParsedDocument
from tests.factories import new_collection, principal_with, upload_file, work_through
from tests.knowledge.parsers.pdf_writer import PdfPage, write_pdf

LINES = (
    "検索の応答時間は三秒以内とする。",
    "移行は夜間に行い、朝までに終える。",
    "検索の応答時間は三秒以内とする。",
    "障害のときは担当者に知らせる。",
)
A4 = (595.0, 842.0)
READER = local_operator()


def ask(path: Path, task: str, /, **arguments: object) -> dict[str, Any]:
    return run_isolated(task, path, as_it_is, filename=path.name, limits=ParseLimits(), arguments=arguments)


def parsed(path: Path) -> ParsedDocument:
    return parse_isolated(path, filename=path.name, limits=ParseLimits())


def pages_of(path: Path, text: str, *, nth: int = 0) -> list[MarkedPage]:
    document = parsed(path)
    start = -1
    for _time in range(nth + 1):
        start = document.markdown.index(text, start + 1)
    return mark_pages(partial(ask, path), document.markdown, document.blocks, start, start + len(text))


@pytest.fixture(autouse=True)
def nothing_failed_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget how files of the same bytes failed in other tests."""
    monkeypatch.setattr(asking, "_failures", asking.Kept(100, size=lambda _failure: 1))


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    """Lines 40 points apart from y 700 down, at x 72, of 12 points; the first line again on a second page."""
    first = PdfPage(texts=[(72, 700 - 40 * number, 12, line) for number, line in enumerate(LINES)])
    second = PdfPage(texts=[(72, 300, 12, LINES[0]), (72, 200, 12, "次の頁の記述はここにある。")])
    path = tmp_path / "設計.pdf"
    path.write_bytes(write_pdf([first, second]))
    return path


def test_the_words_are_boxed_where_they_are_drawn(pdf: Path) -> None:
    (page,) = pages_of(pdf, LINES[1])
    assert (page.page, page.width, page.height) == (1, *A4)
    ((left, top, width, height),) = page.boxes
    assert left == pytest.approx(72, abs=2)
    assert width == pytest.approx(12 * len(LINES[1]), abs=6)
    assert top < A4[1] - 660 < top + height  # its line of writing is within
    assert height < 30


@pytest.mark.parametrize(("nth", "page", "y"), [(0, 1, 700), (1, 1, 620), (2, 2, 300)])
def test_of_words_that_are_there_more_than_once_those_are_boxed_that_are_cited(
    pdf: Path, nth: int, page: int, y: float
) -> None:
    (marked,) = pages_of(pdf, LINES[0], nth=nth)
    ((_left, top, _width, height),) = marked.boxes
    assert marked.page == page
    assert top < A4[1] - y < top + height


def test_a_part_of_a_line_has_a_box_of_its_own(pdf: Path) -> None:
    (page,) = pages_of(pdf, "朝までに")
    ((left, _top, width, _height),) = page.boxes
    assert left == pytest.approx(72 + 12 * LINES[1].index("朝"), abs=3)
    assert width == pytest.approx(48, abs=4)


def test_what_is_not_on_the_page_has_no_box(pdf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = parsed(pdf)
    changed = document.markdown.replace(LINES[3], "まったく別のことが書いてある文章")
    start = changed.index("まったく別")
    assert mark_pages(partial(ask, pdf), changed, document.blocks, start, start + 15) == []


def test_a_page_that_is_turned_is_boxed_as_it_is_shown(pdf: Path) -> None:
    pdf.write_bytes(pdf.read_bytes().replace(b"/MediaBox [0 0 595 842]", b"/Rotate 90 /MediaBox [0 0 595 842]"))
    (page,) = pages_of(pdf, LINES[1])
    assert (page.width, page.height) == (842, 595)
    ((left, top, width, height),) = page.boxes
    assert left < 660 < left + width
    assert width < 30
    assert top == pytest.approx(72, abs=2)
    assert height == pytest.approx(12 * len(LINES[1]), abs=6)


def test_a_page_whose_size_is_said_for_all_pages_is_boxed_rightly(pdf: Path) -> None:
    data = pdf.read_bytes().replace(b"/MediaBox [0 0 595 842]", b"                       ")
    pdf.write_bytes(data.replace(b"/Type /Pages ", b"/Type /Pages /MediaBox [0 0 842 1190] ", 1))
    (page,) = pages_of(pdf, LINES[1])
    ((_left, top, _width, height),) = page.boxes
    assert (page.width, page.height) == (842, 1190)
    assert top < 1190 - 660 < top + height


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "画面一覧"
    sheet["B2"] = "画面設計書"
    rows = (("番号", "画面", "備考"), ("一", "検索画面", "一覧を出す"), ("二", "登録画面", "確認を出す"))
    for row, values in enumerate(rows, 4):
        for column, value in enumerate(values, 2):
            sheet.cell(row, column, value)
    sheet["E4"] = "応答時間"
    sheet["E5"] = "三秒以内とする"
    sheet.merge_cells("E5:E6")
    sheet.column_dimensions["C"].width = 30
    path = tmp_path / "画面.xlsx"
    book.save(path)
    return path


def window_of(path: Path, text: str) -> SheetWindow:
    document = parsed(path)
    start = document.markdown.index(text)
    (window,) = mark_cells(partial(ask, path), document.markdown, document.blocks, start, start + len(text))
    return window


def cited(window: SheetWindow) -> list[tuple[int, int, str]]:
    return [(number, cell.column, cell.text) for number, cells in window.rows for cell in cells if cell.is_cited]


def test_the_cited_cells_are_outlined_and_no_others(workbook: Path) -> None:
    window = window_of(workbook, "登録画面 | 確認を出す")
    assert window.sheet == "画面一覧"
    assert cited(window) == [(6, 3, "登録画面"), (6, 4, "確認を出す")]
    assert not window.is_cut
    assert not window.beside


def test_merged_cells_and_widths_are_as_in_the_sheet(workbook: Path) -> None:
    window = window_of(workbook, "検索画面 | 一覧を出す | 三秒以内とする")
    cells = {(number, cell.column): cell for number, of_row in window.rows for cell in of_row}
    assert (cells[5, 5].rows, cells[5, 5].columns, cells[5, 5].is_cited) == (2, 1, True)
    assert (6, 5) not in cells
    assert dict(window.columns)["C"] == pytest.approx(30, abs=1)
    assert [name for name, _width in window.columns] == ["A", "B", "C", "D", "E"]


@pytest.fixture
def collection(db: None) -> Collection:
    return new_collection()


def stored(path: Path, collection: Collection) -> Document:
    curator = principal_with(Role.CURATOR, collection)
    return work_through(upload_file(curator, path, collection=collection.slug).document)


@pytest.mark.django_db
def test_a_page_is_drawn_for_readers_each_time_anew_asked_and_noted(
    pdf: Path, collection: Collection, queue: None
) -> None:
    document = stored(pdf, collection)
    reader, stranger = principal_with(Role.READER, collection), principal_with(None, collection)
    pictures = [draw_page(reader, document.public_id, version=1, page=2, width=800) for _time in range(2)]
    assert pictures[0] is pictures[1]
    assert Image.open(io.BytesIO(pictures[0].data)).size == (pictures[0].width, pictures[0].height)
    assert pictures[0].width == pytest.approx(800, abs=1)
    assert pictures[0].pages_count == 2
    assert AuditEvent.objects.filter(action="DOCUMENT_READ", user_id=reader.user_id).count() == 2
    with pytest.raises(NotFound):
        draw_page(stranger, document.public_id, version=1, page=2, width=800)
    for version, page in ((1, 0), (1, 3), (2, 1)):
        with pytest.raises(NotFound):
            draw_page(reader, document.public_id, version=version, page=page, width=800)
    with pytest.raises(InvalidInput):
        draw_page(reader, document.public_id, version=1, page=1, width=801)


@pytest.mark.django_db
def test_a_file_that_can_not_be_drawn_any_more_is_a_conflict(
    pdf: Path, collection: Collection, queue: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = stored(pdf, collection)
    limits = ParseLimits(max_input_bytes=1, wall_s=60, memory_bytes=1)
    monkeypatch.setattr(asking, "limits_of_looking", lambda: limits)
    monkeypatch.setattr(shown, "_kept", kept_pictures(1))
    with pytest.raises(Conflict, match=r"can't be shown|表示できません"):
        draw_page(principal_with(Role.READER, collection), document.public_id, version=1, page=1, width=800)


@pytest.mark.django_db
def test_what_has_no_picture_is_shown_as_text_alone(tmp_path: Path, collection: Collection, queue: None) -> None:
    path = tmp_path / "a.md"
    path.write_text("# 章\n\n本文です。\n", encoding="utf-8")
    document = stored(path, collection)
    assert original_of(READER, document, 1, 5, 9) == ([], [])
    with pytest.raises(NotFound):
        original_of(READER, document, 9, 5, 9)


def kept_pictures(most_bytes: int) -> Any:
    return asking.Kept(most_bytes, size=lambda picture: len(picture.data))


def test_the_pictures_that_are_kept_are_bounded() -> None:
    kept = kept_pictures(100)
    for number in range(9):
        picture = shown.PagePicture(data=bytes(20), media_type="image/png", width=1, height=1, pages_count=1)
        kept.put((f"{number}", 1, WIDTHS[0]), picture)
    assert [number for number in range(9) if kept.get((f"{number}", 1, WIDTHS[0]))] == [4, 5, 6, 7, 8]
    huge = shown.PagePicture(data=bytes(90), media_type="image/png", width=1, height=1, pages_count=1)
    kept.put(("huge", 1, WIDTHS[0]), huge)
    assert kept.get(("huge", 1, WIDTHS[0])) is None


@pytest.mark.django_db
def test_who_asks_for_a_picture_that_is_being_drawn_waits_for_it(
    pdf: Path, collection: Collection, queue: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = stored(pdf, collection)
    reader = principal_with(Role.READER, collection)
    monkeypatch.setattr(shown, "_kept", kept_pictures(10**6))
    monkeypatch.setattr(asking, "MOST_WAIT_S", 0.2)
    for _place in range(asking.AT_ONCE):
        asking._places.acquire()
    try:
        with pytest.raises(Unavailable):
            draw_page(reader, document.public_id, version=1, page=1, width=800)
    finally:
        for _place in range(asking.AT_ONCE):
            asking._places.release()
    monkeypatch.undo()
    assert draw_page(reader, document.public_id, version=1, page=1, width=800).width


@pytest.mark.django_db
def test_a_page_that_takes_too_long_is_not_drawn_again_for_each_who_asks(
    pdf: Path, collection: Collection, queue: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = stored(pdf, collection)
    monkeypatch.setattr(shown, "_kept", kept_pictures(10**6))
    monkeypatch.setattr(asking, "limits_of_looking", lambda: ParseLimits(wall_s=0.01, cpu_s=1))
    first, second = (principal_with(Role.READER, collection) for _reader in range(2))
    with pytest.raises(Conflict):
        draw_page(first, document.public_id, version=1, page=2, width=800)
    monkeypatch.setattr(asking, "limits_of_looking", lambda: pytest.fail("it was tried again"))
    with pytest.raises(Conflict):
        draw_page(second, document.public_id, version=1, page=2, width=800)
    monkeypatch.setattr(asking, "limits_of_looking", ParseLimits)
    monkeypatch.setattr(asking, "SLOW_TRIED_AGAIN_AFTER_S", 0)
    assert draw_page(second, document.public_id, version=1, page=2, width=800).width


@pytest.mark.parametrize(("code", "is_kept"), [("corrupted", True), ("timeout", False)])
def test_what_took_too_long_is_tried_again_before_what_can_not_be_read(code: str, is_kept: bool) -> None:
    error = ParseError(code, ja="", en="")
    assert asking.Failure(error).holds()
    assert asking.Failure(error, at=time.monotonic() - 2 * asking.SLOW_TRIED_AGAIN_AFTER_S).holds() is is_kept


def test_looking_is_shorter_than_taking_in() -> None:
    limits = asking.limits_of_looking()
    assert (limits.cpu_s, limits.wall_s) == (asking.MOST_CPU_S, 15.0)
    assert limits.memory_bytes <= asking.MOST_MEMORY_BYTES


def test_a_page_like_a_ribbon_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "ribbon.pdf"
    data = write_pdf([PdfPage(texts=[(1, 700, 12, LINES[0])])])
    path.write_bytes(data.replace(b"/MediaBox [0 0 595 842]", b"/MediaBox [0 0 10 14400]"))
    drawn = ask(path, shown.DRAW_TASK, page=1, width=800)
    assert drawn["height"] <= 16_000


needs_libreoffice = pytest.mark.skipif(conversion.programs() is None, reason="LibreOffice is not installed")


@pytest.fixture
def word(tmp_path: Path) -> Path:
    """Three pages, with a sentence that stands on each of them."""
    document = docx.Document()
    for number, name in enumerate(("性能", "移行", "障害"), start=1):
        document.add_heading(f"{number}. {name}要件", level=1)
        document.add_paragraph(f"この章は{name}について述べる。")
        document.add_paragraph(LINES[0])
        document.add_page_break()
    path = tmp_path / "設計.docx"
    document.save(str(path))
    return path


@needs_libreoffice
@pytest.mark.django_db
def test_word_is_shown_as_pages_with_the_cited_words_in_boxes(
    word: Path, collection: Collection, queue: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = stored(word, collection)
    version = document.current_version
    assert version is not None
    markdown = version.content.markdown
    start = markdown.index(LINES[0], markdown.index("移行要件"))
    monkeypatch.setattr(asking, "_pages", asking.Kept(10**7, size=lambda pages: len(pages.data)))
    assert takes_a_while(version)
    (page,), sheets = original_of(READER, document, 1, start, start + len(LINES[0]))
    assert not sheets
    assert page.page == 2
    ((left, top, width, height),) = page.boxes
    assert width > height > 0
    assert 0 < left < page.width
    assert 0 < top < page.height
    assert not takes_a_while(version)
    reader = principal_with(Role.READER, collection)
    picture = draw_page(reader, document.public_id, version=1, page=2, width=800)
    assert picture.pages_count >= 3
    with pytest.raises(NotFound):
        draw_page(reader, document.public_id, version=1, page=99, width=800)
    with pytest.raises(NotFound):
        draw_page(principal_with(None, collection), document.public_id, version=1, page=1, width=800)


@needs_libreoffice
@pytest.mark.django_db
def test_a_slide_is_shown_with_the_cited_words_in_boxes_and_hidden_ones_count(
    tmp_path: Path, collection: Collection, queue: None
) -> None:
    slides = pptx.Presentation()
    for text in ("表紙", "隠した枚", LINES[1]):
        slide = slides.slides.add_slide(slides.slide_layouts[5])
        slide.shapes.title.text = text
    slides.slides[1]._element.set("show", "0")
    path = tmp_path / "説明.pptx"
    slides.save(str(path))
    document = stored(path, collection)
    version = document.current_version
    assert version is not None
    start = version.content.markdown.index(LINES[1])
    (page,), _sheets = original_of(READER, document, 1, start, start + len(LINES[1]))
    assert page.page == 3
    assert page.boxes


@needs_libreoffice
@pytest.mark.django_db
def test_what_can_not_be_made_pages_of_is_told_and_not_tried_with_each_look(
    word: Path, collection: Collection, queue: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = stored(word, collection)
    monkeypatch.setattr(asking, "_pages", asking.Kept(10**7, size=lambda pages: 1))
    monkeypatch.setattr(asking, "_limits_of_making", lambda: ParseLimits(wall_s=0.01, cpu_s=1))
    with pytest.raises(Conflict, match=r"can't be shown|表示できません"):
        original_of(READER, document, 1, 0, 5)
    monkeypatch.setattr(asking, "_limits_of_making", lambda: pytest.fail("it was tried again"))
    with pytest.raises(Conflict):
        original_of(READER, document, 1, 0, 5)
    monkeypatch.setattr(asking, "SLOW_TRIED_AGAIN_AFTER_S", 0)
    version = document.current_version
    assert version is not None
    assert takes_a_while(version)


@needs_libreoffice
@pytest.mark.django_db
def test_who_has_pages_made_over_and_over_keeps_nobody_else_from_theirs(
    word: Path, collection: Collection, queue: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = stored(word, collection)
    turns = Turns(most=asking.MAKING_AT_ONCE, most_waiting=asking.AT_ONCE - 1, wait_s=0)
    monkeypatch.setattr(asking, "_pages", asking.Kept(10**7, size=lambda pages: 1))
    monkeypatch.setattr(asking, "_making", PerProcess(lambda: turns))
    monkeypatch.setattr(asking, "_limits_of_making", lambda: ParseLimits(wall_s=0.01, cpu_s=1))
    greedy, other = principal_with(Role.READER, collection), principal_with(Role.READER, collection)
    with turns.taken_by(greedy):
        with pytest.raises(TooManyAtOnce):
            original_of(greedy, document, 1, 0, 5)
        with pytest.raises(Conflict):  # it was tried, for as long as the test lets it
            original_of(READER, document, 1, 0, 5)
        monkeypatch.setattr(asking, "_pages", asking.Kept(10**7, size=lambda pages: 1))
        with turns.taken_by(other), pytest.raises(Unavailable):
            original_of(READER, document, 1, 0, 5)


@pytest.mark.django_db
def test_without_libreoffice_word_is_shown_by_its_text_alone(
    word: Path, collection: Collection, queue: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "programs", lambda: None)
    document = stored(word, collection)
    assert original_of(READER, document, 1, 0, 5) == ([], [])
    with pytest.raises(NotFound):
        draw_page(principal_with(Role.READER, collection), document.public_id, version=1, page=1, width=800)


def test_words_of_a_document_without_pages_are_found_by_what_is_around_them(pdf: Path) -> None:
    document = parsed(pdf)
    blocks = tuple(dataclasses.replace(block, page=None) for block in document.blocks)
    for text, number in (("次の頁の記述はここにある。", 2), (LINES[3], 1)):
        start = document.markdown.index(text)
        (page,) = mark_document(partial(ask, pdf), document.markdown, blocks, start, start + len(text))
        assert page.page == number
