"""Text boxes and pictures that float over a sheet; design documents put titles and flow charts there."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.backends.parsers.ooxml import Element, package_relations, parse_part
from knowledge.backends.parsers.render import single_line

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"

# Numbered circles that point at places of a form say nothing on their own.
_CALLOUT = re.compile(r"[0-9０-９]{1,2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A shape's text, or a picture's alternative text, and the cell under its top left corner, from 1."""

    row: int
    column: int
    text: str
    picture: bool


def read_shapes(archive: zipfile.ZipFile, sheet_path: str) -> list[Shape]:
    """List the shapes with text and the pictures of a sheet from top to bottom."""
    drawing = package_relations(archive, sheet_path).get("drawing")
    if drawing is None or drawing not in archive.NameToInfo:
        return []
    shapes = [shape for anchor in parse_part(archive, drawing) for shape in _anchored(anchor)]
    return sorted(shapes, key=lambda shape: (shape.row, shape.column))


def _anchored(anchor: Element) -> Iterator[Shape]:
    corner = next(anchor.iterchildren("{*}from"), None)
    if corner is None:
        return
    row = int(corner.findtext("{*}row", "0")) + 1
    column = int(corner.findtext("{*}col", "0")) + 1
    for body in anchor.iter("{*}txBody"):
        paragraphs = ("".join(found.text or "" for found in p.iter(f"{_DRAWING}t")) for p in body.iter(f"{_DRAWING}p"))
        text = "\n".join(line.strip() for line in paragraphs if line.strip())
        if text and not _CALLOUT.fullmatch(text):
            yield Shape(row=row, column=column, text=text, picture=False)
    for picture in anchor.iter("{*}pic"):
        properties = next(picture.iter("{*}cNvPr"), None)
        alt = properties.get("descr", "") if properties is not None else ""
        yield Shape(row=row, column=column, text=single_line(alt), picture=True)
