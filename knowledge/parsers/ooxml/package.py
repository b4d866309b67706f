"""Parts of an Office Open XML container, the relations between them, and what it holds beside the text that is read."""

from __future__ import annotations

import posixpath
import zipfile
from pathlib import Path
from typing import Any, TypeAlias

from lxml import etree

from knowledge.parsers.notices import counted
from knowledge.parsers.render import single_line
from knowledge.types.notices import Notice

Element: TypeAlias = Any
"""An element of lxml, which has no type stubs."""


def parse_part(archive: zipfile.ZipFile, path: str) -> Element:
    """Parse one XML part without entities, DTDs or network. :raises KeyError: when the container has no such part."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return etree.fromstring(archive.read(path), parser)


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
    return counted(
        count,
        "embedded_files_left_out",
        ja="埋め込まれた別ファイル（Excel の表など）{} 件の中身は取り込んでいません。必要なら別に登録してください。",
        en="{} embedded file(s), such as Excel tables, were left out. Upload them by themselves if needed.",
    )


def slide_comment_notices(path: Path) -> tuple[Notice, ...]:
    with zipfile.ZipFile(path) as archive:
        parts = [name for name in archive.namelist() if name.startswith("ppt/comments/") and name.endswith(".xml")]
        count = sum(1 for part in parts for _comment in parse_part(archive, part).iter("{*}cm"))
    return counted(
        count,
        "comments_left_out",
        ja="コメント {} 件は本文に含めていません。",
        en="{} comment(s) are not part of the text.",
    )
