"""Text boxes, pictures and charts that float over a sheet; design documents put titles and flow charts there."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lxml import etree

from knowledge.parsers.ooxml.arrows import arrow_text
from knowledge.parsers.ooxml.package import Element, alt_text, drawing_text, package_relations, parse_part
from knowledge.parsers.pictures import PictureIntake
from knowledge.parsers.render import Picture
from knowledge.parsers.xlsx.layout import Place

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
# What a form control shows: not chosen, chosen.
_SIGNS = {"CheckBox": ("☐", "☑"), "Radio": ("○", "◉")}
_MAX_PART_BYTES = 32 << 20

# Numbered circles that point at places of a form say nothing on their own.
_CALLOUT = re.compile(r"[0-9０-９]{1,2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A shape's text, or the words of a figure, and the cell under its top left corner, from 1.

    ``figure`` is ``image``, ``chart`` or ``diagram``, and None for text.
    """

    row: int
    column: int
    text: str
    figure: str | None = None
    pictures: tuple[Picture, ...] = ()


def read_ticks(archive: zipfile.ZipFile, sheet_path: str, controls: Mapping[str, str]) -> dict[str, str]:
    """Map the ids of a sheet's check boxes and option buttons to a sign that says whether they are chosen."""
    relations = package_relations(archive, sheet_path) if controls else {}
    ticks: dict[str, str] = {}
    for shape_id, relation in controls.items():
        path = relations.get(relation)
        if path is None or path not in archive.NameToInfo:
            continue
        properties = parse_part(archive, path)
        signs = _SIGNS.get(properties.get("objectType", ""))
        if signs is not None:
            ticks[shape_id] = signs[properties.get("checked") == "Checked"]
    return ticks


def read_shapes(
    archive: zipfile.ZipFile, sheet_path: str, intake: PictureIntake, *, ticks: Mapping[str, str]
) -> list[Shape]:
    """List the shapes with text, the pictures and the charts of a sheet from top to bottom; ``ticks`` by shape id."""
    drawing = package_relations(archive, sheet_path).get("drawing")
    if drawing is None or drawing not in archive.NameToInfo:
        return []
    reader = _DrawingReader(archive, package_relations(archive, drawing), intake, ticks)
    root = parse_part(archive, drawing)
    shapes = [shape for anchor in root for shape in reader.anchored(anchor)]
    if arrows := arrow_text(root):
        row, column = _first_line(root)
        shapes.append(Shape(row=row, column=column, text=arrows, figure="diagram"))
    return sorted(shapes, key=lambda shape: (shape.row, shape.column))


def _first_line(drawing: Element) -> Place:
    """Return the cell where the first line of a drawing begins, or else its first shape."""
    anchors = sorted(drawing, key=lambda anchor: next(anchor.iter("{*}cxnSp"), None) is None)
    return _corner(anchors[0]) or (1, 1)


def _corner(anchor: Element) -> Place | None:
    """Return the cell of the top left corner, from 1; None for what is no anchor or is placed by measure."""
    corner = next(anchor.iterchildren("{*}from"), None)
    if corner is None:
        return None
    return int(corner.findtext("{*}row", "0")) + 1, int(corner.findtext("{*}col", "0")) + 1


class _DrawingReader:
    def __init__(
        self, archive: zipfile.ZipFile, relations: dict[str, str], intake: PictureIntake, ticks: Mapping[str, str]
    ) -> None:
        self._archive = archive
        self._relations = relations
        self._intake = intake
        self._ticks = ticks

    def anchored(self, anchor: Element) -> Iterator[Shape]:
        corner = _corner(anchor)
        if corner is None and etree.QName(anchor).localname != "absoluteAnchor":
            return
        # What is placed by measure, such as the chart of a chart sheet, is read before all cells.
        row, column = corner or (1, 1)
        for body in filter(_is_shown, anchor.iter("{*}txBody")):
            lines = ("".join(found.text or "" for found in p.iter(f"{_DRAWING}t")) for p in body.iter(f"{_DRAWING}p"))
            text = "\n".join(line.strip() for line in lines if line.strip())
            tick = self._ticks.get(_shape_id(body), "")
            if text and (tick or not _CALLOUT.fullmatch(text)):
                yield Shape(row=row, column=column, text=f"{tick} {text}".lstrip())
        pictures = list(anchor.iter("{*}pic"))
        for picture in list(filter(_is_shown, pictures)) or pictures:
            alt = alt_text(picture)
            yield Shape(row=row, column=column, text=alt, figure="image", pictures=self._pictures(picture, alt))
        for frame in filter(_is_shown, anchor.iter("{*}graphicFrame")):
            yield from self._frame(frame, row, column)

    def _pictures(self, picture: Element, alt: str) -> tuple[Picture, ...]:
        parts = (self._part(blip.get(f"{_RELATIONS}embed")) for blip in picture.iter(f"{_DRAWING}blip"))
        taken = [self._intake.take(part, alt_text=alt) for part in parts if part is not None]
        return tuple(found for found in taken if found is not None)

    def _frame(self, frame: Element, row: int, column: int) -> Iterator[Shape]:
        for kind, tag, attribute in (("chart", "{*}chart", "id"), ("diagram", "{*}relIds", "dm")):
            for element in frame.iter(tag):
                part = self._part(element.get(f"{_RELATIONS}{attribute}"))
                words = [alt_text(frame), drawing_text(part) if part else ""]
                yield Shape(row=row, column=column, text=" / ".join(filter(None, words)), figure=kind)

    def _part(self, relation: str | None) -> bytes | None:
        path = self._relations.get(relation or "")
        info = self._archive.NameToInfo.get(path or "")
        return self._archive.read(info) if info is not None and info.file_size <= _MAX_PART_BYTES else None


def _shape_id(body: Element) -> str:
    properties = next(body.getparent().iter("{*}cNvPr"), None)
    return properties.get("id", "") if properties is not None else ""


def _is_shown(element: Element) -> bool:
    """Return whether Excel shows it: a fallback says to older programs that they can't show something."""
    return not any(above.tag == _FALLBACK for above in element.iterancestors())
