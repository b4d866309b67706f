"""Chunks of a fixed size with overlap, whatever the structure."""

from __future__ import annotations

from collections.abc import Iterator

from knowledge.chunkers.budget import Budget
from knowledge.chunkers.cutting import longest_fit


def fixed_spans(markdown: str, budget: Budget) -> Iterator[tuple[int, int]]:
    """Yield spans that each fill the budget, overlap by at most the budget's overlap, and cover all visible text.

    :raises ValueError: when the size is too small for a single character.
    """
    start = _next_visible(markdown, 0)
    while start < len(markdown):
        stop = longest_fit(markdown, start, len(markdown), lead="", budget=budget)
        if stop is None:
            raise ValueError("the chunk size is too small for a single character")
        yield start, stop
        if not markdown[stop:].strip():
            return
        start = _next_visible(markdown, _overlap_start(markdown, start, stop, budget))


def _overlap_start(markdown: str, start: int, stop: int, budget: Budget) -> int:
    """Go back from a chunk's end as far as the overlap allows, but past the chunk's own start."""
    low, high = start + 1, stop
    while low < high:
        middle = (low + high) // 2
        if budget.within_overlap(markdown[middle:stop]):
            high = middle
        else:
            low = middle + 1
    return low


def _next_visible(markdown: str, index: int) -> int:
    while index < len(markdown) and markdown[index].isspace():
        index += 1
    return index
