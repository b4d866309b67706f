"""A text as the style rules read it: units (paragraph, list item, heading, cell, caption), sentences, words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache

from sudachipy import SplitMode

from knowledge.text.figure_words import has_words_of_figure
from knowledge.text.morphology import MAX_INPUT_CHARACTERS, tokenizer
from knowledge.text.sentences import sentence_ends
from knowledge.text.tables import read_table
from knowledge.types.documents import Block, BlockKind
from review.rules.style.code import code_lines
from review.rules.style.markup import ADDRESS, PLACEHOLDER, Visible, images, read_inline

JAPANESE = "々〇〻\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
JAPANESE_LETTER = re.compile(f"[{JAPANESE}]")

_HEADING_LEAD = re.compile(r"\s{0,3}#{1,6}[ \t]*")
_ITEM = re.compile(r"^[ \t>]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?|$)", re.M)
_FENCED = re.compile(r"^[ \t>]*(```+|~~~+).*?(?:^[ \t>]*\1[^\n]*$|\Z)", re.M | re.S)
_LINE_LEAD = re.compile(r"\n[ \t>]+")
# Lines that stand by themselves though no empty line parts them: bullets, indented paragraphs, **label**: value.
# Bullets of the font Wingdings are read as letters: l, n, u.
_BULLET_LINE = re.compile(
    r"\n(?=[ \t\u3000]*(?:[・●○■□◆◇▪•※]|[lnu] \S))|\n[ \t]*(?=\u3000)|\n[ \t>]*\n"
    r"|\n(?=\*\*[^*\n]{1,40}(?:\*\*[ \t]*[:：]|[:：]\*\*))"
)
# A row of a sheet is a line by itself.
_LINE_END = re.compile(r"\n")
# A line that draws boxes or arrows is a picture, whatever words stand in it.
_DRAWING = re.compile("[\u2500-\u257f]")
_OFTEN = 3
_CELL_TEXT = re.compile(r"(?<=>)[^<>]+(?=<)")


class UnitKind(StrEnum):
    BODY = "body"
    HEADING = "heading"
    LIST = "list"
    CELL = "cell"
    CAPTION = "caption"
    QUOTE = "quote"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A word at ``[start, end)`` of its unit; ``pos`` are Sudachi's six parts of speech."""

    surface: str
    start: int
    end: int
    pos: tuple[str, ...]
    lemma: str
    normal: str

    def is_a(self, *word_classes: str) -> bool:
        """Tell whether the parts of speech begin with these."""
        return self.pos[: len(word_classes)] == word_classes


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """``[start, end)`` of its unit, blanks trimmed, closing punctuation included."""

    start: int
    end: int
    tokens: tuple[Token, ...]

    @property
    def words(self) -> tuple[Token, ...]:
        """The tokens without punctuation and blanks."""
        return tuple(token for token in self.tokens if token.pos[0] not in ("補助記号", "空白"))


class Unit:
    """A text that stands by itself. ``plain`` is what a reader sees; ``group`` numbers the source's block."""

    def __init__(self, kind: UnitKind, visible: Visible, group: int) -> None:
        self.kind = kind
        self.group = group
        self.plain = visible.text
        self.named = visible.named
        self._starts = visible.starts
        self._ends = visible.ends

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the source's offsets of the non-empty ``plain[start:end]``."""
        return self._starts[start], self._ends[end - 1]

    def is_named(self, start: int, end: int) -> bool:
        """Tell whether any of these characters names what is written elsewhere (a link, emphasised words)."""
        return bool(self.named) and any(position in self.named for position in range(start, end))

    @cached_property
    def is_japanese(self) -> bool:
        return bool(JAPANESE_LETTER.search(self.plain))

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The words. A newline that only wraps the line does not part a word."""
        return tuple(_tokens(self.plain))

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences; one inside brackets belongs to the sentence around it."""
        return self._cut(inside_brackets=False)

    @cached_property
    def short_sentences(self) -> tuple[Sentence, ...]:
        """The sentences, those inside brackets cut apart too."""
        return self._cut(inside_brackets=True)

    def _cut(self, *, inside_brackets: bool) -> tuple[Sentence, ...]:
        found = []
        position = index = 0
        ends = sentence_ends(self.plain, 0, len(self.plain), inside_brackets=inside_brackets)
        for end in (*ends, len(self.plain)):
            first = index
            while index < len(self.tokens) and self.tokens[index].start < end:
                index += 1
            piece = self.plain[position:end]
            start = position + len(piece) - len(piece.lstrip())
            stop = end - len(piece) + len(piece.rstrip())
            if start < stop:
                found.append(Sentence(start=start, end=stop, tokens=self.tokens[first:index]))
            position = end
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleText:
    """The whole text and its units in document order."""

    text: str
    units: tuple[Unit, ...]


def repeated(units: tuple[Unit, ...]) -> frozenset[str]:
    """Return what stands three times word for word: names, labels and what each screen says, no running text."""
    lines = Counter(unit.plain.strip() for unit in units)
    return frozenset(line for line, count in lines.items() if count >= _OFTEN)


@lru_cache(maxsize=2)
def read_markdown(text: str, blocks: tuple[Block, ...]) -> StyleText:
    """Read a Markdown text: code, URLs, front matter, HTML comments and what OCR read in figures are left out,
    quotations are marked.
    """
    units = [
        unit
        for group, block in enumerate(blocks)
        if not has_words_of_figure(text, block)
        for unit in _block_units(text, block, group)
    ]
    return StyleText(text=text, units=tuple(unit for unit in units if _is_language(unit)))


