"""What a list names and nothing describes, where most of what it names has a section of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from knowledge.text.folding import fold_compact
from knowledge.text.outline import apparatus, inside, unnumbered_title
from knowledge.text.structure import section_at
from knowledge.text.tables import Cell, Row, Table, read_tables
from knowledge.types.documents import Section
from review.rules.consistency.quantities import name_column
from review.rules.content.unfilled import Unfilled
from review.types import RuleInput, Span

_LIST = re.compile(r"一覧|(?:の)?構成$|リスト$|list$", re.IGNORECASE)
# Lists of what is written elsewhere, or is no part of the system.
_OF_OTHERS = re.compile(
    r"用語|略語|変更|改訂|参考|参照|関連(?:文書|資料)|リスク|課題|バグ|障害|要件|要求|成果物|メンバ|体制"
)
_NAME_HEAD = re.compile(
    r"(?:.{0,8}(?:名称?|ファイル|対象|画面|機能|帳票|テーブル|モジュール|バッチ|API|コンポーネント))$", re.I
)
_MARKS = re.compile(r"[`*_\[\]「」]|\([^()]*\)|（[^（）]*）")
_CODE = re.compile(r"[A-Za-z]{2,8}[-_]?[0-9]{2,5}")
_SHORTEST, _FEWEST, _LEAST = 3, 3, 0.6
_LABEL = r"(?m)^[ \t]*(?:[-*+・■●◆○]|[0-9]+[.)．])?[ \t]*[*`「【]*{name}[*`」】]*[ \t]*(?:[:：（(]|$)"


def undescribed_members(target: RuleInput) -> Iterator[Unfilled]:
    """Yield what each list of the document's parts names without a section, a label or a table of its own."""
    titles = [(section, fold_compact(unnumbered_title(section.title)).replace("`", "")) for section in target.sections]
    skipped = apparatus(target.text, target.sections)
    for table in read_tables(target.text, target.blocks):
        section = section_at(target.sections, table.header.start)
        if section is None or inside(skipped, table.header.start) or not table.rows:
            continue
        title = unnumbered_title(section.title)
        if not _LIST.search(title) or _OF_OTHERS.search(title):
            continue
        at = table.column(_NAME_HEAD)
        at = name_column(table) if at is None else at
        cells = [row.cells[at] for row in table.rows if at < len(row.cells)]
        members = {name: cell for cell in cells if len(name := _name(cell.text)) >= _SHORTEST}
        others = [each for each in titles if each[0] is not section and each[1]]
        codes = {_name(row.cells[at].text): _codes(row) for row in table.rows if at < len(row.cells)}
        described = {name for name in members if any(_has_section(each, others) for each in (name, *codes[name]))}
        if len(described) < _FEWEST or len(described) < _LEAST * len(members) or len(described) == len(members):
            continue
        lacking = [
            cell for name, cell in members.items() if name not in described and not _has_label(target.text, cell, table)
        ]
        if lacking:
            spans = tuple(Span(start=cell.start, end=cell.end) for cell in lacking)
            yield Unfilled(titles=tuple(cell.text.strip("`* ") for cell in lacking), spans=spans, texts="undescribed")


def _codes(row: Row) -> list[str]:
    """Return the row's own identifier, by which a section may call it: API-003."""
    return [fold_compact(cell.text.strip()) for cell in row.cells[:2] if _CODE.fullmatch(cell.text.strip())]


def _name(written: str) -> str:
    return fold_compact(_MARKS.sub("", written).rpartition("/")[2])


def _has_section(name: str, others: list[tuple[Section, str]]) -> bool:
    return any(name in title or (len(title) >= _SHORTEST and title in name) for _, title in others)


def _has_label(text: str, cell: Cell, table: Table) -> bool:
    """Whether something else begins with the name: an item, a bold line, a row of another table."""
    pattern = re.compile(_LABEL.format(name=re.escape(cell.text.strip("`* "))))
    rows = f"| {cell.text.strip()} |"
    end = table.rows[-1].end
    return any(pattern.search(part) or rows in part for part in (text[: table.header.start], text[end:]))
