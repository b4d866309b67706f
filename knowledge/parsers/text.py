"""Plain text: the decoded original, with headings only where a number pattern makes them certain."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from knowledge.parsers.encoding import decode_text
from knowledge.parsers.limits import ParseLimits
from knowledge.text.folding import normalise
from knowledge.text.numbering import ORDINAL, is_caption, numbered_level
from knowledge.types.documents import Block, BlockKind, ParsedDocument

_MAX_HEADING = 60
_NO_HEADING_END = re.compile(r"[。、,;；:：]$|(?<![.．・…‥])[.．・…‥]{3,}+\s*+\d++$|\s\d++$")
_STRONG = re.compile(ORDINAL + r"|[0-9]{1,3}(?:[.-][0-9]{1,3})+")
_LIST_ITEM = re.compile(r"\s*(?:[-*+・●○◆■□▪※]|\(?[0-9]{1,3}[.)、]|[①-⑳]|[(（][0-9０-９a-zａ-ｚア-ン][)）])\s*\S")
_LINE = re.compile(r"[^\n]+")


def parse(path: Path, *, filename: str, limits: ParseLimits) -> ParsedDocument:
    """Read a text file as paragraphs between blank lines.

    :raises ParseError: ``empty_file`` or ``unknown_encoding``.
    """
    decoded = decode_text(path.read_bytes())
    return ParsedDocument(
        format="txt",
        markdown=decoded.text,
        blocks=tuple(text_blocks(decoded.text)),
        metadata={"encoding": decoded.encoding},
    )


def text_blocks(text: str) -> Iterator[Block]:
    """Yield headings, list-like groups of lines and paragraphs in document order."""
    for group in _groups(text):
        if len(group) == 1 and (level := _heading_level(group[0], alone=True)):
            yield _block(BlockKind.HEADING, group, level=level)
            continue
        if level := _heading_level(group[0], alone=False):
            yield _block(BlockKind.HEADING, group[:1], level=level)
            group = group[1:]
        yield _block(_kind(group), group)


def _groups(text: str) -> Iterator[list[re.Match[str]]]:
    group: list[re.Match[str]] = []
    previous_end = -1
    for line in _LINE.finditer(text):
        if not line[0].strip():
            continue
        if group and line.start() > previous_end + 1:
            yield group
            group = []
        group.append(line)
        previous_end = line.end()
    if group:
        yield group


def _heading_level(line: re.Match[str], *, alone: bool) -> int | None:
    """Judge one line. ``alone``: blank lines on both sides; others need a number that no list item has."""
    written = line[0].strip()
    if not is_title_like(written) or not (alone or has_strong_number(written)):
        return None
    return numbered_level(written)


def is_title_like(line: str) -> bool:
    """Return whether a line is short, has a word, and ends neither like a sentence nor like an entry of contents."""
    written = normalise(line).strip()
    if len(written) > _MAX_HEADING or _NO_HEADING_END.search(written):
        return False
    return re.search(r"[^\W\d_]", re.sub(r"^第\S+[編部章節条]", "x", written)) is not None


def has_strong_number(line: str) -> bool:
    """Return whether a line starts with a number that no list item has: 第1章, 1.2."""
    return _STRONG.match(normalise(line).strip()) is not None


def _kind(group: list[re.Match[str]]) -> BlockKind:
    if len(group) == 1 and is_caption(group[0][0]):
        return BlockKind.CAPTION
    items = sum(1 for line in group if _LIST_ITEM.match(normalise(line[0])))
    return BlockKind.LIST if items * 2 > len(group) else BlockKind.PARAGRAPH


def _block(kind: BlockKind, group: list[re.Match[str]], *, level: int | None = None) -> Block:
    start, end = group[0].start(), group[-1].end()
    start += len(group[0][0]) - len(group[0][0].lstrip())
    end -= len(group[-1][0]) - len(group[-1][0].rstrip())
    return Block(kind=kind, start=start, end=end, level=level)
