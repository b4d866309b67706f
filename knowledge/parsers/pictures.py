"""Take pictures out of documents: known kinds, of a size that shows something, within limits."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import re
import warnings
from urllib.parse import unquote_to_bytes

from knowledge.parsers.errors import counted
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.render import Picture, single_line
from knowledge.types.notices import Notice

MIN_PIXELS = 32
"""Shorter sides are bullets, rules and icons."""

_RASTER_TYPES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "MPO": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "BMP": "image/bmp",
    "TIFF": "image/tiff",
    "JPEG2000": "image/jp2",
}
# MPO is what Pillow calls a JPEG file of several pictures.
_FORMATS = tuple(name for name in _RASTER_TYPES if name != "MPO")
_EMF_SIGNATURE = (40, b" EMF")
_WMF_SIGNATURE = b"\xd7\xcd\xc6\x9a"
_SVG_START = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?(?>(?:<!--.*?-->\s*)*)(?:<!DOCTYPE[^>]*>\s*)?<svg\b", re.S)
_SVG_WITHIN_BYTES = 2048
_DATA_URI = re.compile(r"data:image/[a-zA-Z0-9.+-]+(?:;[^,;]*)*?(?P<base64>;base64)?,(?P<data>.*)", re.S | re.I)

MEDIA_TYPES = frozenset(_RASTER_TYPES.values()) | {"image/emf", "image/wmf", "image/svg+xml"}
"""What a figure may be. Only raster types are safe to show; a caller of stored bytes decides on that."""


class PictureIntake:
    """Accepts the pictures of one document up to the limits; the same bytes again cost nothing."""

    def __init__(self, limits: ParseLimits) -> None:
        self._max_count = limits.max_figures
        self._max_bytes = min(limits.max_figure_bytes, limits.max_output_bytes)
        self._bytes_left = limits.max_figures_bytes
        self._known: dict[bytes, tuple[bytes, str | None]] = {}
        self._taken = 0
        self.left_out = 0

    def take(self, data: bytes, *, alt_text: str = "") -> Picture | None:
        """Accept a picture; None for what is no picture, too small to show anything, or beyond a limit.

        Only the last is counted in ``left_out``.
        """
        key = hashlib.sha256(data).digest()
        if key not in self._known:
            media_type = media_type_of(data)
            has_room = self._taken < self._max_count and len(data) <= min(self._max_bytes, self._bytes_left)
            if media_type is not None and not has_room:
                self.left_out += 1
                return None
            self._known[key] = (data if media_type else b"", media_type)
            self._bytes_left -= len(data) if media_type else 0
        kept, media_type = self._known[key]
        if media_type is None:
            return None
        if self._taken >= self._max_count:
            self.left_out += 1
            return None
        self._taken += 1
        return Picture(data=kept, media_type=media_type, alt_text=single_line(alt_text))

    def notices(self) -> tuple[Notice, ...]:
        return counted(self.left_out, "figures_left_out")


def media_type_of(data: bytes) -> str | None:
    """Name the media type that the bytes have; None for unknown kinds and for pictures of a few pixels."""
    start, signature = _EMF_SIGNATURE
    if data[start : start + len(signature)] == signature:
        return "image/emf"
    if data.startswith(_WMF_SIGNATURE):
        return "image/wmf"
    if _SVG_START.match(data[:_SVG_WITHIN_BYTES]):
        return "image/svg+xml"
    return _raster_type(data)


def _raster_type(data: bytes) -> str | None:
    """Read a picture's header; its pixels stay packed."""
    # Most documents have no pictures, and their child process need not load the library.
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
                return _RASTER_TYPES.get(image.format or "") if min(image.size) >= MIN_PIXELS else None
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None


def data_uri_bytes(uri: str) -> bytes | None:
    """Decode a ``data:image/…`` URI; None for any other address and for broken base64."""
    match = _DATA_URI.match(uri.strip())
    if match is None:
        return None
    if not match["base64"]:
        return unquote_to_bytes(match["data"])
    try:
        return base64.b64decode("".join(match["data"].split()), validate=True)
    except (binascii.Error, ValueError):
        return None
