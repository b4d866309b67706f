"""Chunks that keep to the sections of a document, or have a fixed size with overlap whatever the structure."""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain

from knowledge.chunkers.pieces import Budget, Piece, SectionContext, block_pieces, longest_fit
from knowledge.types.documents import Block, Section


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


# An estimate this far above the budget is not worth an exact count.
_HOPELESS = 2.0
# Below this share a second, wider try is worth its count.
_ROOMY = 0.85
_CAUTION = 0.98


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What may share a chunk: a section's own text, led by the headings above it that have none.

    ``sections`` is the chain from the top section down to this one; empty before the first heading.
    """

    sections: tuple[Section, ...]
    pieces: list[Piece]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A chunk's span before trimming, what it is made of, and where it is."""

    start: int
    end: int
    pieces: list[Piece]
    section_path: tuple[str, ...]
    context_prefix: str = ""


def section_drafts(
    markdown: str, blocks: Sequence[Block], sections: Sequence[Section], budget: Budget
) -> Iterator[Draft]:
    """Yield drafts that never cross a section's border and repeat heading path and table header as context."""
    for group in section_groups(markdown, blocks, sections):
        yield from group_drafts(markdown, group, budget)


def group_drafts(markdown: str, group: Group, budget: Budget) -> Iterator[Draft]:
    """Yield the drafts of one group: as few as hold it."""
    yield from _Packer(markdown, group, budget).drafts()


def section_groups(markdown: str, blocks: Sequence[Block], sections: Sequence[Section]) -> Iterator[Group]:
    """Sort the pieces of a document to its sections; a heading that another follows at once goes with that one."""
    by_id = {section.id: section for section in sections}
    first_start = sections[0].start if sections else len(markdown)
    preface = [block for block in blocks if block.start < first_start]
    if preface:
        yield Group(sections=(), pieces=_pieces(markdown, preface))
    waiting: list[Piece] = []
    bodies = _bodies(blocks, sections)
    for index, section in enumerate(sections):
        waiting.extend(_pieces(markdown, bodies[index]))
        following = sections[index + 1] if index + 1 < len(sections) else None
        leads_on = following is not None and following.parent_id == section.id
        if leads_on and all(piece.is_heading for piece in waiting):
            continue  # a chapter's heading that is followed at once by its first section's
        yield Group(sections=_chain(section, by_id), pieces=waiting)
        waiting = []


def _bodies(blocks: Sequence[Block], sections: Sequence[Section]) -> list[list[Block]]:
    """Sort blocks to the sections in whose own text they are; both are in document order."""
    bodies: list[list[Block]] = [[] for _ in sections]
    index = -1
    for block in blocks:
        while index + 1 < len(sections) and sections[index + 1].start <= block.start:
            index += 1
        if index >= 0:
            bodies[index].append(block)
    return bodies


def _pieces(markdown: str, blocks: Sequence[Block]) -> list[Piece]:
    return list(chain.from_iterable(block_pieces(markdown, block) for block in blocks))


def _chain(section: Section, by_id: dict[str, Section]) -> tuple[Section, ...]:
    above = [section]
    while above[-1].parent_id is not None:
        above.append(by_id[above[-1].parent_id])
    return tuple(reversed(above))


