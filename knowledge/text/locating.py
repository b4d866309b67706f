"""Where a piece of text stands in another that is nearly the same."""

from __future__ import annotations

from collections.abc import Iterator

LEAST_PART = 4
"""Characters of a part that is looked for by itself: fewer may be there by chance."""


def located(text: str, piece: str, expected: int) -> Iterator[tuple[int, int, int]]:
    """Find a piece in a text, near a place; in parts where it is not there as it is.

    Gives (place in the text, length, place in the piece) of each part, in order.

    >>> list(located("性能は三秒とする。能は二秒", "能は三秒■とする。", 0))
    [(1, 4, 0)]
    """
    waiting = [(0, len(piece))]
    while waiting:
        begun, length = waiting.pop()
        place = _nearest(text, piece[begun : begun + length], expected)
        if place is not None:
            yield place, length, begun
            expected = place + length
        elif length >= 2 * LEAST_PART:
            half = length // 2
            waiting += [(begun + half, length - half), (begun, half)]


def _nearest(text: str, part: str, expected: int) -> int | None:
    before, after = text.rfind(part, 0, expected + len(part)), text.find(part, expected)
    found = [place for place in (before, after) if place >= 0]
    return min(found, key=lambda place: abs(place - expected), default=None)
