"""Parts that hold a place and nothing else, below a heading with other content: bare sub-headings, XXXX for a name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest

from knowledge.ontology.passages import is_placeholder
from knowledge.text.outline import apparatus, inside
from knowledge.text.tables import Table, read_tables
from knowledge.types.documents import Block, BlockKind
from review.types import RuleInput, Span

# A line that numbers and names what should follow: （１）目的, ① 期間.
_SUB_HEADING = re.compile(
    r"(?:[（(][0-9０-９]{1,2}[)）]|[①-⑳])[ \t　]*(?P<title>[^\s。、:：|](?:[^。、:：|\n]{0,18}[^\s。、:：|])?)"
)
# The number and the first letters of such a line, or of two cells.
_NUMBERED_WORDS = re.compile(r"(?P<number>[（(][0-9０-９]{1,2}[)）]|[①-⑳])[ \t　|]{0,8}(?P<title>[^\s。、:：|]{1,2})")
# The last is the front of an identifier whose number is still to be given: KA-.
_OPEN_VALUE = r"第[ \u3000]+版|[ \u3000]*年[ \u3000]+月[ \u3000]+日|未定|未記入|TBD|T\.B\.D\.?|[?？]{2,}|[A-Z]{2,6}-"
# Letters and rings in the place of a name or a date; elsewhere they may show a format.
_MASK = r"[xXｘＸ×]{2,}|[yY]{3,}|[zZ]{3,}|[○●◯〇＊*△]{2,}"
_LINE = re.compile(
    r"^[ \t　*_\-・●■◆]*+(?P<label>[^:：|\s*_](?:[^:：|\n*_]{0,18}[^:：|\s*_])?)[*_ \t　]*+[:：][*_ \t　]*+"
    r"(?P<value>[^\s*_](?:[^\n]{0,10}[^\s*_])?)[*_ \t　]*+$",
    re.M,
)
_PERSON_OR_DATE = re.compile(
    r"者|担当|氏名|名前|作成|承認|リーダー?|マネージャー?|責任|連絡先|部署|会社|日$|日付|時期|期間|期限|場所|予算|金額"
)
# What a cover says of its document; only some of it must be there, and the rest tells a label from a value.
_PARTICULAR = re.compile(
    r"(?:システム|サブシステム|プロジェクト|案件|文書|ドキュメント|機能|画面)(?:名称?|番号|種別|ID)|作成[者日]|改訂[者日]|更新[者日]|承認者|版数?"
)
_LABEL = re.compile(
    rf"(?:{_PARTICULAR.pattern}|分類|区分|種別|備考|承認|確認|検印|作成|改訂|ページ|頁|部署|所属|工程|会社名?)"
)
_OPEN_MARK = re.compile(
    r"(?:(?://|※|#)\s*)?(?<![A-Za-z_.`])(?:TODO|FIXME|TBD)\s*[:：][^\n|]{0,40}|[【\[（(](?:要確認|要検討|要調整|要記入|未定|未確定|確認中|検討中|調整中|TBD|TODO)[】\]）)]"
    r"|【[^】\n]{0,30}(?:記入|添付|記載|貼付|挿入|追記)(?:する|予定|のこと|してください|すること)?】"
    r"|(?:本書|本文書|本資料|この(?:文書|ドキュメント|資料|章|節|項))は、?[^。、\n]{0,12}(?:追記|作成|執筆|整備|検討)中(?:です|である)?(?=[。\s]|$)"
    r"|[\[［](?:会社|部門|部署|組織|団体|氏|担当者|作成者|承認者|システム|プロジェクト|案件|文書|製品)名[\]］](?![(（])"
    r"|(?<![xXｘＸ×○◯〇●])(?:[xXｘＸ×]{2,3}|[○◯〇●]{2,3})システム"
    r"|※\s*(?:要確認|要検討|未定|確認中|検討中|調整中)(?=[\s。|]|$)|[（(][〇○●]曜日[)）]|[〇○●]{1,2}月[〇○●]{1,2}日"
)
# A column of a list that says what its things are, and what is only filled in when something has happened.
_ASKED = re.compile(
    r"内容|概要|説明|名称?$|名$|機能|項目|要件|要求|仕様|定義|目的|関連|対応|参照|条件|基準|手順|方法|方式|型|桁|値|ID$|テーブル|TBL|画面|帳票|分類|種別|対象"
)
_FILLED_LATER = re.compile(
    r"備考|注記?|補足|摘要|メモ|コメント|結果|判定|実施|実績|確認|検証|承認|エラー|障害|不具合|対応[日者]|完了|回目|回答|初期値|既定値|デフォルト|例$|必須|任意|有無|可否|フラグ|キー|key"
)
_IDENTIFIER = re.compile(r"(?=.{0,3}[A-Za-zＡ-Ｚ])[A-Za-zＡ-Ｚ]{1,6}[-_]?[0-9０-９]{2,6}")
_MARKS = frozenset("○◯〇●◎×✕✓✔☑△▲*CRUDcrud")
_FEWEST_ROWS, _FEWEST_HEADS, _ROWS_SHOWN = 3, 3, 3
# What is counted and not named: （その他2テーブル）.
_UNNAMED = re.compile(
    r"(?<![一-龯々ぁ-んァ-ヴー])(?:その他|ほか|他)の?[0-9０-９]{1,3}(?:個|種類?|つ|項目|画面|テーブル|機能|帳票|拠点)(?=[)）\s|、。]|$)",
    re.MULTILINE,
)
_AROUND_MARK = " \t\n　（）()【】[]"
_COVER_TABLES, _LONGEST_COVER = 2, 8
_OPEN = re.compile(_OPEN_VALUE, re.I)
_WORDS = re.compile(r"[^\W\d_]")
_MASKED = re.compile(_MASK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfilled:
    """Neighbouring parts without content: what they are called, where they are, and by which texts they are told."""

    titles: tuple[str, ...]
    spans: tuple[Span, ...]
    texts: str = "finding"


def unfilled_parts(target: RuleInput) -> Iterator[Unfilled]:
    """Yield runs of bare sub-headings, and the labelled lines and the table cells whose value only holds a place."""
    skipped = apparatus(target.text, target.sections)
    blocks = [block for block in target.blocks if not inside(skipped, block.start)]
    yield from _bare_sub_headings(target.text, blocks)
    for block in blocks:
        if block.kind in (BlockKind.PARAGRAPH, BlockKind.LIST):
            lines = [
                match for match in _LINE.finditer(target.text, block.start, block.end) if _holds_place(**_of(match))
            ]
            if lines:
                spans = tuple(Span(start=each.start("label"), end=each.end("value")) for each in lines)
                yield Unfilled(titles=tuple(each["label"].strip() for each in lines), spans=spans)
    yield from _open_marks(target, blocks)
    yield from _unnamed(target, blocks)
    tables = read_tables(target.text, target.blocks)
    yield from _cover_labels(tables, target)
    for table in tables:
        if not inside(skipped, table.header.start):
            yield from _bare_columns(table)
            yield from _bare_members(table)
        cells = [
            (next(filter(_WORDS.search, (row.cells[0].text.strip(), head.text.strip())), ""), cell)
            for row in table.rows
            for head, cell in zip(table.header.cells, row.cells, strict=False)
            if not inside(skipped, cell.start) and _holds_place(head.text, cell.text.strip())
        ]
        if cells:
            spans = tuple(Span(start=cell.start, end=cell.end) for _, cell in cells)
            yield Unfilled(titles=tuple(dict.fromkeys(name for name, _ in cells)), spans=spans)


def _open_marks(target: RuleInput, blocks: list[Block]) -> Iterator[Unfilled]:
    """Yield all marks by which writers remember what is still to be written: TODO: …, 【要確認】."""
    kinds = (BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.TABLE)
    found = [
        match
        for block in blocks
        if block.kind in kinds and not is_placeholder(target.text[block.start : block.end].strip(_AROUND_MARK))
        for match in _OPEN_MARK.finditer(target.text, block.start, block.end)
    ]
    if found:
        spans = tuple(Span(start=match.start(), end=match.end()) for match in found)
        titles = tuple(dict.fromkeys(match.group().strip() for match in found))
        yield Unfilled(titles=titles, spans=spans, texts="open")


def _unnamed(target: RuleInput, blocks: list[Block]) -> Iterator[Unfilled]:
    """Yield what a list counts and does not name."""
    kinds = (BlockKind.LIST, BlockKind.TABLE)
    found = [
        match
        for block in blocks
        if block.kind in kinds
        for match in _UNNAMED.finditer(target.text, block.start, block.end)
    ]
    if found:
        spans = tuple(Span(start=match.start(), end=match.end()) for match in found)
        yield Unfilled(titles=tuple(dict.fromkeys(match.group() for match in found)), spans=spans, texts="unnamed")


def _cover_labels(tables: tuple[Table, ...], target: RuleInput) -> Iterator[Unfilled]:
    """Yield the labels of the cover's particulars that have no value beside or below them, where others have one."""
    for table in tables[:_COVER_TABLES]:
        rows = [table.header, *table.rows]
        if len(rows) > _LONGEST_COVER or sum(s.number is not None for s in target.sections if s.start < rows[0].start):
            continue
        grid = [[cell.text.strip() for cell in row.cells] for row in rows]
        labels = [
            (at, column) for at, row in enumerate(grid) for column, text in enumerate(row) if _LABEL.fullmatch(text)
        ]
        bare = [(at, column) for at, column in labels if not _value_beside(grid, at, column)]
        asked = [(at, column) for at, column in bare if _PARTICULAR.fullmatch(grid[at][column])]
        if asked and len(bare) < len(labels):
            cells = [rows[at].cells[column] for at, column in asked]
            spans = tuple(Span(start=cell.start, end=cell.end) for cell in cells)
            yield Unfilled(titles=tuple(cell.text.strip() for cell in cells), spans=spans)


