"""Japanese word analysis with offsets in the document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sudachipy import Morpheme, SplitMode

from knowledge.text.morphology import MAX_INPUT_CHARACTERS, tokenizer
from knowledge.types.documents import Block
from review.rules.prose import read_prose


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One word: the surface at ``[start, end)``, its dictionary and normalised forms, part of speech, segment index.

    ``part_of_speech`` is ``"名詞-普通名詞-一般"``-like, the parts that say something only.
    """

    surface: str
    start: int
    end: int
    lemma: str
    normal: str
    part_of_speech: str
    segment: int

    @property
    def word_class(self) -> str:
        return self.part_of_speech.partition("-")[0]


@lru_cache(maxsize=4)
def read_words(text: str, blocks: tuple[Block, ...]) -> tuple[Word, ...]:
    """Return the words of the document's running text in document order.

    Long units are kept (Sudachi mode C), except compounds with katakana, which are split (mode A), so that サーバ in
    データベースサーバ is a word.
    """
    prose = read_prose(text, blocks)
    return tuple(
        word
        for index, segment in enumerate(prose.segments)
        for start, end in _pieces(segment.start, segment.end)
        for word in _words(prose.masked[start:end], start, index)
    )


def _pieces(start: int, end: int) -> Iterator[tuple[int, int]]:
    for position in range(start, end, MAX_INPUT_CHARACTERS):
        yield position, min(end, position + MAX_INPUT_CHARACTERS)


def _words(piece: str, offset: int, segment: int) -> Iterator[Word]:
    for morpheme in tokenizer().tokenize(piece, SplitMode.C):
        for unit in _units(morpheme):
            yield Word(
                surface=unit.surface(),
                start=offset + unit.begin(),
                end=offset + unit.end(),
                lemma=unit.dictionary_form(),
                normal=unit.normalized_form(),
                part_of_speech="-".join(part for part in unit.part_of_speech()[:3] if part != "*"),
                segment=segment,
            )


def _units(morpheme: Morpheme) -> list[Morpheme]:
    if not any("ァ" <= character <= "ヴ" for character in morpheme.surface()):
        return [morpheme]
    # SudachiPy 0.7.0 panics on the surface of a unit that add_single=True returned for an unsplittable word.
    return list(morpheme.split(SplitMode.A, add_single=False)) or [morpheme]
