"""The task of a child that takes the documents out of a zip or a mail, each as a numbered file of its own.

Names from the archive never become names on a disk. Archives inside an archive stay closed.
"""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from knowledge.parsers.archives import BROKEN, check_total
from knowledge.parsers.detect import detect_format
from knowledge.parsers.errors import ParseError, corrupted, parse_error, readable_size
from knowledge.parsers.limits import ParseLimits
from knowledge.parsers.mail import attachments, read_mail
from knowledge.types.file_names import is_hidden

TASK = f"{__name__}:unpack"
LOOK_TASK = f"{__name__}:look"
MOST_MEMBERS = 500
_PIECE_BYTES = 1 << 18
_UTF8_NAME, _ENCRYPTED = 0x800, 0x1


def look(path: Path, *, limits: ParseLimits, folder: Path, filename: str) -> str:
    """Say whether a file is a zip of documents: ``{"is_archive": …}``. What is wrong with any other is told later."""
    return json.dumps({"is_archive": _is_archive(path, filename)})


def unpack(path: Path, *, limits: ParseLimits, folder: Path, filename: str) -> str:
    """Write the members into ``folder`` as 0, 1, … and give what they are.

    The answer is ``{"kind": "zip" | "eml" | "msg" | "", "members": [{"path", "file", "reason"}], "left_out": n}``:
    ``file`` is the name in ``folder``, ``reason`` the ParseError of a member that is not taken out, and one of both is
    null. ``kind`` is empty for a document, which has no members. What a system or a program hid beside the documents is
    left out and counted.

    :raises ParseError: ``archive_too_many``, ``archive_empty``, ``expanded_too_large``, ``corrupted``, and what tells
        that the file is no document either.
    """
    limits.check_input(path.stat().st_size)
    try:
        kind = detect_format(path, filename=filename)
    except ParseError as error:
        if error.code != "archive_of_documents":
            raise
        return json.dumps({"kind": "zip", **_unpacked_zip(path, folder, limits)})
    if kind in ("eml", "msg"):
        return json.dumps({"kind": kind, **_unpacked_mail(path, folder, limits)})
    return json.dumps({"kind": "", "members": [], "left_out": 0})


def _unpacked_mail(path: Path, folder: Path, limits: ParseLimits) -> dict[str, Any]:
    members = []
    found = attachments(read_mail(path.read_bytes()))
    _check_number(len(found))
    for index, attached in enumerate(found):
        target = folder / str(index)
        target.write_bytes(attached.data)
        members.append(_member(attached.name, target, limits))
    return {"members": members, "left_out": 0}


def _unpacked_zip(path: Path, folder: Path, limits: ParseLimits) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as archive:
            files = [entry for entry in archive.infolist() if not entry.is_dir()]
            wanted = [entry for entry in files if not is_hidden(_name_parts(entry))]
            _check_number(len(wanted))
            if not wanted:
                raise parse_error("archive_empty")
            stored = path.stat().st_size
            check_total(sum(entry.file_size for entry in wanted), stored, limits)
            members = list(_taken_out(archive, wanted, folder, stored, limits))
    except BROKEN as error:
        raise corrupted("zip", type(error).__name__) from error
    return {"members": members, "left_out": len(files) - len(wanted)}


def _taken_out(
    archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo], folder: Path, stored: int, limits: ParseLimits
) -> Iterator[dict[str, Any]]:
    expanded = 0
    for index, entry in enumerate(entries):
        name = _shown_name(entry)
        target = folder / str(index)
        try:
            _check_entry(entry, limits)
            with archive.open(entry) as source, target.open("wb") as copy:
                while piece := source.read(_PIECE_BYTES):
                    expanded += len(piece)
                    check_total(expanded, stored, limits)
                    copy.write(piece)
        except ParseError as error:
            if error.code == "expanded_too_large":
                raise
            yield _refused(name, error)
        except (*BROKEN, RuntimeError) as error:
            target.unlink(missing_ok=True)
            yield _refused(name, corrupted("zip", type(error).__name__))
        else:
            yield _member(name, target, limits)


def _check_number(number: int) -> None:
    if number > MOST_MEMBERS:
        raise parse_error("archive_too_many", count=number, limit=MOST_MEMBERS)


def _check_entry(entry: zipfile.ZipInfo, limits: ParseLimits) -> None:
    name = _name(entry)
    if name is None:
        raise parse_error("archive_bad_name")
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or parts[0].endswith(":"):
        raise parse_error("archive_bad_path")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise parse_error("archive_link")
    if entry.flag_bits & _ENCRYPTED:
        raise parse_error("encrypted")
    limits.check_input(entry.file_size)


def _name(entry: zipfile.ZipInfo) -> str | None:
    """The member's path with ``/``: UTF-8 where it says or is that, else CP932; None when it is neither.

    zipfile reads names without the flag as cp437, which has a character for each byte.
    """
    raw = entry.orig_filename
    if not entry.flag_bits & _UTF8_NAME:
        data = raw.encode("cp437")
        for encoding in ("utf-8", "cp932"):
            try:
                raw = data.decode(encoding)
                break
            except UnicodeDecodeError:
                continue
        else:
            return None
    # After decoding: the second byte of ソ and 表 is a backslash in CP932.
    return raw.replace("\\", "/")


def _shown_name(entry: zipfile.ZipInfo) -> str:
    return _name(entry) or entry.orig_filename


def _name_parts(entry: zipfile.ZipInfo) -> list[str]:
    return [part for part in _shown_name(entry).split("/") if part not in ("", "..", ".")]


def _member(name: str, target: Path, limits: ParseLimits) -> dict[str, Any]:
    """What a file that was taken out is; one that is an archive or empty is refused and removed."""
    size = target.stat().st_size
    try:
        if size > limits.max_input_bytes:
            raise parse_error("too_large", size=readable_size(size), limit=readable_size(limits.max_input_bytes))
        if _is_archive(target, name):
            raise parse_error("archive_nested")
        if not size:
            raise parse_error("empty_file")
    except ParseError as error:
        target.unlink()
        return _refused(name, error)
    return {"path": name, "file": target.name, "reason": None}


def _is_archive(target: Path, name: str) -> bool:
    try:
        detect_format(target, filename=name)
    except ParseError as error:  # what else is wrong with it is told of the document that it becomes
        return error.code == "archive_of_documents"
    return False


def _refused(name: str, error: ParseError) -> dict[str, Any]:
    return {
        "path": name,
        "file": None,
        "reason": {"code": error.code, "ja": error.text.ja, "en": error.text.en},
    }
