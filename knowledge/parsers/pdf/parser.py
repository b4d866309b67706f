"""PDF: text, pages and outline by PDFium; ruled tables by pdfplumber."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import chain
from pathlib import Path
from types import MappingProxyType

import pypdfium2

from knowledge.parsers.errors import corrupted, counted, is_garbled, ocr_notices, parse_error
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.pdf.continued import over_page_breaks
from knowledge.parsers.pdf.headings import HeadingJudge, without_running_lines
from knowledge.parsers.pdf.layout import Layout, TextBlock, read_confidence
from knowledge.parsers.pdf.lines import read_page
from knowledge.parsers.pdf.page import Line, Page, PagePicture, PictureExtractor, with_written_text, without_decoration
from knowledge.parsers.pdf.read_pages import page_of, picture_of, quality_of
from knowledge.parsers.pdf.tables import PdfTable, find_tables
from knowledge.parsers.pictures import PictureIntake
from knowledge.parsers.render import MarkdownBuilder, render_table, single_line
from knowledge.text.folding import fold_compact
from knowledge.text.numbering import heading_number
from knowledge.types.documents import BlockKind, PageQuality, ParsedDocument
from knowledge.types.notices import Notice
from knowledge.types.ocr import PageReading

# Writers that get no title put the name of the source file there.
_IS_FILE_NAME = re.compile(
    r"^$|^Microsoft (?:Word|PowerPoint|Excel)|^untitled|\.(?:docx?|pptx?|xlsx?|txt|indd|pdf)$", re.I
)
_MIN_PATHS_OF_OUTLINED_TEXT = 30
# A scanner's stamp or a page number over a picture of a page is no text layer.
_MOST_OF_A_STAMP = 1


def parse(
    path: Path, *, filename: str, limits: ParseLimits, readings: Mapping[str, PageReading] = MappingProxyType({})
) -> ParsedDocument:
    """Read the text layer. Pages without a usable one are reported, or have the text that OCR read of their picture.

    :raises ParseError: ``encrypted``, ``corrupted`` or ``too_many_pages``.
    """
    source: Path | BytesIO = path
    read = _read(source, limits)
    lost = False
    if any(page.written for page in read.pages):
        try:
            source = with_written_text(path)
            read = _read(source, limits)
        except pypdfium2.PdfiumError:
            source, lost = path, True
    pages, qualities = _with_readings(read.pages, readings)
    readable = [page for page, quality in zip(pages, qualities, strict=True) if not quality.needs_ocr]
    builder = MarkdownBuilder()
    intake = PictureIntake(limits)
    blocks = list(with_settled_levels(_blocks(source, readable, read.outline, intake)))
    for block in blocks:
        pictures = [block.picture] if block.picture else []
        builder.add(
            block.kind,
            block.text,
            level=block.level,
            page=block.page,
            pictures=pictures,
            merged=block.merged,
            glue=block.glue,
            ocr=block.ocr,
        )
    return builder.document(
        "pdf",
        title=_title(read.title, blocks),
        pages_count=len(pages),
        pages=qualities,
        notices=(*ocr_notices(qualities), *_left_out_notices(read, lost=lost), *intake.notices()),
    )


def _read(source: Path | BytesIO, limits: ParseLimits) -> _Read:
    document = _open(source)
    try:
        if len(document) > limits.max_pages:
            raise parse_error("too_many_pages", size=len(document), limit=limits.max_pages)
        return _Read(
            pages=list(_read_pages(document, PictureExtractor(limits))),
            outline=_outline(document),
            title=single_line(document.get_metadata_value("Title")),
            attachments=document.count_attachments(),
        )
    finally:
        document.close()


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    pages: list[Page]
    outline: dict[tuple[int, str], int]
    title: str
    attachments: int


def _open(source: Path | BytesIO) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(source)
    except pypdfium2.PdfiumError as error:
        is_encrypted = "password" in str(error).lower()
        raise (parse_error("encrypted") if is_encrypted else corrupted("pdf", "PDFium")) from error


def _read_pages(document: pypdfium2.PdfDocument, extractor: PictureExtractor) -> Iterator[Page]:
    for index in range(len(document)):
        try:
            page = document[index]
        except pypdfium2.PdfiumError as error:
            raise corrupted("pdf", f"page {index + 1}") from error
        try:
            found = read_page(page, index + 1, extractor)
            yield dataclasses.replace(found, picture=picture_of(page)) if _quality(found).needs_ocr else found
        finally:
            page.close()


def _left_out_notices(read: _Read, *, lost: bool) -> tuple[Notice, ...]:
    return (
        *counted(read.attachments, "attached_files_left_out", code="embedded_files_left_out"),
        *counted(sum(page.remarks for page in read.pages), "notes_left_out", code="comments_left_out"),
        *counted(lost, "form_fields_left_out"),
    )


def _outline(document: pypdfium2.PdfDocument) -> dict[tuple[int, str], int]:
    """Map (page, normalised title) of the PDF's bookmarks to heading levels from 1."""
    levels: dict[tuple[int, str], int] = {}
    for bookmark in document.get_toc(max_depth=6):
        destination = bookmark.get_dest()
        index = destination.get_index() if destination is not None else None
        title = fold_compact(bookmark.get_title())
        if index is not None and title:
            levels.setdefault((index + 1, title), bookmark.level + 1)
    return levels


