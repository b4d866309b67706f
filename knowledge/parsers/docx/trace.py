"""Which element of a Word file each part of its text comes from: marks that go through all the writing of Markdown."""

from __future__ import annotations

import re

from knowledge.parsers.ooxml.package import Element

# Plane 16 of Unicode is for private use, and what fonts for Japanese names use is in planes 0 and 15.
_FIRST, _BASE = 0x100000, 0x8000
_SIGN = re.compile("[\U00100000-\U0010ffff]")
_MARK = re.compile("[\U00100000-\U00107fff][\U00108000-\U0010ffff]")
REPLACED = "\ufffd"


class Trace:
    """Gives out marks of two characters, each for one element, and finds them again in the text that was written.

    A mark stands before the first character of a text that shows something, so that the text is the same but for it.
    """

    def __init__(self, *, is_on: bool = True) -> None:
        self._is_on = is_on
        self._elements: list[Element] = []
        self.parts: dict[str, Element] = {}

    @classmethod
    def off(cls) -> Trace:
        """Return a trace that leaves every text as it is."""
        return cls(is_on=False)

    def marked(self, element: Element | None, text: str) -> str:
        """Return a text with a mark that means ``element`` in it; the text as it is when tracing is off."""
        if not self._is_on or element is None or not text.strip():
            return text
        number = len(self._elements)
        self._elements.append(element)
        mark = chr(_FIRST + number // _BASE) + chr(_FIRST + _BASE + number % _BASE)
        shown = _SIGN.sub(REPLACED, text)
        blank = len(shown) - len(shown.lstrip())
        return f"{shown[:blank]}{mark}{shown[blank:]}"

    def read_part(self, kind: str, root: Element) -> None:
        """Keep the root of another part than the document's that elements may be of: ``footnotes``, ``endnotes``."""
        if self._is_on:
            self.parts[kind] = root

    def unmarked(self, text: str) -> tuple[str, list[tuple[int, Element]]]:
        """Return the text without marks, and the elements with the places in that text where each one's begins."""
        places: list[tuple[int, Element]] = []
        parts: list[str] = []
        length = end = 0
        for found in _MARK.finditer(text):
            parts.append(text[end : found.start()])
            length += found.start() - end
            end = found.end()
            number = (ord(found[0][0]) - _FIRST) * _BASE + ord(found[0][1]) - _FIRST - _BASE
            places.append((length, self._elements[number]))
        return "".join([*parts, text[end:]]), places


def without_signs(text: str) -> str:
    """Return a stored text with what ``Trace`` takes for a mark replaced, as it replaces it in a file's text."""
    return _SIGN.sub(REPLACED, text)
