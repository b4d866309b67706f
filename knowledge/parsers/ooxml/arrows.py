"""What the lines of a drawing lead from and to, as text: the shapes that they join and the labels beside them.

A line says itself which shapes it is glued to. An arrow that is glued to none, as most that are drawn by hand in Excel,
joins the shapes at whose edges it ends; a line without a head that touches shapes may as well be a rule or a frame.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from lxml import etree

from knowledge.parsers.ooxml.package import Element
from knowledge.parsers.render import single_line

Point: TypeAlias = tuple[float, float]

_TEXTS = frozenset(
    {
        "{http://schemas.openxmlformats.org/drawingml/2006/main}t",
        "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}t",
    }
)
_MARKUP = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_LINES = ("line", "straightConnector", "bentConnector", "curvedConnector")
_CORNERS: dict[str, tuple[Point, ...]] = {
    "bentConnector2": ((0, 0), (1, 0), (1, 1)),
    "bentConnector3": ((0, 0), (0.5, 0), (0.5, 1), (1, 1)),
    "curvedConnector3": ((0, 0), (0.5, 0), (0.5, 1), (1, 1)),
}
_STRAIGHT: tuple[Point, ...] = ((0, 0), (1, 1))
# In EMU: how far from the edge of a shape a line that is not glued to it may end (5 mm), and how far from the edge of
# a label its line may pass (3 mm).
_NEAR_SHAPE = 180_000
_NEAR_LINE = 108_000
_LONGEST_NAME = 80
_LONGEST_LABEL = 40
# Lines times shapes: what would take seconds is asked for its glue alone.
_MOST_PAIRS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    id: str
    text: str
    is_boxed: bool
    left: float
    top: float
    right: float
    bottom: float

    @property
    def may_be_label(self) -> bool:
        return not self.is_boxed and len(self.text) <= _LONGEST_LABEL

    @property
    def center(self) -> Point:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def holds(self, point: Point, *, around: float = 0.0) -> bool:
        x, y = point
        return self.left - around <= x <= self.right + around and self.top - around <= y <= self.bottom + around

    def to_edge(self, point: Point) -> float:
        """Return how far a point is from the shape's edge, from inside or outside."""
        if self.holds(point):
            return min(point[0] - self.left, self.right - point[0], point[1] - self.top, self.bottom - point[1])
        across = max(self.left - point[0], 0.0, point[0] - self.right)
        down = max(self.top - point[1], 0.0, point[1] - self.bottom)
        return max(across, down)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    begins_at: str | None
    ends_at: str | None
    sign: str
    path: tuple[Point, ...]


def arrow_text(drawing: Element) -> str:
    """Return what the lines of a drawing join, from the top: ``受付 → 審査 / 審査 → 通知 (承認) / 甲 — 乙``.

    ``drawing`` holds shapes whose places are in one system of coordinates. Lines with an end at no shape that has
    words are left out; the text is empty without any other.
    """
    shapes, lines = _read(drawing)
    if not lines or not shapes:
        return ""
    by_place = len(lines) * len(shapes) <= _MOST_PAIRS
    named = [shape for shape in shapes if shape.text and len(shape.text) <= _LONGEST_NAME]
    by_id = {shape.id: shape for shape in shapes}
    ends = [
        (
            line,
            _at(line.begins_at, line.path[0], by_id, named, by_place=by_place),
            _at(line.ends_at, line.path[-1], by_id, named, by_place=by_place),
        )
        for line in lines
    ]
    joined = [(line, first, last) for line, first, last in ends if first and last and first is not last]
    used = {id(shape): shape for _, first, last in joined for shape in (first, last)}
    free = [shape for shape in named if id(shape) not in used and shape.may_be_label]
    # What lies over the shapes themselves is a watermark or a frame.
    free = [shape for shape in free if not any(shape.holds(other.center) for other in used.values())]
    labels = _labels([line for line, _, _ in joined], free) if by_place else {}
    written = (
        (first.top, first.left, _text(line.sign, first.text, last.text, labels.get(at, [])))
        for at, (line, first, last) in enumerate(joined)
    )
    return " / ".join(dict.fromkeys(text for _, _, text in sorted(written)))


def _text(sign: str, first: str, last: str, labels: Sequence[str]) -> str:
    if sign == "←":
        sign, first, last = "→", last, first
    label = f" ({' / '.join(labels)})" if labels else ""
    return f"{first} {sign} {last}{label}"


def _at(
    glued: str | None, point: Point, by_id: dict[str, _Shape], named: Sequence[_Shape], *, by_place: bool
) -> _Shape | None:
    """Return the shape with words at one end of a line; None where there is none."""
    shape = by_id.get(glued or "")
    if shape is not None and shape.text:
        return shape
    if not by_place:
        return None
    if shape is not None:  # the words of a shape may lie on it as a text box
        inside = [other for other in named if shape.holds(other.center)]
        return inside[0] if len(inside) == 1 else None
    nearest = min(named, key=lambda other: other.to_edge(point), default=None)
    return nearest if nearest is not None and nearest.to_edge(point) <= _NEAR_SHAPE else None


def _labels(lines: Sequence[_Line], free: Sequence[_Shape]) -> dict[int, list[str]]:
    """Give each text that no line ends at to the line that passes it nearest, if any passes near."""
    found: dict[int, list[str]] = {}
    for shape in free:
        places = [
            (math.dist(shape.center, place), at)
            for at, line in enumerate(lines)
            for begin, end in pairwise(line.path)
            if shape.holds(place := _nearest(shape.center, begin, end), around=_NEAR_LINE)
        ]
        if places:
            found.setdefault(min(places)[1], []).append(shape.text)
    return found


