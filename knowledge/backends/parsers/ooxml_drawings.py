"""The words in charts and SmartArt diagrams, which stand in parts of their own in all Office formats."""

from __future__ import annotations

from collections.abc import Iterable

from lxml import etree

from knowledge.backends.parsers.ooxml import Element
from knowledge.backends.parsers.render import single_line

_MAX_CATEGORIES = 60


def drawing_text(part: bytes) -> str:
    """Join the words of a chart or diagram part; empty when it has none or can't be parsed.

    Of a chart these are titles, series names and categories, not its values.
    """
    try:
        root = etree.fromstring(part, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except etree.XMLSyntaxError:
        return ""
    is_chart = etree.QName(root).localname == "chartSpace"
    return single_line(" / ".join(_distinct(_chart_words(root) if is_chart else _paragraphs(root))))


def _chart_words(root: Element) -> list[str]:
    words = [text for title in root.iter("{*}title") for text in _paragraphs(title)]
    for series in root.iter("{*}ser"):
        words.extend(value.text or "" for name in series.iterchildren("{*}tx") for value in name.iter("{*}v"))
    categories = [value.text or "" for group in root.iter("{*}cat", "{*}xVal") for value in group.iter("{*}v")]
    return words + _distinct(categories)[:_MAX_CATEGORIES]


def _paragraphs(root: Element) -> list[str]:
    return ["".join(found.text or "" for found in paragraph.iter("{*}t")) for paragraph in root.iter("{*}p")]


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(text for word in words if (text := single_line(word))))
