"""The order in which the shapes of a slide are read, which is its title, and its paragraphs with their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from pptx.enum.shapes import MSO_SHAPE_TYPE

from knowledge.parsers.docx.numbering import format_number
from knowledge.parsers.render import single_line

PptxObject: TypeAlias = Any
"""A shape, table or paragraph of python-pptx: what they offer depends on their kind, so they are asked first."""

# Shapes whose tops differ by less than this (EMU, 1 cm) are in one row and are read from the left.
_ROW_EMU = 360_000
_COMPATIBILITY = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_TITLE_SHARE = 0.25
_MAX_TITLE = 60
# In hundredths of a point: what text has that says nothing.
_DEFAULT_SIZE = 1800
_RUN_PROPERTIES = "{http://schemas.openxmlformats.org/drawingml/2006/main}rPr"


def choose_alternatives(slide: PptxObject) -> None:
    """Put what PowerPoint shows in the place of alternatives: python-pptx sees nothing of shapes inside them.

    Shapes with equations, ink and the newer kinds of charts are kept with a fallback for older programs, which is taken
    only where the first choice has no shape at all.
    """
    for element in list(slide.iter(f"{_COMPATIBILITY}AlternateContent")):
        parent = element.getparent()
        if str(parent.tag).rpartition("}")[2] not in ("spTree", "grpSp"):
            continue
        options = [option for option in element if len(option)]
        for shape in list(options[0]) if options else ():
            element.addprevious(shape)
        parent.remove(element)


def in_reading_order(shapes: Iterable[PptxObject]) -> Iterator[PptxObject]:
    """Yield shapes row by row, from the left; those of a group together, since their places count from its own."""
    # A shape is asked for its place once: a placeholder looks for it in its layout and master.
    for row in _rows(sorted(((shape.top or 0, shape) for shape in shapes), key=lambda placed: placed[0])):
        for shape in sorted(row, key=lambda shape: shape.left or 0):
            if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
                yield from in_reading_order(shape.shapes)
            else:
                yield shape


def _rows(shapes: Sequence[tuple[int, PptxObject]]) -> Iterator[list[PptxObject]]:
    row: list[PptxObject] = []
    first_top = 0
    for top, shape in shapes:
        if row and top - first_top >= _ROW_EMU:
            yield row
            row = []
        if not row:
            first_top = top
        row.append(shape)
    if row:
        yield row


def apparent_title(shapes: Sequence[PptxObject], *, slide_height: int) -> PptxObject | None:
    """Return the text box that looks like the title of a slide without one: short, at the top, the largest by far."""
    written = [shape for shape in shapes if getattr(shape, "has_text_frame", False) and shape.text_frame.text.strip()]
    if not written:
        return None
    sizes = [_size(shape) for shape in written]
    largest = max(sizes)
    first = written[sizes.index(largest)]
    text = first.text_frame.text.strip()
    alone = sizes.count(largest) == 1 and largest > _DEFAULT_SIZE
    at_top = (first.top or 0) < _TITLE_SHARE * slide_height
    return first if alone and at_top and "\n" not in text and len(single_line(text)) <= _MAX_TITLE else None


def _size(shape: PptxObject) -> int:
    sizes = (found.get("sz", "") for found in shape.element.iter(_RUN_PROPERTIES))
    return max((int(size) for size in sizes if size.isdecimal()), default=_DEFAULT_SIZE)


_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
# Source: ECMA-376 part 1, 20.1.10.61 (ST_TextAutonumberScheme): the kind of number, then what is around it.
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
