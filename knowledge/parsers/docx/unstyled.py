"""Headings of Word documents that use no heading style: lines in bold or large type, and numbers such as 第1章."""

from __future__ import annotations

from collections import Counter

from knowledge.parsers.docx.names import qn
from knowledge.parsers.docx.styles import Look, Styles
from knowledge.parsers.docx.tables import body_elements
from knowledge.parsers.docx.text import read_paragraph
from knowledge.parsers.ooxml.package import Element
from knowledge.parsers.pdf.headings import DATE_LINE
from knowledge.parsers.text import has_strong_number, is_title_like
from knowledge.text.numbering import is_caption, numbered_level

_LARGER = 1.15
_MAX_BOLD_SHARE = 0.4
_MAX_SIZES = 4
_MAX_LEVEL = 6


class UnstyledHeadings:
    """Judges the paragraphs of one document, in order; says nothing where any heading has a heading's style."""

    def __init__(self, body: Element, styles: Styles) -> None:
        self._styles = styles
        self._above: int | None = None
        self._applies = not any(_has_heading_style(paragraph, styles) for paragraph in body.iter(qn("w:p")))
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
        self._bold_tells = bold <= _MAX_BOLD_SHARE * sizes.total()
        larger = sorted((size for size in sizes if size > self._body * _LARGER), reverse=True)
        self._ranks = {size: min(rank, _MAX_SIZES) for rank, size in enumerate(larger, 1)}

    def level(self, element: Element, written: str) -> int | None:
        """Return the level of a paragraph that reads and looks like a heading; ``written`` has its list number."""
        text = written.strip()
        if not self._applies or not is_title_like(text) or is_caption(text) or DATE_LINE.fullmatch(text):
            return None
        look = self._styles.look(element)
        numbered = numbered_level(text)
        if numbered is not None and (self._stands_out(look) or has_strong_number(text)):
            self._above = numbered
            return numbered
        if look.size in self._ranks:
            return self._ranks[look.size]
        if self._above is not None and look.bold and self._bold_tells:
            return min(self._above + 1, _MAX_LEVEL)
        return None

    def _stands_out(self, look: Look) -> bool:
        return look.size in self._ranks or (look.bold and self._bold_tells)


def _has_heading_style(paragraph: Element, styles: Styles) -> bool:
    return styles.of_paragraph(paragraph).heading_level is not None and bool(read_paragraph(paragraph).text.strip())
