"""Paragraphs of slides: their text, and the numbers that PowerPoint draws before them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from knowledge.parsers.docx.number_formats import format_number
from knowledge.parsers.pptx.order import PptxObject

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
# Source: ECMA-376 part 1, 20.1.10.61 (ST_TextAutonumberScheme): the kind of number, then what stands around it.
_NUMBERS = (
    ("arabicDb", "decimalFullWidth"),
    ("arabic", "decimal"),
    ("alphaUc", "upperLetter"),
    ("alphaLc", "lowerLetter"),
    ("romanUc", "upperRoman"),
    ("romanLc", "lowerRoman"),
    ("circleNum", "decimalEnclosedCircle"),
    ("ea1Jpn", "japaneseCounting"),
    ("ea1Ch", "japaneseCounting"),
)
_AROUND = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})", "Minus": "- {} -"}


def paragraph_text(paragraph: PptxObject) -> str:
    """Join runs, fields, line breaks and equations in order (python-pptx leaves all but runs out)."""
    parts: list[str] = []
    for element in paragraph._p:
        if element.tag == f"{_DRAWING}br":
            parts.append("\n")
        parts.extend(found.text or "" for found in element.iterchildren(f"{_DRAWING}t"))
        parts.extend(found.text or "" for found in element.iter(_MATH_TEXT))
    return "".join(parts).strip()


def numbered_paragraphs(paragraphs: Iterable[PptxObject]) -> Iterator[tuple[str, str, int]]:
    """Yield the number (empty without one), the text and the level of each paragraph that has text."""
    counts: dict[int, tuple[str, int]] = {}
    for paragraph in paragraphs:
        text, level = paragraph_text(paragraph), paragraph.level
        if not text:
            continue
        counts = {depth: count for depth, count in counts.items() if depth <= level}
        scheme = paragraph._p.find(f"{_DRAWING}pPr/{_DRAWING}buAutoNum")
        if scheme is None:
            counts.pop(level, None)
            yield "", text, level
            continue
        kind, start = scheme.get("type", ""), scheme.get("startAt", "1")
        before, count = counts.get(level, ("", 0))
        count = count + 1 if before == kind else int(start) if start.isdecimal() else 1
        counts[level] = kind, count
        yield _number(count, kind), text, level


def _number(count: int, kind: str) -> str:
    name = next((name for prefix, name in _NUMBERS if kind.startswith(prefix)), "decimal")
    around = next((form for suffix, form in _AROUND.items() if kind.endswith(suffix)), "{}")
    return around.format(format_number(count, name) or count)
