"""Real scans whose text is known, as hOCR: `img/NAME.png` or `.jpg`, and `ground_truth/NAME.hocr` or `.truth.hocr`.

The words are in the order in which they are read, but for those inside figures (`ocr_float`), which have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import html
from PIL import Image

from benchmarks.ocr_pages import Box, TrueCharacter, TruePage

_TALL = 1.5
_BOX = re.compile(r"\bbbox (-?\d+) (-?\d+) (-?\d+) (-?\d+)")


def scanned_pages(folder: Path) -> list[TruePage]:
    """Read the pages of a folder; the kind of a page is its name without the number."""
    pages = []
    for truth in sorted((folder / "ground_truth").glob("*.hocr")):
        name = truth.name.removesuffix(".hocr").removesuffix(".truth")
        picture = next((folder / "img").glob(f"{name}.*"), None)
        if picture is not None:
            kind = re.sub(r"_\d+$", "", name)
            image = Image.open(picture).convert("L")
            root = html.fromstring(truth.read_bytes())
            left, top, right, bottom = next(_boxes(root.xpath("//*[@class='ocr_page']")))
            scale = image.width / (right - left), image.height / (bottom - top)
            characters = tuple(_characters(root, *scale))
            figures = tuple(_figures(root, *scale))
            pages.append(TruePage(name=name, kind=kind, image=image, characters=characters, figures=figures))
    return pages


def _figures(root: html.HtmlElement, across: float, down: float) -> Iterator[Box]:
    for left, top, right, bottom in _boxes(root.xpath("//*[@class='ocr_float']")):
        yield left * across, top * down, right * across, bottom * down


def _characters(root: html.HtmlElement, across: float, down: float) -> Iterator[TrueCharacter]:
    """Yield the characters in the order of the file, spread evenly along the box of their word."""
    words = root.xpath("//*[@class='ocrx_word']")
    for word, (left, top, right, bottom) in zip(words, _boxes(words), strict=True):
        text = "".join(word.text_content().split())
        is_tall = bottom - top > _TALL * (right - left)
        for at, char in enumerate(text):
            place = (at + 0.5) / len(text)
            x, y = (0.5, place) if is_tall else (place, 0.5)
            yield char, (left + (right - left) * x) * across, (top + (bottom - top) * y) * down


def _boxes(elements: list[html.HtmlElement]) -> Iterator[tuple[int, int, int, int]]:
    for element in elements:
        found = _BOX.search(element.get("title", ""))
        if found is None:
            raise ValueError(f"no bbox: {element.get('title', '')[:80]}")
        left, top, right, bottom = map(int, found.groups())
        yield left, top, right, bottom
