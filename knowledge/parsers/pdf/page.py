"""What is read of one PDF page: lines of text with size and place, pictures, and whether it is ruled."""

from __future__ import annotations

from dataclasses import dataclass

from knowledge.parsers.pdf.pictures import PagePicture


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stretch of a line between wide gaps."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of text. ``size`` is the font size in points, most of its characters'; distances are in points from
    the page's top left corner. ``parts`` is empty for a line without wide gaps. ``column`` is 1 or 2 where a page
    was parted in columns, 0 elsewhere."""

    text: str
    size: float
    left: float
    right: float
    top: float
    bottom: float
    page: int
    bold: bool = False
    ends_in_hyphen: bool = False
    parts: tuple[Part, ...] = ()
    column: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page's lines and size in points, how many pictures and drawn paths it has, and whether those may be a grid.

    ``written`` tells that fields were filled in or text was typed over it, ``remarks`` how many notes it has.
    """

    number: int
    width: float
    height: float
    lines: tuple[Line, ...]
    images: int
    paths: int
    ruled: bool
    pictures: tuple[PagePicture, ...] = ()
    written: bool = False
    remarks: int = 0

    @property
    def text(self) -> str:
        """The text of all lines."""
        return "\n".join(line.text for line in self.lines)
