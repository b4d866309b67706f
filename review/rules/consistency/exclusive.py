"""Decisions that can't both hold, said in one document: a stateless service, and sessions kept on the server."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from knowledge.text.outline import apparatus, inside
from knowledge.text.sentences import sentence_spans
from knowledge.types.documents import Block, Section
from review.rules.base import shipped
from review.rules.consistency.contradictions import Contradiction
from review.rules.prose import read_prose
from review.types import Span

_BORDER = re.compile(r"[\n|]")


class _Pair(NamedTuple):
    name: str
    one: re.Pattern[str]
    other: re.Pattern[str]
    unless: re.Pattern[str] | None


def exclusive_decisions(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Iterator[Contradiction]:
    """Yield two statements of which the shipped pairs say that only one can hold, unless a third reconciles them."""
    masked = read_prose(text, blocks).masked
    skipped = apparatus(text, sections)
    for pair in _pairs():
        one, other = (_stated(pattern, masked, skipped) for pattern in (pair.one, pair.other))
        if one is None or other is None or (pair.unless and pair.unless.search(masked)):
            continue
        spans = (one.sentence, other.sentence) if one.sentence != other.sentence else (one.words, other.words)
        yield Contradiction(
            kind="exclusive",
            name=pair.name,
            written=tuple(text[span.start : span.end].strip(" -*") for span in spans),
            places=spans,
        )


class _Stated(NamedTuple):
    words: Span
    sentence: Span


def _stated(pattern: re.Pattern[str], masked: str, skipped: Sequence[tuple[int, int]]) -> _Stated | None:
    """The first sentence or cell that states it of the system to be: not of the present one, nor of an alternative."""
    looked_at = None
    for words, sentence in _with_sentences(pattern, masked):
        is_new, looked_at = sentence != looked_at, sentence
        if (
            is_new
            and not inside(skipped, words.start)
            and not _of_another().search(masked, sentence.start, sentence.end)
        ):
            return _Stated(words, sentence)
    return None


def _with_sentences(pattern: re.Pattern[str], masked: str) -> Iterator[tuple[Span, Span]]:
    """Yield what matches, and the sentences that it lies in; each line or cell is cut into its sentences once."""
    first, last, starts = 0, 0, [0]
    for match in pattern.finditer(masked):
        start, end = match.start(), max(match.end(), match.start() + 1)
        if end > last:
            first = max(first, *(masked.rfind(border, last, start) + 1 for border in "\n|"))
            border = _BORDER.search(masked, end)
            last = border.start() if border else len(masked)
            starts = [begin for begin, _ in sentence_spans(masked, first, last)] + [last]
        words = Span(start=start, end=match.end())
        yield words, Span(start=starts[bisect_right(starts, start) - 1], end=starts[bisect_left(starts, end)])


@lru_cache(maxsize=1)
def _pairs() -> tuple[_Pair, ...]:
    return tuple(
        _Pair(
            entry["name"],
            re.compile(entry["one"], re.IGNORECASE),
            re.compile(entry["other"], re.IGNORECASE),
            re.compile(entry["unless"], re.IGNORECASE) if "unless" in entry else None,
        )
        for entry in shipped("exclusive")["pairs"]
    )


@lru_cache(maxsize=1)
def _of_another() -> re.Pattern[str]:
    return re.compile(shipped("exclusive")["of_another"])
