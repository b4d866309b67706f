"""Parts of Office files as trees, and back."""

from __future__ import annotations

from typing import Any, cast

from lxml import etree

from knowledge.parsers.errors import corrupted
from knowledge.parsers.ooxml.package import parse_xml

XML_SUFFIXES = (".xml", ".rels", ".vml")


def parse_part(data: bytes) -> Any:  # noqa: ANN401 - lxml has no types
    """Read a part; entities are left alone. :raises ParseError: ``corrupted``."""
    try:
        return etree.ElementTree(parse_xml(data))
    except etree.XMLSyntaxError as error:
        raise corrupted("xml", type(error).__name__) from error


def write_part(tree: Any) -> bytes:  # noqa: ANN401
    """Write a part as Office does: UTF-8, standalone."""
    return cast(bytes, etree.tostring(tree, xml_declaration=True, encoding="UTF-8", standalone=True))


def local(element: Any) -> str:  # noqa: ANN401
    """Give an element's name without its namespace; nothing for comments."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: Any, name: str) -> str | None:  # noqa: ANN401
    """Give an attribute by its name without a namespace."""
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), None)
