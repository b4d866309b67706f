"""Decide what a file is, by its content first and its name second, and check a zip container before a library opens it.

Declared sizes can lie, so every entry is also expanded here, streamed and counted, and its XML is searched for
entity declarations, which Office files never contain. Archives inside the archive stay closed.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePath

from knowledge.parsers.encoding import decoding_error
from knowledge.parsers.errors import ParseError, corrupted, parse_error, readable_size
from knowledge.parsers.limits import ParseLimits

_PIECE_BYTES = 1 << 18
_OVERLAP_BYTES = 32
_XML_SUFFIXES = (".xml", ".rels", ".vml", ".opf", ".ncx")


def _encoded(word: str) -> tuple[bytes, ...]:
    return tuple(word.encode(encoding) for encoding in ("ascii", "utf-16-le", "utf-16-be"))


_ENTITY = _encoded("<!ENTITY")
_DOCTYPE = _encoded("<!DOCTYPE")
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError, OSError)


def check_archive(path: Path, *, format_name: str, limits: ParseLimits) -> None:
    """Refuse a container that is broken, expands too far, or declares XML entities.

    :raises ParseError: ``corrupted``, ``encrypted``, ``expanded_too_large`` or ``unsafe_xml``.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _check_declared(entries, path.stat().st_size, limits)
            _check_streamed(archive, entries, format_name, limits)
    except _BROKEN as error:
        raise corrupted(format_name, type(error).__name__) from error


def _check_declared(entries: list[zipfile.ZipInfo], stored_bytes: int, limits: ParseLimits) -> None:
    if len(entries) > limits.max_archive_entries:
        raise parse_error("expanded_too_large", detail=f"{len(entries)} entries")
    if any(entry.flag_bits & 0x1 for entry in entries):
        raise parse_error("encrypted")
    _check_total(sum(entry.file_size for entry in entries), stored_bytes, limits)


def _check_total(expanded: int, stored_bytes: int, limits: ParseLimits) -> None:
    if expanded > limits.max_expanded_bytes:
        raise parse_error("expanded_too_large", detail=f"> {readable_size(limits.max_expanded_bytes)}")
    ratio = expanded / max(stored_bytes, 1)
    if expanded > limits.ratio_free_bytes and ratio > limits.max_expansion_ratio:
        raise parse_error("expanded_too_large", detail=f"x{ratio:.0f}")


def _check_streamed(
    archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo], format_name: str, limits: ParseLimits
) -> None:
    # XHTML inside an epub starts with a harmless DOCTYPE; Office XML never has one.
    forbidden = _ENTITY if format_name == "epub" else _ENTITY + _DOCTYPE
    expanded = 0
    stored_bytes = sum(entry.compress_size for entry in entries)
    for entry in entries:
        is_xml = entry.filename.lower().endswith(_XML_SUFFIXES)
        for piece in _pieces(archive, entry):
            expanded += len(piece) - _OVERLAP_BYTES
            _check_total(expanded, stored_bytes, limits)
            if is_xml and any(word in piece for word in forbidden):
                raise parse_error("unsafe_xml", detail=entry.filename)


