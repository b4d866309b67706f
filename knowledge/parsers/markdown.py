"""Markdown: the decoded original is the stored text, blocks are located in it by source lines.

Two things are written otherwise than in the file: pictures that the text itself carries as ``data:`` URIs leave it, and
``(image)`` is in their place; tables in HTML are tables in Markdown.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from knowledge.parsers.encoding import decode_text
from knowledge.parsers.html.parser import html_as_markdown
from knowledge.parsers.limits import CellCount, ParseLimits
from knowledge.parsers.pictures import PictureIntake, data_uri_bytes
from knowledge.parsers.render import Picture, placed_figures
from knowledge.text.numbering import is_caption
from knowledge.text.structure import heading_text
from knowledge.types.documents import Block, BlockKind, ParsedDocument

_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<body>.*?\n)??(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
_FRONT_TITLE = re.compile(r"^title:[ \t]*(?P<quote>[\"']?)(?P<title>.+?)(?P=quote)[ \t]*$", re.M)
_ONLY_IMAGES = re.compile(r"(?:\s*\[?!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])(?:\]\([^)]*\))?)+\s*")
_HTML_IMAGE = re.compile(r"<img\b|<svg\b|<figure\b", re.I)
_EMBEDDED = re.compile(r"!\[(?P<alt>[^\]]{0,1000}+)\]\(<?(?P<uri>data:image/[^()>\s]*+)>?(?:\s++\"[^\"]*\")?\)", re.I)
_KINDS = {
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "table_open": BlockKind.TABLE,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "blockquote_open": BlockKind.PARAGRAPH,
}


def parse(path: Path, *, filename: str, limits: ParseLimits) -> ParsedDocument:
    """Read a Markdown file. :raises ParseError: ``empty_file``, ``unknown_encoding`` or ``too_many_cells``."""
    decoded = decode_text(path.read_bytes())
    intake = PictureIntake(limits)
    text, pictures = _without_embedded(_with_tables(decoded.text, intake, CellCount(limits)), intake)
    blocks = markdown_blocks(text)
    return ParsedDocument(
        format="md",
        markdown=text,
        blocks=blocks,
        figures=placed_figures(text, blocks, list(_placed(blocks, pictures))),
        title=_title(text, blocks),
        notices=intake.notices(),
        metadata={"encoding": decoded.encoding},
    )


_TABLE_TAG = re.compile(r"<(?P<closes>/?)table\b[^<>]{0,1000}>", re.I)


def _with_tables(text: str, pictures: PictureIntake, cells: CellCount) -> str:
    """Write the tables in HTML that begin in a block of HTML as Markdown; code stays as it is."""
    tables = _html_tables(text)
    if not tables:
        return text
    starts = _line_starts(text)
    parts: list[str] = []
    done = 0
    for token in _tokens(text):
        if token.type != "html_block" or token.map is None:
            continue
        first, end = (starts[min(line, len(starts) - 1)] for line in token.map)
        at = bisect_left(tables, max(first, done), key=itemgetter(0))
        for start, close in tables[at : bisect_left(tables, end, key=itemgetter(0))]:
            if written := html_as_markdown(text[start:close], pictures, cells):
                parts += [text[done:start].rstrip(" \t"), _gap_before(text, start), written, _gap_after(text, close)]
                done = close
    return "".join([*parts, text[done:]])


def _html_tables(text: str) -> list[tuple[int, int]]:
    """Return where tables begin and end, those inside other tables left out; one that is never closed is none."""
    opened: list[int] = []
    found: list[tuple[int, int]] = []
    for tag in _TABLE_TAG.finditer(text):
        if not tag["closes"]:
            opened.append(tag.start())
        elif opened:
            start = opened.pop()
            while found and found[-1][0] > start:
                found.pop()
            found.append((start, tag.end()))
    return found


def _gap_before(text: str, start: int) -> str:
    """Return the line ends that part a block beginning here from the text before it."""
    before = text[max(start - 100, 0) : start].rstrip(" \t")
    return "" if start == 0 or before.endswith("\n\n") else "\n" if before.endswith("\n") else "\n\n"


def _gap_after(text: str, end: int) -> str:
    after = text[end : end + 100].lstrip(" \t")
    return "" if not after or after.startswith("\n\n") else "\n" if after.startswith("\n") else "\n\n"


def _without_embedded(text: str, intake: PictureIntake) -> tuple[str, list[tuple[int, Picture]]]:
    """Take the pictures out of the text; return the text and each picture with the place of its mark."""
    parts: list[str] = []
    pictures: list[tuple[int, Picture]] = []
    length = end = 0
    for match in _EMBEDDED.finditer(text):
        before = text[end : match.start()]
        length += len(before)
        data = data_uri_bytes(match["uri"])
        if data is not None and (picture := intake.take(data, alt_text=match["alt"])):
            pictures.append((length, picture))
        mark = f"![{match['alt']}](image)"
        parts += [before, mark]
        length += len(mark)
        end = match.end()
    return "".join([*parts, text[end:]]), pictures


def _placed(blocks: tuple[Block, ...], pictures: list[tuple[int, Picture]]) -> Iterator[tuple[Block, Picture]]:
    starts = [block.start for block in blocks]
    for offset, picture in pictures:
        index = bisect_right(starts, offset) - 1
        if index >= 0 and offset < blocks[index].end:
            yield blocks[index], picture


def markdown_blocks(text: str) -> tuple[Block, ...]:
    """Locate the top-level blocks of a Markdown text in document order; front matter comes first."""
    front = _FRONT_MATTER.match(text)
    blocks: list[Block] = []
    if front:
        blocks.append(Block(kind=BlockKind.FRONT_MATTER, start=0, end=len(front[0].rstrip())))
    starts = _line_starts(text)
    blocks.extend(block for token in _tokens(text) if (block := _block(token, text, starts)))
    return tuple(blocks)


def _tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of top-level blocks, front matter left out; their ``map`` is of the text's lines."""
    front = _FRONT_MATTER.match(text)
    # Blank lines in its place keep the parser's line numbers those of the file.
    source = "\n" * front[0].count("\n") + text[front.end() :] if front else text
    # Definitions of links are text here: footnotes look like them, and would be in no block.
    parser = MarkdownIt("commonmark", {"maxNesting": 40}).enable("table").disable(["inline", "text_join", "reference"])
    return (token for token in parser.parse(source) if token.level == 0 and token.map)


