"""What differs between two texts, line by line, with the words that changed; pure.

Lines that both texts have exactly once hold the two together; only what lies between them is compared closely, and
that only where it is short; in longer stretches a line is held against the next few alone. So the work grows with
the length of the texts, whatever is in them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum

Spans = Sequence[tuple[int, int]]
MOST_PAIRS = 10_000
"""Of lines in a stretch that are compared with each other, each with each."""
MOST_WORDS = 300
"""Of a line whose words are compared with those of another; a longer one is marked as a whole."""
MOST_MATCHES = 5_000
"""Of pairs of a word in one line and the same word in the other; lines with more, of few words that recur, are marked
as a whole."""
LOOKED_AHEAD = 4
ALIKE = 0.5
"""Share of the characters that a line and what became of it have in common at least."""
_BELOW_HEAD = re.compile(r"\|(?: *:?-+:? *\|)+")
_WORD = re.compile(r"[一-鿿々]+|[ァ-ヿー]+|[A-Za-z0-9_]+|.", re.DOTALL)


class LineChange(StrEnum):
    SAME = "same"
    CHANGED = "changed"
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a text without the white space around it; ``marks`` are spans of ``text`` that changed."""

    start: int
    text: str
    marks: Spans = ()

    @property
    def end(self) -> int:
        """The offset in the whole text behind the line's last character."""
        return self.start + len(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePair:
    """A line of the old text beside what it became; None where it was put in or taken out."""

    change: LineChange
    old: Line | None
    new: Line | None


def compare_lines(old: str, new: str) -> list[LinePair]:
    """Pair the lines of two texts in order; those without a word are left out, and rules below the heads of tables.

    >>> [(pair.change.value, pair.new and pair.new.text) for pair in compare_lines("目的\\n3秒以内", "目的\\n2秒以内")]
    [('same', '目的'), ('changed', '2秒以内')]
    """
    before, after = _lines(old), _lines(new)
    pairs: list[LinePair] = []
    done_old = done_new = 0
    for at_old, at_new in [*_anchors(before, after), (len(before), len(after))]:
        pairs += _between(before[done_old:at_old], after[done_new:at_new])
        if at_old < len(before):
            pairs.append(_same(before[at_old], after[at_new]))
        done_old, done_new = at_old + 1, at_new + 1
    return pairs


def _lines(text: str) -> list[Line]:
    found, start = [], 0
    for line in text.split("\n"):
        words = line.strip()
        if words and not _BELOW_HEAD.fullmatch(words):
            found.append(Line(start=start + line.index(words), text=words))
        start += len(line) + 1
    return found


def _anchors(before: Sequence[Line], after: Sequence[Line]) -> list[tuple[int, int]]:
    """The places of lines that both texts have exactly once and in the same order, as many as can be."""
    in_old, in_new = Counter(line.text for line in before), Counter(line.text for line in after)
    places = {line.text: place for place, line in enumerate(after) if in_new[line.text] == 1}
    both = [(at, places[line.text]) for at, line in enumerate(before) if in_old[line.text] == 1 and line.text in places]
    return _longest_rising(both)


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest choice of pairs whose second numbers rise as the first ones do."""
    ends: list[int] = []
    last: list[int] = []
    earlier: list[int] = []
    for number, (_first, second) in enumerate(pairs):
        length = bisect_left(ends, second)
        earlier.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [second]
        last[length : length + 1] = [number]
    chosen, number = [], last[-1] if last else -1
    while number >= 0:
        chosen.append(pairs[number])
        number = earlier[number]
    return chosen[::-1]


def _between(before: Sequence[Line], after: Sequence[Line]) -> Iterator[LinePair]:
    """Pair what lies between two lines that hold the texts together."""
    same = _same_at_first(before, after)
    yield from map(_same, before[:same], after[:same])
    before, after = before[same:], after[same:]
    if len(before) * len(after) > MOST_PAIRS:
        yield from _rewritten(before, after)
        return
    matcher = SequenceMatcher(None, [line.text for line in before], [line.text for line in after], autojunk=False)
    for kind, first, last, new_first, new_last in matcher.get_opcodes():
        if kind == "equal":
            yield from map(_same, before[first:last], after[new_first:new_last])
        else:
            yield from _rewritten(before[first:last], after[new_first:new_last])


def _same_at_first(before: Sequence[Line], after: Sequence[Line]) -> int:
    """How many lines are the same from the first one on."""
    together = enumerate(zip(before, after, strict=False))
    return next((at for at, (old, new) in together if old.text != new.text), min(len(before), len(after)))


def _rewritten(before: Sequence[Line], after: Sequence[Line]) -> Iterator[LinePair]:
    """Pair lines with those that they became: the first of the next ones that is like them."""
    done = 0
    for line in before:
        near = range(done, min(done + LOOKED_AHEAD, len(after)))
        place = next((at for at in near if _is_alike(line.text, after[at].text)), None)
        if place is None:
            yield LinePair(change=LineChange.REMOVED, old=line, new=None)
            continue
        yield from (LinePair(change=LineChange.ADDED, old=None, new=one) for one in after[done:place])
        yield _changed(line, after[place])
        done = place + 1
    yield from (LinePair(change=LineChange.ADDED, old=None, new=one) for one in after[done:])


def _is_alike(one: str, other: str) -> bool:
    # The lengths first: the matcher reads all of a line, and a long one stands before many short ones.
    if 2 * min(len(one), len(other)) < ALIKE * (len(one) + len(other)):
        return False
    return SequenceMatcher(None, one, other, autojunk=False).quick_ratio() >= ALIKE


def _same(old: Line, new: Line) -> LinePair:
    return LinePair(change=LineChange.SAME, old=old, new=new)


def _changed(old: Line, new: Line) -> LinePair:
    words = [_WORD.findall(line.text) for line in (old, new)]
    if max(map(len, words)) > MOST_WORDS or _matches(*words) > MOST_MATCHES:
        marks: list[list[tuple[int, int]]] = [[(0, len(line.text))] for line in (old, new)]
    else:
        marks = _marks(*words)
    return LinePair(
        change=LineChange.CHANGED,
        old=Line(start=old.start, text=old.text, marks=marks[0]),
        new=Line(start=new.start, text=new.text, marks=marks[1]),
    )


def _matches(old: Sequence[str], new: Sequence[str]) -> int:
    in_old, in_new = Counter(old), Counter(new)
    return sum(times * in_new[word] for word, times in in_old.items())


def _marks(old: Sequence[str], new: Sequence[str]) -> list[list[tuple[int, int]]]:
    """The spans of the words that one line has and the other has not, for each of the two."""
    places = []
    for words in (old, new):
        starts = [0]
        for word in words:
            starts.append(starts[-1] + len(word))
        places.append(starts)
    marks: list[list[tuple[int, int]]] = [[], []]
    for kind, first, last, new_first, new_last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            for side, start, end in ((0, first, last), (1, new_first, new_last)):
                if start < end:
                    marks[side].append((places[side][start], places[side][end]))
    return marks
