"""From the space that a PDF page is written in to the page as it is shown: cropped, turned, measured from the top."""

from __future__ import annotations

from dataclasses import dataclass

import pypdfium2

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What part of the page is shown and how far it is turned clockwise, in degrees; the rest in points."""

    left: float
    bottom: float
    width: float
    height: float
    rotation: int

    @classmethod
    def of_page(cls, page: pypdfium2.PdfPage) -> Frame:
        """Read the crop box and the rotation of a page."""
        left, bottom, right, top = page.get_cropbox()
        return cls(
            left=left, bottom=bottom, width=right - left, height=top - bottom, rotation=page.get_rotation() % 360
        )

    def shown(self, left: float, bottom: float, right: float, top: float) -> Box:
        """Return a box as (left, top, right, bottom) from the shown page's top left corner."""
        left, right, bottom, top = left - self.left, right - self.left, bottom - self.bottom, top - self.bottom
        if self.rotation == 90:
            return bottom, left, top, right
        if self.rotation == 180:
            return self.width - right, bottom, self.width - left, top
        if self.rotation == 270:
            return self.height - top, self.width - right, self.height - bottom, self.width - left
        return left, self.height - top, right, self.height - bottom