def _with_readings(pages: list[Page], readings: Mapping[str, PageReading]) -> tuple[list[Page], list[PageQuality]]:
    """Put what OCR read in place of text layers that can't be used, where that can be."""
    shown, qualities = [], []
    for page in pages:
        quality = _quality(page)
        reading = readings.get(page.picture or "") if quality.needs_ocr else None
        if reading is not None:
            quality = quality_of(page.number, page.picture, reading)
            page = page_of(page, reading)
        shown.append(page)
        qualities.append(quality)
    return shown, qualities


def _quality(page: Page) -> PageQuality:
    text = page.text
    characters = len("".join(text.split()))
    drawn = page.images > 0 or page.paths >= _MIN_PATHS_OF_OUTLINED_TEXT
    return PageQuality(
        number=page.number,
        characters=characters,
        needs_ocr=is_garbled(text) or (characters < _MOST_OF_A_STAMP and drawn),
        picture=page.picture,
    )


def _blocks(
    source: Path | BytesIO, pages: list[Page], outline: dict[tuple[int, str], int], intake: PictureIntake
) -> Iterator[TextBlock]:
    lines_by_page = without_running_lines(pages)
    tables = over_page_breaks(find_tables(source, pages), pages, lines_by_page)
    lines_by_page = [_with_rows(page, lines, tables) for page, lines in zip(pages, lines_by_page, strict=True)]
    pictures_by_page = without_decoration([page.pictures for page in pages])
    body = [
        [line for line in lines if not any(table.holds(line) for table in tables.get(page.number, ()))]
        for page, lines in zip(pages, lines_by_page, strict=True)
    ]
    layout = Layout(body, HeadingJudge(list(chain.from_iterable(body)), outline))
    found: list[TextBlock] = []
    for page, lines, pictures in zip(pages, lines_by_page, pictures_by_page, strict=True):
        figures = _figures(page.number, lines, pictures, intake)
        found.extend(_page_blocks(page.number, lines, tables.get(page.number, ()), figures, layout))
    yield from layout.with_continuations(found)


def _with_rows(page: Page, lines: list[Line], tables: Mapping[int, Sequence[PdfTable]]) -> list[Line]:
    """Put back the lines of tables that go on from the page before: rows on top of pages look like running heads."""
    going_on = [table for table in tables.get(page.number, ()) if table.has_carried_head]
    if not going_on:
        return lines
    kept = set(lines)
    return [line for line in page.lines if line in kept or any(table.holds(line) for table in going_on)]


def _figures(
    number: int, lines: Sequence[Line], pictures: Sequence[PagePicture], intake: PictureIntake
) -> dict[int, list[TextBlock]]:
    """Map the index of the line that a picture is before, or one past the last, to its block."""
    found: dict[int, list[TextBlock]] = {}
    for placed in pictures:
        picture = intake.take(placed.data)
        if picture is not None:
            block = TextBlock(kind=BlockKind.FIGURE, text="![](image)", page=number, picture=picture)
            found.setdefault(_line_below(lines, placed), []).append(block)
    return found


def _line_below(lines: Sequence[Line], placed: PagePicture) -> int:
    middle = (placed.top + placed.bottom) / 2
    for index, line in enumerate(lines):
        if line.top >= middle and line.left < placed.right and line.right > placed.left:
            return index
    return len(lines)


def _page_blocks(
    number: int,
    lines: Sequence[Line],
    tables: Sequence[PdfTable],
    figures: Mapping[int, list[TextBlock]],
    layout: Layout,
) -> Iterator[TextBlock]:
    """Yield a page's blocks, each figure before the line below it, each table in the place of its first line."""
    waiting = list(tables)
    run: list[Line] = []
    for index, line in enumerate(lines):
        table = next((found for found in tables if found.holds(line)), None)
        if index in figures or (table is not None and table in waiting):
            yield from layout.blocks(run)
            run = []
            yield from figures.get(index, ())
        if table is None:
            run.append(line)
        elif table in waiting:
            waiting.remove(table)
            written = render_table(table.rows)
            ocr = read_confidence([line for line in lines if table.holds(line)])
            yield TextBlock(kind=BlockKind.TABLE, text=written.text, merged=written.merged, page=number, ocr=ocr)
    yield from layout.blocks(run)
    yield from figures.get(len(lines), ())


def with_settled_levels(blocks: Iterable[TextBlock]) -> Iterator[TextBlock]:
    """Close the gaps between guessed heading levels; a level that the heading's number gives stays."""
    above: list[tuple[int, int]] = []
    for block in blocks:
        if block.level is None:
            yield block
            continue
        while above and above[-1][0] >= block.level:
            above.pop()
        deepest = above[-1][1] + 1 if above else 1
        level = block.level if heading_number(block.text) else min(block.level, deepest)
        above.append((block.level, level))
        yield dataclasses.replace(block, level=level)


def _title(metadata_title: str, blocks: Sequence[TextBlock]) -> str | None:
    """Choose the title the writer stored, else the top heading that opens the document."""
    if not _IS_FILE_NAME.search(metadata_title):
        return metadata_title
    first = blocks[0] if blocks else None
    opens = first is not None and first.kind is BlockKind.HEADING and heading_number(first.text) is None
    return first.text if first is not None and opens else None
