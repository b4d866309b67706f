"""Parts of an Office Open XML container and the relations between them."""

from __future__ import annotations

import posixpath
import zipfile
from typing import Any, TypeAlias

from lxml import etree

Element: TypeAlias = Any
"""An element of lxml, which has no type stubs."""


def parse_part(archive: zipfile.ZipFile, path: str) -> Element:
    """Parse one XML part without entities, DTDs or network. :raises KeyError: when the container has no such part."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    return etree.fromstring(archive.read(path), parser)


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
