"""Pictures on their way out of a document, and the captions (図1 …) of the figures that they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from knowledge.text.numbering import is_figure_caption
from knowledge.types.documents import Block, BlockKind, ParsedFigure


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture's bytes and the alternative text its author gave it."""

    data: bytes
    media_type: str
    alt_text: str = ""


def placed_figures(
    markdown: str, blocks: Sequence[Block], pictures: Sequence[tuple[Block, Picture]]
) -> tuple[ParsedFigure, ...]:
    """Tell of each picture where its block stands and which caption is tied to it."""
    captions = figure_captions(markdown, blocks) if pictures else {}
    return tuple(
        ParsedFigure(
            data=picture.data,
            media_type=picture.media_type,
            start=block.start,
            end=block.end,
            caption=captions.get(block.start, ""),
            alt_text=picture.alt_text,
            page=block.page,
            sheet=block.sheet,
            cell=block.cell,
        )
        for block, picture in pictures
    )


def figure_captions(markdown: str, blocks: Sequence[Block]) -> dict[int, str]:
    """Map the start of a figure's block to its caption; figures without one are left out.

    Figures that follow each other share the caption. Whether captions stand below or above is the document's habit:
    the side where more figures have one, below when in doubt.
    """
    runs = _runs(blocks)
    below = {run: following for run in runs if (following := _caption_at(markdown, blocks, run[1])) is not None}
    above = {run: leading for run in runs if (leading := _caption_at(markdown, blocks, run[0] - 1)) is not None}
    first, second = (below, above) if len(below) >= len(above) else (above, below)
    found: dict[int, str] = {}
    taken = set(first.values())
    for run in runs:
        caption = first.get(run)
        if caption is None and second.get(run) not in taken:
            caption = second.get(run)
        if caption is not None:
            block = blocks[caption]
            found.update((blocks[index].start, markdown[block.start : block.end]) for index in range(*run))
    return found


def _runs(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """List the runs of figure blocks as half-open ranges of indices."""
    runs: list[tuple[int, int]] = []
    for is_figure, group in groupby(enumerate(blocks), key=lambda item: item[1].kind is BlockKind.FIGURE):
        indices = [index for index, _ in group]
        if is_figure:
            runs.append((indices[0], indices[-1] + 1))
    return runs


def _caption_at(markdown: str, blocks: Sequence[Block], index: int) -> int | None:
    if not 0 <= index < len(blocks) or blocks[index].kind is not BlockKind.CAPTION:
        return None
    text = markdown[blocks[index].start : blocks[index].end]
    return index if is_figure_caption(text) or text.lstrip("*_ ").startswith("図") else None
