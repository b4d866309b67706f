"""Find the running headers and the headings among a PDF's lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from knowledge.parsers.pdf.page import Line, Page
from knowledge.text.date_forms import ERA_NAMES
from knowledge.text.folding import fold_compact, normalise
from knowledge.text.numbering import ORDINAL, is_caption, numbered_level

_MARGIN_SHARE = 0.1
_REPEATED_SHARE = 0.6
_MIN_PAGES_FOR_RUNNING = 2
_LARGER = 1.15
_LARGER_BOLD = 1.05
_LARGER_NUMBERED = 1.05
_MAX_SIZES = 4
_MAX_HEADING = 80
_PAGE_NUMBER = re.compile(r"[-–—\s]*(?:p\.?\s*|page\s*)?[0-9ivx]{1,5}(?:\s*(?:/|of)\s*[0-9]{1,5})?[-–—\s]*", re.I)
CONTENTS_ENTRY = re.compile(r"[.．・…‥]{3,}|\s[0-9]{1,4}$")
"""What the lines of a table of contents have: a leader, or a page number after a blank."""
DATE_LINE = re.compile(
    rf"(?:{ERA_NAMES})?\s*[0-9元]+\s*年\s*[0-9]+\s*月(?:\s*[0-9]+\s*日)?.{{0,10}}|[0-9]{{4}}[-./][0-9]{{1,2}}.{{0,4}}"
)
"""A line that is a date, as covers have one in large type."""
_STRONG_NUMBER = re.compile(ORDINAL + r"|[0-9]{1,2}(?:[.-][0-9]{1,2})+[.\s]|[0-9]{1,2}\.?\s")

Outline = Mapping[tuple[int, str], int]


def without_running_lines(pages: Sequence[Page]) -> list[list[Line]]:
    """Drop headers, footers and page numbers: lines near an edge that recur on most pages, numbers apart.

    Larger lines recur only as they are: 第1章 and 第2章 at the top of their pages are headings.
    """
    if len(pages) < _MIN_PAGES_FOR_RUNNING:
        return [list(page.lines) for page in pages]
    body = body_size(line for page in pages for line in page.lines)
    counts: Counter[str] = Counter()
    for page in pages:
        counts.update({_shape(line, body) for line in page.lines if _in_margin(line, page)})
    needed = max(_REPEATED_SHARE * sum(1 for page in pages if page.lines), 2)
    return [
        [
            line
            for line in page.lines
            if not _in_margin(line, page)
            or (counts[_shape(line, body)] < needed and _PAGE_NUMBER.fullmatch(line.text) is None)
        ]
        for page in pages
    ]


def body_size(lines: Iterable[Line]) -> float:
    """Return the font size that most characters have; 0 without any."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _in_margin(line: Line, page: Page) -> bool:
    return line.bottom < _MARGIN_SHARE * page.height or line.top > (1 - _MARGIN_SHARE) * page.height


def _shape(line: Line, body: float) -> str:
    text = fold_compact(line.text)
    return text if line.size > body * _LARGER_BOLD else re.sub(r"[0-9]+", "#", text)


class HeadingJudge:
    """Decides which lines are headings: by the PDF's outline where it has one, else by font size and numbers."""

    def __init__(self, lines: Sequence[Line], outline: Outline) -> None:
        self._outline = outline
        self._body = body_size(lines)
        larger = sorted({line.size for line in lines if self._is_prominent(line)}, reverse=True)
        self._ranks = {size: rank for rank, size in enumerate(_merged(larger)[:_MAX_SIZES], 1)}
        matched = sum(1 for line in lines if (line.page, fold_compact(line.text)) in outline)
        self._trusts_outline = matched >= max(2, len(outline) // 2)

    def level(self, line: Line) -> int | None:
        """Return the heading level of a line, 1 to 6, or None for body text."""
        if self._trusts_outline:
            return self._outline.get((line.page, fold_compact(line.text)))
        text = normalise(line.text).strip()
        if len(text) > _MAX_HEADING or text.endswith(("。", "、", ",")) or CONTENTS_ENTRY.search(text):
            return None
        if is_caption(text) or not re.search(r"[^\W\d_]{2}", text):
            return None
        numbered = numbered_level(text) if _STRONG_NUMBER.match(text) else None
        sizes = self._ranks.items() if self._is_prominent(line) else ()
        rank = min((rank for size, rank in sizes if abs(size - line.size) < 0.6), default=None)
        if rank is not None and not DATE_LINE.fullmatch(text):
            return numbered or rank
        is_prominent = (line.bold and line.size >= self._body) or line.size > self._body * _LARGER_NUMBERED
        return numbered if numbered and is_prominent else None

    def _is_prominent(self, line: Line) -> bool:
        return line.size > self._body * (_LARGER_BOLD if line.bold else _LARGER)


def _merged(sizes: Sequence[float]) -> list[float]:
    """Keep one of sizes that differ by less than half a point."""
    kept: list[float] = []
    for size in sizes:
        if not kept or kept[-1] - size >= 0.6:
            kept.append(size)
    return kept