def _nearest(point: Point, begin: Point, end: Point) -> Point:
    """Return the point of a straight line that is nearest to another point."""
    (x, y), (x1, y1), (x2, y2) = point, begin, end
    length = (x2 - x1) ** 2 + (y2 - y1) ** 2
    along = min(max(((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length, 0.0), 1.0) if length else 0.0
    return x1 + along * (x2 - x1), y1 + along * (y2 - y1)


def _read(drawing: Element) -> tuple[list[_Shape], list[_Line]]:
    shapes: list[_Shape] = []
    lines: list[_Line] = []
    for element in drawing.iter("{*}sp", "{*}wsp", "{*}cxnSp"):
        if any(above.tag == f"{_MARKUP}Fallback" for above in element.iterancestors()):
            continue
        place = _Place.of(element)
        if place is None:
            continue
        if _is_line(element):
            line = _line(element, place)
            if line.sign != "—" or (line.begins_at and line.ends_at):
                lines.append(line)
        else:
            shapes.append(_shape(element, place))
    return shapes, lines


def _geometry(element: Element) -> str:
    return next((str(found.get("prst", "")) for found in element.iter("{*}prstGeom")), "")


def _is_line(element: Element) -> bool:
    return etree.QName(element).localname == "cxnSp" or _geometry(element).startswith(_LINES)


def _shape(element: Element, place: _Place) -> _Shape:
    corners = [place.point(corner) for corner in ((0, 0), (1, 0), (0, 1), (1, 1))]
    across, down = [x for x, _ in corners], [y for _, y in corners]
    identity = next((str(found.get("id", "")) for found in element.iter("{*}cNvPr")), "")
    return _Shape(
        id=identity,
        text=_words(element),
        is_boxed=_is_boxed(element),
        left=min(across),
        top=min(down),
        right=max(across),
        bottom=max(down),
    )


def _is_boxed(element: Element) -> bool:
    """Return whether a shape is more than words: it has an outline, and is no text box."""
    if any(found.get("txBox") in ("1", "true") for found in element.iter("{*}cNvSpPr")):
        return False
    outline = next(element.iterfind("{*}spPr/{*}ln"), None)
    if outline is not None:
        return outline.find("{*}noFill") is None
    return any(found.get("idx", "0") != "0" for found in element.iterfind("{*}style/{*}lnRef"))


def _words(element: Element) -> str:
    paragraphs = ("".join(found.text or "" for found in p.iter() if found.tag in _TEXTS) for p in element.iter("{*}p"))
    return single_line(" ".join(paragraphs))


def _line(element: Element, place: _Place) -> _Line:
    path = _CORNERS.get(_geometry(element), _STRAIGHT)
    heads = [_has_head(element, name) for name in ("headEnd", "tailEnd")]
    return _Line(
        begins_at=next((found.get("id") for found in element.iter("{*}stCxn")), None),
        ends_at=next((found.get("id") for found in element.iter("{*}endCxn")), None),
        sign={(False, False): "—", (False, True): "→", (True, False): "←", (True, True): "↔"}[heads[0], heads[1]],
        path=tuple(map(place.point, path)),
    )


def _has_head(element: Element, name: str) -> bool:
    return any(found.get("type", "none") != "none" for found in element.iter(f"{{*}}{name}"))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a shape is drawn, flipped and turned about its middle, inside the groups that hold it, innermost first."""

    left: float
    top: float
    width: float
    height: float
    flips: tuple[bool, bool] = (False, False)
    turns: int = 0
    groups: tuple[Element, ...] = ()

    @classmethod
    def of(cls, element: Element) -> _Place | None:
        box = next((found for found in element.iterfind("{*}spPr/{*}xfrm")), None)
        offset, extent = (box.find("{*}off"), box.find("{*}ext")) if box is not None else (None, None)
        if box is None or offset is None or extent is None:
            return None
        groups = (above.find("{*}grpSpPr/{*}xfrm") for above in element.iterancestors())
        return cls(
            left=_number(offset, "x"),
            top=_number(offset, "y"),
            width=_number(extent, "cx"),
            height=_number(extent, "cy"),
            flips=(box.get("flipH") in ("1", "true"), box.get("flipV") in ("1", "true")),
            turns=round(_number(box, "rot") / 5_400_000) % 4,
            groups=tuple(group for group in groups if group is not None),
        )

    def point(self, share: Point) -> Point:
        """Return where a point of the shape is drawn; ``share`` is its place across and down, from 0 to 1."""
        across, down = ((1 - part if flip else part) - 0.5 for part, flip in zip(share, self.flips, strict=True))
        x, y = across * self.width, down * self.height
        for _ in range(self.turns):
            x, y = -y, x
        x, y = x + self.left + self.width / 2, y + self.top + self.height / 2
        for group in self.groups:
            x, y = (_in_group(group, at, axis) for at, axis in ((x, "x"), (y, "y")))
        return x, y


def _in_group(group: Element, at: float, axis: str) -> float:
    offset, inner, size, inner_size = (group.find(f"{{*}}{name}") for name in ("off", "chOff", "ext", "chExt"))
    if offset is None or inner is None or size is None or inner_size is None:
        return at
    length = _number(inner_size, f"c{axis}")
    scale = _number(size, f"c{axis}") / length if length else 1.0
    return _number(offset, axis) + (at - _number(inner, axis)) * scale


def _number(element: Element, name: str) -> float:
    value = str(element.get(name, "0"))
    return float(value) if value.lstrip("-").isdecimal() else 0.0