@lru_cache(maxsize=2)
def read_plain(text: str) -> StyleText:
    """Read a text without markup: paragraphs end at empty lines, indented lines and bullets."""
    units = []
    for group, (start, end) in enumerate(_pieces(text, 0, len(text))):
        visible = Visible()
        visible.put(text[start:end], start)
        units.append(Unit(UnitKind.BODY, visible, group))
    return StyleText(text=text, units=tuple(unit for unit in units if _is_language(unit)))


def _is_language(unit: Unit) -> bool:
    return bool(unit.plain.strip()) and not _DRAWING.search(unit.plain)


def _block_units(text: str, block: Block, group: int) -> Iterator[Unit]:
    if block.kind is BlockKind.HEADING:
        start, end = _heading_span(text, block)
        yield _unit(text, start, end, UnitKind.HEADING, group)
    elif block.kind is BlockKind.LIST:
        yield from _list_units(text, block, group)
    elif block.kind is BlockKind.TABLE:
        yield from _table_units(text, block, group)
    elif block.kind in (BlockKind.PARAGRAPH, BlockKind.CAPTION):
        yield from _paragraph_units(text, block, group)
    if block.kind in (BlockKind.PARAGRAPH, BlockKind.FIGURE, BlockKind.LIST):
        for start, end in images(text, block.start, block.end):
            yield _unit(text, start, end, UnitKind.CAPTION, group)


def _heading_span(text: str, block: Block) -> tuple[int, int]:
    lead = _HEADING_LEAD.match(text, block.start, block.end)
    start = lead.end() if lead else block.start
    title, _, below = text[start : block.end].rstrip().rpartition("\n")
    if not title or below.strip("=- \t"):
        title = text[start : block.end]
    title = title.rstrip()
    closed = title.rstrip("#")
    # PR #75 and C# end in no closing marks.
    return start, start + len(closed.rstrip() if closed[-1:] in ("", " ", "\t") else title)


def _paragraph_units(text: str, block: Block, group: int) -> Iterator[Unit]:
    kind = UnitKind.CAPTION if block.kind is BlockKind.CAPTION else UnitKind.BODY
    if text[block.start] == ">":
        kind = UnitKind.QUOTE
    between = _LINE_END if block.sheet else _BULLET_LINE
    for start, end in _without(code_lines(text, block.start, block.end), block.start, block.end):
        for piece in _pieces(text, start, end, between):
            yield _unit(text, *piece, kind, group)


def _list_units(text: str, block: Block, group: int) -> Iterator[Unit]:
    fences = [match.span() for match in _FENCED.finditer(text, block.start, block.end)]
    marks = [m for m in _ITEM.finditer(text, block.start, block.end) if not any(a <= m.start() < b for a, b in fences)]
    for index, mark in enumerate(marks):
        end = marks[index + 1].start() if index + 1 < len(marks) else block.end
        for start, stop in _without(fences, mark.end(), end):
            for piece in _pieces(text, start, stop):
                yield _unit(text, *piece, UnitKind.LIST, group)


def _without(holes: list[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    for hole_start, hole_end in holes:
        if start <= hole_start < end:
            yield start, hole_start
            start = hole_end
    if start < end:
        yield start, end


def _table_units(text: str, block: Block, group: int) -> Iterator[Unit]:
    table = read_table(text, block)
    if table is not None:
        cells = [(cell.start, cell.end) for row in (table.header, *table.rows) for cell in row.cells]
    else:
        cells = [match.span() for match in _CELL_TEXT.finditer(text, block.start, block.end)]
    for start, end in cells:
        yield _unit(text, start, end, UnitKind.CELL, group)


def _pieces(text: str, start: int, end: int, between: re.Pattern[str] = _BULLET_LINE) -> Iterator[tuple[int, int]]:
    position = start
    for match in between.finditer(text, start, end):
        yield position, match.start()
        position = match.end()
    yield position, end


def _unit(text: str, start: int, end: int, kind: UnitKind, group: int) -> Unit:
    visible = Visible()
    while start < end and text[start] in " \t\n>":
        start += 1
    position = start
    # The indentation and the > of wrapped lines belong to the markup.
    for lead in _LINE_LEAD.finditer(text, start, end):
        read_inline(text, position, lead.start() + 1, visible)
        position = lead.end()
    read_inline(text, position, end, visible)
    return Unit(kind, visible, group)


def _tokens(plain: str) -> Iterator[Token]:
    kept = [index for index, character in enumerate(plain) if character != "\n"]
    joined = plain if len(kept) == len(plain) else "".join(plain[index] for index in kept)
    for offset in range(0, len(joined), MAX_INPUT_CHARACTERS):
        for morpheme in tokenizer().tokenize(joined[offset : offset + MAX_INPUT_CHARACTERS], SplitMode.C):
            begin, end = offset + morpheme.begin(), offset + morpheme.end()
            if begin == end:  # Sudachi splits "…" into three words of one character
                continue
            surface = morpheme.surface()
            is_thing = PLACEHOLDER in surface or ADDRESS in surface
            yield Token(
                surface=surface,
                start=kept[begin],
                end=kept[end - 1] + 1,
                pos=("名詞", "普通名詞", "一般", "*", "*", "*") if is_thing else tuple(morpheme.part_of_speech()),
                lemma=morpheme.dictionary_form(),
                normal=morpheme.normalized_form(),
            )