def _line_starts(text: str) -> list[int]:
    return [0, *(index + 1 for index, char in enumerate(text) if char == "\n"), len(text) + 1]


def _block(token: Token, text: str, starts: Sequence[int]) -> Block | None:
    """Return the block of a token, without blanks around it; ``starts`` are those of the lines."""
    assert token.map is not None  # noqa: S101  (the caller has looked)
    first, last = token.map
    start = starts[first]
    piece = text[start : starts[min(last, len(starts) - 1)] - 1]
    start, end = start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
    if end <= start:
        return None
    if token.type == "heading_open":
        return Block(kind=BlockKind.HEADING, start=start, end=end, level=int(token.tag[1:]))
    kind = _KINDS.get(token.type)
    if token.type == "paragraph_open":
        kind = _paragraph_kind(text[start:end])
    elif token.type == "html_block":
        kind = _html_kind(text[start:end])
    return Block(kind=kind, start=start, end=end) if kind else None


def _paragraph_kind(text: str) -> BlockKind:
    if _ONLY_IMAGES.fullmatch(text):
        return BlockKind.FIGURE
    return BlockKind.CAPTION if is_caption(text.strip("*_ ")) else BlockKind.PARAGRAPH


def _html_kind(text: str) -> BlockKind | None:
    if text.startswith("<!--") and text.endswith("-->"):
        return None
    if re.match(r"<table\b", text, re.I):
        return BlockKind.TABLE
    if _HTML_IMAGE.search(text):
        return BlockKind.FIGURE
    return BlockKind.PARAGRAPH


def _title(text: str, blocks: tuple[Block, ...]) -> str | None:
    if blocks and blocks[0].kind is BlockKind.FRONT_MATTER:
        match = _FRONT_TITLE.search(text, blocks[0].start, blocks[0].end)
        if match:
            return match["title"].strip()
    for block in blocks:
        if block.kind is BlockKind.HEADING and block.level == 1:
            return heading_text(text[block.start : block.end]) or None
    return None