def _pieces(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield an entry's bytes in pieces, each led by the end of the one before, so that no word hides on a seam."""
    tail = bytes(_OVERLAP_BYTES)
    with archive.open(entry) as stream:
        while piece := stream.read(_PIECE_BYTES):
            yield tail + piece
            tail = (tail + piece)[-_OVERLAP_BYTES:]


def entry_names(path: Path) -> frozenset[str]:
    """List the names in a zip container. :raises ParseError: ``corrupted`` when its directory can't be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            return frozenset(archive.namelist())
    except _BROKEN as error:
        raise corrupted("zip", type(error).__name__) from error


def read_entry(path: Path, name: str, *, max_bytes: int = 1 << 20) -> bytes:
    """Read at most ``max_bytes`` of one entry.

    :raises ParseError: ``corrupted`` when it is absent or can't be expanded.
    """
    try:
        with zipfile.ZipFile(path) as archive, archive.open(name) as stream:
            return stream.read(max_bytes)
    except (*_BROKEN, KeyError, RuntimeError) as error:
        raise corrupted("zip", type(error).__name__) from error


SUPPORTED_FORMATS = ("md", "txt", "html", "csv", "pdf", "docx", "xlsx", "pptx", "epub", "ipynb")

_TEXT_EXTENSIONS = {
    **dict.fromkeys((".txt", ".text", ".log"), "txt"),
    **dict.fromkeys((".md", ".markdown", ".mdown"), "md"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    ".ipynb": "ipynb",
}
_BINARY_EXTENSIONS = frozenset(
    {".pdf", ".docx", ".xlsx", ".pptx", ".xlsm", ".docm", ".pptm", ".ppsx", ".dotx", ".xltx", ".potx", ".epub"}
)
_CONVERT = {
    **dict.fromkeys((".doc", ".dot", ".rtf", ".odt", ".jtd"), "docx"),
    **dict.fromkeys((".xls", ".xlsb", ".ods"), "xlsx"),
    **dict.fromkeys((".ppt", ".odp"), "pptx"),
    ".msg": "html",
}
_OLE2_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEAD_BYTES = 1 << 16
_HTML_START = re.compile(
    rb"\s*(<\?xml[^>]*>\s*)?(?>(?:<!--.*?-->\s*)*)<(!doctype\s+html|html|head|body)\b", re.I | re.S
)
_OPEN_DOCUMENT = {b"text": (".odt", "docx"), b"spreadsheet": (".ods", "xlsx"), b"presentation": (".odp", "pptx")}
_MAIN_PARTS = (
    (b"wordprocessingml.document.main", "docx"),
    (b"ms-word.document.macroEnabled.main", "docx"),
    (b"wordprocessingml.template.main", "docx"),
    (b"spreadsheetml.sheet.main", "xlsx"),
    (b"ms-excel.sheet.macroEnabled.main", "xlsx"),
    (b"spreadsheetml.template.main", "xlsx"),
    (b"presentationml.presentation.main", "pptx"),
    (b"ms-powerpoint.presentation.macroEnabled.main", "pptx"),
    (b"presentationml.slideshow.main", "pptx"),
    (b"presentationml.template.main", "pptx"),
    (b"ms-powerpoint.slideshow.macroEnabled.main", "pptx"),
    (b"ms-powerpoint.template.macroEnabled.main", "pptx"),
    (b"ms-word.template.macroEnabledTemplate.main", "docx"),
    (b"ms-excel.template.macroEnabled.main", "xlsx"),
)


def detect_format(path: Path, *, filename: str) -> str:
    """Name the format that the file's content has; ``filename`` decides between kinds of text only.

    :raises ParseError: ``empty_file``, ``lock_file``, ``encrypted``, ``convert_first``, ``corrupted`` when the
        content is not what the name promises, or ``unsupported_format``.
    """
    name = PurePath(filename).name
    extension = PurePath(filename).suffix.lower()
    if path.stat().st_size == 0:
        raise parse_error("empty_file")
    if name.startswith("~$"):
        raise parse_error("lock_file")
    with path.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    if head.startswith(b"PK\x03\x04"):
        return _zip_format(path, extension)
    if head.startswith(_OLE2_MAGIC):
        raise _ole2_error(path, extension)
    if b"%PDF-" in head[:1024]:
        return "pdf"
    return _text_format(head, extension)


def _zip_format(path: Path, extension: str) -> str:
    try:
        names = entry_names(path)
    except ParseError as error:
        raise corrupted(extension.lstrip(".") or "zip", "zip") from error
    if "[Content_Types].xml" in names:
        content_types = read_entry(path, "[Content_Types].xml")
        for marker, format_name in _MAIN_PARTS:
            if marker in content_types:
                return format_name
        if b"ms-excel.sheet.binary" in content_types:
            raise _convert_error(".xlsb", "xlsx")
    if "mimetype" in names:
        return _by_mimetype(read_entry(path, "mimetype", max_bytes=200))
    if extension in _BINARY_EXTENSIONS:
        raise corrupted(extension.lstrip("."), "zip without the expected parts")
    raise _unsupported("zip")


def _by_mimetype(mimetype: bytes) -> str:
    if mimetype.strip() == b"application/epub+zip":
        return "epub"
    for kind, (extension, target) in _OPEN_DOCUMENT.items():
        if kind in mimetype and b"opendocument" in mimetype:
            raise _convert_error(extension, target)
    raise _unsupported(mimetype.decode("ascii", "replace").strip())


def _ole2_error(path: Path, extension: str) -> ParseError:
    """Tell an encrypted Office file from a file of the old binary formats: both are OLE2 containers."""
    content = path.read_bytes()
    if "EncryptedPackage".encode("utf-16-le") in content:
        return parse_error("encrypted")
    streams = (("WordDocument", ".doc"), ("Workbook", ".xls"), ("PowerPoint Document", ".ppt"))
    for stream, old_extension in streams:
        if stream.encode("utf-16-le") in content:
            return _convert_error(old_extension, _CONVERT[old_extension])
    if extension in _CONVERT:
        return _convert_error(extension, _CONVERT[extension])
    return _unsupported("OLE2")


def _text_format(head: bytes, extension: str) -> str:
    if _HTML_START.match(head):
        return "html"
    if head.startswith(b"{\\rtf"):
        raise _convert_error(".rtf", "docx")
    if extension in _CONVERT:
        raise _convert_error(extension, _CONVERT[extension])
    if extension in _BINARY_EXTENSIONS:
        raise corrupted(extension.lstrip("."), "unexpected content")
    if error := _text_error(head):
        # A file that calls itself text is refused with what is wrong with its text.
        raise error if extension in _TEXT_EXTENSIONS else _unsupported(extension or "binary")
    return _TEXT_EXTENSIONS.get(extension, "txt")


def _text_error(head: bytes) -> ParseError | None:
    """Return why the first bytes are no text; the read may have ended inside a character, so up to 3 are spared."""
    if not head.strip():
        return None
    spare = 3 if len(head) == _HEAD_BYTES else 0
    errors = [error for cut in range(spare + 1) if (error := decoding_error(head[: len(head) - cut]))]
    return errors[0] if len(errors) > spare else None


def _convert_error(extension: str, target: str) -> ParseError:
    return parse_error("convert_first", format=extension.lstrip("."), target=target)


def _unsupported(detail: str) -> ParseError:
    return parse_error("unsupported_format", detail=detail, supported=", ".join(SUPPORTED_FORMATS))
