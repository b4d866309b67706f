"""What a Word paragraph's style chain says: heading level and numbering."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from docx.parts.document import DocumentPart

from knowledge.parsers.docx.text import is_on, qn, value_of
from knowledge.parsers.ooxml.package import Element

_HEADING_NAME = re.compile(r"(?:heading|見出し)\s*([1-9])", re.I)
_BODY_LEVEL = 9
_MAX_CHAIN = 20
# In points, where nothing says how large text is (ECMA-376 part 1, 17.3.2.38).
_DEFAULT_SIZE = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberingRef:
    """Which list a paragraph belongs to and at which level, from 0. ``number_id`` "0" means none."""

    number_id: str
    level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParagraphStyle:
    """The effective facts of one paragraph; ``name`` is the style's name in lower case."""

    name: str
    heading_level: int | None
    numbering: NumberingRef | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How a paragraph's text is set: the size in points of most of it, and whether all of it is bold."""

    size: float
    bold: bool


class Styles:
    def __init__(self, part: DocumentPart) -> None:
        root = part.styles.element
        self._styles = {
            style.get(qn("w:styleId")): style
            for style in root.iterchildren(qn("w:style"))
            if style.get(qn("w:type")) == "paragraph"
        }
        self._default_run = root.find(f"{qn('w:docDefaults')}/{qn('w:rPrDefault')}/{qn('w:rPr')}")
        self._known: dict[str | None, tuple[list[str], list[Element | None]]] = {}
        self._default = next(
            (key for key, style in self._styles.items() if style.get(qn("w:default")) in ("1", "true")), None
        )

    def of_paragraph(self, paragraph: Element) -> ParagraphStyle:
        """Resolve a ``w:p`` element's own properties, then those of its style and the styles that one is based on."""
        properties = paragraph.find(qn("w:pPr"))
        names, above = self._inherited(value_of(properties, "w:pStyle") or self._default)
        layers = [properties, *above]
        return ParagraphStyle(
            name=names[0].lower() if names else "",
            heading_level=_heading_level(names, layers),
            numbering=_numbering(layers),
        )

    def look(self, paragraph: Element) -> Look:
        """Return how the runs of a ``w:p`` element look, by their own properties and their paragraph style's."""
        chain = self._chain(value_of(paragraph.find(qn("w:pPr")), "w:pStyle") or self._default)
        inherited = [*(style.find(qn("w:rPr")) for style in chain), self._default_run]
        sizes: Counter[float] = Counter()
        bold = True
        for run in paragraph.iter(qn("w:r")):
            length = sum(len((text.text or "").strip()) for text in run.iterchildren(qn("w:t")))
            if length:
                layers = [run.find(qn("w:rPr")), *inherited]
                sizes[_size(layers)] += length
                bold = bold and _is_bold(layers)
        return Look(size=sizes.most_common(1)[0][0] if sizes else 0.0, bold=bold and bool(sizes))

    def _inherited(self, style_id: str | None) -> tuple[list[str], list[Element | None]]:
        if style_id not in self._known:
            chain = self._chain(style_id)
            names = [(value_of(style, "w:name") or "").strip() for style in chain]
            self._known[style_id] = names, [style.find(qn("w:pPr")) for style in chain]
        return self._known[style_id]

    def _chain(self, style_id: str | None) -> list[Element]:
        chain: list[Element] = []
        while style_id in self._styles and len(chain) < _MAX_CHAIN:
            style = self._styles[style_id]
            chain.append(style)
            style_id = value_of(style, "w:basedOn")
        return chain


def _heading_level(names: list[str], layers: list[Element]) -> int | None:
    outline = next((value for layer in layers if (value := value_of(layer, "w:outlineLvl")) is not None), None)
    if outline is not None and outline.isdigit():
        return None if int(outline) >= _BODY_LEVEL else min(int(outline) + 1, 6)
    for name in names:
        if match := _HEADING_NAME.fullmatch(name):
            return min(int(match[1]), 6)
    return None


def _size(layers: list[Element | None]) -> float:
    written = next((value for layer in layers if (value := value_of(layer, "w:sz")) is not None), "")
    return int(written) / 2 if written.isdecimal() else _DEFAULT_SIZE


def _is_bold(layers: list[Element | None]) -> bool:
    found = next((mark for layer in layers if layer is not None and (mark := layer.find(qn("w:b"))) is not None), None)
    return is_on(found)


def _numbering(layers: list[Element]) -> NumberingRef | None:
    """Combine list id and level, each from the nearest layer that has it."""
    number_id = level = None
    for layer in layers:
        numbering = layer.find(qn("w:numPr")) if layer is not None else None
        if numbering is None:
            continue
        number_id = number_id or value_of(numbering, "w:numId")
        level = level or value_of(numbering, "w:ilvl")
    if number_id is None or number_id == "0":
        return None
    return NumberingRef(number_id=number_id, level=int(level) if level and level.isdigit() else 0)
