"""Changing a few parts of an Office Open XML file; every other one keeps its bytes."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from lxml import etree

from knowledge.parsers.ooxml.package import Element, parse_part

_CONTENT_TYPES = "[Content_Types].xml"
_TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_EARLIEST = (1980, 1, 1, 0, 0, 0)


class PackageEditor:
    """Reads parts, takes changed and new ones, and packs all again in the old order, new ones last."""

    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path)
        self._changed: dict[str, Element | bytes] = {}
        self._read: dict[str, Element] = {}

    def has(self, part: str) -> bool:
        return part in self._archive.NameToInfo or part in self._changed

    def root(self, part: str) -> Element:
        """Return the root of a part, the same one each time, to look at. Call ``change`` to write what is changed."""
        if part not in self._read:
            self._read[part] = parse_part(self._archive, part)
        return self._read[part]

    def change(self, part: str) -> Element:
        """Return the root of a part; what is changed in it is written."""
        self._changed[part] = self.root(part)
        return self._read[part]

    def data(self, part: str) -> bytes:
        """Return the bytes of a part that is not read as a tree: as it was, or as it was replaced."""
        changed = self._changed.get(part)
        return changed if isinstance(changed, bytes) else self._archive.read(part)

    def replace(self, part: str, data: bytes) -> None:
        """Write a part's bytes, or those of a new one whose suffix says what it is."""
        self._changed[part] = data

    def add(self, part: str, root: Element, *, content_type: str = "") -> None:
        """Add a part whose root is given; without a content type one for its suffix is there or is of no need."""
        self._read[part] = self._changed[part] = root
        if content_type:
            types = self.change(_CONTENT_TYPES)
            etree.SubElement(types, f"{_TYPES}Override", PartName=f"/{part}", ContentType=content_type)

    def add_default_type(self, suffix: str, content_type: str) -> None:
        """Say what parts with a suffix are, unless it is said."""
        types = self.root(_CONTENT_TYPES)
        known = {one.get("Extension", "").lower() for one in types.iter(f"{_TYPES}Default")}
        if suffix not in known:
            entry = etree.Element(f"{_TYPES}Default", Extension=suffix, ContentType=content_type)
            self.change(_CONTENT_TYPES).insert(0, entry)

    def content_type(self, part: str) -> str:
        """Return what the package says a part is; empty for one whose suffix alone says it."""
        names = self.root(_CONTENT_TYPES).iter(f"{_TYPES}Override")
        return next((one.get("ContentType", "") for one in names if one.get("PartName") == f"/{part}"), "")

    def relate(self, part: str, kind: str, target: str) -> str:
        """Relate a part to another one, and return the relation's id."""
        path = relations_path(part)
        if self.has(path):
            root = self.change(path)
        else:
            root = etree.Element(f"{{{_RELATIONS}}}Relationships", nsmap={None: _RELATIONS})
            self._read[path] = self._changed[path] = root
        known = {one.get("Id") for one in root}
        number = next(number for number in range(1, len(known) + 2) if f"rIdHub{number}" not in known)
        where = posixpath.relpath(target, posixpath.dirname(part) or ".")
        etree.SubElement(root, f"{{{_RELATIONS}}}Relationship", Id=f"rIdHub{number}", Type=kind, Target=where)
        return f"rIdHub{number}"

    def free_name(self, pattern: str) -> str:
        """Return the first part of a pattern such as ``xl/comments{}.xml`` that is not there yet."""
        return next(name for number in range(1, 100_000) if not self.has(name := pattern.format(number)))

    def related(self, part: str, kind: str) -> str | None:
        """Return the part that one is related to by a kind, the last word of its type; None where it is not there."""
        return self._led_to(part, lambda one: one.get("Type", "").rpartition("/")[2] == kind)

    def target(self, part: str, relation: str) -> str | None:
        """Return the part that a relation's id leads to; None where it is not there."""
        return self._led_to(part, lambda one: one.get("Id") == relation)

    def _led_to(self, part: str, is_wanted: Callable[[Element], bool]) -> str | None:
        path = relations_path(part)
        for one in self.root(path) if self.has(path) else ():
            if is_wanted(one) and one.get("TargetMode") != "External":
                inside = posixpath.join("/", posixpath.dirname(part), one.get("Target", ""))
                found = posixpath.normpath(inside).lstrip("/")
                return found if self.has(found) else None
        return None

    def packed(self) -> bytes:
        """Return the file. The same changes of the same file give the same bytes."""
        target = BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy:
            for entry in self._archive.infolist():
                member = zipfile.ZipInfo(entry.filename, date_time=entry.date_time)
                member.compress_type = zipfile.ZIP_STORED if entry.compress_type == 0 else zipfile.ZIP_DEFLATED
                member.external_attr = entry.external_attr
                name = entry.filename
                data = _bytes(self._changed[name]) if name in self._changed else self._archive.read(entry)
                copy.writestr(member, data)
            for name in [name for name in self._changed if name not in self._archive.NameToInfo]:
                member = zipfile.ZipInfo(name, date_time=_EARLIEST)
                member.compress_type = zipfile.ZIP_DEFLATED
                copy.writestr(member, _bytes(self._changed[name]))
        return target.getvalue()


def relations_path(part: str) -> str:
    folder, name = posixpath.split(part)
    return posixpath.join(folder, "_rels", f"{name}.rels")


def _bytes(part: Element | bytes) -> bytes:
    if isinstance(part, bytes):
        return part
    written: bytes = etree.tostring(part.getroottree(), xml_declaration=True, encoding="UTF-8", standalone=True)
    return written
