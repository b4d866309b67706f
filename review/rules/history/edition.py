"""What a document says about its own edition: version and dates on the cover, and the rows of its change history."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise

from knowledge.text.date_forms import ERA_NAMES
from knowledge.text.dates import first_day, without_days
from knowledge.text.folding import normalise
from knowledge.text.outline import contents_ids, inside, is_history, names_history, unnumbered_title
from knowledge.text.tables import Table, read_tables
from knowledge.types.documents import Block, BlockKind, Section
from review.types import Span

VersionNumber = tuple[int, ...]

_VERSION_LABEL = r"(?:文書)?(?:バージョン|版数|版番号|改版|版|リビジョン|version|ver\.?|rev(?:ision)?\.?)"
_UPDATED_LABEL = (
    r"(?:最終)?(?:更新|改訂|改定|改版|修正)(?:年月)?日?|last\s*updated|updated(?:\s*at)?|revised|date\s*modified"
)
_CREATED_LABEL = r"(?:文書|初版)?(?:作成|制定)(?:年月)?日|created(?:\s*at)?|date\s*created"
_FIELD = re.compile(
    r"(?:^[ \t>|*_+\-]*|(?<=[　\t])[*_]*|(?<=  )[*_]*)"
    rf"(?:(?P<version>{_VERSION_LABEL})|(?P<updated>{_UPDATED_LABEL})|(?P<created>{_CREATED_LABEL}))"
    r"(?:番号)?(?:[ \t*_]*[:：|]|(?<=[.])?\*\*(?=[ \t]))[ \t*_|]*(?P<value>[^|\n　]*?)[ \t*_|]*(?=$|　| {2})",
    re.IGNORECASE | re.MULTILINE,
)
# A line of the cover that is nothing but an edition, or an edition and a date: 第1.3版, Ver 2.1　2024.11.8.
_BARE_VERSION = re.compile(
    r"^[ \t>|*_+\-　（(#]*"
    r"(?P<value>第\s*[0-9０-９]+(?:[.．][0-9０-９]+)*\s*版|(?:ver(?:sion)?|rev)[. ]{0,2}\s*[0-9]+(?:\.[0-9]+)*)"
    rf"(?=[ \t|*_　）)]*(?:[（(]?(?:{ERA_NAMES}|[0-9]{{4}})[^\n。]{{0,24}})?$)",
    re.IGNORECASE | re.MULTILINE,
)
_VERSION_VALUE = re.compile(r"(?:第\s*|v(?:er(?:sion)?)?\.?\s*)?(\d+(?:\.\d+)*)\s*版?", re.IGNORECASE)
_VERSION_COLUMN = re.compile(
    r"版(?!内容|理由|概要|箇所|事項|年月|日|者)|バージョン|version|\bver\b|\brev", re.IGNORECASE
)
_DATE_COLUMN = re.compile(
    r"日付|年月日|日時|(?:更新|改訂|改定|改版|変更|修正|作成|発行|制定|承認|実施)日|\bdate\b", re.IGNORECASE
)
_CONTENT_COLUMN = re.compile(r"内容|概要|理由|事項|箇所|変更点|description|changes?|summary", re.IGNORECASE)
_PARTICULARS = re.compile(r"文書(管理)?(情報|属性)|ドキュメント(管理)?情報|表紙|document information", re.IGNORECASE)
_HORIZONTAL_RULE = re.compile(r"^(?:-{3,}|\*{3,})[ \t]*$", re.MULTILINE)
# A row of a sheet of particulars, its cells parted by blanks: システム名 健診予約システム 版 1.2.
_SHEET_VERSION = re.compile(
    rf"(?:^|(?<=[ \t]))(?:{_VERSION_LABEL})[ \t]++(?P<value>第?\s*[0-9]+(?:\.[0-9]+)*\s*版?)(?=[ \t]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_CHAPTER_LEVEL = 2
_HISTORY_LINE = re.compile(r"[^\n。、]{3,12}")
_LISTED_VERSION = re.compile(
    r"[\W_]*(?:(?:第|v|ver\.?|version|rev\.?|版|バージョン)\s*[0-9０-９]+(?:[.．][0-9０-９]+)*|[0-9]+(?:\.[0-9]+)+(?=[^\w.]|$)(?!\s*[章節項の]))",
    re.IGNORECASE,
)
_LISTING = (BlockKind.LIST, BlockKind.PARAGRAPH)
_DATED_NOTE_TITLE = re.compile(r"(更新|改訂|改定|変更|修正)(メモ|記録|ログ|情報|内容|点)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """One statement of an edition: the version or date as written, its value, and where it stands."""

    written: str
    span: Span
    version: VersionNumber | None = None
    day: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One entry of the change history; ``version`` and ``day`` are None where the entry has none."""

    version: Stated | None
    day: Stated | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """What the document says of itself. ``has_history`` is true for a history with at least one entry.

    ``empty_history`` is a section, ``empty_table`` the header of a table, that should hold entries and has none.
    ``blank_editions`` are the rows of a history with a column for editions in which none is.
    """

    versions: tuple[Stated, ...]
    created: tuple[Stated, ...]
    updated: tuple[Stated, ...]
    entries: tuple[HistoryEntry, ...]
    has_history: bool
    empty_history: Section | None
    empty_table: Span | None
    blank_editions: tuple[Span, ...]


