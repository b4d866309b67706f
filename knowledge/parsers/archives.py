"""Check a zip container before a library opens it, and read single entries.

Declared sizes can lie, so every entry is also expanded here, streamed and counted, and its XML is searched for
entity declarations, which Office files never contain. Archives inside the archive stay closed.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from knowledge.parsers.errors import corrupted, parse_error, readable_size
from knowledge.parsers.limits import ParseLimits

_PIECE_BYTES = 1 << 18
_OVERLAP_BYTES = 32
_XML_SUFFIXES = (".xml", ".rels", ".vml", ".opf", ".ncx")


def _encoded(word: str) -> tuple[bytes, ...]:
    return tuple(word.encode(encoding) for encoding in ("ascii", "utf-16-le", "utf-16-be"))


_ENTITY = _encoded("<!ENTITY")
_DOCTYPE = _encoded("<!DOCTYPE")
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError, OSError)
"""What zipfile raises for a container that is damaged or packed in an unknown way."""


def check_archive(path: Path, *, format_name: str, limits: ParseLimits) -> None:
    """Refuse a container that is broken, expands too far, or declares XML entities.

    :raises ParseError: ``corrupted``, ``encrypted``, ``expanded_too_large`` or ``unsafe_xml``.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _check_declared(entries, path.stat().st_size, limits)
            _check_streamed(archive, entries, format_name, limits)
    except BROKEN as error:
        raise corrupted(format_name, type(error).__name__) from error


def _check_declared(entries: list[zipfile.ZipInfo], stored_bytes: int, limits: ParseLimits) -> None:
    if len(entries) > limits.max_archive_entries:
        raise parse_error("expanded_too_large", detail=f"{len(entries)} entries")
    if any(entry.flag_bits & 0x1 for entry in entries):
        raise parse_error("encrypted")
    check_total(sum(entry.file_size for entry in entries), stored_bytes, limits)


def check_total(expanded: int, stored_bytes: int, limits: ParseLimits) -> None:
    """Refuse what expands too far, by bytes or by ratio. :raises ParseError: ``expanded_too_large``."""
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
            check_total(expanded, stored_bytes, limits)
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
    except BROKEN as error:
        raise corrupted("zip", type(error).__name__) from error


def read_entry(path: Path, name: str, *, max_bytes: int = 1 << 20) -> bytes:
    """Read at most ``max_bytes`` of one entry.

    :raises ParseError: ``corrupted`` when it is absent or can't be expanded.
    """
    try:
        with zipfile.ZipFile(path) as archive, archive.open(name) as stream:
            return stream.read(max_bytes)
    except (*BROKEN, KeyError, RuntimeError) as error:
        raise corrupted("zip", type(error).__name__) from error
