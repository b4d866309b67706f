"""Replacing in Word, Excel and PowerPoint files: parts that have something to replace are written anew, all others
stay byte for byte. What holds files or programs of its own is refused.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

from lxml import etree

from knowledge.parsers.anonymising.sheets import Workbook
from knowledge.parsers.anonymising.slots import Replacer, Slot
from knowledge.parsers.anonymising.xml import XML_SUFFIXES, attribute, local, parse_part, write_part
from knowledge.parsers.archives import check_archive
from knowledge.parsers.errors import parse_error
from knowledge.parsers.limits import ParseLimits

_PICTURES = frozenset(
    {".png", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".emf", ".wmf", ".svg", ".wdp", ".ico", ".webp"}
)
_HARMLESS = re.compile(r"printersettings/|\.(?:odttf|fntdata|psmdcp)$")
_TEXTS = frozenset({"t", "delText", "instrText"})
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n"}
# Attributes that may hold words or numbers of people; ids, sizes and colours are neither.
_MAY_HOLD = re.compile(r"[@＠]|[0-9０-９][0-9０-９\-－ ]{6}|[぀-ヿ一-鿿]|://|eyJ|hub_|sk-|ghp_|AKIA")
_NO_WORDS = re.compile(r"rsid|^(?:id|guid|uid|paraId|textId|durableId|r|ref|sqref|spans|uri|cx|cy|x|y)$")
_NUMBER = re.compile(r"[0-9.\-+eE]+")


def rewrite_package(path: Path, result: Path, format_name: str, replacer: Replacer, limits: ParseLimits) -> None:
    """Write the file without what was chosen.

    :raises ParseError: the container is broken or too large, ``holds_files`` for parts that can't be looked through.
    """
    check_archive(path, format_name=format_name, limits=limits)
    with zipfile.ZipFile(path) as package:
        names = [entry.filename for entry in package.infolist()]
        _refuse_unread(names)
        trees = {name: parse_part(package.read(name)) for name in names if name.lower().endswith(XML_SUFFIXES)}
        before = {name: etree.tostring(tree) for name, tree in trees.items()}
        dropped: set[str] = set()
        if format_name == "xlsx":
            dropped = Workbook(trees, replacer, most_cells=limits.max_cells).replace()
        for name, tree in trees.items():
            _replace_in(tree.getroot(), name, replacer)
        changed = {name: write_part(tree) for name, tree in trees.items() if etree.tostring(tree) != before[name]}
        _copy(package, result, changed, dropped)


def _refuse_unread(names: list[str]) -> None:
    """Refuse files inside the file, macros and controls: nothing reads or rewrites them here."""
    unread = []
    for name in names:
        lower = name.lower()
        if lower.endswith(("/", *XML_SUFFIXES)) or _HARMLESS.search(lower):
            continue
        if PurePosixPath(lower).suffix not in _PICTURES:
            unread.append(name)
    if unread:
        raise parse_error("holds_files", parts=", ".join(unread[:5]))


def _replace_in(root: Any, name: str, replacer: Replacer) -> None:  # noqa: ANN401 - lxml has no types
    slots: dict[Any, Slot] = {}
    for table in root.iter("{*}tbl"):
        _replace_in_table(table, slots, replacer)
    for paragraph in root.iter("{*}p", "{*}si", "{*}is", "{*}text"):
        replacer.line(list(_line(paragraph, slots)))
    for element, slot in slots.items():
        if element.text != slot.text:
            element.text = slot.text
            if slot.text != slot.text.strip():
                element.set("{http://www.w3.org/XML/1998/namespace}space", "preserve")
    for element in root.iter(etree.Element):
        _replace_alone(element, slots, name, replacer)


def _replace_in_table(table: Any, slots: dict[Any, Slot], replacer: Replacer) -> None:  # noqa: ANN401
    rows = [row for row in table.iter("{*}tr") if _nearest(row, "tbl") is table]
    grid = []
    for row in rows:
        cells: list[list[Slot]] = []
        for cell in row.iter("{*}tc"):
            if _nearest(cell, "tr") is row:
                own = [text for text in cell.iter("{*}t", "{*}delText") if _nearest(text, "tc") is cell and text.text]
                cells.append([_slot(text, slots) for text in own])
                cells += [[] for _extra in range(_columns(cell) - 1)]
        grid.append(cells)
    is_headed = bool(rows) and any(local(one) == "tblHeader" for one in rows[0].iter(etree.Element))
    replacer.grid(grid, is_headed=is_headed)


def _columns(cell: Any) -> int:  # noqa: ANN401
    """How many columns a cell spans: of Word in its properties, of PowerPoint in an attribute."""
    said = next((attribute(one, "val") for one in cell.iter("{*}gridSpan")), None) or attribute(cell, "gridSpan")
    return min(int(said), 100) if said and said.isdecimal() and said.isascii() else 1


def _nearest(element: Any, tag: str) -> Any:  # noqa: ANN401
    return next((one for one in element.iterancestors() if local(one) == tag), None)


def _line(paragraph: Any, slots: dict[Any, Slot]) -> Iterator[Slot]:  # noqa: ANN401
    kind = local(paragraph)
    for element in paragraph.iter(etree.Element):
        tag = local(element)
        if tag in _TEXTS and element.text and _nearest(element, kind) is paragraph:
            yield _slot(element, slots)
        elif tag in _BREAKS:
            yield Slot(_BREAKS[tag])


def _slot(element: Any, slots: dict[Any, Slot]) -> Slot:  # noqa: ANN401
    if element not in slots:
        slots[element] = Slot(element.text)
    return slots[element]


def _replace_alone(element: Any, slots: dict[Any, Slot], name: str, replacer: Replacer) -> None:  # noqa: ANN401
    if element not in slots and element.text and _MAY_HOLD.search(element.text):
        element.text = _text(element.text, name, replacer)
    if element.tail and _MAY_HOLD.search(element.tail):
        element.tail = _text(element.tail, name, replacer)
    for key, value in element.attrib.items():
        if _MAY_HOLD.search(value) and not _NO_WORDS.search(key.rpartition("}")[2]):
            after = _text(value, name, replacer)
            if after != value and key == "Target":
                after = "about:blank"  # a name in brackets is no address, and Word refuses the file for it
            element.set(key, after)


def _text(text: str, name: str, replacer: Replacer) -> str:
    after = replacer.text(text)
    is_kept_data = "pivotcache" in name.lower() or _NUMBER.fullmatch(text)
    if after != text and is_kept_data:
        raise parse_error("holds_files", parts=name)
    return after


def _copy(package: zipfile.ZipFile, result: Path, changed: dict[str, bytes], dropped: set[str]) -> None:
    with zipfile.ZipFile(result, "w") as target:
        for entry in package.infolist():
            if entry.filename in dropped:
                continue
            data = changed.get(entry.filename)
            if data is None:
                data = package.read(entry)
                if changed and entry.filename.lower().startswith("docprops/thumbnail"):
                    data = _blank_picture(entry.filename)  # of the first page, as it was
            target.writestr(entry, data, compress_type=entry.compress_type)


def _blank_picture(name: str) -> bytes:
    from PIL import Image

    written = BytesIO()
    kind = {".png": "PNG", ".gif": "GIF", ".bmp": "BMP"}.get(PurePosixPath(name.lower()).suffix, "JPEG")
    Image.new("RGB", (1, 1), "white").save(written, kind)
    return written.getvalue()
