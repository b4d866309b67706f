"""The outline of a document: sections from heading blocks, and where an offset is in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence

from knowledge.text.folding import fold_case, normalise
from knowledge.text.numbering import heading_number, is_figure_caption
from knowledge.types.documents import Block, BlockKind, Section

_ATX = re.compile(r"\s*#{1,6}(?:[ \t]+|$)(?P<title>.*?)(?:[ \t]+#+)?[ \t]*$", re.S)
_SETEXT_UNDERLINE = re.compile(r"\n[ \t]*(?:=+|-+)[ \t]*$")
COMMENT = re.compile(r"<!--.*?(?:-->|(?P<open>\Z))", re.S)
"""A comment of HTML; ``open`` where it has no end: then it is text, and so has none of those after it an end."""
_TAG = re.compile(r"</?(?:a|b|i|u|em|strong|span|font|br|sup|sub|code|center|small|img)\b[^>]{0,2000}+>", re.I)
_LINK = re.compile(r"!?\[(?P<text>[^\]]{0,500}+)\](?:\([^)]{0,2000}+\)|\[[^\]]{0,500}+\])")
_ANCHOR = re.compile(r"(?<!\s)\s*+\{#[^}]{0,500}+\}\s*+$")
_STRONG = re.compile(r"(\*\*|__|`|\*)(?=\S)(?P<text>.{1,1000}?)(?<=\S)\1")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_CONTENTS_TITLES = frozenset({"目次", "もくじ", "contents", "tableofcontents", "index"})
_LINKED_LINE = re.compile(r"\s*+(?:[-*+]|[0-9]++\.)\s++\[[^\]]*+\]\(#[^)]*+\)\s*+$")
_PAGE_LETTERS = "0123456789０１２３４５６７８９ivx-"
_LEADER = ".．・‥"
_SPACED_LEADER = re.compile(rf"(?:[{_LEADER}]\s{{1,9}}){{3}}\Z")
_MIN_CONTENTS_LINES = 4
_MIN_ENTRIES = 0.8
_NAMES_CONTENTS = re.compile(r"目次|もくじ|目録|table of contents|contents (?:page|list)")
_SENTENCE_END = re.compile(r"。|[a-z][.?!](?:\s|$)")
_HEADING_LINE = re.compile(r"\s*#{1,6}\s")
LONGEST_TITLE, LONGEST_PATH = 300, 600
"""Characters of a section's title, and of all titles of its path: each passage and each finding carries them."""


def without_comments(text: str) -> str:
    """Return ``text`` without the comments that end; one that does not is text.

    >>> without_comments("版数 <!-- 後で書く -->1.0 <!-- 未定")
    '版数 1.0 <!-- 未定'
    """
    return COMMENT.sub(lambda found: "" if found["open"] is None else found[0], text)


def heading_text(source: str) -> str:
    """Return a heading's title as written: without ``#`` marks or underline, and without inline markup.

    >>> heading_text("## 3.2 **性能** [要件](#a) ##"), heading_text("概要\\n===")
    ('3.2 性能 要件', '概要')
    """
    match = _ATX.match(source)
    text = match["title"] if match else _SETEXT_UNDERLINE.sub("", source)
    text = _ANCHOR.sub("", _TAG.sub("", without_comments(text)))
    text = _STRONG.sub(lambda found: found["text"], _LINK.sub(lambda found: found["text"], text))
    return " ".join(_ESCAPE.sub(r"\1", text).split())


def build_sections(markdown: str, blocks: Sequence[Block]) -> tuple[Section, ...]:
    """Nest the heading blocks by level, in document order; a table of contents is above no other heading.

    Ids count from ``s1`` in that order. Text before the first heading belongs to no section. A heading that is longer
    than LONGEST_TITLE names its section by its beginning and "…"; the whole of it stays text.
    """
    headings = [block for block in blocks if block.kind is BlockKind.HEADING]
    starts = [block.start for block in headings] + [len(markdown)]
    titles = [_beginning(heading_text(markdown[block.start : block.end]), LONGEST_TITLE) for block in headings]
    ends = _section_ends(headings, titles, len(markdown))
    open_sections: list[Section] = []
    sections: list[Section] = []
    for index, block in enumerate(headings):
        level = block.level or 1
        while open_sections and (open_sections[-1].level >= level or is_contents_title(open_sections[-1].title)):
            open_sections.pop()
        parent = open_sections[-1] if open_sections else None
        title = titles[index]
        section = Section(
            id=f"s{index + 1}",
            title=title,
            number=heading_number(title),
            level=level,
            path=_path(parent.path if parent else (), title),
            start=block.start,
            body_start=min(block.end + 1, starts[index + 1]),
            body_end=starts[index + 1],
            end=ends[index],
            parent_id=parent.id if parent else None,
            page=block.page,
        )
        sections.append(section)
        open_sections.append(section)
    return tuple(sections)