@lru_cache(maxsize=4)
def read_edition(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Edition:
    """Read the cover fields (at the top, or at the foot after the last rule) and the change history."""
    history = [section for section in sections if is_history(section)]
    headed = _headed_as_history(text, blocks)
    tables = [
        table
        for table in read_tables(text, blocks)
        if _is_history_table(table, history) or any(start <= table.header.start < end for start, end in headed)
    ]
    entries = [entry for table in tables for entry in _table_entries(table)]
    listed = [entry for section in history for entry in _list_entries(text, section, blocks)]
    fields = list(_cover_fields(text, sections, blocks, history))
    return Edition(
        versions=tuple(field for field in fields if field.version),
        created=tuple(_created_days(text, sections, blocks)),
        updated=tuple(field for field in fields if field.day),
        entries=(*entries, *listed, *_dated_notes(text, sections)),
        has_history=bool(entries or listed),
        empty_history=history[0] if history and not entries and not listed else None,
        empty_table=_header_span(tables[0]) if tables and not entries and not listed else None,
        blank_editions=tuple(span for table in tables for span in _blank_editions(table)),
    )


def _blank_editions(table: Table) -> Iterator[Span]:
    column = table.column(_VERSION_COLUMN)
    if column is None or any(row.cells[column].text.strip() for row in table.rows if column < len(row.cells)):
        return
    for row in table.rows:
        if any(cell.text.strip("-－—　 ") for cell in row.cells):
            yield Span(start=row.start, end=row.end)


def _headed_as_history(text: str, blocks: tuple[Block, ...]) -> list[tuple[int, int]]:
    """Return the tables that a line of text heads as a change history: 変更履歴, with no mark of a heading."""
    return [
        (table.start, table.end)
        for line, table in pairwise(blocks)
        if table.kind is BlockKind.TABLE
        and line.kind is BlockKind.PARAGRAPH
        and _HISTORY_LINE.fullmatch(text[line.start : line.end].strip())
        and names_history(text[line.start : line.end].strip())
    ]


def _header_span(table: Table) -> Span:
    return Span(start=table.header.start, end=table.header.end)


def parse_version(written: str) -> VersionNumber | None:
    """Return the version number in ``written``, without trailing zeros, or None.

    >>> parse_version("v1.2.0"), parse_version("第2版"), parse_version("Draft")
    ((1, 2), (2,), None)
    """
    found = _VERSION_VALUE.search(normalise(written))
    if not found:
        return None
    parts = [int(part) for part in found.group(1).split(".")]
    while len(parts) > 1 and parts[-1] == 0:
        parts.pop()
    return tuple(parts)


def _cover_fields(
    text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...], history: list[Section]
) -> Iterator[Stated]:
    skipped = [(block.start, block.end) for block in blocks if block.kind is BlockKind.CODE]
    skipped += [(section.start, section.end) for section in history]
    cover = list(_cover(text, sections))
    for match in _FIELD.finditer(text):
        if inside(skipped, match.start()) or not inside(cover, match.start()):
            continue
        written = match.group("value")
        span = Span(start=match.start("value"), end=match.end("value"))
        if match.group("version") and (version := parse_version(written)):
            yield Stated(written=written, span=span, version=version)
        elif match.group("updated") and (day := first_day(written)):
            yield Stated(written=written, span=span, day=day)
    yield from _sheet_versions(text, sections, blocks)
    opening = _cover_end(text, sections)
    for match in _BARE_VERSION.finditer(text, 0, opening):
        if not inside(skipped, match.start()) and (version := parse_version(match["value"])):
            span = Span(start=match.start("value"), end=match.end("value"))
            yield Stated(written=match["value"], span=span, version=version)


