"""The edition on the cover against the change history, whether there is one, and dates that contradict each other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise

from hub.core.texts import Text
from knowledge.text.dates import DateMention, find_dates, find_days, first_day
from knowledge.text.folding import fold_each, join_codes, narrow
from knowledge.text.outline import apparatus, inside, is_history, place
from knowledge.text.structure import line_span
from knowledge.text.tables import read_tables
from knowledge.types.documents import BlockKind
from review.rules.base import finding, rule, skipped
from review.rules.content.due import kind_of_paper
from review.rules.history.edition import Edition, HistoryEntry, Stated, read_edition
from review.rules.structure.headings import heading_span
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

_UNTIL = re.compile(r"\s*+(?:\([月火水木金土日]\))?\s*+(?:〜|~|から|–|—|-)\s*+")
# What had happened by a day was written on that day or later; deadlines and plans lie ahead by nature.
_DONE = r"実施|実行|測定|計測|確認|完了|決定|承認"
_AS_OF = re.compile(
    rf"\s*+(?:時点|現在|の?(?:実施|実行|測定|計測|テスト|試験|確認)?結果|に(?:{_DONE})(?:した|済)|(?:{_DONE})済)"
)
_AHEAD = re.compile(r"予定|計画|見込|期限|目標|まで")
_NEARBY = 12
_MONTHS_OF_SUMMER = 7
_FIRST_EDITION = (1,)
_WEEKDAY = re.compile(r"\s?\((?P<day>[月火水木金土日])(?:曜日?)?(?:[・,、]?祝)?\)")
_DAYS = "月火水木金土日"
_FROM_COLUMN = re.compile(r"開始(?:予定)?(?:日|年月日)|着手(?:予定)?日|^開始$|^自$|start", re.IGNORECASE)
_TO_COLUMN = re.compile(r"(?:終了|完了)(?:予定)?(?:日|年月日)|^(?:終了|完了)$|^至$|end", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Disorder:
    """Two dates in the wrong order; ``kind`` names the texts about it, and ``words`` are theirs beside the dates."""

    kind: str
    first: str
    second: str
    places: tuple[Span, ...]
    words: Mapping[str, object] = field(default_factory=dict)


@rule("consistency.date_order", tags=("consistency", "version_management"))
def date_order(target: RuleInput) -> RuleOutcome:
    """Report each pair of dates that cannot both be right; several statements after the last update are one."""
    checked, found = 0, []
    readers = (_history, _cover_days, _periods, _columns, _weekdays, _after_update)
    for pairs in (reader(target) for reader in readers):
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
    days = [entry.day for entry in entries if entry.day and entry.day.day]
    if days and not any(entry.version for entry in entries):
        yield from _undated_editions(days)
    dated = [(entry.version, entry.day) for entry in entries if entry.version and entry.day]
    if len(dated) == 1:
        yield None
    ordered = sorted(dated, key=lambda pair: (pair[0].version or (), pair[0].span.start))
    for (old, old_day), (new, new_day) in pairwise(ordered):
        if old.version == new.version or not old_day.day or not new_day.day:
            continue
        words = {"old": old.written, "new": new.written}
        yield _disorder("history", old_day, new_day, words) if new_day.day < old_day.day else None


def _undated_editions(days: list[Stated]) -> Iterator[Disorder | None]:
    """Entries without editions run forwards or backwards in time; the first that turns back is out of order."""
    steps = [(one, other) for one, other in pairwise(days) if one.day and other.day and one.day != other.day]
    forwards = [pair for pair in steps if (pair[0].day or date.min) < (pair[1].day or date.min)]
    backwards = [pair for pair in steps if pair not in forwards]
    rarer = min(forwards, backwards, key=len)
    if not rarer or len(rarer) == len(steps) - len(rarer):
        yield None
    for one, other in rarer if len(steps) > 2 * len(rarer) else ():
        yield _disorder("history_days", one, other, {})


def _cover_days(target: RuleInput) -> Iterator[Disorder | None]:
    """A document was made before it was changed."""
    edition = read_edition(target.text, target.sections, target.blocks)
    if not (edition.created and edition.updated):
        return
    made, changed = edition.created[0], edition.updated[0]
    if made.day and changed.day:
        yield _disorder("cover", made, changed, {}) if changed.day < made.day else None


def _disorder(kind: str, first: Stated, second: Stated, words: Mapping[str, object]) -> Disorder:
    spans = sorted((first.span, second.span), key=lambda span: span.start)
    return Disorder(kind=kind, first=first.written, second=second.written, places=tuple(spans), words=words)


def _periods(target: RuleInput) -> Iterator[Disorder | None]:
    plain = narrow(target.text)
    for first, last in pairwise(find_days(plain)):
        if _UNTIL.fullmatch(plain, first.end, last.start) and not _is_code(target, first.start):
            start, end = (plain[found.start : found.end] for found in (first, last))
            wrong = Disorder(kind="period", first=start, second=end, places=(Span(start=first.start, end=last.end),))
            yield wrong if last.day < first.day else None
    for one, other in pairwise(find_dates(join_codes(fold_each(target.text)))):
        days = (one.month, one.day, other.month, other.day)
        if one.year or other.year or None in days or not _UNTIL.fullmatch(plain, one.end, other.start):
            continue
        if not _is_code(target, one.start):
            start, end = (plain[found.start : found.end] for found in (one, other))
            wrong = Disorder(kind="period", first=start, second=end, places=(Span(start=one.start, end=other.end),))
            yield wrong if _ends_before(one, other) else None


def _ends_before(one: DateMention, other: DateMention) -> bool:
    """Whether days without a year are in the wrong order; from autumn to spring a period runs into the next year."""
    first, last = (one.month or 0, one.day or 0), (other.month or 0, other.day or 0)
    return last < first and not (first[0] > _MONTHS_OF_SUMMER and last[0] <= _MONTHS_OF_SUMMER)


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
                spans = sorted((Span(start=c.start, end=c.end) for c in (first, last)), key=lambda span: span.start)
                wrong = Disorder(kind="columns", first=first.text, second=last.text, places=tuple(spans))
                yield wrong if end < start else None


def _weekdays(target: RuleInput) -> Iterator[Disorder | None]:
    """A day falls on one day of the week: 2026年11月24日（月） is a Tuesday."""
    plain = narrow(target.text)
    for found in find_days(plain):
        said = _WEEKDAY.match(plain, found.end)
        if said and not _is_code(target, found.start):
            right = _DAYS[found.day.weekday()]
            span = Span(start=found.start, end=said.end())
            wrong = Disorder(
                kind="weekday", first=target.text[span.start : span.end], second=f"（{right}）", places=(span,)
            )
            yield wrong if said["day"] != right else None


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
    spans = sorted((stated.span, *(span for span, _ in later)), key=lambda span: span.start)
    yield Disorder(
        kind="after_update", first=stated.written, second=later[0][1], places=tuple(spans), words={"count": len(later)}
    )


def _facts(target: RuleInput) -> Iterator[tuple[Span, str, date]]:
    plain = narrow(target.text)
    skipped = apparatus(target.text, target.sections)
    for found in find_days(plain):
        as_of = _AS_OF.match(plain, found.end)
        if as_of is None or inside(skipped, found.start) or _is_code(target, found.start):
            continue
        rest = plain[as_of.end() : line_span(plain, as_of.end(), as_of.end())[1]]
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
        data={"first": found.first, "second": found.second} | ({"kind": found.kind} if found.kind == "weekday" else {}),
        texts=found.kind,
        words={**found.words, "first": found.first, "second": found.second, "where": where},
    )


@rule("document.version_mismatch", tags=("version_management",))
def version_mismatch(target: RuleInput) -> RuleOutcome:
    """Compare the stated version, and the stated update day, with the newest entry of the change history."""
    edition = read_edition(target.text, target.sections, target.blocks)
    version = newest_version(edition.entries)
    day = newest_day(edition.entries)
    compared = [(stated, version) for stated in edition.versions if version]
    compared += [(stated, day) for stated in edition.updated if day]
    if not compared and (history := _empty_history(target, edition)) and (later := _unrecorded(edition)):
        return RuleOutcome(findings=(_unrecorded_finding(later, history),), examined=1)
    if not compared and edition.versions and all(stated.version == _FIRST_EDITION for stated in edition.versions):
        return RuleOutcome(examined=len(edition.versions))  # nothing came before a first edition
    if not compared:
        return skipped("no_dated_history" if edition.versions or edition.updated else "no_edition")
    findings = tuple(_mismatch_finding(stated, entry) for stated, entry in compared if entry and _differ(stated, entry))
    return RuleOutcome(findings=findings, examined=len(compared))


def _unrecorded(edition: Edition) -> Stated | None:
    """Return a stated edition after the first, which a change history must tell of."""
    return next((stated for stated in edition.versions if stated.version and stated.version > _FIRST_EDITION), None)


def _empty_history(target: RuleInput, edition: Edition) -> Span | None:
    return heading_span(target.text, edition.empty_history) if edition.empty_history else edition.empty_table


def _unrecorded_finding(stated: Stated, history: Span) -> FindingDraft:
    spans = sorted((stated.span, history), key=lambda span: span.start)
    return finding(
        "document.version_mismatch",
        severity=Severity.MAJOR,
        key="version:unrecorded",
        texts="unrecorded",
        evidence=tuple(spans),
        data={"field": "version", "stated": stated.written, "newest": ""},
        words={"stated": stated.written},
        example=stated.written,
    )


def newest_version(entries: tuple[HistoryEntry, ...]) -> Stated | None:
    """Return the highest version among the entries."""
    versions = [entry.version for entry in entries if entry.version]
    return max(versions, key=lambda stated: stated.version or (), default=None)


def newest_day(entries: tuple[HistoryEntry, ...]) -> Stated | None:
    """Return the latest day among the entries."""
    days = [entry.day for entry in entries if entry.day]
    return max(days, key=lambda stated: stated.day.toordinal() if stated.day else 0, default=None)


def _differ(stated: Stated, entry: Stated) -> bool:
    return stated.version != entry.version if stated.version else stated.day != entry.day


def _mismatch_finding(stated: Stated, entry: Stated) -> FindingDraft:
    field, name_ja, name_en = ("version", "版", "version") if stated.version else ("date", "更新日", "update date")
    spans = sorted((stated.span, entry.span), key=lambda span: span.start)
    return finding(
        "document.version_mismatch",
        severity=Severity.MAJOR,
        key=field,
        evidence=tuple(spans),
        data={"field": field, "stated": stated.written, "newest": entry.written},
        words={"name": Text(ja=name_ja, en=name_en), "stated": stated.written, "newest": entry.written},
        example=entry.written,
    )


def _unnumbered(edition: Edition) -> tuple[FindingDraft, ...]:
    """Report the entries of a history that has a column for editions and none in it."""
    blank = edition.blank_editions
    if not blank:
        return ()
    return (
        finding(
            "document.missing_history",
            severity=Severity.MINOR,
            key="editions",
            texts="no_editions",
            evidence=blank,
            data={"blank_editions": len(blank)},
            words={"count": len(blank)},
        ),
    )


@rule("document.missing_history", tags=("version_management",))
def missing_history(target: RuleInput) -> RuleOutcome:
    """Report a document without a change history, or with one that has no entries; minutes have no editions."""
    if kind_of_paper(target) == "minutes":
        return skipped("has_no_editions")
    edition = read_edition(target.text, target.sections, target.blocks)
    if edition.has_history:
        return RuleOutcome(findings=_unnumbered(edition), examined=1)
    section = edition.empty_history
    notes = tuple(entry.day.span for entry in edition.entries if entry.day)
    version = edition.versions[0].written if edition.versions else "1.0"
    day = edition.updated[0].written if edition.updated else "YYYY-MM-DD"
    found = finding(
        "document.missing_history",
        severity=Severity.MAJOR,
        key="history",
        texts="empty" if section else "note_only" if notes else "finding",
        words={
            "title": section.title.strip() if section else "",
            "note": target.text[notes[0].start : notes[0].end] if notes else "",
        },
        evidence=(heading_span(target.text, section),) if section else notes,
        searched=tuple(each.title.strip() for each in target.sections if not is_history(each)),
        data={"topic": "change_history"},
        example="## 変更履歴\n\n| 版 | 日付 | 変更内容 | 変更者 |\n|---|---|---|---|\n"
        f"| {version} | {day} | 初版作成 | 作成者名 |",
    )
    return RuleOutcome(findings=(found,), examined=1)
