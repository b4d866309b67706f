"""Word documents: body in order, headings from styles and outline levels, computed numbers, tables, footnotes."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from pathlib import Path

from docx.opc.constants import CONTENT_TYPE
from docx.opc.exceptions import OpcError, PackageNotFoundError
from docx.opc.part import PartFactory
from docx.package import Package
from docx.parts.document import DocumentPart
from lxml import etree

from knowledge.parsers.docx.annotations import insert_file, left_out_notices, note_texts
from knowledge.parsers.docx.numbering import ListMark, Numbering
from knowledge.parsers.docx.styles import ParagraphStyle, Styles
from knowledge.parsers.docx.tables import CellReader, body_elements, cell_paragraphs, table_grid
from knowledge.parsers.docx.text import Figure, Paragraph, qn, read_paragraph
from knowledge.parsers.docx.trace import Trace
from knowledge.parsers.errors import corrupted
from knowledge.parsers.limits import CellCount, ParseLimits
from knowledge.parsers.ooxml.arrows import arrow_text
from knowledge.parsers.ooxml.package import Element, drawing_text, embedded_notices
from knowledge.parsers.pdf.headings import DATE_LINE
from knowledge.parsers.pictures import PictureIntake
from knowledge.parsers.render import MarkdownBuilder, single_line
from knowledge.parsers.text import has_strong_number, is_title_like
from knowledge.text.numbering import heading_number, is_caption, numbered_level
from knowledge.types.documents import BlockKind, ParsedDocument

_LARGER = 1.15
_MAX_BOLD_SHARE = 0.4
_MAX_SIZES = 4
_MAX_LEVEL = 6


class UnstyledHeadings:
    """Judges the paragraphs of one document, in order; says nothing where any heading has a heading's style."""

    def __init__(self, body: Element, styles: Styles) -> None:
        self._styles = styles
        self._above: int | None = None
        self._applies = not any(
            styles.of_paragraph(paragraph).heading_level is not None and read_paragraph(paragraph).text.strip()
            for paragraph in body.iter(qn("w:p"))
        )
        if self._applies:
            self._measure(body)

    def _measure(self, body: Element) -> None:
        sizes: Counter[float] = Counter()
        bold = 0
        for element in body_elements(body):
            if element.tag == qn("w:p") and (length := len(read_paragraph(element).text)):
                look = self._styles.look(element)
                sizes[look.size] += length
                bold += length * look.bold
        self._body = sizes.most_common(1)[0][0] if sizes else 0.0
        self._is_bold_rare = bold <= _MAX_BOLD_SHARE * sizes.total()
        larger = sorted((size for size in sizes if size > self._body * _LARGER), reverse=True)
        self._ranks = {size: min(rank, _MAX_SIZES) for rank, size in enumerate(larger, 1)}

    def level(self, element: Element, written: str) -> int | None:
        """Return the level of a paragraph that reads and looks like a heading; ``written`` has its list number."""
        text = written.strip()
        if not self._applies or not is_title_like(text) or is_caption(text) or DATE_LINE.fullmatch(text):
            return None
        look = self._styles.look(element)
        numbered = numbered_level(text)
        is_bold = look.bold and self._is_bold_rare
        if numbered is not None and (look.size in self._ranks or is_bold or has_strong_number(text)):
            self._above = numbered
            return numbered
        if look.size in self._ranks:
            return self._ranks[look.size]
        return min(self._above + 1, _MAX_LEVEL) if self._above is not None and is_bold else None


_MAX_HEADING = 200
_MACRO_ENABLED = "application/vnd.ms-word.document.macroEnabled.main+xml"
_MACRO_TEMPLATE = "application/vnd.ms-word.template.macroEnabledTemplate.main+xml"
_TEMPLATE = "application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml"
_BROKEN = (OpcError, PackageNotFoundError, KeyError, ValueError, etree.XMLSyntaxError, zipfile.BadZipFile)
_CONTENTS_ENTRY = re.compile(r"(?:toc|目次)\s*[1-9]")
_CONTENTS_HEADINGS = frozenset({"toc heading", "目次の見出し"})


