"""Cutting a long document into stretches that are summarised one by one, and these into requests. Pure.

Both cut at the start of a chapter as soon as there is enough, so that an edit changes the requests around it only and
the others are answered from what is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, takewhile

from hub.llm.tokens import estimate_text_tokens
from knowledge.types.documents import Section
from review.judging.plan import TOKENS_PER_PASSAGE
from review.judging.types import Passage

# Below this a summary saves nothing.
LEAST_CHARACTERS = 800
# The table of a document's summaries is to fit into a request or two.
MOST_STRETCHES = 64
PER_REQUEST = 8
DEEPEST_CHAPTER = 3


def bodies_of(text: str, sections: Sequence[Section]) -> tuple[Passage, ...]:
    """The whole text, cut at each heading, in order; what stands before the first one has no path."""
    first = sections[0].start if sections else len(text)
    bodies = [Passage(chunk_id="", start=0, end=first)]
    bodies += [
        Passage(chunk_id="", start=section.start, end=section.body_end, section_path=section.path)
        for section in sections
    ]
    return tuple(body for body in bodies if text[body.start : body.end].strip())


def cut_stretches(text: str, bodies: Sequence[Passage], *, tokens: int) -> tuple[Passage, ...]:
    """Join short sections and cut long ones, so that each stretch is worth one summary and fits into ``tokens``.

    >>> [one.end for one in cut_stretches("あ" * 1000, [Passage(chunk_id="", start=0, end=1000)], tokens=8000)]
    [800, 1000]
    """
    size = _size(len(text), tokens)
    pieces = [piece for body in bodies for piece in _pieces(text, body, size)]
    groups = _grouped(pieces, length=_characters, most=size)
    return tuple(_joined(group) for group in groups)


def cut_requests(text: str, stretches: Sequence[Passage], *, tokens: int) -> tuple[tuple[Passage, ...], ...]:
    """Put stretches together, in order, that one request of ``tokens`` may hold; at most PER_REQUEST of them."""

    def length(stretch: Passage) -> int:
        return estimate_text_tokens(text[stretch.start : stretch.end]) + TOKENS_PER_PASSAGE

    groups = _grouped(stretches, length=length, most=tokens)
    return tuple(group[at : at + PER_REQUEST] for group in groups for at in range(0, len(group), PER_REQUEST))


def _size(characters: int, tokens: int) -> int:
    """Characters of a stretch; in steps of two, so that most edits leave it as it is. A character is about a token."""
    size = LEAST_CHARACTERS
    while size * MOST_STRETCHES < characters:
        size *= 2
    return min(size, tokens)


def _pieces(text: str, body: Passage, size: int) -> list[Passage]:
    """Cut a section that is too long, at the end of a line where there is one."""
    cuts = [body.start]
    while body.end - cuts[-1] > size:
        line_end = text.rfind("\n", cuts[-1] + size // 2, cuts[-1] + size)
        cuts.append(line_end + 1 if line_end >= 0 else cuts[-1] + size)
    return [
        Passage(chunk_id="", start=start, end=end, section_path=body.section_path)
        for start, end in pairwise([*cuts, body.end])
    ]


def _grouped(passages: Sequence[Passage], *, length: Callable[[Passage], int], most: int) -> list[tuple[Passage, ...]]:
    """Fill groups up to ``most``; one that is half full ends where a chapter begins."""
    depth = _chapter_depth(passages)
    groups: list[list[Passage]] = []
    filled = 0
    for passage in passages:
        needed = length(passage)
        begins_chapter = bool(groups) and groups[-1][-1].section_path[:depth] != passage.section_path[:depth]
        if not groups or filled + needed > most or (begins_chapter and 2 * filled >= most):
            groups.append([])
            filled = 0
        groups[-1].append(passage)
        filled += needed
    return [tuple(group) for group in groups]


def _chapter_depth(passages: Sequence[Passage]) -> int:
    """How deep chapters are: a single title over all of them is none."""
    for depth in range(1, DEEPEST_CHAPTER):
        if len({passage.section_path[:depth] for passage in passages if len(passage.section_path) >= depth}) > 1:
            return depth
    return DEEPEST_CHAPTER


def _characters(passage: Passage) -> int:
    return passage.end - passage.start


def _joined(group: Sequence[Passage]) -> Passage:
    """One stretch of neighbours, named by what their paths share and by the first and the last of them."""
    first, last = group[0], group[-1]
    path = first.section_path
    if last.section_path != path:
        both = zip(path, last.section_path, strict=False)
        shared = [one for one, _other in takewhile(lambda pair: pair[0] == pair[1], both)]
        ends = [one.section_path[len(shared)] for one in (first, last) if len(one.section_path) > len(shared)]
        path = (*shared, " – ".join(dict.fromkeys(ends)))
    return Passage(chunk_id="", start=first.start, end=last.end, section_path=path)
