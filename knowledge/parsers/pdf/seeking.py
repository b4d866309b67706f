"""Words of a text in a PDF of which nobody knows on which page they stand. Run in parser children."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from pathlib import Path

import pypdfium2

from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.pdf.picture import PageText, compact_texts, on_page, open_pdf
from knowledge.text.locating import LEAST_PART

# Of the texts around a cited one: a page with as much is the page.
_ENOUGH = 0.95
# Of a text that is broken by the end of a page: characters, and its share, that are no chance.
_LEAST_BROKEN, _LEAST_SHARE = 8, 0.3


def find_in_document(
    path: Path,
    *,
    limits: ParseLimits,
    folder: Path,
    filename: str,
    pieces: Sequence[str],
    around: Sequence[str],
    at: float,
) -> str:
    """Find pieces of text; gives what `find_words` of one page does.

    ``around`` are the pieces with what is written around them: the page that has most of it is looked at, the nearest
    one to ``at``, which is about how far into the document's text they begin, from 0 to 1; and for what is not there,
    the pages before and after it.
    """
    document = open_pdf(path, 1)
    page, down = _page_with(document, compact_texts(around), at=at)
    wanted = compact_texts(pieces)
    texts = {n: PageText(document[n - 1]).text for n in (page, page - 1, page + 1) if 1 <= n <= len(document)}
    of_page: dict[int, list[str]] = {number: [] for number in sorted(texts)}
    for piece in wanted:
        if (number := _page_of(piece, texts)) is not None:
            of_page[number].append(piece)
    found, shown, rest = 0, [], ""
    for number, own in of_page.items():
        place = down if number == page else float(number < page)
        # only what goes on, and only so much of it that it is not there by chance
        words, rest = on_page(document[number - 1], [rest, *own] if len(rest) >= LEAST_PART else own, at=place)
        found += words.characters
        shown += words.as_json(number)
    document.close()
    total = sum(map(len, wanted))
    return json.dumps({"pages": shown, "share": found / total if total else 0.0})


def _page_with(document: pypdfium2.PdfDocument, wanted: Sequence[str], *, at: float) -> tuple[int, float]:
    """The page, from 1, that has most of some texts, and about how far down it they begin; the nearest of several."""
    total = sum(map(len, wanted)) or 1
    best, most, down = 1, 0, 0.0
    for number in sorted(range(len(document)), key=lambda number: abs(number + 0.5 - at * len(document))):
        page = PageText(document[number])
        spans, _rest = page.spans(wanted, at=0.0)
        covered = sum(last - first for first, last in spans)
        if covered > most:
            best, most, down = number + 1, covered, spans[0][0] / len(page.text)
        if covered >= _ENOUGH * total:
            break
    return best, down


def _page_of(piece: str, texts: dict[int, str]) -> int | None:
    """The first of some pages that has a piece, or else the earliest that has a part of it that is no chance."""
    for number, text in texts.items():
        if piece in text:
            return number
    least = max(_LEAST_BROKEN, _LEAST_SHARE * len(piece))
    return next((number for number in sorted(texts) if _longest_part(piece, texts[number]) >= least), None)


def _longest_part(piece: str, text: str) -> int:
    return difflib.SequenceMatcher(None, text, piece, autojunk=False).find_longest_match().size
