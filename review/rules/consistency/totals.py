"""Totals that do not add up, and announced counts that the list below does not keep."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from knowledge.text.folding import narrow
from knowledge.text.numerals import read_numeral
from knowledge.text.outline import apparatus, inside, place
from knowledge.text.tables import Cell, Row, Table, read_table, read_tables
from knowledge.types.documents import BlockKind
from review.rules.base import finding, rule, skipped
from review.rules.consistency.enumerations import enumerations
from review.rules.consistency.fact_lists import row_counts
from review.rules.consistency.list_counts import listed_counts
from review.rules.consistency.quantities import find_amounts
from review.rules.prose import read_prose
from review.rules.structure.headings import heading_span
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

_TOTAL = re.compile(r"(?:総)?合計(?:\s*[(（].*)?|総計|計|total", re.IGNORECASE)
_EXCLUDED = re.compile(r"\((?P<name>[^()]{2,20}?)(?:は|を)?(?:除く|除き|含まない|含まず|対象外)\)")
_SUBTOTAL = re.compile(r"小計|中計|subtotal", re.IGNORECASE)
# Rates, means and running numbers are not added up.
_NOT_ADDED = re.compile(
    r"率|平均|単価|割合|比|[%％]|番号|No\.?|ID|累計|残|版|日|月|優先|レベル|average|mean|rate", re.IGNORECASE
)
_NUMBER = re.compile(r"([+\-△▲]?)\s*([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(\.[0-9]+)?\s*([^\s0-9.,]{0,4})")
_EMPTY = frozenset({"", "-", "－", "―", "—", "ー", "–", "なし"})
_COUNT_WORD = r"つ|点|種類?|項目|個|件|段階|層|要素|機能|原則|観点|区分|分類|フェーズ|ステップ|レベル|工程|画面|条件"
_FEW = r"[0-9]{1,2}|[二三四五六七八九]"
_ANNOUNCED = re.compile(
    rf"(?:次|以下|下記)(?:の|に示す|に挙げる)\s*({_FEW})\s*(?:{_COUNT_WORD})(?!目|以上|以下|程度)[^。\n]{{0,40}}[。:]?\s*$"
)
# 移すファイルは、次の5件とする。, with the table right below.
_ANNOUNCED_ROWS = re.compile(
    rf"(?:次|以下|下記)の\s?({_FEW})\s?(?:{_COUNT_WORD}|本|表|名|人|台|社|か所|箇所|[ァ-ヴー]{{2,12}})"
    r"(?!目|以上|以下|程度|のうち|の中|から|または|又は|いずれ)[^。\n]{0,40}(?:。|:|$)"
)
# 本システムは3つの機能で構成する。, with the list right below.
_MADE_OF = re.compile(
    rf"(?<![0-9第])({_FEW})\s*(?:つ|種類|段階|層|機能|区分|工程|画面)(?!目)(?:の[^\s。、]{{1,12}}?)?"
    r"(?:で構成|から(?:成|な|構成)|があ|に(?:分|大別|区分|分類)|を(?:提供|備|持|用意))[^。\n、]{0,16}[。:]?\s*$"
)
_HEADED = re.compile(rf"(?<![0-9第])({_FEW})\s*(?:つ|個|種類|段階|大)の?[一-龯ァ-ヴー]{{2,10}}$")
# 15名（職員9名、委託先5名）
_WITH_PARTS = re.compile(r"\((?P<parts>[^()\n]{4,60})\)")
_NO_PARTS = re.compile(
    r"うち|以上|以下|以内|程度|約|最大|平均|[0-9]\s*[~〜-]\s*[0-9]|[×x*/]|各|ずつ|または|又は|予備|別途|除"
)
# 機能は全部で8件である, beside a table of 機能.
_COUNTED = re.compile(
    r"(?P<what>[一-龯々ァ-ヴー]{2,12})(?:の(?:数|総数|件数))?は、?(?:全部で|合計で?|全て?で|全|計)\s*(?P<n>[0-9]{1,3})\s*"
    r"(?:件|個|種類|項目|つ|機能|画面|本|表)(?=です|である|とする|とします|あり|ある|[。、\n]|$)"
)
_ITEM = re.compile(r"^(?P<indent>[ \t]*)(?:[-*+]|[0-9]+[.)]|[①-⑳]|\([0-9]+\))[ \t]*\S", re.MULTILINE)
_FEWEST_ADDED = 2
_NEAR = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Mismatch:
    """A stated total and what its parts come to."""

    name: str
    stated: str
    counted: str
    parts: int
    places: tuple[Span, ...]


@rule("consistency.total_mismatch", tags=("consistency",))
def total_mismatch(target: RuleInput) -> RuleOutcome:
    """Report each total in a table, and each announced count, that differs from what is there."""
    checked = [
        *_table_totals(target),
        *_announced(target),
        *_announced_rows(target),
        *_headed(target),
        *_counted_rows(target),
        *_with_parts(target),
        *_enumerated(target),
    ]
    if not checked:
        return skipped("no_totals")
    findings = tuple(_finding(target, found) for found in checked if found.stated != found.counted)
    return RuleOutcome(findings=findings, examined=len(checked))


def _table_totals(target: RuleInput) -> Iterator[Mismatch]:
    skipped = apparatus(target.text, target.sections)
    for table in read_tables(target.text, target.blocks):
        if not inside(skipped, table.header.start):
            yield from _total_rows(table)
            yield from _total_columns(table)


def _total_rows(table: Table) -> Iterator[Mismatch]:
    """Check each 合計 row against the rows since the one before; subtotals are no parts where a total covers them."""
    parts: list[Row] = []
    for row in table.rows:
        name = _label(row)
        if _SUBTOTAL.match(name):
            continue
        if not _TOTAL.fullmatch(name):
            parts.append(row)
            continue
        for index, header in enumerate(table.header.cells):
            if index < len(row.cells) and not _NOT_ADDED.search(header.text):
                cells = [part.cells[index] for part in _counted_in(name, parts) if index < len(part.cells)]
                yield from _compared(f"{name}・{header.text}" if header.text else name, row.cells[index], cells)
        parts = []


def _counted_in(name: str, parts: list[Row]) -> list[Row]:
    """Leave out the rows that a total names as left out: 合計（UTを除く）."""
    excluded = _EXCLUDED.search(narrow(name))
    return [part for part in parts if excluded is None or excluded["name"] not in narrow(_label(part))]


def _label(row: Row) -> str:
    """Return the first cell with words, since a 合計 row often leaves the number column empty."""
    return next((cell.text.strip() for cell in row.cells if cell.text.strip()), "")


def _total_columns(table: Table) -> Iterator[Mismatch]:
    headers = [cell.text.strip() for cell in table.header.cells]
    at = next((index for index, header in enumerate(headers) if _TOTAL.fullmatch(header)), None)
    if at is None or at != len(headers) - 1:
        return
    for row in table.rows:
        if len(row.cells) == len(headers):
            summed = [c for c, header in zip(row.cells[:at], headers, strict=False) if not _NOT_ADDED.search(header)]
            numeric = [cell for cell in summed[1:] if _value(cell) is not None or cell.text.strip() in _EMPTY]
            yield from _compared(f"{_label(row)}・{headers[at]}", row.cells[at], numeric)


def _compared(name: str, total: Cell, parts: list[Cell]) -> Iterator[Mismatch]:
    stated = _value(total)
    values = [_value(part) for part in parts if part.text.strip() not in _EMPTY]
    if stated is None or len(values) < _FEWEST_ADDED or any(value is None for value in values):
        return
    units = {value[1] for value in values if value} | {stated[1]}
    if len(units - {""}) > 1:
        return
    counted = sum((value[0] for value in values if value), Decimal(0))
    yield Mismatch(
        name=name,
        stated=_plain(stated[0]),
        counted=_plain(counted),
        parts=len(values),
        places=(Span(start=total.start, end=total.end),),
    )


def _value(cell: Cell) -> tuple[Decimal, str] | None:
    """Return the one number of a cell with its unit: 1,200円 is (1200, 円); a cell that says more has none."""
    match = _NUMBER.fullmatch(narrow(cell.text).strip().lstrip("¥$約").strip())
    if not match:
        return None
    amount = Decimal(match[2].replace(",", "") + (match[3] or ""))
    return (-amount if match[1] in ("-", "△", "▲") else amount), match[4]


def _plain(number: Decimal) -> str:
    return f"{number.normalize():,f}"


def _announced(target: RuleInput) -> Iterator[Mismatch]:
    plain = narrow(target.text)
    for before, after in pairwise(target.blocks):
        if before.kind is not BlockKind.PARAGRAPH or after.kind is not BlockKind.LIST:
            continue
        match = _ANNOUNCED.search(plain, before.start, before.end) or _MADE_OF.search(plain, before.start, before.end)
        if not match:
            continue
        stated = read_numeral(match[1])
        items = list(_ITEM.finditer(plain, after.start, after.end))
        shallowest = min((len(item["indent"]) for item in items), default=0)
        counted = sum(1 for item in items if len(item["indent"]) == shallowest)
        place_of = Span(start=match.start(), end=match.start() + len(match.group().rstrip()))
        name = target.text[place_of.start : place_of.end].rstrip("。:：")
        yield Mismatch(name=name, stated=str(stated), counted=str(counted), parts=counted, places=(place_of,))


def _announced_rows(target: RuleInput) -> Iterator[Mismatch]:
    """Hold the number of things that a paragraph announces against the rows of the table right below it."""
    plain = narrow(target.text)
    for before, after in pairwise(target.blocks):
        if before.kind is not BlockKind.PARAGRAPH or after.kind is not BlockKind.TABLE:
            continue
        match, table = _ANNOUNCED_ROWS.search(plain, before.start, before.end), read_table(target.text, after)
        if not match or table is None or not (counts := row_counts(table)):
            continue
        stated = read_numeral(match[1])
        counted = stated if stated in counts else max(counts)
        span = Span(start=match.start(), end=match.end())
        name = target.text[span.start : span.end].rstrip("。:：")
        yield Mismatch(name=name, stated=str(stated), counted=str(counted), parts=max(counts), places=(span,))


def _headed(target: RuleInput) -> Iterator[Mismatch]:
    """Hold the number in a heading, 3つの方針, against the sections below it, or the list that it begins with."""
    below = Counter(section.parent_id for section in target.sections)
    for section in target.sections:
        match = _HEADED.search(narrow(section.title).strip())
        children = below[section.id]
        if not match or children < _FEWEST_ADDED:
            continue
        title = heading_span(target.text, section)
        stated = str(read_numeral(match[1]))
        name = section.title.strip()
        yield Mismatch(name=name, stated=stated, counted=str(children), parts=children, places=(title,))


def _with_parts(target: RuleInput) -> Iterator[Mismatch]:
    """Add up the parts that a total names in brackets, where all of them have its unit."""
    masked = narrow(read_prose(target.text, target.blocks).masked)
    for match in _WITH_PARTS.finditer(masked):
        before = list(find_amounts(masked, max(0, match.start() - _NEAR), match.start()))
        if not before or before[-1][1] < match.start() - 1 or _NO_PARTS.search(match["parts"]):
            continue
        start, _, total = before[-1]
        parts = list(find_amounts(masked, match.start("parts"), match.end("parts")))
        leads = [masked[match.start("parts") : parts[0][0]]] if parts else []
        leads += [masked[one[1] : other[0]] for one, other in pairwise(parts)]
        is_listed = all(re.search(r"[^\W\d_]", lead) for lead in leads)
        if (
            len(parts) < _FEWEST_ADDED
            or not is_listed
            or total.bound
            or any(p.dimension != total.dimension for *_, p in parts)
        ):
            continue
        counted = sum((part.value for *_, part in parts), Decimal(0))
        span = Span(start=start, end=match.end())
        yield Mismatch(
            name=target.text[span.start : span.end],
            stated=_plain(total.value),
            counted=_plain(counted),
            parts=len(parts),
            places=(span,),
        )


def _enumerated(target: RuleInput) -> Iterator[Mismatch]:
    """Hold a number against the names beside it, or the list on them; any way in which they may be counted agrees."""
    prose = read_prose(target.text, target.blocks)
    skipped = apparatus(target.text, target.sections)
    for found in (*enumerations(prose, narrow(prose.masked)), *listed_counts(target)):
        if inside(skipped, found.start):
            continue
        counted = found.stated if found.stated in found.counts else max(found.counts)
        name = " ".join(target.text[found.start : found.end].split())
        span = Span(start=found.start, end=found.end)
        yield Mismatch(name=name, stated=str(found.stated), counted=str(counted), parts=counted, places=(span,))


def _counted_rows(target: RuleInput) -> Iterator[Mismatch]:
    """Hold a stated number of things against the rows of the table right before or after, if it names them so."""
    plain = narrow(target.text)
    for one, other in pairwise(target.blocks):
        for said, listed in ((one, other), (other, one)):
            if said.kind is not BlockKind.PARAGRAPH or listed.kind is not BlockKind.TABLE:
                continue
            match, table = _COUNTED.search(plain, said.start, said.end), read_table(target.text, listed)
            if not (match and table) or not any(match["what"] in cell.text for cell in table.header.cells):
                continue
            rows = [row for row in table.rows if not _TOTAL.fullmatch(_label(row))]
            span = Span(start=match.start(), end=match.end())
            name, counted = target.text[span.start : span.end], str(len(rows))
            yield Mismatch(name=name, stated=match["n"], counted=counted, parts=len(rows), places=(span,))


def _finding(target: RuleInput, found: Mismatch) -> FindingDraft:
    where = place(target.sections, found.places[0].start)
    return finding(
        "consistency.total_mismatch",
        severity=Severity.MAJOR,
        key=f"{where}:{found.name}",
        evidence=found.places,
        data={"item": found.name, "stated": found.stated, "counted": found.counted},
        words={
            "where": where,
            "name": found.name,
            "stated": found.stated,
            "counted": found.counted,
            "parts": found.parts,
        },
        example=found.counted,
    )
