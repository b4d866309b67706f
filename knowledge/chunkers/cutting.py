"""Find where a text that is too long for one chunk is best cut, be it a single sentence: also within brackets."""

from __future__ import annotations

import re
import unicodedata

from knowledge.chunkers.budget import Budget
from knowledge.text.sentences import SENTENCE_END

# From the best place to cut to the worst; each pattern ends where the cut would be.
_BOUNDARIES = (
    re.compile(rf"{SENTENCE_END}|\n|<br>"),
    re.compile(r"\|\s|[、，；;]|[,.:](?=\s)"),
    re.compile(r"\s"),
)
_NEAR_END_SHARE = 0.5
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")
_SHRINK = 0.95


def longest_fit(text: str, start: int, end: int, *, lead: str, budget: Budget) -> int | None:
    """Find the best end of a first part of ``text[start:end]`` that fits behind ``lead``.

    Sentence and line ends are preferred, then commas, then blanks, if they stand in the later half of what fits; else
    the cut is hard, but never inside a character with combining marks. None when not even one character fits.
    """
    room = budget.likely_end(text, start, end)
    while room > start:
        stop = _best_cut(text, start, room) if room < end else end
        share = budget.share(lead + text[start:stop])
        if share <= 1.0:
            return stop
        if stop - start == 1:
            return None
        # Scale by what was counted; the lead's share can't shrink, hence the loop.
        room = min(start + max(int((stop - start) * _SHRINK / share), 1), stop - 1)
    return None


def _best_cut(text: str, start: int, room: int) -> int:
    nearest = start + int((room - start) * _NEAR_END_SHARE)
    for boundary in _BOUNDARIES:
        ends = [match.end() for match in boundary.finditer(text, nearest, room)]
        if ends:
            return ends[-1]
    return _before_cluster(text, start, room)


def _before_cluster(text: str, start: int, cut: int) -> int:
    """Move a hard cut to the left while it would part a character from its marks, or a ``|`` from its backslash."""
    moved = cut
    while moved > start + 1 and _clings(text, moved):
        moved -= 1
    return moved if moved > start + 1 or not _clings(text, moved) else cut


def _clings(text: str, index: int) -> bool:
    if index >= len(text):
        return False
    before, after = text[index - 1], text[index]
    return bool(unicodedata.combining(after)) or after in _JOINERS or before == "\u200d" or before == "\\"
