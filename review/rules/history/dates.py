"""Dates that contradict each other: histories that run backwards, periods that end before they start."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from hub.core.texts import Text
from knowledge.text.dates import find_days, first_day
from knowledge.text.folding import narrow
from knowledge.text.outline import apparatus, inside, place
from knowledge.text.tables import read_tables
from knowledge.types.documents import BlockKind
from review.rules.findings import finding, skipped
from review.rules.history.edition import Stated, read_edition
from review.rules.registry import rule
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

_UNTIL = re.compile(r"\s*+(?:\([月火水木金土日]\))?\s*+(?:〜|~|から|–|—|-)\s*+")
# What had happened by a day was written on that day or later; deadlines and plans lie ahead by nature.
_DONE = r"実施|実行|測定|計測|確認|完了|決定|承認"
_AS_OF = re.compile(
    rf"\s*+(?:時点|現在|の?(?:実施|実行|測定|計測|テスト|試験|確認)?結果|に(?:{_DONE})(?:した|済)|(?:{_DONE})済)"
)
_AHEAD = re.compile(r"予定|計画|見込|期限|目標|まで")
_NEARBY = 12
_FROM_COLUMN = re.compile(r"開始(?:予定)?(?:日|年月日)|着手(?:予定)?日|^開始$|^自$|start", re.IGNORECASE)
_TO_COLUMN = re.compile(r"(?:終了|完了)(?:予定)?(?:日|年月日)|^(?:終了|完了)$|^至$|end", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disorder:
    """Two dates in the wrong order; ``what`` tells which kind of pair they are."""

    what: Text
    first: str
    second: str
    places: tuple[Span, ...]


@rule("consistency.date_order", tags=("consistency", "version_management"))
def date_order(target: RuleInput) -> RuleOutcome:
    """Report each pair of dates that cannot both be right; several statements after the last update are one."""
    checked, found = 0, []
    for pairs in (_history(target), _cover_days(target), _periods(target), _columns(target), _after_update(target)):
        for disorder in pairs:
            checked += 1
            if disorder:
                found.append(disorder)
    if not checked:
        return skipped("no_dates")
    findings = sorted((_finding(target, each) for each in found), key=lambda finding: finding.evidence[0].start)
    return RuleOutcome(findings=tuple(findings), examined=checked)


def _history(target: RuleInput) -> Iterator[Disorder | None]:
    """A higher version has no earlier day, whichever way the history runs."""
    entries = read_edition(target.text, target.sections, target.blocks).entries
    dated = [(entry.version, entry.day) for entry in entries if entry.version and entry.day]
    ordered = sorted(dated, key=lambda pair: (pair[0].version or (), pair[0].span.start))
    for (old, old_day), (new, new_day) in pairwise(ordered):
        if old.version == new.version or not old_day.day or not new_day.day:
            continue
        what = Text(
            ja=f"版 {old.written} より新しい版 {new.written} の日付の方が前です",
            en=f"version {new.written} is newer than {old.written} but dated earlier",
        )
        yield _disorder(what, old_day, new_day) if new_day.day < old_day.day else None


def _cover_days(target: RuleInput) -> Iterator[Disorder | None]:
    """A document was made before it was changed."""
    edition = read_edition(target.text, target.sections, target.blocks)
    if not (edition.created and edition.updated):
        return
    made, changed = edition.created[0], edition.updated[0]
    if made.day and changed.day:
        what = Text(ja="更新日が作成日より前です", en="the last update is before the day of making")
        yield _disorder(what, made, changed) if changed.day < made.day else None


def _disorder(what: Text, first: Stated, second: Stated) -> Disorder:
    spans = sorted((first.span, second.span), key=lambda span: span.start)
    return Disorder(what=what, first=first.written, second=second.written, places=tuple(spans))


def _periods(target: RuleInput) -> Iterator[Disorder | None]:
    plain = narrow(target.text)
    for first, last in pairwise(find_days(plain)):
        if _UNTIL.fullmatch(plain, first.end, last.start) and not _is_code(target, first.start):
            what = Text(ja="期間の終わりが始まりより前です", en="the period ends before it starts")
            start, end = (plain[found.start : found.end] for found in (first, last))
            wrong = Disorder(what=what, first=start, second=end, places=(Span(start=first.start, end=last.end),))
            yield wrong if last.day < first.day else None


def _columns(target: RuleInput) -> Iterator[Disorder | None]:
    for table in read_tables(target.text, target.blocks):
        start_at, end_at = table.column(_FROM_COLUMN), table.column(_TO_COLUMN)
        if start_at is None or end_at is None:
            continue
        for row in table.rows:
            if max(start_at, end_at) >= len(row.cells):
                continue
            first, last = row.cells[start_at], row.cells[end_at]
            start, end = first_day(first.text), first_day(last.text)
            if start and end:
                what = Text(ja="終了日が開始日より前です", en="the end is before the start")
                spans = sorted((Span(start=c.start, end=c.end) for c in (first, last)), key=lambda span: span.start)
                wrong = Disorder(what=what, first=first.text, second=last.text, places=tuple(spans))
                yield wrong if end < start else None


def _after_update(target: RuleInput) -> Iterator[Disorder | None]:
    edition = read_edition(target.text, target.sections, target.blocks)
    stated = max(edition.updated, key=lambda each: each.day or date.min, default=None)
    if stated is None or stated.day is None:
        return
    facts = list(_facts(target))
    if not facts:
        return
    later = [(span, written) for span, written, day in facts if day > stated.day]
    if not later:
        yield None
        return
    what = Text(
        ja=f"最終更新日より後の日付の記述が {len(later)} か所あります",
        en=f"{len(later)} statements are dated after the document's last update",
    )
    spans = sorted((stated.span, *(span for span, _ in later)), key=lambda span: span.start)
    yield Disorder(what=what, first=stated.written, second=later[0][1], places=tuple(spans))


def _facts(target: RuleInput) -> Iterator[tuple[Span, str, date]]:
    plain = narrow(target.text)
    skipped = apparatus(target.text, target.sections)
    for found in find_days(plain):
        as_of = _AS_OF.match(plain, found.end)
        if as_of is None or inside(skipped, found.start) or _is_code(target, found.start):
            continue
        line_end = plain.find("\n", as_of.end())
        rest = plain[as_of.end() : line_end if line_end >= 0 else len(plain)]
        if not _AHEAD.search(rest[:_NEARBY]):
            yield Span(start=found.start, end=as_of.end()), target.text[found.start : as_of.end()], found.day


def _is_code(target: RuleInput, offset: int) -> bool:
    return any(block.kind is BlockKind.CODE and block.start <= offset < block.end for block in target.blocks)


def _finding(target: RuleInput, found: Disorder) -> FindingDraft:
    where = place(target.sections, found.places[0].start)
    return finding(
        "consistency.date_order",
        severity=Severity.MAJOR,
        key=f"{found.first}|{found.second}",
        evidence=found.places,
        data={"first": found.first, "second": found.second},
        words={"what": found.what, "first": found.first, "second": found.second, "where": where},
    )