def _sheet_versions(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Iterator[Stated]:
    """Yield the editions in the lines of a workbook's first sheet, the change history aside."""
    history = {section.start for section in sections if is_history(section)}
    first = next((block.sheet for block in blocks if block.level and block.start not in history), None)
    for block in blocks:
        if block.sheet and block.sheet == first and block.kind is BlockKind.PARAGRAPH:
            for match in _SHEET_VERSION.finditer(text, block.start, block.end):
                span = Span(start=match.start("value"), end=match.end("value"))
                yield Stated(written=match["value"], span=span, version=parse_version(match["value"]))


def _created_days(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Iterator[Stated]:
    cover = list(_cover(text, sections))
    code = [(block.start, block.end) for block in blocks if block.kind is BlockKind.CODE]
    for match in _FIELD.finditer(text):
        if not match["created"] or inside(code, match.start()) or not inside(cover, match.start()):
            continue
        if day := first_day(match["value"]):
            span = Span(start=match.start("value"), end=match.end("value"))
            yield Stated(written=match["value"], span=span, day=day)


def _cover(text: str, sections: tuple[Section, ...]) -> Iterator[tuple[int, int]]:
    """Yield where a document speaks of itself: before its first chapter, in a section of particulars, at its foot.

    The foot is what a horizontal rule sets off within the last chapter.
    """
    yield 0, _cover_end(text, sections)
    yield from (
        (section.start, section.end) for section in sections if _PARTICULARS.search(unnumbered_title(section.title))
    )
    last = max((section.start for section in sections if section.level <= _CHAPTER_LEVEL), default=0)
    if foot := _HORIZONTAL_RULE.search(text, last):
        yield foot.start(), len(text)


def _cover_end(text: str, sections: tuple[Section, ...]) -> int:
    contents = contents_ids(text, sections)
    chapters = [section for section in sections if section.number or section.id in contents]
    return chapters[0].start if chapters else _second_chapter_start(text, sections)


def _second_chapter_start(text: str, sections: tuple[Section, ...]) -> int:
    starts = [section.start for section in sections if section.level <= _CHAPTER_LEVEL]
    return starts[1] if len(starts) > 1 else len(text)


def _is_history_table(table: Table, history: list[Section]) -> bool:
    if any(section.start <= table.header.start < section.end for section in history):
        return True
    columns = (_VERSION_COLUMN, _DATE_COLUMN, _CONTENT_COLUMN)
    return all(table.column(pattern) is not None for pattern in columns)


def _table_entries(table: Table) -> Iterator[HistoryEntry]:
    version_column = table.column(_VERSION_COLUMN)
    day_column = table.column(_DATE_COLUMN)
    for row in table.rows:
        if not any(cell.text.strip("-－—　 ") for cell in row.cells):
            continue
        version = day = None
        if version_column is not None and version_column < len(row.cells):
            cell = row.cells[version_column]
            number = parse_version(cell.text)
            version = Stated(written=cell.text, span=Span(start=cell.start, end=cell.end), version=number)
        if day_column is not None and day_column < len(row.cells):
            cell = row.cells[day_column]
            day = Stated(written=cell.text, span=Span(start=cell.start, end=cell.end), day=first_day(cell.text))
        yield HistoryEntry(
            version=version if version and version.version else None, day=day if day and day.day else None
        )


def _list_entries(text: str, section: Section, blocks: tuple[Block, ...]) -> Iterator[HistoryEntry]:
    """Yield the lines of a history that is no table: 第1版（2026年1月6日）: 初版."""
    for block in blocks:
        if not section.body_start <= block.start < section.end or block.kind not in _LISTING:
            continue
        position = block.start
        for line in text[block.start : block.end].splitlines(keepends=True):
            span = Span(start=position, end=position + len(line.rstrip()))
            position += len(line)
            written = line.strip(" \t\n-*+")
            edition = _LISTED_VERSION.match(without_days(written))
            day, version = first_day(written), parse_version(edition.group()) if edition else None
            if day or version:
                yield HistoryEntry(
                    version=Stated(written=written, span=span, version=version) if version else None,
                    day=Stated(written=written, span=span, day=day) if day else None,
                )


def _dated_notes(text: str, sections: tuple[Section, ...]) -> Iterator[HistoryEntry]:
    """Yield headings such as 「更新メモ (2025-12-29)」: no history, yet they say when the document was changed."""
    for section in sections:
        day = first_day(section.title)
        if day and _DATED_NOTE_TITLE.search(section.title):
            start = text.index(section.title.strip(), section.start)
            span = Span(start=start, end=start + len(section.title.strip()))
            yield HistoryEntry(version=None, day=Stated(written=section.title.strip(), span=span, day=day))
