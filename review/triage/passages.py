"""A stretch of a document as safe HTML, with the quotes of a finding marked in it."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.safestring import SafeString

from hub.admin_site.marked_markdown import Spans, render_marked
from knowledge.types.documents import Block, BlockKind

AROUND = 700
"""Characters shown before and after the place, at least; whole blocks are shown."""
MOST = 6000
"""Characters of one block that are shown; of longer ones the part around the place."""


def render_passage(text: str, blocks: Sequence[Block], spans: Spans, *, at: int) -> SafeString:
    """Render the blocks around the offset ``at``; raw HTML is shown as text, links and pictures lead nowhere.

    ``spans`` are ``[start, end)`` of the whole text; what lies inside the passage is in ``<mark>``.
    """
    start, end, head = _window(text, blocks, at)
    shift = len(head) - start
    inside = [(max(first, start) + shift, min(last, end) + shift) for first, last in spans]
    return render_marked(head + text[start:end], inside)


def shown_around(text: str, blocks: Sequence[Block], *, at: int) -> tuple[int, int]:
    """The stretch ``[start, end)`` of the text that :func:`render_passage` shows."""
    start, end, _head = _window(text, blocks, at)
    return start, end


def _window(text: str, blocks: Sequence[Block], at: int) -> tuple[int, int, str]:
    """Start and end of what is shown, and the head of a table of which only a part is shown."""
    index = max((number for number, block in enumerate(blocks) if block.start <= at), default=0)
    if not blocks:
        return max(0, at - AROUND), min(len(text), at + AROUND), ""
    block = blocks[index]
    if block.end - block.start > MOST:
        return _part_of(text, block, at)
    first = last = index
    while first > 0 and block.start - blocks[first].start < AROUND and _fits(blocks[first - 1]):
        first -= 1
    while last + 1 < len(blocks) and blocks[last].end - block.end < AROUND and _fits(blocks[last + 1]):
        last += 1
    return blocks[first].start, blocks[last].end, ""


def _fits(block: Block) -> bool:
    return block.end - block.start <= MOST


def _part_of(text: str, block: Block, at: int) -> tuple[int, int, str]:
    """Whole lines of a long block around a place."""
    start = text.rfind("\n", block.start, max(block.start, at - AROUND)) + 1 or block.start
    end = text.find("\n", min(block.end, at + AROUND), block.end)
    lines = text[block.start : start].split("\n", 2)
    has_head = block.kind is BlockKind.TABLE and len(lines) > 2
    head = "\n".join(lines[:2]) + "\n" if has_head else ""
    return start, end if end > 0 else block.end, head
