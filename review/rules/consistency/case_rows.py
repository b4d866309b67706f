"""Test cases that are at odds with themselves, or that were copied from the cases of something else."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from knowledge.text.folding import fold_compact
from knowledge.text.outline import apparatus, inside
from knowledge.text.tables import Cell, Row, Table, read_tables
from knowledge.types.documents import Block, Section
from review.rules.consistency.contradictions import Contradiction
from review.types import Span

_ITEM_HEAD = re.compile(r"(?:テスト|試験|確認|検証|チェック)?(?:項目|観点|ケース)名?$|タイトル|概要$")
_STEPS_HEAD = re.compile(r"手順|操作|(?:テスト|試験|実施)内容|ステップ|steps?", re.IGNORECASE)
_RESULT_HEAD = re.compile(r"(?:期待|想定|予想|予期|予測)(?:する|した|される)?(?:結果|値|動作)|expected", re.IGNORECASE)
_PRESSED = re.compile(
    r"(?:^|(?<=[\s、。でをにのは「『\"“]))(?P<name>[^\s、。「」『』\"”“をにはがで]{1,16}?)[」』\"”]?(?:ボタン|キー|リンク)[」』\"”]?を"
    r"(?:押|クリック|選択|タップ)"
)
_RIGHT = re.compile(r"(?:^|[、。\n>])(?P<fields>[^、。\n>]{2,40}?)に(?:は)?正し(?:い|く)")
_CALLED_WRONG = re.compile(
    r"[「『](?P<field>[^「」『』]{2,20}?)[がは](?:間違|誤|不正|正しくあり|正しくな|無効|一致しま|一致しない)"
)
_WORD = re.compile(r"[一-龯々]{2,}|[ァ-ヴー]{3,}|[A-Za-z]{3,}")
_OF_ANY = frozenset(["機能", "画面", "テスト", "処理", "確認", "正常系", "異常系", "その他", "共通"])
_SHORTEST_COPY, _PAIR = 30, 2
_LONGEST_NAME = 100


def cases_at_odds(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> Iterator[Contradiction]:
    """Yield the test cases whose steps don't do what their item says, or expect what the steps rule out, and copies."""
    skipped = apparatus(text, sections)
    for table in read_tables(text, blocks):
        steps, result = table.column(_STEPS_HEAD), table.column(_RESULT_HEAD)
        if steps is None or result is None or inside(skipped, table.header.start):
            continue
        item = table.column(_ITEM_HEAD)
        for row in table.rows:
            if max(steps, result) >= len(row.cells):
                continue
            if item is not None and item not in (steps, result):
                yield from _pressing_another(row.cells[item], row.cells[steps])
            yield from _right_and_wrong(row.cells[steps], row.cells[result])
        yield from _copies(table, steps)


def _pressing_another(item: Cell, steps: Cell) -> Iterator[Contradiction]:
    """An item on the OK button whose steps press another one, and never that."""
    named = {match["name"] for match in _PRESSED.finditer(item.text)}
    pressed = {match["name"] for match in _PRESSED.finditer(steps.text)}
    if len(named) == 1 and pressed and fold_compact(name := named.pop()) not in fold_compact(steps.text):
        yield _between(name, item, steps)


def _right_and_wrong(steps: Cell, result: Cell) -> Iterator[Contradiction]:
    """A result that calls wrong what the steps fill in rightly."""
    wrong = dict.fromkeys(match["field"] for match in _CALLED_WRONG.finditer(result.text))
    longest = max(map(len, wrong), default=0)
    right = (match["fields"] for match in _RIGHT.finditer(steps.text)) if wrong else ()
    filled = {part for fields in right for part in _parts(fields, longest) if part in wrong}
    if field := next((field for field in wrong if field in filled), None):
        yield _between(field, steps, result)


def _parts(fields: str, longest: int) -> Iterator[str]:
    """Yield every part of what a match names, which is short: of two characters up to a length."""
    for start in range(len(fields)):
        yield from (fields[start:end] for end in range(start + 2, min(start + longest, len(fields)) + 1))


def _copies(table: Table, steps: int) -> Iterator[Contradiction]:
    """Steps that two groups of cases share, of which one group's name is in them and the other's is not."""
    same: dict[str, list[tuple[str, Row]]] = defaultdict(list)
    group = ""
    for row in table.rows:
        group = row.cells[0].text.strip() or group
        if steps and steps < len(row.cells) and len(row.cells[steps].text) >= _SHORTEST_COPY:
            same[fold_compact(row.cells[steps].text)].append((group, row))
    for words, rows in same.items():
        if len(rows) != _PAIR or rows[0][0] == rows[1][0]:
            continue
        speaks = [any(_is_word_of(words, fold_compact(word)) for word in _words(name)) for name, _ in rows]
        if speaks.count(True) == 1 and all(_words(name) for name, _ in rows):
            copied = rows[speaks.index(False)]
            places = tuple(Span(start=row.cells[steps].start, end=row.cells[steps].end) for _, row in rows)
            shown = tuple(f"{name}: {row.cells[steps].text}" for name, row in rows)
            yield Contradiction(kind="copied", name=copied[0], written=shown, places=places)


def _words(group: str) -> set[str]:
    """Return the words of a group's name; a long text is none, and has none."""
    return set(_WORD.findall(group)) - _OF_ANY if len(group) <= _LONGEST_NAME else set()


def _is_word_of(words: str, word: str) -> bool:
    """Whether it stands there as a word: ユーザー is none of ユーザーネーム."""
    return re.search(rf"(?<![ァ-ヴーa-z]){re.escape(word)}(?![ァ-ヴーa-z])", words) is not None


def _between(name: str, one: Cell, other: Cell) -> Contradiction:
    return Contradiction(
        kind="case",
        name=name,
        written=(one.text, other.text),
        places=(Span(start=one.start, end=one.end), Span(start=other.start, end=other.end)),
    )
