"""A stretch of a document as safe HTML, with the quotes of a finding marked in it."""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from knowledge.types.documents import Block, BlockKind

AROUND = 700
"""Characters shown before and after the place, at least; whole blocks are shown."""
MOST = 6000
"""Characters of one block that are shown; of longer ones the part around the place."""

# private-use characters stand for the ends of marks while Markdown is rendered
_OPEN, _CLOSE = "\ue000", "\ue001"
_RESERVED = str.maketrans({_OPEN: "\ufffd", _CLOSE: "\ufffd"})
_LINE_MARKUP = re.compile(r"[ \t]*(?:>[ \t]?|[-*+][ \t]+|\d{1,9}[.)][ \t]+)*(?:#{1,6}[ \t]+|\|[ \t]*)?")
_DELIMITER_ROW = re.compile(r"[ \t|:\-]+")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")

Spans = Sequence[tuple[int, int]]


def render_passage(text: str, blocks: Sequence[Block], spans: Spans, *, at: int) -> SafeString:
    """Render the blocks around the offset ``at``; raw HTML is shown as text, links and pictures lead nowhere.

    ``spans`` are ``[start, end)`` of the whole text; what lies inside the passage is in ``<mark>``.
    """
    start, end, head = _window(text, blocks, at)
    inside = [(max(first, start) - start, min(last, end) - start) for first, last in spans]
    marked = _with_marks(text[start:end].translate(_RESERVED), [span for span in inside if span[0] < span[1]])
    rendered: str = _markdown().render(head + marked, {"inside": False})
    # every text was escaped by the renderer; what is left of the marks stood where HTML can't have one
    return SafeString(rendered.replace(_OPEN, "").replace(_CLOSE, ""))


def shown_around(text: str, blocks: Sequence[Block], *, at: int) -> tuple[int, int]:
    """The stretch ``[start, end)`` of the text that :func:`render_passage` shows."""
    start, end, _head = _window(text, blocks, at)
    return start, end


def _window(text: str, blocks: Sequence[Block], at: int) -> tuple[int, int, str]:
    """Start and end of what is shown, and the head of a table of which only a part is shown."""
    index = max((number for number, block in enumerate(blocks) if block.start <= at), default=0)
    if not blocks:
        return max(0, at - AROUND), min(len(text), at + AROUND), ""
    block = blocks[index]
    if block.end - block.start > MOST:
        return _part_of(text, block, at)
    first = last = index
    while first > 0 and block.start - blocks[first].start < AROUND and _fits(blocks[first - 1]):
        first -= 1
    while last + 1 < len(blocks) and blocks[last].end - block.end < AROUND and _fits(blocks[last + 1]):
        last += 1
    return blocks[first].start, blocks[last].end, ""


def _fits(block: Block) -> bool:
    return block.end - block.start <= MOST


def _part_of(text: str, block: Block, at: int) -> tuple[int, int, str]:
    """Whole lines of a long block around a place."""
    start = text.rfind("\n", block.start, max(block.start, at - AROUND)) + 1 or block.start
    end = text.find("\n", min(block.end, at + AROUND), block.end)
    lines = text[block.start : start].split("\n", 2)
    has_head = block.kind is BlockKind.TABLE and len(lines) > 2
    head = "\n".join(lines[:2]).translate(_RESERVED) + "\n" if has_head else ""
    return start, end if end > 0 else block.end, head


def _with_marks(text: str, spans: Spans) -> str:
    """Put the ends of marks into the text, never where they would change what the Markdown means."""
    places: list[tuple[int, str]] = []
    for first, last in spans:
        start, end = _after_markup(text, first), _before_markup(text, last)
        if start < end:
            places += [(start, _OPEN), (end, _CLOSE)]
    for place, sign in sorted(places, key=lambda entry: entry[0], reverse=True):
        text = text[:place] + sign + text[place:]
    return text


def _after_markup(text: str, place: int) -> int:
    """The first place from here on that is inside a line's content."""
    while place < len(text):
        start, end = _line(text, place)
        line = text[start:end]
        if line.strip() and not _DELIMITER_ROW.fullmatch(line) and not _FENCE.match(line):
            markup = _LINE_MARKUP.match(line)
            return max(place, start + (markup.end() if markup else 0))
        place = end + 1
    return place


def _before_markup(text: str, place: int) -> int:
    """The last place up to here that is inside a line's content."""
    while place > 0:
        start, end = _line(text, place)
        line = text[start:end]
        markup = _LINE_MARKUP.match(line)
        content = start + (markup.end() if markup else 0)
        if place > content and not _DELIMITER_ROW.fullmatch(line) and not _FENCE.match(line):
            return min(place, start + len(line.rstrip(" \t|\r")))
        place = start - 1
    return 0


def _line(text: str, place: int) -> tuple[int, int]:
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    return start, end if end >= 0 else len(text)


class _Renderer(RendererHTML):
    """Text with marks; headings that don't join the page's outline; nothing to load or to follow."""

    def text(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:  # noqa: ANN401
        return _marked(tokens[idx].content, env)

    def code_inline(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:  # noqa: ANN401
        return f"<code>{_marked(tokens[idx].content, env)}</code>"

    def code_block(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:  # noqa: ANN401
        return f"<pre><code>{_marked(tokens[idx].content, env)}</code></pre>\n"

    fence = code_block

    def image(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:  # noqa: ANN401
        return f'<span class="hub-figure">{_marked(tokens[idx].content, env)}</span>'

    def link_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:  # noqa: ANN401
        return '<span class="hub-passage-link">'

    def link_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:  # noqa: ANN401
        return "</span>"

    def heading_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:  # noqa: ANN401
        return f'<p class="hub-passage-{tokens[idx].tag}">'

    def heading_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:  # noqa: ANN401
        return "</p>\n"


def _marked(text: str, env: MutableMapping[str, Any]) -> str:
    """Escape a text and mark what is inside; a mark that goes on in the next text is opened there again."""
    pieces = []
    for piece in re.split(f"([{_OPEN}{_CLOSE}])", text):
        if piece in (_OPEN, _CLOSE):
            env["inside"] = piece == _OPEN
        elif piece:
            pieces.append(f"<mark>{escape(piece)}</mark>" if env["inside"] else escape(piece))
    return "".join(pieces)


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
