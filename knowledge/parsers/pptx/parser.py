"""PowerPoint slides: a section per slide, with text, tables, pictures and the speaker's notes."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from lxml import etree
from pptx.enum.shapes import MSO_SHAPE_TYPE, PP_PLACEHOLDER
from pptx.exc import PythonPptxError
from pptx.opc.constants import CONTENT_TYPE as CT
from pptx.opc.package import PartFactory
from pptx.package import Package
from pptx.parts.presentation import PresentationPart
from pptx.slide import Slide

from knowledge.parsers.errors import corrupted, counted, ocr_notices, parse_error
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.ooxml.arrows import arrow_text
from knowledge.parsers.ooxml.package import alt_text, drawing_text, embedded_notices, slide_comment_notices
from knowledge.parsers.pictures import PictureIntake
from knowledge.parsers.pptx.text import (
    PptxObject,
    apparent_title,
    choose_alternatives,
    in_reading_order,
    numbered_paragraphs,
    paragraph_text,
)
from knowledge.parsers.render import FROM_ABOVE, MarkdownBuilder, render_table, rows_under_one_head, single_line
from knowledge.text.numbering import is_caption
from knowledge.types.documents import BlockKind, PageQuality, ParsedDocument

_SLIDE_LEVEL = 2
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_CHART_EXTENDED = "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart"
_RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DECORATION = frozenset({PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER})
_TITLES = frozenset({PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE})
_OTHER_KINDS = (
    CT.PML_SLIDESHOW_MAIN,
    CT.PML_TEMPLATE_MAIN,
    "application/vnd.ms-powerpoint.slideshow.macroEnabled.main+xml",
    "application/vnd.ms-powerpoint.template.macroEnabled.main+xml",
)
_BROKEN = (PythonPptxError, KeyError, ValueError, etree.XMLSyntaxError, zipfile.BadZipFile)


def parse(path: Path, *, filename: str, limits: ParseLimits) -> ParsedDocument:
    """Read the slides that are shown; hidden slides, macros and links stay out.

    :raises ParseError: ``corrupted``, ``too_many_pages``, or ``no_content`` of blank slides.
    """
    try:
        presentation = _open(path)
        slides = list(presentation.slides)
    except _BROKEN as error:
        raise corrupted("pptx", type(error).__name__) from error
    if len(slides) > limits.max_pages:
        raise parse_error("too_many_pages", size=len(slides), limit=limits.max_pages)
    builder = MarkdownBuilder()
    shown = list(_shown(slides))
    pictures = PictureIntake(limits)
    height = presentation.slide_height or 0
    pages = [_SlideReader(builder, pictures, slide, number).read(slide_height=height) for number, slide in shown]
    if all(block.kind is BlockKind.HEADING for block in builder.blocks) and not any(page.characters for page in pages):
        raise parse_error("no_content")
    return builder.document(
        "pptx",
        title=_title(presentation, shown),
        pages_count=len(slides),
        pages=tuple(pages),
        notices=(
            *ocr_notices(pages),
            *counted(len(slides) - len(pages), "hidden_slides"),
            *slide_comment_notices(path),
            *embedded_notices(path),
            *pictures.notices(),
        ),
    )


def _open(path: Path) -> PptxObject:
    """Open a presentation, a template or a slide show; python-pptx knows the first by name only."""
    for content_type in (*_OTHER_KINDS, CT.PML_PRES_MACRO_MAIN):
        PartFactory.part_type_for[content_type] = PresentationPart
    part = Package.open(str(path)).main_document_part
    if not isinstance(part, PresentationPart):
        raise corrupted("pptx", "no document part")
    return part.presentation


def _shown(slides: list[Slide]) -> Iterator[tuple[int, Slide]]:
    for number, slide in enumerate(slides, 1):
        if slide.element.get("show") not in ("0", "false"):
            yield number, slide


def _title(presentation: PptxObject, shown: list[tuple[int, Slide]]) -> str | None:
    """Take the first slide's title: the stored property is often that of the deck this one was copied from."""
    first = shown[0][1].shapes.title if shown else None
    written = _shape_text(first) if first is not None else ""
    return written or single_line(presentation.core_properties.title or "") or None


