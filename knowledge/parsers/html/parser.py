"""HTML: headings, paragraphs, lists, tables and code of what a reader would see."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bs4 import BeautifulSoup, Comment, Doctype, Tag
from bs4.element import NavigableString, PageElement

from knowledge.parsers.encoding import decode_text
from knowledge.parsers.html.frame import Frame, take_frame
from knowledge.parsers.limits import CellCount, ParseLimits
from knowledge.parsers.pictures import PictureIntake, data_uri_bytes
from knowledge.parsers.render import (
    FROM_ABOVE,
    MarkdownBuilder,
    Picture,
    fence,
    render_table,
    rows_under_one_head,
    single_line,
)
from knowledge.text.numbering import is_caption
from knowledge.types.documents import BlockKind, ParsedDocument

_MAX_SPAN = 1000


@dataclass(frozen=True, slots=True)
class _Reaching:
    """A cell of a row above that reaches further down: its last column, and the last row that it reaches."""

    last_column: int
    last_row: int


def table_rows(table: Tag, text_of: Callable[[Tag], str], count: CellCount) -> list[list[str]]:
    """Lay the cells out on a grid, and return the rows' texts under one head. :raises ParseError: too_many_cells."""
    reaching: dict[int, _Reaching] = {}
    rows: list[dict[int, tuple[str, int]]] = []
    for row_index, row in enumerate(table.find_all("tr")):
        cells: dict[int, tuple[str, int]] = {}
        column = 0
        for cell in row.find_all(["td", "th"], recursive=False):
            column = _after_reaching(cells, reaching, row_index, column)
            width, height = _cell_span(cell, "colspan"), _cell_span(cell, "rowspan")
            cells[column] = text_of(cell), column + width - 1
            if height > 1:
                reaching[column] = _Reaching(column + width - 1, row_index + height - 1)
            column += width
        count.take(_after_reaching(cells, reaching, row_index, column))
        rows.append(cells)
    return rows_under_one_head(rows)


def _after_reaching(cells: dict[int, tuple[str, int]], reaching: Mapping[int, _Reaching], row: int, column: int) -> int:
    """Put the cells from above that begin at a column into the row; return the first column that is free."""
    while (above := reaching.get(column)) is not None and above.last_row >= row:
        cells[column] = FROM_ABOVE, above.last_column
        column = above.last_column + 1
    return column


def _cell_span(cell: Tag, name: str) -> int:
    value = str(cell.get(name) or "1").strip()
    return min(max(int(value), 1), _MAX_SPAN) if value.isdecimal() else 1


_DECLARED = re.compile(rb"""<(?:meta|\?xml)\b[^>]{0,300}?(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_\-]+)""", re.I)
_DECLARED_WITHIN_BYTES = 4096
_UNSEEN = ("script", "style", "noscript", "template", "head", "rt", "rp", "svg", "object", "iframe")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_INLINE_NAMES = """
a abbr acronym b bdi bdo big cite del code data dfn em font i ins kbd label mark q ruby rb s samp
small span strike strong sub sup time tt u var wbr button input select textarea
"""
_INLINE = frozenset(_INLINE_NAMES.split())
# A line break in the source between two Japanese characters is no blank to a reader.
_SOFT_BREAK = re.compile(
    r"(?<=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])[ \t]*\n\s*(?=[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef])"
)
_BREAK = "\v"


