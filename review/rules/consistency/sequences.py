"""Orders of steps that a document gives: A→B→C, A、B、Cの順に, numbered lists of short items."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from knowledge.text.folding import fold_compact, narrow
from knowledge.text.outline import apparatus, inside
from knowledge.types.documents import Block, BlockKind, Section
from review.rules.prose import read_prose

_STEP = r"[^\s、。,|→⇒:：はがをにで()（）「」]{2,16}"
_ARROWS = re.compile(rf"{_STEP}(?:\s*(?:→|⇒|->|=>)\s*{_STEP}){{2,11}}")
_LISTED = re.compile(rf"{_STEP}(?:、{_STEP}){{2,11}}(?=の順)")
# With the signs of which a stretch that it finds has at least one.
_SAID = ((_ARROWS, ("→", "⇒", "->", "=>")), (_LISTED, ("の順",)))
_ITEM = re.compile(
    r"^[ \t]*(?:[0-9]{1,2}[.)]|[①-⑳]|\([0-9]{1,2}\))[ \t]*\**(?P<step>[^\n:：。(（]{2,20}?)\**[ \t]*(?=$|[:：(（])",
    re.MULTILINE,
)
_APART = re.compile(r"→|⇒|->|=>|、")
_FEWEST = 3
_MOST = 12
_MOST_PER_STEP = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """Steps in the order that the text at ``[start, end)`` gives; ``is_said`` if its words say that it is an order."""

    steps: tuple[str, ...]
    names: tuple[str, ...]
    start: int
    end: int
    is_said: bool


@lru_cache(maxsize=8)
def read_sequences(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> tuple[Sequence, ...]:
    """Return the orders of a document's running text and numbered lists, in its order."""
    plain = narrow(read_prose(text, blocks).masked)
    skipped = apparatus(text, sections)
    found: list[Sequence] = []
    for block in blocks:
        if block.kind not in (BlockKind.PARAGRAPH, BlockKind.LIST) or inside(skipped, block.start):
            continue
        for pattern, signs in _SAID:
            if not any(plain.find(sign, block.start, block.end) >= 0 for sign in signs):
                continue
            for match in pattern.finditer(plain, block.start, block.end):
                found += _sequence(_APART.split(match[0]), match.start(), match.end(), is_said=True)
        items = list(_ITEM.finditer(text, block.start, block.end))
        if _FEWEST <= len(items) <= _MOST:
            found += _sequence([item["step"] for item in items], items[0].start(), items[-1].end(), is_said=False)
    return tuple(sorted(found, key=lambda each: each.start))


def _sequence(names: list[str], start: int, end: int, *, is_said: bool) -> Iterator[Sequence]:
    names = [name.strip("* \t\n　") for name in names]
    steps = tuple(fold_compact(name) for name in names)
    if len(set(steps)) == len(steps) and all(steps):
        yield Sequence(steps=steps, names=tuple(names), start=start, end=end, is_said=is_said)


def disordered(
    sequences: tuple[Sequence, ...], others: tuple[Sequence, ...] | None = None
) -> Iterator[tuple[Sequence, Sequence]]:
    """Yield the pairs, of one document or of two, that have three steps in common and give them in different orders.

    Of two numbered lists neither says that it is an order.
    """
    holding: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, given in enumerate((sequences, sequences if others is None else others)):
        for index, sequence in enumerate(given):
            for step in sequence.steps:
                holding[step][side].append(index)
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for ours, theirs in holding.values():
        for pair in product(ours[:_MOST_PER_STEP], theirs[:_MOST_PER_STEP]):
            if others is not None or pair[0] < pair[1]:
                shared[pair] += 1
    for (one, other), count in sorted(shared.items()):
        first, second = sequences[one], (sequences if others is None else others)[other]
        if count < _FEWEST or not (first.is_said or second.is_said):
            continue
        common = [step for step in first.steps if step in second.steps]
        backwards = [step for step in second.steps if step in first.steps]
        if common != backwards and common != backwards[::-1]:
            yield first, second
