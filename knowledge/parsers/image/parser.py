"""Pictures of pages (PNG, JPEG, TIFF of several pages): what OCR read of them, or pages that need it."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from PIL import Image, ImageSequence, UnidentifiedImageError

from hub.core.hashes import sha256_of_file
from knowledge.parsers.errors import corrupted, ocr_notices, parse_error
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.ocr.task import MOST_PIXELS
from knowledge.parsers.pdf.headings import HeadingJudge
from knowledge.parsers.pdf.layout import Layout
from knowledge.parsers.pdf.page import Page
from knowledge.parsers.pdf.parser import with_settled_levels
from knowledge.parsers.pdf.read_pages import page_of, quality_of
from knowledge.parsers.render import MarkdownBuilder
from knowledge.types.documents import PageQuality, ParsedDocument
from knowledge.types.ocr import PageReading

_BROKEN = (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError)


def parse(
    path: Path, *, filename: str, limits: ParseLimits, readings: Mapping[str, PageReading] = MappingProxyType({})
) -> ParsedDocument:
    """Take each frame as a page.

    :raises ParseError: ``corrupted``, ``too_many_pages``, ``too_many_pixels``.
    """
    pages: list[Page] = []
    qualities: list[PageQuality] = []
    for number, (width, height, picture) in enumerate(_frames(path, limits), 1):
        page = Page(number=number, width=width, height=height, lines=(), images=1, paths=0, ruled=False)
        reading = readings.get(picture)
        if reading is None:
            qualities.append(PageQuality(number=number, characters=0, needs_ocr=True, picture=picture))
        else:
            qualities.append(quality_of(number, picture, reading))
            page = page_of(page, reading)
        pages.append(page)
    lines = [list(page.lines) for page in pages]
    layout = Layout(lines, HeadingJudge([line for of_page in lines for line in of_page], {}))
    found = (block for of_page in lines for block in layout.blocks(of_page))
    builder = MarkdownBuilder()
    for block in with_settled_levels(layout.with_continuations(found)):
        builder.add(block.kind, block.text, level=block.level, page=block.page, glue=block.glue, ocr=block.ocr)
    return builder.document("image", pages_count=len(pages), pages=qualities, notices=ocr_notices(qualities))


def _frames(path: Path, limits: ParseLimits) -> Iterator[tuple[int, int, str]]:
    """Yield width, height and a hash of each frame."""
    content = sha256_of_file(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=("PNG", "JPEG", "TIFF")) as image:
                # Animated pictures show one page.
                count = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
                if count > limits.max_pages:
                    raise parse_error("too_many_pages", size=count, limit=limits.max_pages)
                for number, frame in enumerate(ImageSequence.Iterator(image), 1):
                    if frame.width * frame.height > MOST_PIXELS:
                        raise parse_error("too_many_pixels", limit=f"{MOST_PIXELS:,}")
                    yield frame.width, frame.height, hashlib.sha256(f"{content} {number}".encode()).hexdigest()
                    if number == count:
                        return
    except Image.DecompressionBombError as error:
        raise parse_error("too_many_pixels", limit=f"{MOST_PIXELS:,}") from error
    except _BROKEN as error:
        raise corrupted("image", type(error).__name__) from error
