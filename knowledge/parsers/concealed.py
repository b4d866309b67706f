"""Everything that is written in an original file, also where no reader of its text looks.

Comments, properties, alternative texts, hidden sheets, slides, rows and runs are not part of a document's Markdown. Who
must know whether something is said there (to a model, for instance) asks here. Nothing is stored.

Archives were held against the limits when the file was taken in; each part is read up to MAX_PART_BYTES here.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path
from typing import Any

from lxml import etree
from pdfminer.pdfdocument import PDFDocument
from pdfminer.pdfexceptions import PDFException
from pdfminer.pdfpage import PDFPage
from pdfminer.pdfparser import PDFParser
from pdfminer.pdftypes import resolve1
from pdfminer.psexceptions import PSException
from pdfminer.utils import decode_text

MAX_PART_BYTES = 32 * 1024 * 1024
LEAST_CHARACTERS = 8
_XML = (".xml", ".vml", ".rels")
# Text of these belongs to the paragraph around them; that of others stands for itself.
_INLINE = frozenset({"t", "delText", "instrText", "rt"})
_BLOCKS = frozenset({"p", "si", "is", "text", "comment", "row", "cm"})
_WHITE = frozenset({"FFFFFF", "FEFEFE", "FFFFFE"})
# Half-points in Word, hundredths of a point in PowerPoint: two points and less.
_TINY = {"sz": 4}
# What reading damaged or hostile files raises beside the libraries' own errors.
_DAMAGE = (
    *(ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, NotImplementedError, OSError),
    *(RecursionError, RuntimeError, TypeError, ValueError, struct.error, zlib.error),
)
_BY_PART = (
    ("docprops/", "metadata"),
    ("customxml/", "metadata"),
    ("comment", "comment"),
    ("vmldrawing", "comment"),
    ("notesslide", "notes"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """A text in a file. ``how``: metadata, comment, notes, alt, hidden, or style for what is white or tiny.

    Only of style it is known to be out of sight; the others may be in the document's text as well.
    """

    how: str
    place: str
    text: str


class UnreadableOriginal(Exception):
    """The file can't be looked through; its text was read in another way, or it is damaged."""


def may_conceal(path: Path) -> bool:
    """Tell by the first bytes whether `read_writings` reads this kind of file at all."""
    return _head(path).startswith((b"PK", b"%PDF", b"<"))


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(1024).lstrip()


def read_writings(path: Path) -> Iterator[Writing]:
    """Yield all that is written in an Office file, a PDF or an HTML page; nothing of other formats.

    :raises UnreadableOriginal: the file is not what it seems, or a part of it is larger than MAX_PART_BYTES.
    """
    head = _head(path)
    if head.startswith(b"PK"):
        yield from _of_package(path)
    elif head.startswith(b"%PDF"):
        yield from _of_pdf(path)
    elif head[:1] == b"<":
        yield from _of_html(path)


def _of_package(path: Path) -> Iterator[Writing]:
    try:
        with zipfile.ZipFile(path) as package:
            for entry in package.infolist():
                if entry.filename.lower().endswith(_XML):
                    if entry.file_size > MAX_PART_BYTES:
                        raise UnreadableOriginal(f"{entry.filename} is larger than {MAX_PART_BYTES} bytes")
                    yield from _of_part(package.read(entry), entry.filename)
    except (zipfile.BadZipFile, etree.XMLSyntaxError, *_DAMAGE) as error:
        raise UnreadableOriginal(type(error).__name__) from error


def _of_part(data: bytes, name: str) -> Iterator[Writing]:
    how = next((how for part, how in _BY_PART if part in name.lower()), "hidden")
    said: list[str] = []
    unseen: list[str] = []
    elements = etree.iterparse(BytesIO(data), events=("end",), resolve_entities=False, no_network=True, load_dtd=False)
    for _event, element in elements:
        tag = _local(element.tag)
        for value in _texts_of_attributes(element):
            yield Writing(how="alt", place=name, text=value)
        if element.text and tag in _INLINE:
            said.append(element.text)
            if _is_unseen(element.getparent()):
                unseen.append(element.text)
        elif element.text and not len(element):
            yield Writing(how=how, place=name, text=element.text)
        if tag in _BLOCKS:
            yield from _flushed(said, how, name)
            yield from _flushed(unseen, "style", name)
            element.clear(keep_tail=True)
    yield from _flushed(said, how, name)


def _flushed(pieces: list[str], how: str, name: str) -> Iterator[Writing]:
    if text := "".join(pieces):
        yield Writing(how=how, place=name, text=text)
    pieces.clear()


def _texts_of_attributes(element: Any) -> Iterator[str]:  # noqa: ANN401 - lxml has no types
    """Attributes that hold words and not names or numbers: alternative texts, titles, tips, prompts."""
    for value in element.attrib.values():
        if len(value) >= LEAST_CHARACTERS and (" " in value.strip() or not value.isascii()):
            yield value


def _is_unseen(run: Any) -> bool:  # noqa: ANN401
    properties = next((child for child in run if _local(child.tag) == "rPr"), None) if run is not None else None
    if properties is None:
        return False
    if 0 < int(_number(properties.get("sz"))) <= 200:  # PowerPoint
        return True
    for node in properties.iter():
        values = {_local(key): value for key, value in node.attrib.items()}
        tag, value = _local(node.tag), values.get("val", "")
        if tag in ("color", "srgbClr") and value.upper() in _WHITE:
            return True
        if tag in _TINY and 0 < _number(value) <= _TINY[tag]:
            return True
    return False


def _number(value: str | None) -> int:
    return int(value) if value and value.isascii() and value.isdecimal() else 0


def _local(tag: object) -> str:
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _of_pdf(path: Path) -> Iterator[Writing]:
    try:
        with path.open("rb") as file:
            document = PDFDocument(PDFParser(file))
            for facts in document.info:
                yield from _strings(facts, how="metadata", place="Info")
            metadata = resolve1(document.catalog.get("Metadata"))
            if hasattr(metadata, "get_data"):
                yield Writing(how="metadata", place="XMP", text=metadata.get_data().decode("utf-8", "replace"))
            for number, page in enumerate(PDFPage.create_pages(document), 1):
                for annotation in resolve1(page.annots) or ():
                    yield from _strings(resolve1(annotation), how="comment", place=f"p. {number}")
    except (PDFException, PSException, *_DAMAGE) as error:
        raise UnreadableOriginal(type(error).__name__) from error


def _strings(facts: object, *, how: str, place: str) -> Iterator[Writing]:
    for value in facts.values() if isinstance(facts, dict) else ():
        found = resolve1(value)
        if isinstance(found, bytes):
            yield Writing(how=how, place=place, text=decode_text(found))


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.said: list[Writing] = []

    def handle_data(self, data: str) -> None:
        self.said.append(Writing(how="hidden", place="", text=data))

    def handle_comment(self, data: str) -> None:
        self.said.append(Writing(how="comment", place="", text=data))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        how = "metadata" if tag == "meta" else "alt"
        self.said += [Writing(how=how, place=f"<{tag}>", text=value) for _name, value in attrs if value]


def _of_html(path: Path) -> Iterator[Writing]:
    if path.stat().st_size > MAX_PART_BYTES:
        raise UnreadableOriginal(f"larger than {MAX_PART_BYTES} bytes")
    page = _Page()
    page.feed(path.read_text(encoding="utf-8", errors="replace"))
    yield from (writing for writing in page.said if len(writing.text.strip()) >= LEAST_CHARACTERS)