def _path(above: Sequence[str], title: str) -> tuple[str, ...]:
    """Return the titles down to a section; of a path over LONGEST_PATH the beginnings, so that each level is named."""
    path = (*above, title)
    if sum(map(len, path)) <= LONGEST_PATH:
        return path
    return tuple(_beginning(one, LONGEST_PATH // len(path)) for one in path)


def _beginning(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def _section_ends(headings: Sequence[Block], titles: Sequence[str], length: int) -> list[int]:
    """Find for each heading where the next one of the same or a higher rank starts, for a contents list any."""
    ends = [length] * len(headings)
    waiting: list[int] = []
    for index, block in enumerate(headings):
        while waiting and (
            (headings[waiting[-1]].level or 1) >= (block.level or 1) or is_contents_title(titles[waiting[-1]])
        ):
            ends[waiting.pop()] = block.start
        waiting.append(index)
    return ends


def section_at(sections: Sequence[Section], offset: int) -> Section | None:
    """Find the deepest section that holds an offset; None before the first heading."""
    index = bisect_right(sections, offset, key=lambda section: section.start)
    return sections[index - 1] if index else None


def line_range(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the first and last line, counted from 1 and inclusive, that ``[start, end)`` touches."""
    first = text.count("\n", 0, start) + 1
    return first, first + text.count("\n", start, max(end - 1, start))


def line_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where the lines that hold ``[start, end)`` begin and end, the last line break left out.

    >>> line_span("一行\\n二行目\\n三行", 4, 5)
    (3, 6)
    """
    line_end = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, line_end if line_end >= 0 else len(text)


def is_contents_title(title: str) -> bool:
    """Return whether a heading names a table of contents.

    >>> is_contents_title("目　次"), is_contents_title("0. 目次"), is_contents_title("目次の作り方")
    (True, True, False)
    """
    letters = re.sub(r"[\W\d_]", "", normalise(title))
    return letters.casefold() in _CONTENTS_TITLES


def is_table_of_contents(section: Section, markdown: str) -> bool:
    """Return whether a section lists the document's headings: by its title, or by lines that end in page numbers."""
    if is_contents_title(section.title):
        return True
    return _has_entries(markdown[section.body_start : section.body_end])


def is_contents_passage(section_path: Sequence[str], text: str) -> bool:
    """Return whether a passage belongs to a table of contents: by its lines, or by its heading if it has no sentences.

    >>> is_contents_passage([], "1 目的 .... 1\\n2 範囲 .... 2\\n3 用語 .... 3\\n4 体制 .... 9")
    True
    >>> is_contents_passage(["目次"], "目的\\n範囲"), is_contents_passage(["目次"], "目次は章ごとに設ける。")
    (True, False)
    """
    is_titled = bool(section_path) and is_contents_title(section_path[-1])
    return _has_entries(text) or (is_titled and not _SENTENCE_END.search(text))


def names_contents(text: str) -> bool:
    """Return whether a question asks for a table of contents."""
    return bool(_NAMES_CONTENTS.search(fold_case(text)))


def _has_entries(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip() and not _HEADING_LINE.match(line)]
    entries = sum(1 for line in lines if _is_entry(line) and not line.lstrip().startswith("|"))
    return len(lines) >= _MIN_CONTENTS_LINES and entries > _MIN_ENTRIES * len(lines)


def _is_entry(line: str) -> bool:
    """Return whether a line of a contents list ends in a page number behind a leader or a gap, or links to a heading.

    >>> [_is_entry(line) for line in ("1 目的 .... 3", "1 目的\t3", "1 目的 . . . 3", "- [目的](#目的)", "1 目的 3")]
    [True, True, True, True, False]
    """
    if _LINKED_LINE.match(line):
        return True
    shown = line.rstrip()
    before = shown.rstrip(_PAGE_LETTERS)
    if before == shown:
        return False
    words = before.rstrip()
    gap = before[len(words) :]
    if len(gap) > 1 or "\t" in gap or words.endswith("…"):
        return True
    is_led = len(words) > 1 and words[-1] in _LEADER and words[-2] in _LEADER
    return is_led or _SPACED_LEADER.search(before[-40:]) is not None


def tables(blocks: Iterable[Block]) -> tuple[Block, ...]:
    return tuple(block for block in blocks if block.kind is BlockKind.TABLE)


def figures(markdown: str, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """List the figure blocks, and the figure captions that are next to none (PDF drawings have no block)."""
    found: list[Block] = []
    for index, block in enumerate(blocks):
        if block.kind is BlockKind.FIGURE:
            found.append(block)
        elif block.kind is BlockKind.CAPTION and is_figure_caption(markdown[block.start : block.end]):
            neighbours = (*blocks[max(index - 1, 0) : index], *blocks[index + 1 : index + 2])
            if all(neighbour.kind is not BlockKind.FIGURE for neighbour in neighbours):
                found.append(block)
    return tuple(found)


def figures_without_picture(markdown: str, blocks: Sequence[Block], *, shown: Collection[int]) -> tuple[Block, ...]:
    """List the figures whose block starts at none of ``shown``, the starts of the blocks with stored pictures.

    A caption beside such a block belongs to its picture.
    """
    return tuple(block for block in figures(markdown, blocks) if block.start not in shown)
