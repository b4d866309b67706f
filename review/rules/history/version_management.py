"""版管理: the edition stated on the cover against the change history, and whether there is a history at all."""

from __future__ import annotations

from hub.core.texts import Text
from knowledge.text.outline import is_history
from review.rules.findings import finding, skipped
from review.rules.history.edition import HistoryEntry, Stated, read_edition
from review.rules.registry import rule
from review.rules.structure.headings import heading_span
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity


@rule("document.version_mismatch", tags=("version_management",))
def version_mismatch(target: RuleInput) -> RuleOutcome:
    """Compare the stated version, and the stated update day, with the newest entry of the change history."""
    edition = read_edition(target.text, target.sections, target.blocks)
    version = newest_version(edition.entries)
    day = newest_day(edition.entries)
    compared = [(stated, version) for stated in edition.versions if version]
    compared += [(stated, day) for stated in edition.updated if day]
    if not compared:
        return skipped("no_dated_history" if edition.versions or edition.updated else "no_edition")
    findings = tuple(_mismatch_finding(stated, entry) for stated, entry in compared if entry and _differ(stated, entry))
    return RuleOutcome(findings=findings, examined=len(compared))


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


@rule("document.missing_history", tags=("version_management",))
def missing_history(target: RuleInput) -> RuleOutcome:
    """Report a document without a change history, or with one that has no entries."""
    edition = read_edition(target.text, target.sections, target.blocks)
    if edition.has_history:
        return RuleOutcome(examined=1)
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
