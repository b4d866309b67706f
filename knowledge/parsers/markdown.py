"""Markdown: the decoded original is the stored text, blocks are located in it by source lines.

Only pictures that the text itself carries as ``data:`` URIs leave it: ``(image)`` is in their place.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from knowledge.parsers.encoding import decode_text
from knowledge.parsers.limits import ParseLimits
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
    """Read a Markdown file. :raises ParseError: ``empty_file`` or ``unknown_encoding``."""
    decoded = decode_text(path.read_bytes())
    intake = PictureIntake(limits)
    text, pictures = _without_embedded(decoded.text, intake)
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
    source = text
    if front:
        blocks.append(Block(kind=BlockKind.FRONT_MATTER, start=0, end=len(front[0].rstrip())))
        # Blank lines in its place keep the parser's line numbers those of the file.
        source = "\n" * front[0].count("\n") + text[front.end() :]
    starts = [0, *(index + 1 for index, char in enumerate(text) if char == "\n"), len(text) + 1]
    # Definitions of links are text here: footnotes look like them, and would be in no block.
    parser = MarkdownIt("commonmark", {"maxNesting": 40}).enable("table").disable(["inline", "text_join", "reference"])
    for token in parser.parse(source):
        if token.level == 0 and token.map and (block := _block(token, text, starts)):
            blocks.append(block)
    return tuple(blocks)


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
