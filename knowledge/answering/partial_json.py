"""Objects of a list in JSON text that is still coming in."""

from __future__ import annotations

import json
from typing import Any


class ListReader:
    """Gives each object of the first list in a JSON text as soon as the text has it whole.

    >>> reader = ListReader()
    >>> [reader.feed(piece) for piece in ('{"sentences": [{"a"', ': 1}, {"b": "]}"}', "]}")]
    [[], [{'a': 1}, {'b': ']}'}], []]
    """

    def __init__(self) -> None:
        self._text = ""
        self._place = -1
        self._decoder = json.JSONDecoder()

    def feed(self, piece: str) -> list[Any]:
        """Take in a piece of text, and give the objects that it completes."""
        self._text += piece
        if self._place < 0:
            self._place = self._text.find("[") + 1 or -1
        found = []
        while self._place > 0 and (begin := self._next_object()) is not None:
            try:
                value, self._place = self._decoder.raw_decode(self._text, begin)
            except ValueError:
                break  # not whole yet, or no JSON: the check of the whole answer tells
            found.append(value)
        return found

    def _next_object(self) -> int | None:
        place = self._place
        while place < len(self._text) and self._text[place] in ", \t\r\n":
            place += 1
        return place if place < len(self._text) and self._text[place] == "{" else None
