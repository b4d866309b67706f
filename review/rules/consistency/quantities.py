"""Quantities that a document states: what is measured, how much, and in what sense."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from knowledge.text.folding import fold_compact, narrow
from knowledge.text.outline import apparatus, inside, unnumbered_title
from knowledge.text.structure import section_at
from knowledge.text.tables import Row, Table, read_tables
from knowledge.types.documents import Block, BlockKind, Section
from review.rules.base import shipped
from review.rules.consistency.fact_names import BRACKETS, LONGEST_NAMING, OF_A_KIND
from review.rules.prose import read_prose

_LINE = re.compile(
    r"^[ \t]*(?P<label>[^\s:：|。、][^:：|。\n]{1,24}?)[ \t]*[:：][ \t]*(?P<value>[^|\n]{1,80})$", re.MULTILINE
)
_INLINE = re.compile(
    rf"(?P<label>{OF_A_KIND}"
    r"(?:[一-龯々ァ-ヴーA-Za-z0-9]{2,16}の)?[一-龯々ァ-ヴーA-Za-z][一-龯々ァ-ヴーA-Za-z0-9・]{1,18}(?:時間|数|率|量|期間|速度|容量|間隔|回数|頻度|レート|時点|金額|費用|上限|下限|サイズ))"
    r"[ \t]*(?:は|が|を)[、 \t]*(?P<value>[^。、\n|]{1,30})"
)
# 写真は1枚当たり5MBまでとする: what is limited, per what, and the limit.
_LIMIT = re.compile(
    r"(?P<label>[一-龯々ァ-ヴー]{2,16}(?:の[一-龯々ァ-ヴー]{2,10})?)は[、 \t]*"
    r"(?:[1一][^。、\n|]{1,20}、)??(?P<per>[1一]\s*[^\s\d、。は]{1,3}(?:当たり|あたり|につき))"
    r"[、 \t]*(?P<value>[^。、\n|]{1,20}(?:まで|以内|以下|以上|とする|とします))"
)
# 市内の指定避難所62か所: a kind of place with its number.
_PLACES = re.compile(
    r"(?<![一-龯々ァ-ヴー])(?P<label>[一-龯々ァ-ヴー]{3,16})(?P<value>[0-9]{1,3}(?:,[0-9]{3})*(?:[かカヶヵ]所|箇所|施設|校|園|館))"
    r"(?![一-龯々])"
)
_GENERAL = re.compile(r"^(?:本?システム|全体|本書|各[一-龯ァ-ヴー]+)の(?=.{2})")
_RESULT = re.compile(r"^[ \t]*(?P<label>[A-Za-z][A-Za-z ]{2,20}):[ \t]+(?P<value>[0-9]+ passed)", re.MULTILINE)
_VALUE_COLUMN = re.compile(r"値|目標|現状|実績|基準|要求|数|規模|性能|期間|期待|target|value|actual", re.IGNORECASE)
_NAME_COLUMN = re.compile(r"指標|項目|要件|カテゴリ|名称|メトリク|特性|item|metric", re.IGNORECASE)
_ID_CELL = re.compile(r"[A-Z]{1,6}(?:-[A-Z]{1,6})*-?\d+|\d+")
_SENSE = {
    "goal": re.compile(r"目標|要件|要求|基準|期待|計画|予定|合格|見込|target|goal|threshold", re.IGNORECASE),
    "actual": re.compile(r"現状|実績|実測|達成|結果|現在|actual|current|passed", re.IGNORECASE),
}
_BEFORE = {
    "max": re.compile(r"(?:最大|上限|最長|≤|<=|≦|<)\s*\$?$"),
    "min": re.compile(r"(?:最小|最低|下限|最短|≥|>=|≧|>)\s*\$?$"),
    "mean": re.compile(r"(?:平均|通常|標準)\s*\$?$"),
    "other": re.compile(r"(?:中間|一部|うち|各)\s*$"),
}
_AFTER = {"max": re.compile(r"\s*+(?:以下|以内|未満|まで)"), "min": re.compile(r"\s*+(?:以上|超|より多|\+)")}
_STRIPPED = re.compile(
    r"(?:目標値?|現状|実績値?|実測値?|最大|最小|平均|基準値?|要件|の)+$|^(?:目標|現状の?|実測|最大|最小|平均|全)"
)
# A longer cell names no quantity.
_LONGEST_NAME = 200
# 14.8% → 35.9%, 4 + 1 件: how a value came to be, and not what it is.
_HISTORY = re.compile(r"→|⇒|[0-9]\s*\+\s*[0-9]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """One number in base units. ``bound`` is max, min, mean, range, other or '' (exactly)."""

    value: Decimal
    dimension: str
    bound: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """What a document says of one label at one place.

    ``sense`` tells a goal from a measured value, '' where the text does not. ``section`` is the id of the section.
    """

    label: str
    name: str
    written: str
    amounts: tuple[Amount, ...]
    sense: str
    section: str
    start: int
    end: int


@lru_cache(maxsize=8)
def read_quantities(text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> tuple[Quantity, ...]:
    """Return the quantities of labelled lines, table rows, sentences and printed test results, in document order."""
    reader = _Reader(text, sections, blocks)
    found = [*reader.lines(), *reader.rows(), *reader.results()]
    generic = generic_labels()
    # What a line headed 説明 says of a quantity is read as any sentence is.
    named = [each for each in found if each.label not in generic]
    taken = {position for each in named for position in range(each.start, each.end)}
    found += [each for each in reader.sentences() if each.start not in taken]
    return tuple(sorted(found, key=lambda each: (each.start, each.label)))


def amounts(written: str) -> tuple[Amount, ...]:
    """Return the numbers with units in ``written``, in order, in base units.

    >>> [(str(a.value), a.dimension, a.bound) for a in amounts("通常100MB以下、3秒以内")]
    [('104857600', 'size', 'max'), ('3', 'time', 'max')]
    """
    return tuple(amount for _, _, amount in find_amounts(narrow(written)))


def find_amounts(plain: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int, Amount]]:
    """Yield the numbers with units of a narrow text with where they stand, in order; a range is its last, then first.

    What limits one may stand a few characters before or behind it.
    """
    for match in _amount_pattern().finditer(plain, start, len(plain) if end is None else end):
        before, after = plain[max(start, match.start() - 6) : match.start()], plain[match.end() : match.end() + 4]
        dimension, factor = ("money", Decimal(1)) if match["dollar"] else _units()[match["unit"]]
        bound = "range" if match["from"] else _bound(before, after)
        value = Decimal(match["n"].replace(",", "")) * factor
        yield match.start(), match.end(), Amount(value=value, dimension=dimension, bound=bound)
        if match["from"]:
            low = Decimal(match["from"].replace(",", "")) * factor
            yield match.start(), match.end(), Amount(value=low, dimension=dimension, bound="range")


@lru_cache(maxsize=1)
def _units() -> dict[str, tuple[str, Decimal]]:
    return {
        unit: (dimension, Decimal(factor))
        for dimension, units in shipped("quantities")["units"].items()
        if dimension != "why"
        for unit, factor in units.items()
    }


@lru_cache(maxsize=1)
def _amount_pattern() -> re.Pattern[str]:
    units = "|".join(re.escape(unit) for unit in sorted(_units(), key=len, reverse=True))
    number = r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?"
    return re.compile(
        rf"(?<![0-9.A-Za-z\-/])(?:(?P<from>{number})\s*(?:{units})?\s*[〜~～\-]\s*)?"
        rf"(?:(?P<dollar>\$)\s*)?(?P<n>{number})\s*(?:(?(dollar)|(?P<unit>{units})(?![A-Za-z])))(?!目|[0-9])"
    )


def _bound(before: str, after: str) -> str:
    if before.rstrip().endswith("平均"):  # 平均2秒以内 limits the mean
        return "mean"
    for bound, pattern in _AFTER.items():
        if pattern.match(after):
            return bound
    return next((bound for bound, pattern in _BEFORE.items() if pattern.search(before)), "")


@lru_cache(maxsize=1)
def generic_labels() -> frozenset[str]:
    """Return the folded labels that name no quantity: 説明, 備考."""
    return frozenset(fold_compact(label) for label in shipped("quantities")["generic"]["labels"])


@lru_cache(maxsize=1)
def _canonical() -> dict[str, str]:
    groups = shipped("quantities")["synonyms"]["groups"]
    return {fold_compact(name): fold_compact(group[0]) for group in groups for name in group}


def label_of(written: str) -> str:
    """Return the comparable name of a quantity: folded, without brackets and words of sense, synonyms as one.

    >>> label_of("**目標カバレッジ**（行）"), label_of("テスト件数"), label_of("起動時間の目標値")
    ('カバレッジ', 'テスト総数', '起動時間')
    """
    bare = _GENERAL.sub("", BRACKETS.sub("", narrow(written).replace("*", "")).strip())
    while len(bare) <= _LONGEST_NAME and bare != (shorter := _STRIPPED.sub("", bare)) and shorter:
        bare = shorter
    folded = fold_compact(bare)
    return _canonical().get(folded, folded)


class _Reader:
    def __init__(self, text: str, sections: tuple[Section, ...], blocks: tuple[Block, ...]) -> None:
        self._text, self._sections, self._blocks = text, sections, blocks
        self._skipped = apparatus(text, sections)
        self._masked = narrow(read_prose(text, blocks).masked)

    def lines(self) -> Iterator[Quantity]:
        for block in self._blocks:
            if block.kind in (BlockKind.LIST, BlockKind.PARAGRAPH):
                for match in _LINE.finditer(self._masked, block.start, block.end):
                    yield from self._quantity(match["label"], match, self._heading_sense(match.start()))

    def sentences(self) -> Iterator[Quantity]:
        for match in _INLINE.finditer(self._masked):
            yield from self._quantity(match["label"], match, "")
        for match in _LIMIT.finditer(self._masked):
            yield from self._quantity(match["label"] + match["per"], match, "")
        for match in _PLACES.finditer(self._masked):
            yield from self._quantity(match["label"], match, "")

    def results(self) -> Iterator[Quantity]:
        for block in self._blocks:
            if block.kind is BlockKind.CODE:
                for match in _RESULT.finditer(self._text, block.start, block.end):
                    yield from self._quantity(match["label"], match, "actual")

    def rows(self) -> Iterator[Quantity]:
        for table in read_tables(self._text, self._blocks):
            at = name_column(table)
            names = Counter(row.cells[at].text for row in table.rows if at < len(row.cells))
            for row in table.rows:
                if at < len(row.cells) and names[row.cells[at].text] == 1:
                    yield from self._cells(table, row, at)

    def _cells(self, table: Table, row: Row, at: int) -> Iterator[Quantity]:
        for header, cell in zip(table.header.cells, row.cells, strict=False):
            head = header.text[:LONGEST_NAMING]
            if cell is row.cells[at] or not _VALUE_COLUMN.search(head):
                continue
            found = () if _HISTORY.search(cell.text) else amounts(cell.text)
            if found and not inside(self._skipped, cell.start):
                yield self._made(row.cells[at].text, cell.start, cell.end, found, _sense(head))

    def _quantity(self, label: str, match: re.Match[str], sense: str) -> Iterator[Quantity]:
        found = amounts(match["value"])
        if found and not inside(self._skipped, match.start()):
            start = match.start("label")
            end = match.start("value") + len(match["value"].rstrip())
            yield self._made(label, start, end, found, _sense(f"{label} {match['value']}") or sense)

    def _made(self, name: str, start: int, end: int, found: tuple[Amount, ...], sense: str) -> Quantity:
        section = section_at(self._sections, start)
        return Quantity(
            label=label_of(name),
            name=name.replace("*", "").strip(),
            written=self._text[start:end].replace("*", "").strip(),
            amounts=found,
            sense=sense,
            section=section.id if section else "",
            start=start,
            end=end,
        )

    def _heading_sense(self, offset: int) -> str:
        """A list of values has the sense of the line above it (カバレッジ現状:), else of its heading."""
        section = section_at(self._sections, offset)
        above = self._text[max(0, offset - 400) : offset].rstrip().rpartition("\n\n")[0].rpartition("\n")[2]
        return _sense(
            above
            if above.rstrip("* ").endswith((":", "："))
            else unnumbered_title(section.title)[:LONGEST_NAMING]
            if section
            else ""
        )


def _sense(words: str) -> str:
    return next((sense for sense, pattern in _SENSE.items() if pattern.search(words)), "")


def name_column(table: Table) -> int:
    """Return the column that names the rows: the first, or the second where the first holds identifiers."""
    firsts = [row.cells[0].text.strip() for row in table.rows if row.cells]
    if firsts and all(_ID_CELL.fullmatch(first) for first in firsts):
        return table.column(_NAME_COLUMN) or 1
    return 0
