"""The text of a Word paragraph as a reader sees it with all tracked changes accepted."""

from __future__ import annotations

from dataclasses import dataclass, field

from docx.oxml.ns import nsmap, qn

from knowledge.backends.parsers.ooxml import Element

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATH_TEXT = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A picture, chart or diagram and the alternative text its author wrote."""

    kind: str
    alt: str = ""


@dataclass(slots=True, kw_only=True)
class Paragraph:
    """A paragraph's text and what hangs on it; ``boxes`` are the contents of text boxes, ``footnotes`` their ids."""

    text: str = ""
    figures: list[Figure] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    footnotes: list[str] = field(default_factory=list)


def read_paragraph(element: Element) -> Paragraph:
    """Read a ``w:p`` element: insertions count, deletions, field codes, hidden text and ruby readings don't."""
    paragraph = Paragraph()
    parts: list[str] = []
    _collect(element, paragraph, parts)
    paragraph.text = "".join(parts)
    return paragraph


def _collect(element: Element, paragraph: Paragraph, parts: list[str]) -> None:
    for child in element:
        tag = child.tag
        if tag in _SKIPPED or not isinstance(tag, str) or (tag == qn("w:r") and _is_hidden(child)):
            continue
        if tag in (qn("w:t"), _MATH_TEXT):
            parts.append(child.text or "")
        elif tag in _LITERAL:
            parts.append(_LITERAL[tag])
        elif tag == qn("w:br"):
            parts.append("\n" if child.get(qn("w:type")) in (None, "textWrapping") else "")
        elif tag == qn("w:footnoteReference"):
            number = child.get(qn("w:id"), "")
            paragraph.footnotes.append(number)
            parts.append(f"[^{number}]")
        elif tag in (qn("w:drawing"), qn("w:pict"), qn("w:object")):
            _collect_drawing(child, paragraph)
        elif tag == qn("w:tbl"):
            paragraph.boxes.append([child])
        else:
            _collect(child, paragraph, parts)


def _is_hidden(run: Element) -> bool:
    vanish = run.find(f"{qn('w:rPr')}/{qn('w:vanish')}")
    return vanish is not None and vanish.get(qn("w:val"), "true") not in ("0", "false", "off")


def _collect_drawing(drawing: Element, paragraph: Paragraph) -> None:
    boxes = [box for box in drawing.iter(qn("w:txbxContent")) if not _in_fallback(box, drawing)]
    # A text box inside a text box is read with the outer one.
    nested = {id(inner) for box in boxes for inner in box.iter(qn("w:txbxContent")) if inner is not box}
    paragraph.boxes.extend(box for box in boxes if id(box) not in nested)
    kind = _picture_kind(drawing)
    if kind:
        properties = next(drawing.iter(_WP_PROPERTIES), None)
        alt = properties.get("descr", "") if properties is not None else ""
        paragraph.figures.append(Figure(kind=kind, alt=alt))


def _in_fallback(element: Element, top: Element) -> bool:
    parent = element.getparent()
    while parent is not None and parent is not top:
        if parent.tag == f"{_MC}Fallback":
            return True
        parent = parent.getparent()
    return False


def _picture_kind(drawing: Element) -> str | None:
    for tag, kind in ((_CHART, "chart"), (_DIAGRAM, "diagram"), (_BLIP, "image"), (_VML_IMAGE, "image")):
        if next(drawing.iter(tag), None) is not None:
            return kind
    return None