def parse(path: Path, *, filename: str, limits: ParseLimits) -> ParsedDocument:
    """Read a page without running or fetching anything.

    :raises ParseError: ``empty_file``, ``unknown_encoding`` or ``too_many_cells``.
    """
    pictures = PictureIntake(limits)
    builder = MarkdownBuilder()
    page = read_html(path.read_bytes(), builder, pictures, CellCount(limits), is_framed=True)
    return builder.document(
        "html",
        title=page.title,
        notices=(*page.frame.notices(), *pictures.notices()),
        metadata={"encoding": page.encoding},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlFacts:
    """What a page says of itself, the encoding it was read in, and what was left out of it."""

    title: str | None
    encoding: str
    frame: Frame


def read_html(
    data: bytes,
    builder: MarkdownBuilder,
    pictures: PictureIntake,
    cells: CellCount,
    *,
    charset: str = "",
    is_framed: bool = False,
) -> HtmlFacts:
    """Append a page's blocks. ``charset`` is what is said of it elsewhere, and counts before what it says itself.

    Of a page that is framed, as those of a site are, menus and the like are left out.

    :raises ParseError: ``empty_file``, ``unknown_encoding`` or ``too_many_cells``.
    """
    found = _DECLARED.search(data[:_DECLARED_WITHIN_BYTES])
    declared = charset or (found[1].decode("ascii") if found else None)
    decoded = decode_text(data, declared=declared)
    soup = BeautifulSoup(decoded.text, "lxml")
    title = _title(soup)
    _remove_unseen(soup)
    frame = take_frame(soup) if is_framed else Frame()
    _Walker(builder, pictures, cells).walk(soup.body or soup)
    return HtmlFacts(title=title, encoding=decoded.encoding, frame=frame)


def html_as_markdown(text: str, pictures: PictureIntake, cells: CellCount) -> str:
    """Return a piece of HTML inside a Markdown text as Markdown; its pictures and cells are those of that text.

    :raises ParseError: ``too_many_cells``.
    """
    soup = BeautifulSoup(text, "lxml")
    _remove_unseen(soup)
    for image in soup.find_all("img"):
        # Changed where it is: taking its place, a text looks through all that stand beside it.
        image.name, image.string = "span", f"![{single_line(str(image.get('alt') or ''))}]({image.get('src') or ''})"
    builder = MarkdownBuilder()
    _Walker(builder, pictures, cells).walk(soup.body or soup)
    return builder.markdown().rstrip("\n")


def _title(soup: BeautifulSoup) -> str | None:
    for tag in (soup.title, soup.h1):
        if tag is not None and (text := single_line(tag.get_text())):
            return text
    return None


def _remove_unseen(soup: BeautifulSoup) -> None:
    for tag in soup.find_all(_UNSEEN):
        tag.decompose()
    for tag in soup.find_all(_is_hidden):
        if not tag.decomposed:
            tag.decompose()


def _is_hidden(tag: Tag) -> bool:
    return tag.has_attr("hidden") or bool(_HIDDEN_STYLE.search(str(tag.get("style") or "")))


class _Walker:
    """Walks block elements in order; inline text gathers until the next block flushes it as a paragraph."""

    def __init__(self, builder: MarkdownBuilder, pictures: PictureIntake, cells: CellCount) -> None:
        self.builder = builder
        self._cells = cells
        self._inline: list[str] = []
        self._intake = pictures
        self._waiting: list[Picture] = []

    def walk(self, parent: Tag) -> None:
        for node in parent.children:
            self._visit(node)
        self._flush()

    def _visit(self, node: PageElement) -> None:
        if isinstance(node, NavigableString):
            if not isinstance(node, Comment | Doctype):
                self._inline.append(str(node))
        elif isinstance(node, Tag):
            if node.name == "br":
                self._inline.append(_BREAK)
            elif node.name in _INLINE and not node.find(_is_block):
                self._inline.extend(_strings(node))
                self._images(node)
            else:
                self._flush()
                self._block(node)

    def _block(self, tag: Tag) -> None:
        add = self.builder.add
        if tag.name in _HEADINGS:
            add(BlockKind.HEADING, visible_text(tag).replace("\n", " "), level=_HEADINGS[tag.name])
            self._images(tag)
        elif tag.name in ("ul", "ol", "menu"):
            add(BlockKind.LIST, "\n".join(_list_lines(tag, depth=0)), pictures=self._pictures_in(tag))
        elif tag.name == "dl":
            add(BlockKind.LIST, "\n".join(_definition_lines(tag)), pictures=self._pictures_in(tag))
        elif tag.name == "pre":
            add(BlockKind.CODE, fence(tag.get_text()) if tag.get_text().strip() else "")
        elif tag.name == "table":
            self._table(tag)
        elif tag.name in ("caption", "figcaption"):
            add(BlockKind.CAPTION, visible_text(tag))
        elif tag.name == "img":
            self._image(tag)
        else:
            self.walk(tag)

    def _table(self, tag: Tag) -> None:
        if tag.find("table"):  # a table around tables lays out the page
            for cell in tag.find_all(["td", "th", "caption"]):
                if cell.find_parent("table") is tag:
                    self.walk(cell)
            return
        if tag.caption:
            self.builder.add(BlockKind.CAPTION, visible_text(tag.caption))
        table = render_table(table_rows(tag, visible_text, self._cells))
        self.builder.add(BlockKind.TABLE, table.text, merged=table.merged, pictures=self._pictures_in(tag))

    def _pictures_in(self, tag: Tag) -> list[Picture]:
        return [picture for image in tag.find_all("img") if (picture := self._embedded(image))]

    def _images(self, tag: Tag) -> None:
        for image in tag.find_all("img"):
            picture = self._embedded(image)
            if picture is not None:
                self._waiting.append(picture)
            if image.get("alt") or picture is not None:
                self._inline.append(f" ![{single_line(str(image.get('alt') or ''))}]")

    def _image(self, tag: Tag) -> None:
        source = str(tag.get("src") or "")
        picture = self._embedded(tag)
        source = "image" if source.startswith("data:") else source
        text = f"![{single_line(str(tag.get('alt') or ''))}]({source})"
        self.builder.add(BlockKind.FIGURE, text, pictures=[picture] if picture else [])

    def _embedded(self, image: Tag) -> Picture | None:
        """Take the picture that a data: URI holds; nothing else is ever fetched."""
        data = data_uri_bytes(str(image.get("src") or ""))
        return self._intake.take(data, alt_text=str(image.get("alt") or "")) if data is not None else None

    def _flush(self) -> None:
        text = _collapse("".join(self._inline))
        pictures, self._waiting = self._waiting, []
        self._inline.clear()
        self.builder.add(BlockKind.CAPTION if is_caption(text) else BlockKind.PARAGRAPH, text, pictures=pictures)


def _is_block(tag: Tag) -> bool:
    return tag.name not in _INLINE and tag.name not in ("br", "img")


def _strings(tag: Tag, *, is_item: bool = False) -> Iterator[str]:
    """Yield an element's text; that of an item without that of the lists nested in it."""
    for node in tag.descendants:
        if isinstance(node, Tag):
            if node.name == "br" or _is_block(node):
                yield _BREAK
        elif isinstance(node, Comment | Doctype) or (is_item and node.find_parent("li") is not tag):
            continue
        elif isinstance(node, NavigableString):
            yield str(node)


def visible_text(tag: Tag) -> str:
    """Return an element's text with white space collapsed; line breaks remain at ``br`` and block elements."""
    return _collapse("".join(_strings(tag)))


def _collapse(text: str) -> str:
    lines = (" ".join(_SOFT_BREAK.sub("", line).split()) for line in text.split(_BREAK))
    return "\n".join(line for line in lines if line)


def _list_lines(tag: Tag, *, depth: int) -> Iterator[str]:
    number = int(start) if (start := str(tag.get("start") or "")).isdigit() else 1
    for item in tag.find_all("li", recursive=False):
        own = "".join(_strings(item, is_item=True))
        mark = f"{number}." if tag.name == "ol" else "-"
        number += 1
        yield f"{'  ' * depth}{mark} {_collapse(own).replace(chr(10), ' ')}"
        for nested in item.find_all(["ul", "ol", "menu"]):
            if nested.find_parent("li") is item:
                yield from _list_lines(nested, depth=depth + 1)


def _definition_lines(tag: Tag) -> Iterator[str]:
    for entry in tag.find_all(["dt", "dd"]):
        if entry.find_parent("dl") is tag:
            text = visible_text(entry).replace("\n", " ")
            yield f"- {text}" if entry.name == "dt" else f"  {text}"
