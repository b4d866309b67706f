"""The text of a Word paragraph as a reader sees it with all tracked changes accepted."""

from __future__ import annotations

from dataclasses import dataclass, field

from docx.oxml.ns import nsmap

from knowledge.parsers.docx.names import qn
from knowledge.parsers.docx.symbols import form_field, symbol
from knowledge.parsers.ooxml.package import Element

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_CHART_EXTENDED = "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_VML_IMAGE = "{urn:schemas-microsoft-com:vml}imagedata"
_BLIP = f"{{{nsmap['a']}}}blip"
_WP_PROPERTIES = f"{{{nsmap['wp']}}}docPr"
_SKIPPED = frozenset(
    {
        qn("w:del"),
        qn("w:moveFrom"),
        qn("w:rPr"),
        qn("w:pPr"),
        qn("w:instrText"),
        qn("w:delText"),
        qn("w:rt"),
        qn("w:sdtPr"),
        f"{_MC}Fallback",
    }
)
_LITERAL = {
    qn("w:tab"): "\t",
    qn("w:cr"): "\n",
    qn("w:noBreakHyphen"): "-",
    qn("w:ptab"): "\t",
}
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
    """A picture, chart or diagram and the alternative text its author wrote; ``relations`` lead to its parts."""

    kind: str
    alt: str = ""
    relations: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Paragraph:
    """A paragraph's text and what hangs on it; ``boxes`` are the contents of text boxes.

    ``notes`` are the marks of footnotes and endnotes in the text: an id, with ``e`` before those of endnotes.
    ``is_gone`` tells an empty paragraph whose own end is deleted or hidden, so that it takes no place.
    """

    text: str = ""
    figures: list[Figure] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_gone: bool = False


def read_paragraph(element: Element) -> Paragraph:
    """Read a ``w:p`` element: insertions count, deletions, field codes, hidden text and ruby readings don't."""
    paragraph = Paragraph()
    parts: list[str] = []
    _collect(element, paragraph, parts)
    paragraph.text = "".join(parts)
    end = element.find(f"{qn('w:pPr')}/{qn('w:rPr')}")
    paragraph.is_gone = end is not None and not paragraph.text.strip() and any(child.tag in _GONE for child in end)
    return paragraph


def _collect(element: Element, paragraph: Paragraph, parts: list[str]) -> None:
    for child in element:
        tag = child.tag
        if tag in _SKIPPED or not isinstance(tag, str) or (tag == _RUN and is_hidden(child)):
            continue
        if tag in _TEXTS:
            parts.append(child.text or "")
        elif tag == _SYMBOL:
            parts.append(symbol(child))
        elif tag == _FIELD:
            parts.append(form_field(child))
        elif tag in _LITERAL:
            parts.append(_LITERAL[tag])
        elif tag == _BREAK:
            parts.append("\n" if child.get(qn("w:type")) in (None, "textWrapping") else "")
        elif tag in _NOTE_MARKS:
            mark = _NOTE_MARKS[tag] + child.get(qn("w:id"), "")
            paragraph.notes.append(mark)
            parts.append(f"[^{mark}]")
        elif tag in _DRAWINGS:
            _collect_drawing(child, paragraph)
        elif tag == _TABLE:
            paragraph.boxes.append([child])
        else:
            _collect(child, paragraph, parts)


def is_hidden(run: Element) -> bool:
    """Tell whether a run is hidden text, which Word shows to nobody who does not ask for it."""
    vanish = run.find(_VANISH)
    return vanish is not None and vanish.get(qn("w:val"), "true") not in ("0", "false", "off")


def _collect_drawing(drawing: Element, paragraph: Paragraph) -> None:
    boxes = [box for box in drawing.iter(qn("w:txbxContent")) if not _in_fallback(box, drawing)]
    # A text box inside a text box is read with the outer one.
    nested = {id(inner) for box in boxes for inner in box.iter(qn("w:txbxContent")) if inner is not box}
    paragraph.boxes.extend(box for box in boxes if id(box) not in nested)
    paragraph.figures.extend(_figures(drawing))


def _figures(drawing: Element) -> list[Figure]:
    """Return the drawing as one figure, or nothing when it is only shapes and text boxes."""
    for tag, kind, attribute in _KINDS:
        found = [element for element in drawing.iter(tag) if not _in_fallback(element, drawing)]
        if found:
            properties = next(drawing.iter(_WP_PROPERTIES), None)
            alt = properties.get("descr", "") if properties is not None else ""
            relations = tuple(dict.fromkeys(element.get(attribute, "") for element in found))
            return [Figure(kind=kind, alt=alt, relations=relations)]
    return []


def _in_fallback(element: Element, top: Element) -> bool:
    parent = element.getparent()
    while parent is not None and parent is not top:
        if parent.tag == f"{_MC}Fallback":
            return True
        parent = parent.getparent()
    return False