def _bare_columns(table: Table) -> Iterator[Unfilled]:
    """Yield the columns that have a name and no cell with text; results and remarks are filled in later, or never."""
    rows = [row for row in table.rows if sum(bool(cell.text.strip()) for cell in row.cells) > 1]
    heads = [(at, head) for at, head in enumerate(table.header.cells) if head.text.strip()]
    if len(rows) < _FEWEST_ROWS or len(heads) < _FEWEST_HEADS:
        return
    # Below a name that spans several columns the text may stand in the next of them.
    heads = [(at, head) for at, head in heads if all(each.text.strip() for each in table.header.cells[at + 1 : at + 2])]
    bare = [
        head
        for at, head in heads
        if _ASKED.search(head.text)
        and not _FILLED_LATER.search(head.text)
        and not any(at < len(row.cells) and row.cells[at].text.strip() for row in rows)
    ]
    if bare and len(bare) * 2 < len(heads) and not _is_matrix(table):
        spans = tuple(Span(start=head.start, end=head.end) for head in bare)
        spans += tuple(Span(start=row.start, end=row.end) for row in rows[:_ROWS_SHOWN])
        yield Unfilled(titles=tuple(head.text.strip() for head in bare), spans=spans, texts="columns")


def _is_matrix(table: Table) -> bool:
    """Whether marks tell which row goes with which column, so that an empty column says none."""
    return are_marks([cell.text.strip() for row in table.rows for cell in row.cells[1:] if cell.text.strip()])


