"""Parts of an Office Open XML container, the relations between them, charts and diagrams, and what is left out."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from lxml import etree

from knowledge.parsers.errors import counted
from knowledge.parsers.ooxml.number_formats import NumberFormats
from knowledge.parsers.render import single_line
from knowledge.types.notices import Notice

Element: TypeAlias = Any
"""An element of lxml, which has no type stubs."""


def parse_xml(data: bytes) -> Element:
    """Parse XML without entities, DTDs or network. :raises etree.XMLSyntaxError: it is none."""
    return etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))


def parse_part(archive: zipfile.ZipFile, path: str) -> Element:
    """Parse one XML part. :raises KeyError: when the container has no such part."""
    return parse_xml(archive.read(path))


def alt_text(drawn: Element) -> str:
    """Return the alternative text of a shape; empty without one."""
    properties = next(drawn.iter("{*}cNvPr"), None)
    return single_line(properties.get("descr", "")) if properties is not None else ""


def package_relations(archive: zipfile.ZipFile, part: str) -> dict[str, str]:
    """Map the relation ids of a part to archive paths, and also each type's last word to the first path of that type.

    External targets are left out; a part without relations has none. ``""`` names the package itself.
    """
    folder, name = posixpath.split(part)
    path = posixpath.join(folder, "_rels", f"{name}.rels")
    if path not in archive.NameToInfo:
        return {}
    targets: dict[str, str] = {}
    for relation in parse_part(archive, path):
        if relation.get("TargetMode") == "External":
            continue
        target = relation.get("Target", "")
        inside = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        targets[relation.get("Id", "")] = inside
        targets.setdefault(relation.get("Type", "").rpartition("/")[2], inside)
    return targets


def embedded_notices(path: Path) -> tuple[Notice, ...]:
    """Count the files that are embedded as objects; the tables that charts are drawn from are none. Empty without."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        charts = [name for name in names if "/charts/" in name and "/_rels/" not in name and name.endswith(".xml")]
        drawn_from = {target for chart in charts for target in package_relations(archive, chart).values()}
    count = sum(1 for name in names if "/embeddings/" in name and name not in drawn_from)
    return counted(count, "embedded_files_left_out")


def slide_comment_notices(path: Path) -> tuple[Notice, ...]:
    with zipfile.ZipFile(path) as archive:
        parts = [name for name in archive.namelist() if name.startswith("ppt/comments/") and name.endswith(".xml")]
        count = sum(1 for part in parts for _comment in parse_part(archive, part).iter("{*}cm"))
    return counted(count, "comments_left_out")


_MAX_POINTS = 60
_GENERAL = "General"


def drawing_text(part: bytes) -> str:
    """Join the words of a chart or diagram part; empty when it has none or can't be parsed.

    Of a chart these are its titles, and of each series the name and its values by category, as their formats show them.
    """
    try:
        root = parse_xml(part)
    except etree.XMLSyntaxError:
        return ""
    if etree.QName(root).localname == "chartSpace":
        words = [text for title in root.iter("{*}title") for text in _paragraphs(title)]
        words += [_series_words(found) for found in root.iter("{*}ser")]
        words += [_extended_words(root, found) for found in root.iter("{*}series")]
    else:
        words = _paragraphs(root)
    return single_line(" / ".join(dict.fromkeys(text for word in words if (text := single_line(word)))))


def _series_words(series: Element) -> str:
    """Return a series as ``name: category value, …``."""
    names = (value.text or "" for name in series.iterchildren("{*}tx") for value in name.iter("{*}v"))
    categories: dict[str, str] = {}
    for group in series.iterchildren("{*}cat", "{*}xVal"):
        for point in group.iter("{*}pt"):  # of several levels, the innermost comes first
            index = point.get("idx", "")
            categories[index] = f"{_point(point)} {categories.get(index, '')}".strip()
    values = {
        point.get("idx", ""): _shown_number(point)
        for group in series.iterchildren("{*}val", "{*}yVal")
        for point in group.iter("{*}pt")
    }
    return _joined(" ".join(names), categories, values)


def _extended_words(root: Element, series: Element) -> str:
    """Return a series of the newer kinds of charts, which keep their data together in one place."""
    names = (value.text or "" for name in series.iterchildren("{*}tx") for value in name.iter("{*}v"))
    wanted = next((found.get("val") for found in series.iterchildren("{*}dataId")), "0")
    categories: dict[str, str] = {}
    values: dict[str, str] = {}
    for data in root.iter("{*}data"):
        if data.get("id", "0") == wanted:
            for point in data.iter("{*}pt"):
                in_text = etree.QName(point.getparent().getparent()).localname == "strDim"
                (categories if in_text else values).setdefault(point.get("idx", ""), (point.text or "").strip())
    return _joined(" ".join(names), categories, values)


def _joined(name: str, categories: Mapping[str, str], values: Mapping[str, str]) -> str:
    indexes = list(dict.fromkeys([*categories, *values]))
    points = [f"{categories.get(index, '')} {values.get(index, '')}".strip() for index in indexes[:_MAX_POINTS]]
    shown = ", ".join(filter(None, points)) + (" …" if len(indexes) > _MAX_POINTS else "")
    return ": ".join(filter(None, [name.strip(), shown]))


def _point(point: Element) -> str:
    return str(point.findtext("{*}v") or "").strip()


def _shown_number(point: Element) -> str:
    """Write a value as its own format, or that of its series, shows it."""
    code = point.get("formatCode") or point.getparent().findtext("{*}formatCode") or _GENERAL
    return NumberFormats(codes=[code], date_1904=False).display(_point(point), 0)


def _paragraphs(root: Element) -> list[str]:
    return ["".join(found.text or "" for found in paragraph.iter("{*}t")) for paragraph in root.iter("{*}p")]
