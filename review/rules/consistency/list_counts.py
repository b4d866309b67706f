"""Numbers of things that a list elsewhere, or the line below, names: 部品（10 クラス） beside 部品一覧 with 15 rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from knowledge.text.folding import narrow
from knowledge.text.outline import apparatus, inside, unnumbered_title
from knowledge.text.structure import section_at
from knowledge.text.tables import Table, read_tables
from knowledge.types.documents import BlockKind, Section
from review.rules.consistency.enumerations import Enumerated, counts_of
from review.rules.consistency.fact_lists import is_compared, row_counts
from review.types import RuleInput

_TITLE = re.compile(r"(?P<of>[^\s、。・/()（）]{2,16})[ 　]?(?:の)?(?:一覧|リスト)表?")
_FEWEST_LISTED = 3
# What may follow the name: コントローラー（10 クラス）, Runbook 6 本, 帳票は全12種.
_NUMBER = re.compile(
    r"層?(?:[ ]?(?P<bracket>\()|は)?[ ]?(?:全部で|合計|全|計)?[ ]?(?<![0-9])(?P<n>[0-9]{1,3})[ ]?"
    r"(?:クラス|ファイル|モジュール|コンポーネント|本|件|個|種類?|つ)"
    r"(?!目|以上|以下|以内|程度|未満|まで|ずつ|ごと|/|中|のうち|から)(?(bracket)\))"
)
_SHORTEST, _LONGEST = 2, 16
_PART_OF_NAME = re.compile(r"[A-Za-z一-龯々ァ-ヴー]")
# 送信メタデータ（最低限の6項目）, with the names in the line below.
_ANNOUNCED = re.compile(
    r"^(?P<indent>[ \t]*)(?:[-*+・][ \t]+)?[^\n()]{1,40}\((?:[^()\n\d]{1,10}の)?"
    r"(?P<n>[2-9]|1[0-9])[ ]?(?:項目|つ|種類?|個|点)\):?[ \t]*\n"
    r"(?P<below>[ \t]+)(?:[-*+・][ \t]+)?(?P<names>[^\n:()]{5,200})$",
    re.MULTILINE,
)


def listed_counts(target: RuleInput) -> Iterator[Enumerated]:
    """Yield each number of things beside how many the list on them has, or the line below names."""
    skipped = apparatus(target.text, target.sections)
    plain = narrow(target.text)
    lists = _counted_lists(target)
    for match in _NUMBER.finditer(plain):
        start = _start_of_name(plain, match.start(), lists)
        if start is None or inside(skipped, start):
            continue
        counts, section = lists[plain[start : match.start()].casefold()]
        if not section.start <= start < section.end:
            yield Enumerated(stated=int(match["n"]), counts=tuple(sorted(counts)), start=start, end=match.end())
    for match in _ANNOUNCED.finditer(plain):
        is_below = len(match["below"].expandtabs()) > len(match["indent"].expandtabs())
        if is_below and not inside(skipped, match.start()) and (counted := counts_of(match["names"])):
            yield Enumerated(stated=int(match["n"]), counts=counted, start=match.start("n"), end=match.end("names"))


def _start_of_name(plain: str, end: int, names: Collection[str]) -> int | None:
    """Return where the longest of the names begins that ends there and is no part of a longer word."""
    for length in range(min(end, _LONGEST), _SHORTEST - 1, -1):
        start = end - length
        if plain[start:end].casefold() in names and not _PART_OF_NAME.match(plain[max(0, start - 1) : start]):
            return start
    return None


def _counted_lists(target: RuleInput) -> dict[str, tuple[set[int], Section]]:
    """Return by the folded name of their things how many each list has, and its section; no name twice."""
    every = [(narrow(name).casefold(), row_counts(table), section) for name, table, section in _lists(target)]
    times = Counter(name for name, _, _ in every)
    return {
        name: (counts, section)
        for name, counts, section in every
        if times[name] == 1 and max(counts, default=0) >= _FEWEST_LISTED
    }


def _lists(target: RuleInput) -> Iterator[tuple[str, Table, Section]]:
    """Yield the lists of things that have a section of their own, with what they list; what facts compare is left."""
    skipped = apparatus(target.text, target.sections)
    tables = [block for block in target.blocks if block.kind is BlockKind.TABLE]
    for table in read_tables(target.text, target.blocks):
        section = section_at(target.sections, table.header.start)
        if section is None or inside(skipped, table.header.start):
            continue
        title = unnumbered_title(section.title).strip()
        found = _TITLE.fullmatch(re.sub(r"^§[0-9][0-9.-]*\s*", "", title))
        if not found or is_compared(title):
            continue
        if sum(section.start <= block.start < section.end for block in tables) == 1:
            yield found["of"], table, section
