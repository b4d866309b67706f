"""Cut a document by the strategy that its options name."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence

from knowledge.chunkers.pieces import Budget, Piece, cell_range
from knowledge.chunkers.section import Draft, fixed_spans, section_drafts
from knowledge.chunkers.semantic import Embed, semantic_drafts
from knowledge.text.numbering import is_figure_caption
from knowledge.text.structure import section_at
from knowledge.text.tables import is_diagram
from knowledge.types.chunks import ChunkOptions, ChunkSpan, ChunkStrategy
from knowledge.types.documents import Block, BlockKind, Section

_KANA = re.compile(r"[\u3041-\u30fa\uff66-\uff9d]")
_KANJI = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")
_MIN_KANJI_SHARE = 0.2


def chunk_document(
    markdown: str,
    blocks: Sequence[Block],
    sections: Sequence[Section],
    options: ChunkOptions,
    count_tokens: Callable[[str], int],
    *,
    token_limit: int | None = None,
    embed: Embed | None = None,
) -> list[ChunkSpan]:
    """Cut a document into chunks, in document order.

    Every visible character of a block is in some chunk; no chunk is blank or larger than ``options.size``, prefix and
    context included. ``count_tokens`` counts a text with the model's passage prefix and special tokens. ``token_limit``
    is the model's own limit and holds besides sizes in characters. ``embed`` is needed by the semantic strategy alone.

    :raises ValueError: when the size can't hold a single character, the overlap is not smaller than the size, or the
        semantic strategy has nothing to embed with.
    """
    if not 0 <= options.overlap < options.size:
        raise ValueError("the overlap must be smaller than the chunk size")
    budget = Budget(options, count_tokens, token_limit=token_limit)
    chunks: list[ChunkSpan] = []
    for cut in _cuts(markdown, blocks, sections, options.strategy, budget, embed):
        start, end = _trimmed(markdown, cut.start, cut.end)
        if start < end:
            chunks.append(_chunk(markdown, start, end, index=len(chunks), cut=cut, budget=budget))
    return chunks


def _chunk(markdown: str, start: int, end: int, *, index: int, cut: Draft, budget: Budget) -> ChunkSpan:
    content = markdown[start:end]
    return ChunkSpan(
        index=index,
        start=start,
        end=end,
        section_path=cut.section_path,
        context_prefix=cut.context_prefix,
        token_count=budget.tokens(cut.context_prefix + content),
        page=cut.pieces[0].block.page,
        cell=cell_range(cut.pieces),
        has_table=any(piece.block.kind is BlockKind.TABLE for piece in cut.pieces),
        has_figure=any(_shows_figure(markdown, piece.block) for piece in cut.pieces),
        language=language_of(content),
        ocr_confidence=min((piece.block.ocr for piece in cut.pieces if piece.block.ocr is not None), default=None),
    )


def _cuts(
    markdown: str,
    blocks: Sequence[Block],
    sections: Sequence[Section],
    strategy: ChunkStrategy,
    budget: Budget,
    embed: Embed | None,
) -> Iterator[Draft]:
    if strategy is ChunkStrategy.FIXED:
        return _by_size(markdown, blocks, sections, budget)
    if strategy is ChunkStrategy.SECTION:
        return section_drafts(markdown, blocks, sections, budget)
    if embed is None:
        raise ValueError("the semantic strategy needs an embedding function")
    return semantic_drafts(markdown, blocks, sections, budget, embed)


def _by_size(markdown: str, blocks: Sequence[Block], sections: Sequence[Section], budget: Budget) -> Iterator[Draft]:
    starts = [block.start for block in blocks]
    for start, end in fixed_spans(markdown, budget):
        section = section_at(sections, start)
        first = max(bisect_right(starts, start) - 1, 0)
        pieces = [
            Piece(start=block.start, end=block.end, block=block, cell=block.cell)
            for block in blocks[first : bisect_left(starts, end)]
            if block.end > start
        ]
        if pieces:
            yield Draft(start=start, end=end, pieces=pieces, section_path=section.path if section else ())


def _trimmed(markdown: str, start: int, end: int) -> tuple[int, int]:
    text = markdown[start:end]
    return start + len(text) - len(text.lstrip()), start + len(text.rstrip())


def _shows_figure(markdown: str, block: Block) -> bool:
    if block.kind is BlockKind.CAPTION:
        return is_figure_caption(markdown[block.start : block.end])
    if block.kind is BlockKind.CODE:
        return is_diagram(markdown[block.start : block.end])
    return block.kind is BlockKind.FIGURE


def language_of(text: str) -> str | None:
    """Name a text's language by its script: ``ja``, ``en``, or None when there are too few letters to tell.

    >>> [language_of(t) for t in ("要件を定義する。", "The requirements.", "123 --")]
    ['ja', 'en', None]
    """
    if _KANA.search(text):
        return "ja"
    kanji, latin = (len(script.findall(text)) for script in (_KANJI, _LATIN))
    if kanji > _MIN_KANJI_SHARE * max(latin, 1):
        return "ja"
    return "en" if latin else None