def parse(path: Path, *, filename: str, limits: ParseLimits) -> ParsedDocument:
    """Read the text that Word shows with all changes accepted; macros and links are never followed.

    :raises ParseError: ``corrupted``.
    """
    return read_document(path, limits)


def read_document(path: Path, limits: ParseLimits, trace: Trace | None = None) -> ParsedDocument:
    """Read a document as ``parse`` does; ``trace`` marks in the text which element each part of it comes from."""
    part = _open(path)
    body = part.element.find(qn("w:body"))
    if body is None:
        raise corrupted("docx", "no body")
    pictures = PictureIntake(limits)
    reader = _BodyReader(part, body, pictures, CellCount(limits), trace or Trace.off())
    reader.read_all(body)
    return reader.builder.document(
        "docx",
        title=reader.title or single_line(part.core_properties.title or "") or None,
        notices=(
            *left_out_notices(part, body, inserted_read=reader.inserted),
            *embedded_notices(path),
            *pictures.notices(),
        ),
    )


def _open(path: Path) -> DocumentPart:
    for content_type in (_MACRO_ENABLED, _TEMPLATE, _MACRO_TEMPLATE, CONTENT_TYPE.WML_DOCUMENT_MAIN):
        PartFactory.part_type_for[content_type] = DocumentPart
    try:
        part = Package.open(str(path)).main_document_part
    except _BROKEN as error:
        raise corrupted("docx", type(error).__name__) from error
    if not isinstance(part, DocumentPart):
        raise corrupted("docx", "no document part")
    return part


