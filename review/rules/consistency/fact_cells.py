"""Facts of tables and labelled lines: a cell under its header in a named row, 項目：値."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal

from knowledge.text.folding import narrow
from knowledge.text.identifier_shapes import COMMON
from knowledge.text.tables import Cell, Row, Table, read_tables
from knowledge.types.documents import BlockKind
from review.rules.consistency.fact_making import LONGEST_VALUE, Fact, Facts, Statement, bare_count
from review.rules.consistency.fact_names import EXAMPLE, LONGEST_NAMING, quantity_name, role_of
from review.rules.consistency.fact_tokens import Token
from review.rules.consistency.quantities import name_column

_VALUE_HEAD = re.compile(
    r"(?:値|内容|目標値?|設定値?|基準値?|要件|要求|仕様|数|数値|金額|期日|日付|年月日|日程|予定日?|期限|期間|時間|時刻|概要|説明|名称|区分|規定|数量|開催日|時期|方式|製品|上限値?|下限値?|担当)?",
)
_NUMBER_HEAD = re.compile(
    r"値|目標|現状|実績|基準|要求|数|規模|性能|期間|期限|期待|時間|容量|サイズ|金額|上限|下限|内容|仕様|設定|頻度|間隔|target|value|actual",
    re.IGNORECASE,
)
_DATE_HEAD = re.compile(r"日|期|時期|予定|内容|日程|スケジュール|date", re.IGNORECASE)
# When one case was tried, by one who noted it: a run of its own.
_RECORDED_HEAD = re.compile(
    r"(?:実施|実行|確認|検証|テスト|試験|記入|記録|入力|対応|修正)(?:者・)?(?:日付?|年月日|日時)"
)
_CLOCK_HEAD = re.compile(r"時|内容|スケジュール|time", re.IGNORECASE)
_ROLE_HEAD = re.compile(
    r"担当(?:者|課|部署|部門)?|実施者|承認者|責任者|主管(?:課|部署)?|所管(?:課|部署)?|内容|名称|実施主体|主体"
)
_CHOICE_HEAD = re.compile(r".*(?:方式|コード|形式|プロトコル|仕様|内容|製品|値|言語)")
_LEVEL_HEAD = re.compile(r"重要度|優先度|難易度|緊急度|影響度|重要性")
_LENGTH_HEAD = re.compile(
    r"(?:最大|項目)?(?:桁数?|文字数|長さ|文字列長|サイズ)(?:\((?:桁|文字)\))?|length|size", re.IGNORECASE
)
_TYPE_HEAD = re.compile(r"(?:データ)?(?:型|タイプ)(?:[・/]?桁数?)?|属性|type", re.IGNORECASE)
_BARE_LENGTH = re.compile(r"(?P<n>[0-9]{1,5})")
_TYPE_LENGTH = re.compile(
    r"[`]?(?:n?(?:var)?char2?|string|text|文字列?|character varying)\s?\((?P<n>[0-9]{1,5})\)[`]?", re.IGNORECASE
)
_LINE = re.compile(
    r"^[ \t]*(?:[-*+・○●■□◆◇※][ \t]*|[0-9]{1,2}[.)][ \t]+)?"
    r"(?P<label>[^\s:：|。、][^:：|。\n]{1,29}?)[ \t]*[:：][ \t]*(?P<value>[^|\n]{1,100})$",
    re.MULTILINE,
)
_NUMBERED = re.compile(r"[0-9]+")
# The words of a message are none of the document's.
_MESSAGE = re.compile(r"\"[^\"]*\"|「[^「」]*」")
_NAMING = re.compile(r"[^\W\d_①-⑳]")


def facts_of_rows(facts: Facts) -> Iterator[Fact]:
    for number, table in enumerate(read_tables(facts.text, facts.blocks)):
        if facts.is_skipped(table.header.start) or not table.rows:
            continue
        at = name_column(table)
        if at < len(table.header.cells) and _LEVEL_HEAD.fullmatch(narrow(table.header.cells[at].text)):
            at = 0
        names = Counter(row.cells[at].text for row in table.rows if at < len(row.cells))
        for row in table.rows:
            if at < len(row.cells) and names[row.cells[at].text] == 1 and _NAMING.search(row.cells[at].text):
                for header, cell in zip(table.header.cells, row.cells, strict=False):
                    if cell is not row.cells[at] and cell.text:
                        yield from _cell(facts, number, table, row, at, header, cell)


def _cell(facts: Facts, number: int, table: Table, row: Row, at: int, header: Cell, cell: Cell) -> Iterator[Fact]:
    name, head = (narrow(each.text[:LONGEST_NAMING]) for each in (row.cells[at], header))
    is_bare = _VALUE_HEAD.fullmatch(head) is not None
    statement = Statement(
        name=name,
        start=cell.start,
        end=cell.end,
        around=f"{name} {head} {narrow(cell.text)}",
        table=number,
        quoted_from=cell.start,
        head=head,
        is_bare=is_bare,
    )
    tokens = facts.tokens.within(cell.start, cell.end)
    if len({(token.kind, token.dimension) for token in tokens}) == len(tokens):
        for token in tokens:
            yield from _of_cell(facts, statement, token, narrow(cell.text))
    if not tokens and (length := _length(head, narrow(cell.text))) is not None:
        yield from facts.number(statement, length._replace(start=cell.start, end=cell.end), f"{name}の桁数", "")
    elif not tokens and len(cell.text) <= LONGEST_VALUE:
        yield from _words_of_cell(facts, statement, row, narrow(cell.text))
    yield from _dated_row(facts, statement, row, at, cell, narrow(cell.text))


def _length(head: str, written: str) -> Token | None:
    """Return how long an item is by a bare number under 桁数, or by its type: varchar(50)."""
    found = _BARE_LENGTH.fullmatch(written) if _LENGTH_HEAD.fullmatch(head) else None
    if found is None and _TYPE_HEAD.fullmatch(head):
        found = _TYPE_LENGTH.fullmatch(written)
    return Token(0, 0, "number", "characters", str(Decimal(found["n"]).normalize()), "max") if found else None


def _of_cell(facts: Facts, statement: Statement, token: Token, cell: str) -> Iterator[Fact]:
    name, head = statement.name, statement.head
    if token.kind == "number" and _NUMBER_HEAD.search(head):
        # Under 保存期間 the row names the thing only; under 値 it names the quantity.
        is_named = statement.is_bare or quantity_name(name, "", token.dimension).code
        yield from facts.number(statement, token, name if is_named else f"{name}の{head}", cell)
        if statement.is_bare and head not in ("", "内容", "値"):
            yield from facts.number(statement, token, f"{name}の{head}", cell)
    elif token.kind == "date" and _DATE_HEAD.search(head) and not _RECORDED_HEAD.fullmatch(head):
        yield from facts.date(statement, token, f"{name}の{head}")
    elif token.kind == "clock" and _CLOCK_HEAD.search(head):
        yield from facts.clock(statement, token, name, f"{name}の{head}")


def _words_of_cell(facts: Facts, statement: Statement, row: Row, cell: str) -> Iterator[Fact]:
    name, head = statement.name, statement.head
    first = row.cells[0].text if row.cells else ""
    if _LEVEL_HEAD.fullmatch(head):
        for thing in dict.fromkeys([first if COMMON.fullmatch(first) else name]):
            yield from facts.level(statement, f"{thing}の{head}", cell)
    elif _VALUE_HEAD.fullmatch(head) or _ROLE_HEAD.fullmatch(head) or _CHOICE_HEAD.fullmatch(head):
        full = name if statement.is_bare and head != "担当" else f"{name}の{head}"
        if role_of(name) and head == "担当":
            full = name
        yield from facts.named(statement, full, cell)
        yield from facts.level(statement, full, cell)
        if (found := bare_count(full, cell)) is not None:
            yield from facts.number(statement, found._replace(start=statement.start, end=statement.end), full, cell)


def _dated_row(facts: Facts, statement: Statement, row: Row, at: int, cell: Cell, written: str) -> Iterator[Fact]:
    """A row that begins with its date: 2026年7月1日 | 申請受付開始."""
    if at or len(row.cells) != 2 or len(written) > LONGEST_VALUE:
        return
    first = row.cells[0]
    tokens = facts.tokens.within(first.start, first.end)
    if len(tokens) == 1 and tokens[0].kind == "date" and tokens[0].end - tokens[0].start >= len(first.text) - 2:
        yield from facts.date(statement._replace(quoted_from=first.start), tokens[0], written)


def facts_of_lines(facts: Facts) -> Iterator[Fact]:
    for block in facts.blocks:
        if block.kind in (BlockKind.LIST, BlockKind.PARAGRAPH):
            for match in _LINE.finditer(facts.plain, block.start, block.end):
                if not facts.is_skipped(match.start()):
                    yield from _line(facts, match)


def _line(facts: Facts, match: re.Match[str]) -> Iterator[Fact]:
    label, value = match["label"].strip("* "), match["value"].strip("* ")
    start, end = match.start("value"), match.start("value") + len(match["value"].rstrip())
    if (_NUMBERED.search(label[:1]) and label[:1].isdigit()) or _MESSAGE.fullmatch(value):
        return
    statement = Statement(name=label, start=start, end=end, around=f"{label} {value}", quoted_from=match.start("label"))
    tokens = facts.tokens.within(start, end)
    kinds = Counter((token.kind, token.dimension) for token in tokens)
    for token in tokens:
        if kinds[token.kind, token.dimension] > 1 or EXAMPLE.search(value):
            continue
        lead = facts.plain[start : token.start]
        if len(lead) > 14:
            continue
        behind = facts.plain[token.end : token.end + 12]
        if token.kind == "number":
            yield from facts.number(statement, token, label, behind)
        elif token.kind == "date":
            yield from facts.date(statement, token, label)
        else:
            yield from facts.clock(statement, token, label, label)
    if not tokens and len(value) <= LONGEST_VALUE:
        yield from facts.named(statement, label, value)
        yield from facts.level(statement, label, value)
        if (bare := bare_count(label, value)) is not None:
            yield from facts.number(statement, bare._replace(start=start, end=end), label, value)
