"""Decide what a file is, by its content first and its name second."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

import olefile

from knowledge.parsers.archives import entry_names, read_entry
from knowledge.parsers.encoding import decoding_error
from knowledge.parsers.errors import ParseError, corrupted, parse_error
from knowledge.parsers.outlook import PROPERTIES
from knowledge.types.file_names import LOCK_FILE_PREFIX

SUPPORTED_FORMATS = (
    *("md", "txt", "html", "csv", "pdf", "docx", "xlsx", "pptx", "xls", "xlsb", "ods", "epub", "ipynb", "eml", "msg"),
    *("doc", "ppt", "odt", "odp", "rtf"),  # where LibreOffice is installed
    "image",  # png, jpeg, tiff
)

_TEXT_EXTENSIONS = {
    **dict.fromkeys((".txt", ".text", ".log"), "txt"),
    **dict.fromkeys((".md", ".markdown", ".mdown"), "md"),
    **dict.fromkeys((".csv", ".tsv"), "csv"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    ".ipynb": "ipynb",
    ".eml": "eml",
}
_BINARY_EXTENSIONS = frozenset(
    {".pdf", ".docx", ".xlsx", ".pptx", ".xlsm", ".docm", ".pptm", ".ppsx", ".dotx", ".xltx", ".potx", ".epub"}
    | {".xls", ".xlsb", ".ods", ".doc", ".dot", ".ppt", ".odt", ".odp", ".rtf", ".msg"}
)
_PICTURE_EXTENSIONS = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff"})
ACCEPTED_SUFFIXES = tuple(sorted({*_TEXT_EXTENSIONS, *_BINARY_EXTENSIONS, *_PICTURE_EXTENSIONS}))
"""How the names of files end that the hub reads. What decides is their content."""
OLE2_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEAD_BYTES = 1 << 16
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*")
_HTML_START = re.compile(
    rb"\s*(<\?xml[^>]*>\s*)?(?>(?:<!--.*?-->\s*)*)<(!doctype\s+html|html|head|body)\b", re.I | re.S
)
_OPEN_DOCUMENT = {
    b"opendocument.spreadsheet": "ods",
    b"opendocument.text": "odt",
    b"opendocument.presentation": "odp",
}
# Streams of the old formats' containers. Ichitaro (一太郎) has no converter outside of its own programs.
_STREAMS = (("Workbook", "xls"), ("Book", "xls"), ("WordDocument", "doc"), ("PowerPoint Document", "ppt"))
_ICHITARO = ("DocumentText", "JSRV_SegmentInformation")
_ICHITARO_EXTENSIONS = frozenset({".jtd", ".jtt", ".jtdc", ".jttc"})
_MAIL_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:>?From .*\r?\n)?[!-9;-~]{1,80}[ \t]*:")
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

    :raises ParseError: ``empty_file``, ``lock_file``, ``encrypted``, ``archive_of_documents``, ``ichitaro``,
        ``corrupted`` when the content is not what the name promises, or ``unsupported_format``.
    """
    name = PurePath(filename).name
    extension = PurePath(filename).suffix.lower()
    if path.stat().st_size == 0:
        raise parse_error("empty_file")
    if name.startswith(LOCK_FILE_PREFIX):
        raise parse_error("lock_file")
    with path.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    if head.startswith(b"PK\x03\x04"):
        return _zip_format(path, extension)
    if head.startswith(OLE2_MAGIC):
        return _ole2_format(path, extension)
    if head.startswith(_PICTURES):
        return "image"
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
            return "xlsb"
    if "mimetype" in names:
        return _by_mimetype(read_entry(path, "mimetype", max_bytes=200))
    if extension in _BINARY_EXTENSIONS:
        raise corrupted(extension.lstrip("."), "zip without the expected parts")
    raise parse_error("archive_of_documents")


def _by_mimetype(mimetype: bytes) -> str:
    if mimetype.strip() == b"application/epub+zip":
        return "epub"
    for kind, format_name in _OPEN_DOCUMENT.items():
        if kind in mimetype:
            return format_name
    raise _unsupported(mimetype.decode("ascii", "replace").strip())


def _ole2_format(path: Path, extension: str) -> str:
    """Tell the old binary formats apart by the streams of their container; encrypted Office files are in one, too."""
    try:
        with olefile.OleFileIO(str(path)) as container:
            names = {entry[0] for entry in container.listdir()}
    except (OSError, ValueError, IndexError, TypeError) as error:
        raise corrupted(extension.lstrip(".") or "OLE2", type(error).__name__) from error
    if "EncryptedPackage" in names:
        raise parse_error("encrypted")
    for stream, format_name in _STREAMS:
        if stream in names:
            return format_name
    if names & set(_ICHITARO) or extension in _ICHITARO_EXTENSIONS:
        raise parse_error("ichitaro")
    if PROPERTIES in names:
        return "msg"
    raise _unsupported("OLE2")


def _text_format(head: bytes, extension: str) -> str:
    if _HTML_START.match(head):
        return "html"
    if head.startswith(b"{\\rtf"):
        return "rtf"
    if extension in _ICHITARO_EXTENSIONS:
        raise parse_error("ichitaro")
    if extension == ".eml":  # its parts have encodings of their own
        if _MAIL_START.match(head):
            return "eml"
        raise corrupted("eml", "unexpected content")
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


def _unsupported(detail: str) -> ParseError:
    return parse_error("unsupported_format", detail=detail, supported=", ".join(SUPPORTED_FORMATS))
