"""The running text of a document, what a reader reads as language, without code, links and drawings; and its words.

What OCR read in a figure is none of it: a screen's words are not the writer's, and OCR takes ェ for エ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from sudachipy import Morpheme, SplitMode

from knowledge.text.figure_words import has_words_of_figure
from knowledge.text.morphology import MAX_INPUT_CHARACTERS, tokenizer
from knowledge.text.sentences import sentence_spans
from knowledge.text.structure import COMMENT
from knowledge.types.documents import Block, BlockKind

_TEXT_KINDS = frozenset({BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.TABLE, BlockKind.CAPTION})
_FENCED_IN_LIST = re.compile(r"^[ \t]*(`{3,16}|~{3,16}).*?^[ \t]*\1[^\n]*$", re.MULTILINE | re.DOTALL)
_NO_LANGUAGE = (
    _FENCED_IN_LIST,
    re.compile(r"(`{1,16})(?:(?!\1).)+?\1"),
    COMMENT,
    re.compile(r"</?[A-Za-z][^<>\n]*+>"),
    re.compile(r"(?<=\])\([^()\n]*\)"),
    # What may come before the scheme is kept: a search from each of its characters would read a long run ever again.
    re.compile(r"(?P<kept>(?<![A-Za-z0-9+.\-])[0-9+.\-]*+)[A-Za-z][A-Za-z0-9+.\-]*+://[^\s<>()（）、。」』|]+"),
    re.compile(r"(?<![\w.+\-])[\w.+\-]++@[\w\-]++\.[\w.\-]++(?:\+[\w.+\-]*+@[\w\-]++\.[\w.\-]++)*+", re.ASCII),
    # A line that draws boxes or arrows is a picture, whatever words stand in it.
    re.compile(r"^[^\n]*[\u2500-\u257f][^\n]*$", re.MULTILINE),
)
_QUOTED = re.compile(r"「[^「」\n]*」|『[^『』\n]*』")
_MARKS = re.compile(r"^[ \t]*(?:#{1,6}|>+|[-*+]|\d+[.)])(?=[ \t])|[*_~]{2,}|\*|\[[ xX]\]", re.MULTILINE)
_LINE = re.compile(r"[^\n|]+")
_POLITE_END = re.compile(r"(です|ます|ました|でした|ません|ください)[。\s|）)]*$")
_PLAIN_END = re.compile(r"(である|であった|する|した|とする|ない|れる|られる|こと|べきだ|いる)[。\s|）)]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A sentence or table cell: ``[start, end)`` of the document, blanks trimmed."""

    start: int
    end: int
    kind: BlockKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """The document with all that is no language blanked out, character for character.

    ``masked`` is as long as the document, so offsets hold in both. ``quoted`` are the stretches inside 「」 and 『』,
    which are kept in ``masked``: they are language, though maybe another text's. ``segments`` are in document order.
    """

    masked: str
    segments: tuple[Segment, ...]
    quoted: tuple[tuple[int, int], ...]

    @property
    def characters(self) -> int:
        """How many characters of running text there are, blanks not counted."""
        return sum(map(len, self.masked.split()))


@lru_cache(maxsize=4)
def read_prose(text: str, blocks: tuple[Block, ...]) -> Prose:
    """Blank out code, links, tags, drawings and Markdown marks, and cut the rest into sentences and cells."""
    masked = _only_text_blocks(text, blocks)
    for pattern in (*_NO_LANGUAGE, _MARKS):
        masked = pattern.sub(_blank, masked)
    segments = tuple(segment for block in blocks if _is_text(text, block) for segment in _segments(masked, block))
    quoted = tuple((match.start(), match.end()) for match in _QUOTED.finditer(masked))
    return Prose(masked=masked, segments=segments, quoted=quoted)


@lru_cache(maxsize=4)
def is_polite(text: str, blocks: tuple[Block, ...]) -> bool:
    """Tell whether the document is written in です・ます style, by the majority of its sentence ends."""
    prose = read_prose(text, blocks)
    sentences = [prose.masked[segment.start : segment.end] for segment in prose.segments]
    polite = sum(1 for sentence in sentences if _POLITE_END.search(sentence))
    plain = sum(1 for sentence in sentences if _PLAIN_END.search(sentence))
    return polite > plain


def _is_text(text: str, block: Block) -> bool:
    return block.kind in _TEXT_KINDS and not has_words_of_figure(text, block)


def _only_text_blocks(text: str, blocks: tuple[Block, ...]) -> str:
    parts: list[str] = []
    position = 0
    for block in blocks:
        if not _is_text(text, block):
            continue
        parts += (_blanked(text[position : block.start]), text[block.start : block.end])
        position = block.end
    parts.append(_blanked(text[position:]))
    return "".join(parts)


def _blank(match: re.Match[str]) -> str:
    named = match.groupdict()
    if named.get("open") is not None:  # it has no end, and so has none of those after it
        return match.group()
    kept = named.get("kept") or ""
    return kept + _blanked(match.group()[len(kept) :])


def _blanked(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _segments(masked: str, block: Block) -> Iterator[Segment]:
    for line in _LINE.finditer(masked, block.start, block.end):
        for begin, stop in sentence_spans(masked, *line.span()):
            content = masked[begin:stop]
            start = stop - len(content.lstrip())
            end = begin + len(content.rstrip())
            if start < end:
                yield Segment(start=start, end=end, kind=block.kind)


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
