"""Decisions that can't both hold, said in one document: a stateless service, and sessions kept on the server."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from knowledge.text.outline import apparatus, inside
from knowledge.text.sentences import sentences_around
from knowledge.types.documents import Block, Section
from review.rules.base import shipped
from review.rules.consistency.contradictions import Contradiction
from review.rules.prose import read_prose
from review.types import Span


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
    for match in pattern.finditer(masked):
        start, end = sentences_around(masked, match.start(), match.end(), borders="\n|")
        if not inside(skipped, match.start()) and not _of_another().search(masked, start, end):
            return _Stated(Span(start=match.start(), end=match.end()), Span(start=start, end=end))
    return None


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
