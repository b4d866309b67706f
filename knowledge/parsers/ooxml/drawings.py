"""The words in charts and SmartArt diagrams, which stand in parts of their own in all Office formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lxml import etree

from knowledge.parsers.ooxml.number_formats import NumberFormats
from knowledge.parsers.ooxml.package import Element
from knowledge.parsers.render import single_line

_MAX_POINTS = 60
_GENERAL = "General"


def drawing_text(part: bytes) -> str:
    """Join the words of a chart or diagram part; empty when it has none or can't be parsed.

    Of a chart these are its titles, and of each series the name and its values by category, as their formats show them.
    """
    try:
        root = etree.fromstring(part, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except etree.XMLSyntaxError:
        return ""
    is_chart = etree.QName(root).localname == "chartSpace"
    return single_line(" / ".join(_distinct(_chart_words(root) if is_chart else _paragraphs(root))))


def _chart_words(root: Element) -> list[str]:
    titles = [text for title in root.iter("{*}title") for text in _paragraphs(title)]
    series = [_series_words(found) for found in root.iter("{*}ser")]
    extended = [_extended_words(root, found) for found in root.iter("{*}series")]
    return [*titles, *series, *extended]


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
    told = ", ".join(filter(None, points)) + (" …" if len(indexes) > _MAX_POINTS else "")
    return ": ".join(filter(None, [name.strip(), told]))


def _point(point: Element) -> str:
    return str(point.findtext("{*}v") or "").strip()


def _shown_number(point: Element) -> str:
    """Write a value as its own format, or that of its series, shows it."""
    code = point.get("formatCode") or point.getparent().findtext("{*}formatCode") or _GENERAL
    return NumberFormats(codes=[code], date_1904=False).display(_point(point), 0)


def _paragraphs(root: Element) -> list[str]:
    return ["".join(found.text or "" for found in paragraph.iter("{*}t")) for paragraph in root.iter("{*}p")]


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for word in words if (text := single_line(word))))