def are_marks(said: Sequence[str]) -> bool:
    """Whether more than half of what cells say is marks, ○ or CRUD."""
    return sum(text in _MARKS for text in said) * 2 > len(said)


def _bare_members(table: Table) -> Iterator[Unfilled]:
    """Yield the rows that have an identifier, or the name of what is to be described, and nothing else."""
    if len(table.header.cells) < _FEWEST_HEADS:
        return
    said = [[cell.text.strip() for cell in row.cells] for row in table.rows]
    bare = [
        (row, texts[at])
        for row, texts in zip(table.rows, said, strict=True)
        if (at := _identifier_at(texts)) is not None and not any(texts[at + 1 :])
    ]
    most = max((sum(map(bool, texts)) for texts in said), default=0)
    if bare and all(sum(bool(cell.text.strip()) for cell in row.cells) < most for row, _ in bare):
        spans = tuple(Span(start=row.start, end=row.end) for row, _ in bare)
        yield Unfilled(titles=tuple(name for _, name in bare), spans=spans, texts="members")


def _identifier_at(texts: list[str]) -> int | None:
    return next((at for at, text in enumerate(texts[:2]) if _IDENTIFIER.fullmatch(text)), None)


def _value_beside(grid: list[list[str]], at: int, column: int) -> bool:
    right = grid[at][column + 1] if column + 1 < len(grid[at]) else ""
    below = grid[at + 1][column] if at + 1 < len(grid) and column < len(grid[at + 1]) else ""
    return any(text and not _LABEL.fullmatch(text) for text in (right, below))


def _of(match: re.Match[str]) -> dict[str, str]:
    return {"label": match["label"], "value": match["value"]}


def _holds_place(label: str, value: str) -> bool:
    if _OPEN.fullmatch(value):
        return True
    return bool(_MASKED.fullmatch(value) and _PERSON_OR_DATE.search(label))


def _bare_sub_headings(text: str, blocks: list[Block]) -> Iterator[Unfilled]:
    """Yield runs of bare sub-headings; those whose number says the same again label what is described there."""
    bare = [
        (block, found)
        for block, following in zip_longest(blocks, blocks[1:])
        if block.kind is BlockKind.PARAGRAPH
        and (found := _SUB_HEADING.fullmatch(text[block.start : block.end].strip()))
        and (following is None or following.kind is BlockKind.HEADING or _begins_sub_heading(text, following))
    ]
    order = {block.start: at for at, block in enumerate(blocks)}
    written = Counter((each["number"], each["title"]) for each in _NUMBERED_WORDS.finditer(text) if bare)
    written.subtract(_begin(found) for _, found in bare)
    for _, run in groupby(enumerate(bare), key=lambda each: order[each[1][0].start] - each[0]):
        members = [each for _, each in run]
        is_labels = any(written[_begin(found)] > 0 for _, found in members)
        if len(members) > 1 and not is_labels:  # a single one may be an entry of its own
            spans = tuple(Span(start=block.start, end=block.end) for block, _ in members)
            yield Unfilled(titles=tuple(found["title"] for _, found in members), spans=spans)


def _begin(found: re.Match[str]) -> tuple[str, str]:
    begin = _NUMBERED_WORDS.match(found[0])
    return (begin["number"], begin["title"]) if begin else ("", "")


def _begins_sub_heading(text: str, block: Block) -> bool:
    first = text[block.start : block.end].strip().partition("\n")[0]
    return block.kind is BlockKind.PARAGRAPH and bool(_SUB_HEADING.fullmatch(first.strip()))
