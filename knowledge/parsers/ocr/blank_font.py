"""A TrueType font of plain boxes, for text that is not seen: one glyph as wide as high, and one of half that width.

It is made here, since a font with the characters of Japanese would be megabytes in each file, to draw nothing. The
boxes tell viewers how high the text is that they mark.
"""

from __future__ import annotations

import struct

UNITS = 1000
HALF, FULL = 1, 2
"""The glyphs: as wide as half an em, and as an em. Glyph 0 stands for what has none."""
_WIDTHS = (UNITS, UNITS // 2, UNITS)
_ASCENT, _DESCENT = 800, -200
_ON_CURVE = 1


def blank_font() -> bytes:
    """Return the font as a file."""
    boxes = [_box(width) for width in _WIDTHS]
    begins = [sum(map(len, boxes[:number])) // 2 for number in range(len(boxes) + 1)]
    return _file(
        {
            b"OS/2": _os2(),
            b"cmap": struct.pack(">HHHHL12H", 0, 1, 3, 1, 12, 4, 24, 0, 2, 2, 0, 0, 0xFFFF, 0, 0xFFFF, 1, 0),
            b"glyf": b"".join(boxes),
            b"head": struct.pack(
                ">LLLLHHQQhhhhHHhhh",
                *(0x10000, 0x10000, 0, 0x5F0F3CF5, 3, UNITS, 0, 0),
                *(0, _DESCENT, UNITS, _ASCENT, 0, 8, 2, 0, 0),
            ),
            b"hhea": struct.pack(
                ">LhhhH11hH", 0x10000, _ASCENT, _DESCENT, 0, UNITS, 0, 0, UNITS, 1, *[0] * 7, len(_WIDTHS)
            ),
            b"hmtx": b"".join(struct.pack(">Hh", width, 0) for width in _WIDTHS),
            b"loca": struct.pack(f">{len(begins)}H", *begins),
            b"maxp": struct.pack(">LH13H", 0x10000, len(_WIDTHS), 4, 1, *[0] * 11),
            b"name": struct.pack(">HHH", 0, 0, 6),
            b"post": struct.pack(">LLhhLLLLL", 0x30000, 0, 0, 0, 0, 0, 0, 0, 0),
        }
    )


def _box(width: int) -> bytes:
    """One contour of four points, each as far from the one before as both numbers say."""
    across, down = (0, width, 0, -width), (_DESCENT, 0, _ASCENT - _DESCENT, 0)
    outline = struct.pack(">4B8h", *[_ON_CURVE] * 4, *across, *down)
    return struct.pack(">hhhhhHH", 1, 0, _DESCENT, width, _ASCENT, 3, 0) + outline


def _os2() -> bytes:
    return struct.pack(
        ">HhHHH11h10sLLLL4sHHHhhhHHLL",
        *(1, UNITS // 2, 400, 5, 0, *[0] * 11, b"\0" * 10, 0, 0, 0, 0, b"hub "),
        *(64, 0, 0xFFFF, _ASCENT, _DESCENT, 0, _ASCENT, -_DESCENT, 0, 0),
    )


def _file(tables: dict[bytes, bytes]) -> bytes:
    """Put the tables behind a directory of them, each at a multiple of four bytes with its checksum."""
    count = len(tables)
    power = count.bit_length() - 1
    head = struct.pack(">LHHHH", 0x10000, count, 16 << power, power, 16 * (count - (1 << power)))
    offset = len(head) + 16 * count
    directory, body = b"", b""
    for tag, table in sorted(tables.items()):
        padded = table + b"\0" * (-len(table) % 4)
        total = sum(struct.unpack(f">{len(padded) // 4}L", padded)) & 0xFFFFFFFF
        directory += struct.pack(">4sLLL", tag, total, offset + len(body), len(table))
        body += padded
    return head + directory + body
