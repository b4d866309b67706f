"""The child's task: a page of a PDF or a picture is drawn and read by an engine."""

from __future__ import annotations

import json
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium_c
from PIL import Image, UnidentifiedImageError

from knowledge.parsers.errors import corrupted, parse_error
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.ocr.engine import OcrEngine, OcrFailed, OcrUnavailable
from knowledge.parsers.ocr.reading import read_image

DPI = 200
MOST_PIXELS = 40_000_000
# What is drawn of a larger page or picture: the network sees less anyway.
_MOST_SIDE = 4000


def prepare() -> None:
    """Load what each child would load, in the host that forks them."""
    _preload()


@cache
def _preload() -> None:
    try:
        import onnxruntime  # noqa: F401
    except ImportError:  # then tesseract reads
        return


def make_engine(name: str) -> OcrEngine:
    """Make the engine of a name. :raises OcrUnavailable: it is not there. :raises KeyError: there is none such."""
    if name == "ppocr":
        from knowledge.parsers.ocr.ppocr import PpOcr

        return PpOcr()
    if name == "tesseract":
        from knowledge.parsers.ocr.tesseract import Tesseract

        return Tesseract()
    raise KeyError(name)


def read_page(path: Path, *, limits: ParseLimits, folder: Path, filename: str, page: int, engine: str) -> str:
    """Read a page of a PDF, or a frame of a picture, counted from 1; gives its `PageReading` as JSON.

    :raises ParseError: ``corrupted``, ``encrypted``, ``page_not_found``, ``too_many_pixels``, ``ocr_unavailable``,
        ``ocr_failed``.
    """
    with path.open("rb") as stream:
        is_pdf = b"%PDF-" in stream.read(1024)
    image, scale = drawn_page(path, page) if is_pdf else picture(path, page)
    try:
        reading = read_image(make_engine(engine), image, scale=scale)
    except OcrUnavailable as error:
        raise parse_error("ocr_unavailable", detail=str(error)) from error
    except OcrFailed as error:
        raise parse_error("ocr_failed", detail=str(error)) from error
    return json.dumps({"reading": reading.as_json()}, ensure_ascii=False)


def drawn_page(path: Path, number: int) -> tuple[Image.Image, float]:
    """Draw a page in grey at `DPI`, or at the scan's own resolution where that is lower; and points per pixel."""
    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        is_encrypted = "password" in str(error).lower()
        raise (parse_error("encrypted") if is_encrypted else corrupted("pdf", "PDFium")) from error
    if not 1 <= number <= len(document):
        raise parse_error("page_not_found", page=number, pages=len(document))
    page = document[number - 1]
    width, height = page.get_size()
    dots = min(DPI, _own_resolution(page) or DPI)
    scale = min(dots / 72, _MOST_SIDE / max(width, height, 1.0))
    image = page.render(scale=scale, grayscale=True).to_pil().convert("L")
    document.close()
    return image, width / image.width


def _own_resolution(page: pypdfium2.PdfPage) -> float | None:
    """The dots per inch of the largest picture on a page; None where it takes less than half of it."""
    width, height = page.get_size()
    best: tuple[float, float] | None = None
    for item in page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        left, bottom, right, top = item.get_bounds()
        area = (right - left) * (top - bottom)
        if area >= 0.5 * width * height and (best is None or area > best[0]) and right > left:
            wide, _high = item.get_px_size()
            best = area, 72 * wide / (right - left)
    return best[1] if best and best[1] >= _LEAST_DPI else None


# Less is a background of a few pixels.
_LEAST_DPI = 72


# Pillow knows many more, some of which start other programs.
PICTURE_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
BROKEN_PICTURE = (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError)


def picture(path: Path, number: int) -> tuple[Image.Image, float]:
    """Open a frame of a picture in grey on white. Its pixels count as points.

    :raises ParseError: as `read_page`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=PICTURE_FORMATS) as opened:
                if opened.width * opened.height > MOST_PIXELS:
                    raise parse_error("too_many_pixels", limit=f"{MOST_PIXELS:,}")
                opened.seek(number - 1)
                if opened.width * opened.height > MOST_PIXELS:
                    raise parse_error("too_many_pixels", limit=f"{MOST_PIXELS:,}")
                grey = _in_grey(upright(opened))
    except Image.DecompressionBombError as error:
        raise parse_error("too_many_pixels", limit=f"{MOST_PIXELS:,}") from error
    except BROKEN_PICTURE as error:
        raise corrupted("image", type(error).__name__) from error
    factor = min(1.0, _MOST_SIDE / max(grey.size))
    if factor < 1:
        grey = grey.resize((max(1, round(grey.width * factor)), max(1, round(grey.height * factor))))
    return grey, 1 / factor


def upright(image: Image.Image) -> Image.Image:
    """Return a picture as it is shown: turned as it says, and on white."""
    from PIL import ImageOps

    image = ImageOps.exif_transpose(image)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        layered = image.convert("RGBA")
        white = Image.new("RGBA", layered.size, "white")
        image = Image.alpha_composite(white, layered)
    return image


def _in_grey(image: Image.Image) -> Image.Image:
    if image.mode in ("I;16", "I;16B", "I", "F"):
        values = np.asarray(image, np.float32)
        lowest, span = float(values.min()), max(float(values.max() - values.min()), 1.0)
        image = Image.fromarray(((values - lowest) * (255 / span)).astype(np.uint8))
    return image.convert("L")
