"""The characters of a Word paragraph one by one, and cutting runs between two of them."""

from __future__ import annotations

import copy
from collections.abc import Iterable

from knowledge.parsers.docx.text import qn, text_pieces
from knowledge.parsers.ooxml.package import Element

_RUN, _TEXT, _PROPERTIES, _PARAGRAPH = qn("w:r"), qn("w:t"), qn("w:rPr"), qn("w:p")
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
# Inside these, a mark of a range may stand beside a run; from anywhere else it goes out of what it is in.
_MARKABLE = frozenset(
    qn(f"w:{name}")
    for name in ("p", "hyperlink", "ins", "moveTo", "smartTag", "sdtContent", "customXml", "fldSimple", "dir", "bdo")
)
# What has its children in one of those above.
_WRAPPERS = frozenset({qn("w:sdt")})


class Words:
    """The characters of a paragraph in reading order, as the parser reads them, and where they stand in the file."""

    def __init__(self, paragraph: Element) -> None:
        self.paragraph = paragraph
        pieces = text_pieces(paragraph)
        self.text = "".join(text for text, _element in pieces)
        self._places = [(element, offset) for text, element in pieces for offset in range(len(text))]

    def cut(self, places: Iterable[int]) -> None:
        """Cut the runs before the characters of these numbers, so that no run has characters from both sides."""
        for place in sorted(set(places), reverse=True):
            if 0 < place < len(self._places):
                self._cut(place)

    def _cut(self, place: int) -> None:
        element, offset = self._places[place]
        run = element.getparent()
        if not _is_cuttable(run):
            return
        if offset and element.tag == _TEXT:
            self._split_text(place, element, offset)
        elif offset:
            return  # a sign of several characters, such as the mark of a note
        elif self._places[place - 1][0].getparent() is not run:
            return
        first = self._places[place][0]
        _split_run(run, first)

    def _split_text(self, place: int, element: Element, offset: int) -> None:
        written = element.text or ""
        rest = copy.copy(element)
        rest.tail = None
        rest.text = written[offset:]
        element.text = written[:offset]
        for one in (element, rest):
            one.set(_SPACE, "preserve")
        element.addnext(rest)
        for number in range(place, len(self._places)):
            other, at = self._places[number]
            if other is not element:
                break
            self._places[number] = rest, at - offset

    def holder(self, place: int) -> Element:
        """Return the element that holds a character and may have marks beside it."""
        return markable(self._places[place][0])


def _is_cuttable(run: Element) -> bool:
    return run is not None and run.tag == _RUN and run.getparent() is not None and run.getparent().tag in _MARKABLE


def _split_run(run: Element, first: Element) -> None:
    """Move ``first`` and what follows it into a run of their own with the same properties."""
    rest = run.makeelement(run.tag, dict(run.attrib))
    properties = run.find(_PROPERTIES)
    if properties is not None:
        rest.append(copy.deepcopy(properties))
    moved = [first, *first.itersiblings()]
    for element in moved:
        rest.append(element)
    run.addnext(rest)


def markable(element: Element) -> Element:
    """Return what is at or above an element in the same paragraph and may have marks beside it: a run, most often."""
    chain = [element]
    while (parent := chain[-1].getparent()) is not None and parent.tag != _PARAGRAPH:
        chain.append(parent)
    return next((one for one in reversed(chain) if one.tag not in _MARKABLE | _WRAPPERS), element)
