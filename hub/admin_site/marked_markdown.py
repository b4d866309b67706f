"""Stored text as safe HTML, with spans of it marked: raw HTML stays text, nothing can be loaded or followed."""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import lru_cache
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

# Private-use characters stand for the ends of marks while Markdown is rendered.
_OPEN, _CLOSE = "\ue000", "\ue001"
_RESERVED = str.maketrans({_OPEN: "\ufffd", _CLOSE: "\ufffd"})
_LINE_MARKUP = re.compile(r"[ \t]*(?:>[ \t]?|[-*+][ \t]+|\d{1,9}[.)][ \t]+)*(?:#{1,6}[ \t]+|\|[ \t]*)?")
_DELIMITER_ROW = re.compile(r"[ \t|:\-]+")
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_LINE_BREAK = re.compile(r"<br\s*/?>", re.I)
# Bounded: a long run of beginnings would take quadratic time.
_PICTURE = re.compile(r"!\[([^\]\n]{0,300})\](?:\([^)\n]{0,500}\))?")
# What parsers write of formats other than Markdown; every other sign of their texts is the author's own.
_WRITTEN_BLOCKS = ["table", "fence", "heading", "list", "paragraph"]
_WRITTEN_INLINE = ["text", "newline", "line_break", "picture"]
# Names of classes with the least characters of a cell that has it.
_CELLS = {"hub-cell-long": 24, "hub-cell-wide": 6}

Spans = Sequence[tuple[int, int]]


def render_marked(text: str, spans: Spans = (), *, is_markdown: bool = True, anchor: str = "") -> SafeString:
    """Render ``text`` with what lies in the half-open ``spans`` in ``<mark>``, the first one with the id ``anchor``.

    Without ``is_markdown`` only tables, headings, lists and fences are markup, as parsers of other formats write them.

    >>> render_marked("**性能**は3秒", [(2, 4)])
    '<p><strong><mark>性能</mark></strong>は3秒</p>\\n'
    """
    marked = _with_marks(text.translate(_RESERVED), [span for span in spans if span[0] < span[1]])
    renderer = _markdown() if is_markdown else _written_by_parsers()
    return _finished(renderer.render(marked, {"inside": False, "anchor": anchor}))


def render_plain(text: str, spans: Spans = (), *, anchor: str = "") -> SafeString:
    """Render a paragraph line by line, whose signs are all the author's own; marks as `render_marked` makes them.

    >>> render_plain("# a < b\\n*c*", [(2, 3)])
    '<p># <mark>a</mark> &lt; b<br />\\n*c*</p>\\n'
    """
    marked = text.translate(_RESERVED)
    for start, end in sorted(spans, reverse=True):
        if start < end:
            marked = f"{marked[:start]}{_OPEN}{marked[start:end]}{_CLOSE}{marked[end:]}"
    inline = _written_by_parsers().renderInline(marked, {"inside": False, "anchor": anchor})
    return _finished(f"<p>{inline}</p>\n")


def _finished(rendered: str) -> SafeString:
    # Every text was escaped by the renderer; what is left of the marks stood where HTML can't have one.
    return SafeString(rendered.replace(_OPEN, "").replace(_CLOSE, ""))


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

    def table_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:  # noqa: ANN401
        # By keys, too, where it is wider than the page.
        return '<div class="hub-passage-table" tabindex="0"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:  # noqa: ANN401
        return "</table></div>\n"

    def td_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:  # noqa: ANN401
        # Beside many columns a text would be as narrow as one character.
        characters = len(tokens[idx + 1].content)
        kind = next((name for name, least in _CELLS.items() if characters >= least), "")
        return f'<{tokens[idx].tag} class="{kind}">' if kind else f"<{tokens[idx].tag}>"

    th_open = td_open

    def list_item_open(self, tokens: Sequence[Token], idx: int, options: Any, env: MutableMapping[str, Any]) -> str:  # noqa: ANN401
        # The number as it is written, which need not be the next one.
        return f'<li value="{int(tokens[idx].info)}">' if tokens[idx].info else "<li>"


def _marked(text: str, env: MutableMapping[str, Any]) -> str:
    """Escape a text and mark what is inside; a mark that goes on in the next text is opened there again."""
    pieces = []
    for piece in re.split(f"([{_OPEN}{_CLOSE}])", text):
        if piece in (_OPEN, _CLOSE):
            env["inside"] = piece == _OPEN
        elif piece and env["inside"] and not piece.isspace():
            anchor = f' id="{escape(env["anchor"])}"' if env["anchor"] else ""
            env["anchor"] = ""
            pieces.append(f"<mark{anchor}>{escape(piece)}</mark>")
        else:
            pieces.append(escape(piece))
    return "".join(pieces)


def _line_break(state: StateInline, silent: bool) -> bool:
    """Read ``<br>``, which is how the lines of a table's cell are written."""
    found = _LINE_BREAK.match(state.src, state.pos) if state.src[state.pos] == "<" else None
    if found is None:
        return False
    if not silent:
        state.push("hardbreak", "br", 0)
    state.pos = found.end()
    return True


def _picture(state: StateInline, silent: bool) -> bool:
    """Read a picture's mark, with or without what it shows."""
    found = _PICTURE.match(state.src, state.pos) if state.src[state.pos] == "!" else None
    if found is None:
        return False
    if not silent:
        state.push("image", "img", 0).content = found[1]
    state.pos = found.end()
    return True


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    # Definitions of links are text: footnotes look like them, and nobody would see them.
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer)
    parser.enable("table").disable("reference")
    parser.inline.ruler.after("newline", "line_break", _line_break)
    return parser


@lru_cache(maxsize=1)
def _written_by_parsers() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}, renderer_cls=_Renderer).enable("table")
    parser.inline.ruler.after("newline", "line_break", _line_break)
    parser.inline.ruler.after("line_break", "picture", _picture)
    parser.block.ruler.enableOnly(_WRITTEN_BLOCKS)
    parser.inline.ruler.enableOnly(_WRITTEN_INLINE)
    return parser
