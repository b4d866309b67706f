"""How many things a list has, to be held against the number that is said of them: 画面一覧 with 11 rows, 全12画面."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from knowledge.text.folding import fold_compact
from knowledge.text.outline import unnumbered_title
from knowledge.text.structure import section_at
from knowledge.text.tables import Table, read_tables
from knowledge.types.documents import BlockKind, Section
from review.rules.consistency.fact_making import Fact, Facts, Statement

# What a list may be of, for which a document says how many there are.
_LISTED = re.compile(
    r"(?P<of>画面|帳票|機能|テーブル|バッチ|メッセージ|API|インタフェース|インターフェース|権限|ロール|コード|マスタ|エンティティ|拠点|要件|業務)(?:の)?(?:一覧|リスト|の?構成)表?$"
)
_NUMBER_HEAD = re.compile(r"(?:No\.?|#|項番|番号|連番|.*(?:ID|番号|コード))", re.IGNORECASE)
_NAME_HEAD = re.compile(r".*名(?:称)?(?:[(（].*)?$|画面|機能|帳票|テーブル")
_TOTAL = re.compile(r"(?:総)?合計|総計|計|小計")
_FEWEST = 3


def facts_of_lists(facts: Facts) -> Iterator[Fact]:
    """Yield of each list of parts, the only table below its heading, how many rows, numbers and names it has."""
    every = [
        (number, table, section)
        for number, table in enumerate(read_tables(facts.text, facts.blocks))
        if (section := section_at(facts.sections, table.header.start)) is not None
    ]
    for number, table, section in every:
        title = unnumbered_title(section.title).strip()
        found = _LISTED.search(title)
        if not found or facts.is_skipped(table.header.start) or not _is_alone(section, table, facts):
            continue
        counts = row_counts(table)
        if not counts or max(counts) < _FEWEST:
            continue
        head = table.header
        statement = Statement(title, head.start, head.end, title, number, head.start)
        value = "|".join(str(count) for count in sorted(counts))
        core = fold_compact(found["of"])
        before = fold_compact(title[: found.start()])
        if before:
            continue  # 管理者画面一覧 has some of the screens
        fact = facts.made("listed", ("count", core, ""), statement, title, value)
        yield replace(fact, written=f"{title}（{value.replace('|', '・')}件）")


def is_compared(title: str) -> bool:
    """Return whether facts hold the list under a heading against what is said of its number."""
    return bool(_LISTED.search(title))


def _is_alone(section: Section, table: Table, facts: Facts) -> bool:
    tables = [b for b in facts.blocks if b.kind is BlockKind.TABLE and section.start <= b.start < section.end]
    return len(tables) == 1 and tables[0].start <= table.header.start < tables[0].end


def row_counts(table: Table) -> set[int]:
    """The numbers that a reader may come to: rows, distinct numbers, distinct names."""
    rows = [row for row in table.rows if any(cell.text.strip() for cell in row.cells)]
    rows = [
        row for row in rows if not _TOTAL.fullmatch(next((c.text.strip() for c in row.cells if c.text.strip()), ""))
    ]
    found = {len(rows)}
    for at, head in enumerate(table.header.cells):
        if _NUMBER_HEAD.fullmatch(head.text.strip()) or _NAME_HEAD.fullmatch(head.text.strip()):
            found.add(len({row.cells[at].text.strip() for row in rows if at < len(row.cells)} - {""}))
    return found - {0}
