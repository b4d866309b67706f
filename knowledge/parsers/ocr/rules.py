"""Rules drawn on a page: thin straight lines across or down it, as frames of tables have and what parts tiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Ink = NDArray[np.bool_]

# Pixels of the longer side that rules are looked for in; at most how thick a rule is there, and at least how much of
# the longer side it takes.
_SIDE, _THIN, _LEAST_SHARE = 1200, 4, 0.04
# How far between paper and ink a rule is at least, which a scan may have in grey, and how far apart these are.
_DARK, _LEAST_CONTRAST = 0.3, 80
# How far, in shares of the longer side, pieces of one rule are beside each other, and how much of a way it takes.
_SAME_RULE, _COVERED = 0.003, 0.9
# A page has fewer; more are the lines of a picture.
_MOST = 200


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule ``at`` a place, from ``begin`` to ``end`` in the other direction."""

    at: float
    begin: float
    end: float


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a page whose skew is undone, in its pixels: those ``across`` have an y, those ``down`` an x."""

    across: tuple[Rule, ...] = ()
    down: tuple[Rule, ...] = ()
    same: float = 0.0

    def crossing(self, axis: int, box: tuple[float, float, float, float]) -> Iterator[float]:
        """Places along x (0) or y (1) where a rule parts a box from one side to the other, from the left or above."""
        rules = self.across if axis else self.down
        begin, end = box[1 - axis], box[3 - axis]
        for rule in sorted(rules, key=lambda one: one.at):
            if box[axis] < rule.at < box[axis + 2]:
                pieces = [one for one in rules if abs(one.at - rule.at) <= self.same]
                if _length(pieces, begin, end) >= _COVERED * (end - begin):
                    yield rule.at


def rules_of(image: Image.Image, skew: float) -> Rules:
    """Find the rules of a grey image that is the right way up and slopes by ``skew`` (rise of y along x)."""
    scale = max(1, round(max(image.size) / _SIDE))
    small = image.reduce(scale)
    steps = (1, -skew, 0, skew, 1, 0)
    straight = small.transform(small.size, Image.Transform.AFFINE, steps, Image.Resampling.BILINEAR, fillcolor=255)
    pixels = np.asarray(straight)
    paper, ink = (int(np.percentile(pixels, percent)) for percent in (90, 1))
    dark = pixels < paper - _DARK * max(paper - ink, _LEAST_CONTRAST)
    least = _LEAST_SHARE * max(small.size)
    across, down = (tuple(_rules(one, least, scale)) for one in (dark, dark.T))
    return Rules(across=across, down=down, same=_SAME_RULE * max(image.size))


def _rules(dark: Ink, least: float, scale: int) -> Iterator[Rule]:
    """Runs along the rows of what is thin across them; a rule may be a pixel higher or lower, or broken by one."""
    thin = _widened(_widened(dark & ~_thick(dark, _THIN), 0), 1)
    steps = np.diff(np.pad(thin, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    (row, begin), (_row, end) = np.nonzero(steps == 1), np.nonzero(steps == -1)
    longest = np.argsort(begin - end)[:_MOST]
    for at in longest[(end - begin)[longest] >= least]:
        yield Rule((float(row[at]) + 0.5) * scale, float(begin[at]) * scale, float(end[at]) * scale)


def _thick(dark: Ink, size: int) -> Ink:
    """What is of more than ``size`` dark pixels one below the other."""
    inside = dark.copy()
    for at in range(1, size + 1):
        inside[:-at] &= dark[at:]
        inside[-at:] = False
    found = inside.copy()
    for at in range(1, size + 1):
        found[at:] |= inside[:-at]
    return found


def _widened(dark: Ink, axis: int) -> Ink:
    """With the pixels before and after each along an axis."""
    wide = dark.copy()
    one, other = np.moveaxis(wide, axis, 0), np.moveaxis(dark, axis, 0)
    one[1:] |= other[:-1]
    one[:-1] |= other[1:]
    return wide


def _length(pieces: Sequence[Rule], begin: float, end: float) -> float:
    """How much of the way from one end to the other pieces take together."""
    taken, reached = 0.0, begin
    for piece in sorted(pieces, key=lambda one: one.begin):
        taken += max(0.0, min(piece.end, end) - max(piece.begin, reached))
        reached = max(reached, piece.end)
    return taken
