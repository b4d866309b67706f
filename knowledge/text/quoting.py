"""Where a quote stands in a text, in whatever width and spacing somebody copied it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.text.folding import normalise

# Shorter ones stand anywhere and show nothing.
LEAST_CHARACTERS = 4
# A character with the marks that belong to it: NFKC makes one of ｶ and ﾞ.
_CLUSTER = re.compile(r".[\u0300-\u036f\u3099\u309a\uff9e\uff9f]*", re.DOTALL)
# Marks of the Markdown that a reader does not see, and so does not quote.
_UNSEEN = frozenset("*`|\\")


def place_of_quote(text: str, quote: str, *, start: int = 0, end: int | None = None) -> tuple[int, int] | None:
    """Locate a quote within ``text[start:end]``; None when it is not there, or too short to show anything.

    NFKC and white space are folded, and marks of the Markdown are passed over.

    >>> place_of_quote("応答時間は ３秒\\n以内とする。", "応答時間は3秒以内")
    (0, 11)
    """
    wanted = fold_quote(quote)
    if len(wanted) < LEAST_CHARACTERS:
        return None
    characters: list[str] = []
    places: list[tuple[int, int]] = []
    for folded, begin, stop in _folded(text, start, len(text) if end is None else end):
        characters.append(folded)
        places.extend([(begin, stop)] * len(folded))
    found = "".join(characters).find(wanted)
    if found < 0:
        return None
    return places[found][0], places[found + len(wanted) - 1][1]


def fold_quote(quote: str) -> str:
    """A quote as it is compared: the same for all ways to write it."""
    return "".join(folded for folded, _start, _end in _folded(quote, 0, len(quote)))


def _folded(text: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    for match in _CLUSTER.finditer(text, start, end):
        folded = "".join(char for char in normalise(match[0]) if not char.isspace() and char not in _UNSEEN)
        if folded:
            yield folded, match.start(), match.end()
