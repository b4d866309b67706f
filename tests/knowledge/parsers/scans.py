"""Pictures of pages, as a scanner gives them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

FONT = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")


def page_picture(lines: Sequence[str], *, size: int = 36, width: int = 1000, top: int = 120) -> Image.Image:
    """A grey page with lines of horizontal text, one below the other."""
    image = Image.new("L", (width, 1400), 255)
    draw = ImageDraw.Draw(image)
    font = ImageFont.truetype(str(FONT), size)
    for number, text in enumerate(lines):
        draw.text((100, top + 2 * size * number), text, font=font, fill=0)
    return image


def scanned_pdf(pages: Sequence[Image.Image]) -> bytes:
    target = io.BytesIO()
    first, *others = [page.copy() for page in pages]
    first.save(target, "PDF", save_all=True, append_images=others, resolution=200)
    return target.getvalue()


def encoded(image: Image.Image, kind: str) -> bytes:
    target = io.BytesIO()
    image.copy().save(target, kind)
    return target.getvalue()
