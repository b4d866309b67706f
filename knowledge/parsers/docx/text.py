"""The text of a Word paragraph as a reader sees it with all tracked changes accepted."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from docx.oxml import ns
from docx.oxml.ns import nsmap

from knowledge.parsers.ooxml.package import Element


@lru_cache(maxsize=256)
def qn(name: str) -> str:
    """Return a prefixed name in Clark notation; python-docx puts it together anew each time, for every element read.

    >>> qn("w:p")
    '{http://schemas.openxmlformats.org/wordprocessingml/2006/main}p'
    """
    return str(ns.qn(name))


def value_of(parent: Element | None, name: str) -> str | None:
    """Return ``w:val`` of a child; None without it."""
    child = parent.find(qn(name)) if parent is not None else None
    value = child.get(qn("w:val")) if child is not None else None
    return value if isinstance(value, str) else None


def is_on(switch: Element | None) -> bool:
    """Return whether a switch such as ``w:b`` is there and not turned off."""
    return switch is not None and switch.get(qn("w:val"), "1") not in ("0", "false", "off")


# The signs that forms and lists use, by the font's own code. Unicode has no names for most of the others.
_WINGDINGS = dict(
    zip(
        bytes.fromhex("6C 6E 6F 71 72 75 76 77 9F A1 A4 A7 A8 AB D8 DF E0 E1 E2 E8 EF F0 F1 F2 FB FC FD FE"),
        "●■□□□◆❖◆•○◉▪□★➢←→↑↓→⇦⇨⇧⇩✗✓☒☑",
        strict=True,
    )
)
_WINGDINGS |= {0x81 + index: chr(ord("①") + index) for index in range(10)}
_WINGDINGS |= {0x8C + index: chr(ord("❶") + index) for index in range(10)}
_WINGDINGS_2 = {0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "□"}
_WINGDINGS_2 |= {0x6A + index: chr(ord("①") + index) for index in range(10)}
_SYMBOL_FONT = {
    0xB7: "•",
    0xAE: "→",
    0xAC: "←",
    0xA3: "≤",
    0xB3: "≥",
    0xB4: "×",
    0xB1: "±",
    0xB9: "≠",
    0xA5: "∞",
    0x6D: "μ",
}
_FONTS = {"wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2, "symbol": _SYMBOL_FONT}
_PRIVATE = 0xF000


def symbol(element: Element) -> str:
    """Return the sign of a ``w:sym`` element; empty when it is not known."""
    try:
        code = int(element.get(qn("w:char"), ""), 16)
    except ValueError:
        return ""
    signs = _FONTS.get(element.get(qn("w:font"), "").lower())
    if signs is not None:
        return signs.get(code & 0xFF, "")
    return chr(code) if 0x20 <= code < _PRIVATE and not 0xD800 <= code <= 0xDFFF else ""


def form_field(element: Element) -> str:
    """Return what a field of an old form shows: the box of ``w:checkBox``, the choice of ``w:ddList``, else nothing.

    ``element`` is the ``w:fldChar`` that begins the field; the text of a text field follows it by itself.
    """
    box = element.find(f"{qn('w:ffData')}/{qn('w:checkBox')}")
    if box is not None:
        checked = box.find(qn("w:checked"))
        checked = box.find(qn("w:default")) if checked is None else checked
        return "☑" if checked is not None and checked.get(qn("w:val"), "1") in ("1", "true", "on") else "□"
    choices = element.find(f"{qn('w:ffData')}/{qn('w:ddList')}")
    if choices is None:
        return ""
    entries = [entry.get(qn("w:val"), "") for entry in choices.iterchildren(qn("w:listEntry"))]
    result = choices.find(qn("w:result"))
    index = result.get(qn("w:val"), "0") if result is not None else "0"
    return entries[int(index)] if index.isdecimal() and int(index) < len(entries) else ""


_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_CHART_EXTENDED = "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_VML_IMAGE = "{urn:schemas-microsoft-com:vml}imagedata"
_BLIP = f"{{{nsmap['a']}}}blip"
_WP_PROPERTIES = f"{{{nsmap['wp']}}}docPr"
_SKIPPED_TAGS = ("del", "moveFrom", "rPr", "pPr", "instrText", "delText", "rt", "sdtPr")
_SKIPPED = frozenset([*(qn(f"w:{name}") for name in _SKIPPED_TAGS), f"{_MC}Fallback"])
_LITERAL = {qn("w:tab"): "\t", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-", qn("w:ptab"): "\t"}
_NOTE_MARKS = {qn("w:footnoteReference"): "", qn("w:endnoteReference"): "e"}
_TEXTS = frozenset({qn("w:t"), _MATH_TEXT})
_DRAWINGS = frozenset({qn("w:drawing"), qn("w:pict"), qn("w:object")})
_RUN, _BREAK, _TABLE = qn("w:r"), qn("w:br"), qn("w:tbl")
_SYMBOL, _FIELD = qn("w:sym"), qn("w:fldChar")
_GONE = frozenset({qn("w:del"), qn("w:moveFrom"), qn("w:vanish")})
_VANISH = f"{qn('w:rPr')}/{qn('w:vanish')}"
_RELATIONS = f"{{{nsmap['r']}}}"
_KINDS = (
    (_CHART, "chart", f"{_RELATIONS}id"),
    (_CHART_EXTENDED, "chart", f"{_RELATIONS}id"),
    (_DIAGRAM, "diagram", f"{_RELATIONS}dm"),
    (_BLIP, "image", f"{_RELATIONS}embed"),
    (_VML_IMAGE, "image", f"{_RELATIONS}id"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A picture, chart or diagram and the alternative text its author wrote; ``relations`` lead to its parts.

    ``drawn`` is the element that draws it.
    """

    kind: str
    alt: str = ""
    relations: tuple[str, ...] = ()
    drawn: Element | None = None