class _BodyReader:
    """Turns body elements into blocks; consecutive list paragraphs gather into one list block.

    Footnotes wait for the end of their section, endnotes for that of the document.
    """

    def __init__(
        self, part: DocumentPart, body: Element, pictures: PictureIntake, inserted_cells: CellCount, trace: Trace
    ) -> None:
        self.builder = MarkdownBuilder()
        self.title: str | None = None
        self.inserted = 0
        self._styles = Styles(part)
        self._numbering = Numbering(part)
        self._part = part
        self._pictures = pictures
        self._inserted_cells = inserted_cells
        self._trace = trace
        self._cells = CellReader(self._styles, self._numbering, trace)
        self._unstyled = UnstyledHeadings(body, self._styles)
        self._notes = note_texts(part, self._cells.text, trace)
        self._footnotes: list[str] = []
        self._endnotes: list[str] = []
        self._list_lines: list[str] = []

    def read_all(self, body: Element) -> None:
        self.read(body)
        self._add_notes(self._footnotes)
        self._add_notes(self._endnotes)

    def read(self, container: Element) -> None:
        for element in body_elements(container, with_files=True):
            if element.tag == qn("w:p"):
                self._paragraph(element)
                continue
            self._flush_list()
            if element.tag == qn("w:tbl"):
                self._table(element)
                continue
            relation = self._part.rels.get(element.get(qn("r:id"), ""))
            if relation is not None and not relation.is_external:
                part = relation.target_part
                self.inserted += insert_file(part, self.builder, self._pictures, self._inserted_cells)
        self._flush_list()

    def _paragraph(self, element: Element) -> None:
        paragraph = read_paragraph(element)
        style = self._styles.of_paragraph(element)
        # An empty paragraph has its number as well, as long as its mark is not deleted.
        mark = None if paragraph.is_gone else self._numbering.mark(style.numbering)
        if _CONTENTS_ENTRY.fullmatch(style.name):
            self._contents_entry(self._trace.marked(element, paragraph.text), style.name)
        elif level := self._level(element, style, paragraph.text, mark.text if mark is not None else ""):
            self._heading(element, paragraph.text, level, mark)
        elif mark is not None and paragraph.text.strip():
            indent = "  " * mark.level
            text = single_line(self._trace.marked(element, paragraph.text))
            self._list_lines.append(f"{indent}{mark.text or '-'} {text}")
        else:
            self._plain(element, paragraph.text, style.name)
        self._extras(paragraph)

    def _level(self, element: Element, style: ParagraphStyle, text: str, number: str) -> int | None:
        return _heading_level(style, text) or (
            self._unstyled.level(element, f"{number} {text}") if text.strip() else None
        )

    def _contents_entry(self, text: str, style_name: str) -> None:
        title, tab, page = text.strip().rpartition("\t")
        line = f"{single_line(title)} … {page}" if tab else single_line(text)
        if line:
            self._list_lines.append(f"{'  ' * (int(style_name[-1]) - 1)}- {line}")

    def _heading(self, element: Element, text: str, level: int, mark: ListMark | None) -> None:
        self._flush_list()
        self._add_notes(self._footnotes)
        title = single_line(text)
        number = f"{mark.text} " if mark is not None and mark.text and heading_number(title) is None else ""
        if not self.builder.blocks and level == 1 and heading_number(number + title) is None:
            self.title = self.title or number + title
        self.builder.add(BlockKind.HEADING, number + self._trace.marked(element, title), level=level)

    def _plain(self, element: Element, written: str, style_name: str) -> None:
        text = written.strip()
        if not text:
            return
        self._flush_list()
        if style_name in ("title", "表題"):
            self.title = self.title or single_line(text)
        captioned = style_name in ("caption", "図表番号") or is_caption(text)
        self.builder.add(BlockKind.CAPTION if captioned else BlockKind.PARAGRAPH, self._trace.marked(element, written))

    def _extras(self, paragraph: Paragraph) -> None:
        """Append the pictures and text boxes that hang on a paragraph, and keep its notes for later."""
        if paragraph.figures or paragraph.boxes:
            self._flush_list()
        for figure in paragraph.figures:
            self._figure(figure)
        for box in paragraph.boxes:
            self.read(box)
        for drawing in paragraph.drawings:
            if arrows := arrow_text(drawing):
                self.builder.add(BlockKind.FIGURE, self._trace.marked(drawing, f"![{arrows}](diagram)"))
        self._keep_notes(paragraph.notes)

    def _figure(self, figure: Figure) -> None:
        parts = [blob for relation in figure.relations if (blob := self._related(relation)) is not None]
        if figure.kind == "image":
            taken = [self._pictures.take(blob, alt_text=figure.alt) for blob in parts]
            text = f"![{single_line(figure.alt)}](image)"
            text = self._trace.marked(figure.drawn, text)
            self.builder.add(BlockKind.FIGURE, text, pictures=[picture for picture in taken if picture])
            return
        words = " / ".join(filter(None, [single_line(figure.alt), *map(drawing_text, parts)]))
        self.builder.add(BlockKind.FIGURE, self._trace.marked(figure.drawn, f"![{words}]({figure.kind})"))

    def _related(self, relation_id: str) -> bytes | None:
        """Return a part's bytes; None for links out of the document, which are never followed."""
        relation = self._part.rels.get(relation_id)
        if relation is None or relation.is_external:
            return None
        blob: bytes = relation.target_part.blob
        return blob

    def _keep_notes(self, marks: list[str]) -> None:
        """Keep each marked note once, for where its mark is first."""
        for mark in marks:
            if text := self._notes.pop(mark, ""):
                (self._endnotes if mark.startswith("e") else self._footnotes).append(f"[^{mark}]: {text}")

    def _add_notes(self, lines: list[str]) -> None:
        for line in lines:
            self.builder.add(BlockKind.PARAGRAPH, line)
        lines.clear()

    def _table(self, element: Element) -> None:
        rows = table_grid(element)
        cells = [cell for row in rows for cell, _ in row.values()]
        if len(cells) == 1:  # a frame drawn around text
            self.read(cells[0])
            return
        table = self._cells.written(element)
        self.builder.add(BlockKind.TABLE, table.text, merged=table.merged)
        for paragraph in (found for cell in cells for found in cell_paragraphs(cell)):
            for figure in paragraph.figures:
                self._figure(figure)
            self._keep_notes(paragraph.notes)

    def _flush_list(self) -> None:
        lines, self._list_lines = self._list_lines, []
        self.builder.add(BlockKind.LIST, "\n".join(lines))


def _heading_level(style: ParagraphStyle, text: str) -> int | None:
    """Judge by style, but a caption or a long paragraph that wears a heading's style is none."""
    title = text.strip()
    if style.name in _CONTENTS_HEADINGS:
        return 1
    return style.heading_level if title and len(title) <= _MAX_HEADING and not is_caption(title) else None