class _Packer:
    """Fills chunks with the pieces of one group, in order; pieces that are too long are cut when they are reached."""

    def __init__(self, markdown: str, group: Group, budget: Budget) -> None:
        self._markdown = markdown
        self._group = group
        self._pieces = list(group.pieces)
        self._budget = budget
        self._context = SectionContext(markdown, group.sections, budget)

    def drafts(self) -> Iterator[Draft]:
        first = 0
        previous_start = -1
        while first < len(self._pieces):
            start = self._overlap_start(first, previous_start)
            draft, after = self._draft(start, first)
            yield draft
            # The overlap is dropped where it left no room, so the chunk may begin later than planned.
            previous_start, first = after - len(draft.pieces), after

    def _overlap_start(self, first: int, previous_start: int) -> int:
        """Go back over the sentences that the chunk repeats; at least one piece stays with the chunk before alone."""
        start = first
        while start - 1 > previous_start and self._pieces[start - 1].repeatable:
            text = self._text(start - 1, first)
            if previous_start < 0 or not self._budget.within_overlap(text):
                break
            start -= 1
        return start

    def _draft(self, start: int, first: int) -> tuple[Draft, int]:
        """Build the chunk that begins at ``start`` and brings at least the piece ``first``; say what comes next."""
        prefix = self._context.prefix(self._pieces[start])
        after = self._fill(prefix, start, first)
        if after == first and start < first:
            return self._draft(first, first)
        if after == first:
            prefix = self._cut(prefix, start, first)
            after = first + 1
        if after < len(self._pieces) and all(piece.is_heading for piece in self._pieces[start:after]):
            after = self._add_part(prefix, start, after)
        draft = Draft(
            start=self._pieces[start].start,
            end=self._pieces[after - 1].end,
            pieces=self._pieces[start:after],
            section_path=self._group.sections[-1].path if self._group.sections else (),
            context_prefix=prefix,
        )
        return draft, after

    def _fill(self, prefix: str, start: int, first: int) -> int:
        """Find how far the chunk reaches: ``first`` when not even that piece fits."""
        after = self._guess(prefix, start, first)
        if after == first + 1 and self._budget.estimate(self._text(first, after)) > _HOPELESS:
            return first
        share = self._share(prefix, start, after)
        while share > 1.0:
            after = self._reach(start, after, share, lowest=first, highest=after - 1)
            if after == first:
                return first
            share = self._share(prefix, start, after)
        if share < _ROOMY:
            wider = self._reach(start, after, share, lowest=after, highest=len(self._pieces))
            if wider > after and self._share(prefix, start, wider) <= 1.0:
                after = wider
        return after

    def _guess(self, prefix: str, start: int, first: int) -> int:
        """Estimate how far the chunk reaches, at least over the piece ``first``."""
        share = self._budget.estimate(prefix + self._text(start, first))
        after = first
        while after < len(self._pieces):
            piece = self._pieces[after]
            share += self._budget.estimate(self._markdown[piece.start : piece.end])
            if share > 1.0:
                break
            after += 1
        return max(after, first + 1)

    def _reach(self, start: int, after: int, share: float, *, lowest: int, highest: int) -> int:
        """Scale a counted stretch of pieces to what would just fit, within bounds."""
        begin = self._pieces[start].start
        target = begin + (self._pieces[after - 1].end - begin) * _CAUTION / share
        return min(max(bisect_right(self._pieces, target, key=lambda piece: piece.end), lowest), highest)

    def _share(self, prefix: str, start: int, after: int) -> float:
        return self._budget.share(prefix + self._text(start, after))

    def _text(self, start: int, after: int) -> str:
        if after <= start:
            return ""
        return self._markdown[self._pieces[start].start : self._pieces[after - 1].end].rstrip()

    def _cut(self, prefix: str, start: int, index: int) -> str:
        """Cut a piece that is too long for a chunk in two; return the prefix, dropped where it leaves no room."""
        for lead in (prefix, ""):
            if self._split(index, lead):
                return lead
        raise ValueError("the chunk size is too small for a single character")

    def _add_part(self, prefix: str, start: int, after: int) -> int:
        """Let the first part of the next piece join headings that would stand alone otherwise."""
        lead_start = self._pieces[start].start
        lead = prefix + self._markdown[lead_start : self._pieces[after].start]
        return after + 1 if self._split(after, lead) else after

    def _split(self, index: int, lead: str) -> bool:
        piece = self._pieces[index]
        stop = longest_fit(self._markdown, piece.start, piece.end, lead=lead, budget=self._budget)
        if stop is None:
            return False
        if stop < piece.end:
            rest = self._context.rest_of(piece, stop)
            self._pieces[index : index + 1] = [dataclasses.replace(piece, end=stop), rest]
        return True
