"""Where the lines of a text are."""

from __future__ import annotations

from collections.abc import Iterator


def lines_of(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the lines of a stretch, each with its line end.

    >>> list(lines_of("一\\n二", 0, 3))
    [(0, 2), (2, 3)]
    """
    while start < end:
        newline = text.find("\n", start, end)
        stop = end if newline < 0 else newline + 1
        yield start, stop
        start = stop