class _SlideReader:
    def __init__(self, builder: MarkdownBuilder, pictures: PictureIntake, slide: Slide, number: int) -> None:
        self._builder = builder
        self._intake = pictures
        self._slide = slide
        self._number = number
        self._characters = 0
        self._pictures = 0

    def read(self, *, slide_height: int) -> PageQuality:
        """Append the slide's blocks and report how much text it has."""
        choose_alternatives(self._slide.element)
        shapes = list(in_reading_order(self._slide.shapes))
        titles = [shape for shape in shapes if _placeholder_type(shape) in _TITLES and _shape_text(shape)]
        if not titles and (apparent := apparent_title(shapes, slide_height=slide_height)) is not None:
            titles = [apparent]
        heading = " ".join(_shape_text(shape) for shape in titles)
        self._characters += len("".join(heading.split()))
        title = heading or f"スライド {self._number}"
        self._builder.add(BlockKind.HEADING, title, level=_SLIDE_LEVEL, page=self._number)
        for shape in shapes:
            if shape not in titles and _placeholder_type(shape) not in _DECORATION:
                self._shape(shape)
        if arrows := arrow_text(self._slide.element):
            self._content(BlockKind.FIGURE, f"![{arrows}](diagram)")
        needs_ocr = self._pictures > 0 and self._characters == 0
        self._notes()
        return PageQuality(number=self._number, characters=self._characters, needs_ocr=needs_ocr)

    def _shape(self, shape: PptxObject) -> None:
        if getattr(shape, "has_table", False) and shape.has_table:
            table = render_table(_table_rows(shape.table))
            self._content(BlockKind.TABLE, table.text, merged=table.merged)
        elif getattr(shape, "has_chart", False) and shape.has_chart:
            self._content(BlockKind.FIGURE, f"![{drawing_text(shape.chart.part.blob)}](chart)")
        elif charts := [text for text in map(drawing_text, self._parts_of(shape, _CHART_EXTENDED, "id")) if text]:
            self._content(BlockKind.FIGURE, f"![{' / '.join(charts)}](chart)")
        elif next(shape.element.iter(f"{_DIAGRAM}relIds"), None) is not None:  # in a placeholder it has no shape type
            words = " / ".join(map(drawing_text, self._parts_of(shape, f"{_DIAGRAM}relIds", "dm")))
            self._content(BlockKind.FIGURE, f"![{words}](diagram)")
        elif shape.shape_type == MSO_SHAPE_TYPE.PICTURE or (
            shape.is_placeholder and next(shape.element.iter(f"{_DRAWING}blip"), None) is not None
        ):
            self._picture(shape)
        elif getattr(shape, "has_text_frame", False) and shape.has_text_frame:
            self._text(shape)

    def _picture(self, shape: PptxObject) -> None:
        self._pictures += 1
        alt = alt_text(shape.element)
        taken = [self._intake.take(blob, alt_text=alt) for blob in self._parts_of(shape, f"{_DRAWING}blip", "embed")]
        text = f"![{alt}](image)"
        pictures = [picture for picture in taken if picture]
        self._builder.add(BlockKind.FIGURE, text, page=self._number, pictures=pictures)

    def _parts_of(self, shape: PptxObject, tag: str, attribute: str) -> list[bytes]:
        """Return the parts that a shape refers to; links out of the document are never followed."""
        part = self._slide.part
        ids = (element.get(f"{_RELATIONS}{attribute}") for element in shape.element.iter(tag))
        return [part.related_part(key).blob for key in ids if key in part.rels and not part.rels[key].is_external]

    def _content(self, kind: BlockKind, text: str, *, merged: str | None = None) -> None:
        self._characters += len("".join(text.split()))
        self._builder.add(kind, text, page=self._number, merged=merged)

    def _text(self, shape: PptxObject) -> None:
        paragraphs = list(numbered_paragraphs(shape.text_frame.paragraphs))
        if not paragraphs:
            return
        numbered = any(number for number, _, _ in paragraphs)
        if len(paragraphs) > 1 and (shape.is_placeholder or numbered):
            lines = (f"{'  ' * level}{number or '-'} {single_line(text)}" for number, text, level in paragraphs)
            self._content(BlockKind.LIST, "\n".join(lines))
            return
        text = "\n".join(f"{number} {text}".lstrip() for number, text, _ in paragraphs)
        self._content(BlockKind.CAPTION if is_caption(text) else BlockKind.PARAGRAPH, text)

    def _notes(self) -> None:
        if not self._slide.has_notes_slide:
            return
        frame = self._slide.notes_slide.notes_text_frame
        text = "\n".join(paragraph_text(found) for found in frame.paragraphs).strip() if frame is not None else ""
        if text:
            self._builder.add(BlockKind.PARAGRAPH, f"ノート: {text}", page=self._number)


def _placeholder_type(shape: PptxObject) -> PptxObject:
    return shape.placeholder_format.type if shape.is_placeholder else None


def _shape_text(shape: PptxObject) -> str:
    return single_line(shape.text_frame.text) if getattr(shape, "has_text_frame", False) else ""


def _table_rows(table: PptxObject) -> list[list[str]]:
    """Return the texts of a table's rows; a head of several rows is one row of full column names."""
    rows = [
        {
            column: (_cell_text(cell), column + max(cell.span_width, 1) - 1)
            for column, cell in enumerate(row.cells)
            if not cell._tc.hMerge  # python-pptx tells the merged cells of both directions alike
        }
        for row in table.rows
    ]
    return rows_under_one_head(rows)


def _cell_text(cell: PptxObject) -> str:
    return FROM_ABOVE if cell._tc.vMerge else "\n".join(map(paragraph_text, cell.text_frame.paragraphs))