@dataclass(slots=True, kw_only=True)
class Paragraph:
    """A paragraph's text and what hangs on it; ``boxes`` are the contents of text boxes, ``drawings`` what holds them.

    ``notes`` are the marks of footnotes and endnotes in the text: an id, with ``e`` before those of endnotes.
    ``is_gone`` marks an empty paragraph whose own end is deleted or hidden, so that it takes no place.
    """

    text: str = ""
    figures: list[Figure] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    drawings: list[Element] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_gone: bool = False


def read_paragraph(element: Element) -> Paragraph:
    """Read a ``w:p`` element: insertions count, deletions, field codes, hidden text and ruby readings don't."""
    paragraph = Paragraph()
    pieces: list[tuple[str, Element]] = []
    _collect(element, paragraph, pieces)
    paragraph.text = "".join(text for text, _ in pieces)
    end = element.find(f"{qn('w:pPr')}/{qn('w:rPr')}")
    paragraph.is_gone = end is not None and not paragraph.text.strip() and any(child.tag in _GONE for child in end)
    return paragraph


def text_pieces(element: Element) -> list[tuple[str, Element]]:
    """Return the pieces that make up the text of a ``w:p`` element, each with the element that it stands in."""
    pieces: list[tuple[str, Element]] = []
    _collect(element, Paragraph(), pieces)
    return pieces


def _collect(element: Element, paragraph: Paragraph, pieces: list[tuple[str, Element]]) -> None:
    for child in element:
        tag = child.tag
        if tag in _SKIPPED or not isinstance(tag, str) or (tag == _RUN and is_hidden(child)):
            continue
        if tag in _TEXTS:
            pieces.append((child.text or "", child))
        elif tag == _SYMBOL:
            pieces.append((symbol(child), child))
        elif tag == _FIELD:
            pieces.append((form_field(child), child))
        elif tag in _LITERAL:
            pieces.append((_LITERAL[tag], child))
        elif tag == _BREAK:
            pieces.append(("\n" if child.get(qn("w:type")) in (None, "textWrapping") else "", child))
        elif tag in _NOTE_MARKS:
            mark = _NOTE_MARKS[tag] + child.get(qn("w:id"), "")
            paragraph.notes.append(mark)
            pieces.append((f"[^{mark}]", child))
        elif tag in _DRAWINGS:
            _collect_drawing(child, paragraph)
        elif tag == _TABLE:
            paragraph.boxes.append([child])
        else:
            _collect(child, paragraph, pieces)


def is_hidden(run: Element) -> bool:
    """Return whether a run is hidden text, which Word shows to nobody who does not ask for it."""
    return is_on(run.find(_VANISH))


def _collect_drawing(drawing: Element, paragraph: Paragraph) -> None:
    boxes = [box for box in drawing.iter(qn("w:txbxContent")) if not _in_fallback(box, drawing)]
    # A text box inside a text box is read with the outer one.
    nested = {id(inner) for box in boxes for inner in box.iter(qn("w:txbxContent")) if inner is not box}
    paragraph.boxes.extend(box for box in boxes if id(box) not in nested)
    paragraph.figures.extend(_figures(drawing))
    if boxes:
        paragraph.drawings.append(drawing)


def _figures(drawing: Element) -> list[Figure]:
    """Return the drawing as one figure, or nothing when it is only shapes and text boxes."""
    for tag, kind, attribute in _KINDS:
        found = [element for element in drawing.iter(tag) if not _in_fallback(element, drawing)]
        if found:
            properties = next(drawing.iter(_WP_PROPERTIES), None)
            alt = properties.get("descr", "") if properties is not None else ""
            relations = tuple(dict.fromkeys(element.get(attribute, "") for element in found))
            return [Figure(kind=kind, alt=alt, relations=relations, drawn=drawing)]
    return []


def _in_fallback(element: Element, top: Element) -> bool:
    parent = element.getparent()
    while parent is not None and parent is not top:
        if parent.tag == f"{_MC}Fallback":
            return True
        parent = parent.getparent()
    return False
