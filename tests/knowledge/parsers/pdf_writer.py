"""Writes small PDF files by hand, with Japanese text in a font that is named and not embedded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain


@dataclass(kw_only=True)
class PdfPage:
    """A page of A4 size in points. ``texts`` are (x, y from the bottom, size, text), ``rules`` are (x1, y1, x2, y2).

    ``pictures`` are (x, y, width, height, shade): 40 by 40 grey pixels. ``shades`` are grey areas (x, y, width,
    height) behind all else. ``written`` are (kind, x, y, text): what was put on the page afterwards, as Widget (a form
    field), FreeText or Text (a note).
    """

    texts: list[tuple[float, float, float, str]] = field(default_factory=list)
    rules: list[tuple[float, float, float, float]] = field(default_factory=list)
    image: bool = False
    pictures: list[tuple[float, float, float, float, int]] = field(default_factory=list)
    shades: list[tuple[float, float, float, float]] = field(default_factory=list)
    written: list[tuple[str, float, float, str]] = field(default_factory=list)

    def content(self) -> bytes:
        parts = [f"0.85 g {x} {y} {width} {height} re f 0 g" for x, y, width, height in self.shades]
        parts += [
            f"BT /F1 {size} Tf {x} {y} Td <{text.encode('utf-16-be').hex()}> Tj ET" for x, y, size, text in self.texts
        ]
        parts += [f"{x1} {y1} m {x2} {y2} l S" for x1, y1, x2, y2 in self.rules]
        if self.image:
            parts.append("q 400 0 0 600 80 100 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x80 EI Q")
        for x, y, width, height, shade in self.pictures:
            pixels = chr(shade) * 1600
            parts.append(f"q {width} 0 0 {height} {x} {y} cm BI /W 40 /H 40 /BPC 8 /CS /G ID {pixels} EI Q")
        return "\n".join(parts).encode("latin-1")


def write_pdf(pages: list[PdfPage], *, bookmarks: list[tuple[str, int]] = ()) -> bytes:  # type: ignore[assignment]
    """Return the bytes of a PDF; ``bookmarks`` are (title, page index)."""
    objects: list[bytes] = []
    first_page = 6
    page_ids = [first_page + 2 * index for index in range(len(pages))]
    first_bookmark = first_page + 2 * len(pages)
    outlines = f"/Outlines {first_bookmark} 0 R" if bookmarks else ""
    first_written = first_bookmark + (1 + len(bookmarks) if bookmarks else 0)
    written_ids = _written_ids(pages, first_written)
    form = f"/AcroForm << /Fields [{_references(chain.from_iterable(written_ids))}] /DA (/F1 10 Tf 0 g) >>"
    form = form if any(written_ids) else ""
    objects.append(f"<< /Type /Catalog /Pages 2 0 R {outlines} {form} >>".encode())
    kids = " ".join(f"{page_id} 0 R" for page_id in page_ids)
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(
        b"<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3 /Encoding /UniJIS-UTF16-H /DescendantFonts [4 0 R] >>"
    )
    objects.append(
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /DW 1000 "
        b"/CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /FontDescriptor 5 0 R >>"
    )
    objects.append(
        b"<< /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 6 /FontBBox [0 -120 1000 880] "
        b"/ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 700 /StemV 80 >>"
    )
    for page_id, page, numbers in zip(page_ids, pages, written_ids, strict=True):
        stream = page.content()
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {page_id + 1} 0 R "
            f"/Resources << /Font << /F1 3 0 R >> >> /Annots [{_references(numbers)}] >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    if bookmarks:
        objects.extend(_outline_objects(bookmarks, first_bookmark, page_ids))
    for page, numbers in zip(pages, written_ids, strict=True):
        for (kind, x, y, text), number in zip(page.written, numbers, strict=True):
            objects.extend(_written_objects(kind, x, y, text, appearance=number + 1))
    return _file(objects)


def _written_ids(pages: list[PdfPage], first_id: int) -> list[list[int]]:
    """Each thing that was written takes two objects: itself and how it looks."""
    ids = iter(range(first_id, first_id + 2 * sum(len(page.written) for page in pages), 2))
    return [[next(ids) for _ in page.written] for page in pages]


def _references(ids: Iterable[int]) -> str:
    return " ".join(f"{number} 0 R" for number in ids)


def _written_objects(kind: str, x: float, y: float, text: str, *, appearance: int) -> list[bytes]:
    encoded = ("\ufeff" + text).encode("utf-16-be").hex()
    look = f"BT /F1 10 Tf 2 6 Td <{text.encode('utf-16-be').hex()}> Tj ET".encode()
    shown = "" if kind == "Text" else f"/AP << /N {appearance} 0 R >>"
    return [
        f"<< /Type /Annot /Subtype /{kind} /FT /Tx /T (f{appearance}) /V <{encoded}> /Contents <{encoded}> /F 4 "
        f"/Rect [{x} {y} {x + 200} {y + 20}] {shown} >>".encode(),
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 3 0 R >> >> /Length %d >>\n"
        b"stream\n%s\nendstream" % (len(look), look),
    ]


def _outline_objects(bookmarks: list[tuple[str, int]], first_id: int, page_ids: list[int]) -> list[bytes]:
    last = first_id + len(bookmarks)
    objects = [f"<< /First {first_id + 1} 0 R /Last {last} 0 R /Count {len(bookmarks)} >>".encode()]
    for index, (title, page) in enumerate(bookmarks, 1):
        following = f"/Next {first_id + index + 1} 0 R" if index < len(bookmarks) else ""
        encoded = ("\ufeff" + title).encode("utf-16-be").hex()
        objects.append(
            f"<< /Title <{encoded}> /Parent {first_id} 0 R {following} /Dest [{page_ids[page]} 0 R /Fit] >>".encode()
        )
    return objects


def _file(objects: list[bytes]) -> bytes:
    body = b"%PDF-1.5\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(body))
    return body + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + trailer
