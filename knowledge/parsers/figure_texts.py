"""The words that OCR read in a document's pictures, put into its text below each picture and marked."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Mapping

from knowledge.parsers.errors import counted
from knowledge.parsers.render import clean_text
from knowledge.text.figure_words import LABEL, LABEL_EN
from knowledge.types.documents import Block, BlockKind, ParsedDocument
from knowledge.types.ocr import PageReading

_LEAST_CHARACTERS = 2
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_MARKS = re.compile(r"^(?=[#>|`]|[-*+] |\d+[.)] )", re.M)


def with_figure_texts(document: ParsedDocument, readings: Mapping[str, PageReading]) -> ParsedDocument:
    """Add a paragraph with its words below each picture that was read; pages of nothing but such pictures are read."""
    if not readings or not document.figures:
        return document
    added: dict[int, list[tuple[str, float]]] = {}
    best: dict[int, list[float]] = {}
    read = set()
    for figure in document.figures:
        key = hashlib.sha256(figure.data).hexdigest()
        reading = readings.get(key)
        if reading is None or not reading.is_usable or reading.confidence is None:
            continue
        text = _text(reading)
        if len("".join(text.split())) < _LEAST_CHARACTERS:
            continue
        added.setdefault(figure.start, []).append((text, round(reading.confidence, 4)))
        read.add(key)
        if figure.page is not None:
            best.setdefault(figure.page, []).append(reading.confidence)
    if not added:
        return document
    written = _Writer(document, added).written()
    pages = tuple(
        dataclasses.replace(page, needs_ocr=False, confidence=round(min(best[page.number]), 4))
        if page.needs_ocr and page.number in best
        else page
        for page in document.pages
    )
    still = any(page.needs_ocr for page in pages)
    notices = [notice for notice in document.notices if notice.code != "needs_ocr" or still]
    return dataclasses.replace(written, pages=pages, notices=(*notices, *counted(len(read), "figures_read_by_ocr")))


def _text(reading: PageReading) -> str:
    text = clean_text("\n".join(line.text.strip() for line in reading.lines))
    # Nothing in a picture is a heading or a table of the document.
    return _MARKS.sub("\u200b", text)


class _Writer:
    """Copies a document's text with the added paragraphs, and moves what stands behind them."""

    def __init__(self, document: ParsedDocument, added: Mapping[int, list[tuple[str, float]]]) -> None:
        self._document = document
        self._added = added

    def written(self) -> ParsedDocument:
        markdown = self._document.markdown
        parts: list[str] = []
        blocks: list[Block] = []
        moved: dict[int, int] = {}
        done = length = 0
        for block in self._document.blocks:
            parts.append(markdown[done : block.end])
            length += block.end - done
            done = block.end
            shift = length - block.end
            moved[block.start] = shift
            blocks.append(dataclasses.replace(block, start=block.start + shift, end=block.end + shift))
            for text, confidence in self._added.get(block.start, ()):
                label = LABEL if _JAPANESE.search(text) else LABEL_EN
                body = f"{label}: {text}"
                parts.append(f"\n\n{body}")
                start = length + 2
                length = start + len(body)
                blocks.append(
                    Block(
                        kind=BlockKind.PARAGRAPH,
                        start=start,
                        end=length,
                        page=block.page,
                        sheet=block.sheet,
                        cell=block.cell,
                        ocr=confidence,
                    )
                )
        parts.append(markdown[done:])
        shifts = [(figure, moved.get(figure.start, 0)) for figure in self._document.figures]
        figures = tuple(dataclasses.replace(one, start=one.start + by, end=one.end + by) for one, by in shifts)
        return dataclasses.replace(self._document, markdown="".join(parts), blocks=tuple(blocks), figures=figures)
