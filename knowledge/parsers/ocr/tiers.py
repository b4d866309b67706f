"""Where a page of columns is parted into an upper and a lower tier, though hardly any paper is between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image

from knowledge.parsers.ocr.columns import ink_of, runs_of

Box = tuple[float, float, float, float]

# In thicknesses of a column: how far boxes, which are wider than their text, reach over the edge.
_OVER = 0.4
# How many columns each tier has at least, how many of the lower one begin at the edge, and what share goes on over it.
_LEAST, _LEAST_AT_EDGE, _MOST_OVER = 4, 4, 0.15
# How much paper is between two columns that were taken for one, and how far from the edge.
_PAPER, _NEAR = 0.12, 0.6


def edge_of_tiers(boxes: Sequence[Box], thickness: float) -> float | None:
    """The y at which the lower of two tiers begins; None where there are no two. The boxes are of columns."""
    if len(boxes) < 2 * _LEAST:
        return None
    top, bottom = np.array(boxes)[:, 1], np.array(boxes)[:, 3]
    over = _OVER * thickness
    found: list[tuple[int, int, float]] = []
    for edge in np.unique(top):
        at_edge = int((abs(top - edge) <= over).sum())
        goes_on = int(((top < edge - over) & (bottom > edge + over)).sum())
        below, above = int((top >= edge - over).sum()), int((bottom <= edge + over).sum())
        if min(above, below) >= _LEAST and at_edge >= _LEAST_AT_EDGE and goes_on <= _MOST_OVER * len(boxes):
            found.append((goes_on, -at_edge, float(edge)))
    return min(found)[2] if found else None


def goes_over(box: Box, edge: float, thickness: float) -> bool:
    """Whether a line begins above an edge and ends below it."""
    return box[1] < edge - _OVER * thickness and box[3] > edge + _OVER * thickness


def is_between(box: Box, others: Sequence[Box]) -> bool:
    """Whether there are lines both to the left and to the right of one."""
    middle = (box[0] + box[2]) / 2
    return any(other[2] < middle for other in others) and any(other[0] > middle for other in others)


def paper_at(column: Image.Image, edge: float) -> float | None:
    """Where in the picture of two columns, one below the other, the paper nearest to an edge is; None without any."""
    near = round(_NEAR * column.width)
    begin = max(0, round(edge) - near)
    paper = ~ink_of(np.asarray(column))[begin : round(edge) + near].any(1)
    runs = [run for run in runs_of(np.asarray(paper, np.bool_)) if run[1] - run[0] >= _PAPER * column.width]
    middles = [begin + (start + stop) / 2 for start, stop in runs]
    return min(middles, key=lambda middle: abs(middle - edge), default=None)
