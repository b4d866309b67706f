"""Choose the parser of a format. Each is imported only when it is needed: a child process reads one file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Protocol, cast

from knowledge.parsers.archives import check_archive
from knowledge.parsers.detect import detect_format
from knowledge.parsers.errors import parse_error
from knowledge.parsers.figure_texts import with_figure_texts
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.serialize import dump_document
from knowledge.types.documents import ParsedDocument
from knowledge.types.ocr import PageReading

_PACKAGE = "knowledge.parsers"
DOCUMENT_TASK = f"{_PACKAGE}.registry:read_document"
_PARSERS = {
    "md": "markdown",
    "txt": "text",
    "csv": "csv_table",
    "html": "html.parser",
    "docx": "docx.parser",
    "xlsx": "xlsx.parser",
    "pptx": "pptx.parser",
    **dict.fromkeys(("xls", "xlsb", "ods"), "spreadsheet.parser"),
    "pdf": "pdf.parser",
    "epub": "other",
    "ipynb": "other",
    "image": "image.parser",
    **dict.fromkeys(("eml", "msg"), "mail"),
    **dict.fromkeys(("doc", "ppt", "odt", "odp", "rtf"), "office.parser"),
}
# Their pages may be pictures, whose text OCR reads.
_OF_PICTURES = frozenset({"pdf", "image"})
_ARCHIVES = frozenset({"docx", "xlsx", "pptx", "xlsb", "ods", "odt", "odp", "epub"})


class Parser(Protocol):
    """Turns one file into Markdown with structure. Runs in a child process with limits."""

    def __call__(self, path: Path, *, filename: str, limits: ParseLimits) -> ParsedDocument:
        """Parse the file. Raises ParseError with a reason that a curator understands."""


class PictureParser(Protocol):
    """A parser that puts in what OCR read of the document's pages, by the hash of their pictures."""

    def __call__(
        self, path: Path, *, filename: str, limits: ParseLimits, readings: Mapping[str, PageReading]
    ) -> ParsedDocument:
        """Parse the file. Raises ParseError with a reason that a curator understands."""


def load_parser(format_name: str) -> Parser:
    """Import the parser of a format. :raises KeyError: when there is none."""
    return cast(Parser, import_module(f"{_PACKAGE}.{_PARSERS[format_name]}").parse)


def preload(filename: str) -> None:
    """Import the parser that a file's name promises, without looking at the file; the rare ones are left out.

    Which parser reads the file is decided by its content, later.
    """
    suffix = PurePath(filename).suffix.lower().removeprefix(".")
    module_name = _PARSERS.get({"htm": "html", "markdown": "md", "png": "image"}.get(suffix, suffix), "other")
    if module_name != "other":
        import_module(f"{_PACKAGE}.{module_name}")


def read_document(path: Path, *, limits: ParseLimits, folder: Path, filename: str, readings: str = "") -> str:
    """The task of a child that reads a document: its JSON, with the pictures as files in ``folder``.

    ``readings`` is the path of what OCR read of its pictures, as `dump_readings` writes it.
    """
    known = load_readings(Path(readings)) if readings else {}
    return dump_document(parse_file(path, filename=filename, limits=limits, readings=known), folder)


def dump_readings(readings: Mapping[str, PageReading]) -> str:
    return json.dumps({picture: reading.as_json() for picture, reading in readings.items()}, ensure_ascii=False)


def load_readings(path: Path) -> dict[str, PageReading]:
    stored = json.loads(path.read_text(encoding="utf-8"))
    return {str(picture): PageReading.from_json(reading) for picture, reading in stored.items()}


def parse_file(
    path: Path, *, filename: str, limits: ParseLimits, readings: Mapping[str, PageReading] = MappingProxyType({})
) -> ParsedDocument:
    """Detect the file's format and parse it in this process; containers are checked before they are opened.

    ``readings`` are what OCR read, by the sha256 of a picture.

    :raises ParseError: with the reason when the file can't be read.
    """
    limits.check_input(path.stat().st_size)
    format_name = detect_format(path, filename=filename)
    if format_name in _ARCHIVES:
        check_archive(path, format_name=format_name, limits=limits)
    parser = load_parser(format_name)
    if format_name in _OF_PICTURES:
        parsed = cast(PictureParser, parser)(path, filename=filename, limits=limits, readings=readings)
    else:
        parsed = parser(path, filename=filename, limits=limits)
    parsed = with_figure_texts(parsed, readings)
    if not parsed.markdown and not parsed.pages_needing_ocr:
        raise parse_error("no_content")
    return parsed
