"""版管理: the edition stated on the cover against the change history, and whether there is a history at all."""

from __future__ import annotations

from hub.core.texts import Text
from knowledge.text.outline import is_history
from review.rules.history.edition import Edition, HistoryEntry, Stated, read_edition
from review.rules.registry import rule
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span, SuggestionDraft

MISMATCH = "document.version_mismatch"


@rule(
    id="document.version_mismatch",
    title=Text(ja="版・更新日と変更履歴の不一致", en="Version or date differs from the change history"),
    looks_at=Text(
        ja="表紙・奥付の版と更新日、変更履歴の最新行の版と日付",
        en="version and update date on the cover or at the foot, against the newest row of the change history",
    ),
    tags=("version_management",),
)
def version_mismatch(target: RuleInput) -> RuleOutcome:
    """Compare the stated version, and the stated update day, with the newest entry of the change history."""
    edition = read_edition(target.text, target.sections, target.blocks)
    version = newest_version(edition.entries)
    day = newest_day(edition.entries)
    compared = [(stated, version) for stated in edition.versions if version]
    compared += [(stated, day) for stated in edition.updated if day]
    if not compared:
        return RuleOutcome(skip_reason=_nothing_to_compare(edition))
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


def _nothing_to_compare(edition: Edition) -> Text:
    if not (edition.versions or edition.updated):
        return Text(
            ja="表紙・奥付に版も更新日も書かれていないため、変更履歴と比べられません。",
            en="Neither cover nor foot states a version or an update date to compare with the change history.",
        )
    return Text(
        ja="変更履歴に版も日付もないため、表紙・奥付の版・更新日と比べられません。",
        en="No change history with versions or dates to compare the stated version or update date with.",
    )


def _mismatch_finding(stated: Stated, entry: Stated) -> FindingDraft:
    field, name_ja, name_en = ("version", "版", "version") if stated.version else ("date", "更新日", "update date")
    spans = sorted((stated.span, entry.span), key=lambda span: span.start)
    return FindingDraft(
        rule_id=MISMATCH,
        severity=Severity.MAJOR,
        message=Text(
            ja=f"文書に書かれた{name_ja}「{stated.written}」が、変更の記録の最新「{entry.written}」と一致しません。",
            en=f"The stated {name_en} “{stated.written}” differs from the newest recorded change “{entry.written}”.",
        ),
        key=field,
        evidence=tuple(spans),
        data={"field": field, "stated": stated.written, "newest": entry.written},
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"{name_ja}の記載「{stated.written}」と変更の記録「{entry.written}」のどちらが正しいかを確かめ、"
                "古い方を直します。",
                en=f"Check which is right, “{stated.written}” or “{entry.written}”, and correct the other.",
            ),
            rationale=Text(
                ja="版が食い違うと、読み手は最新版かどうかを判断できません。",
                en="If editions disagree, a reader cannot tell whether this is the newest one.",
            ),
            example=entry.written,
        ),
    )


@rule(
    id="document.missing_history",
    title=Text(ja="変更履歴がない", en="No change history"),
    looks_at=Text(
        ja="変更履歴・改訂履歴の節または表と、その中身",
        en="a change history section or table, and whether it has entries",
    ),
    tags=("version_management",),
)
def missing_history(target: RuleInput) -> RuleOutcome:
    """Report a document without a change history, or with one that has no entries."""
    edition = read_edition(target.text, target.sections, target.blocks)
    if edition.has_history:
        return RuleOutcome(examined=1)
    return RuleOutcome(findings=(_missing_finding(target, edition),), examined=1)


def _missing_finding(target: RuleInput, edition: Edition) -> FindingDraft:
    section = edition.empty_history
    notes = tuple(entry.day.span for entry in edition.entries if entry.day)
    message = Text(
        ja="変更履歴（版・日付・変更内容・変更者の表）がありません。",
        en="There is no change history (a table of version, date, change, author).",
    )
    evidence: tuple[Span, ...] = notes
    if section:
        heading = target.text[section.start : section.body_start].rstrip()
        evidence = (Span(start=section.start, end=section.start + len(heading)),)
        message = Text(
            ja=f"「{section.title.strip()}」に版も日付も書かれていません。",
            en=f"“{section.title.strip()}” has no entry with a version or date.",
        )
    elif notes:
        note = target.text[notes[0].start : notes[0].end]
        message = Text(
            ja=f"「{note}」という覚え書きはありますが、変更履歴（版・日付・変更内容・変更者の表）がありません。",
            en=f"There is a note “{note}” but no change history (a table of version, date, change, author).",
        )
    return FindingDraft(
        rule_id="document.missing_history",
        severity=Severity.MAJOR,
        message=message,
        key="history",
        evidence=evidence,
        searched=tuple(each.title.strip() for each in target.sections if not is_history(each)),
        data={"topic": "change_history"},
        suggestion=_history_suggestion(edition),
    )


def _history_suggestion(edition: Edition) -> SuggestionDraft:
    version = edition.versions[0].written if edition.versions else "1.0"
    day = edition.updated[0].written if edition.updated else "YYYY-MM-DD"
    return SuggestionDraft(
        content=Text(
            ja="表紙の直後または末尾に「変更履歴」の節を設け、"
            "初版からの版・日付・変更内容・変更者を 1 行ずつ書きます。",
            en="Add a “Change history” section after the cover or at the end, one row per edition.",
        ),
        rationale=Text(
            ja="履歴がないと、どの版で何が変わり、レビュー済みなのはどこまでかを追えません。",
            en="Without it nobody can tell what changed in which edition and what has been reviewed.",
        ),
        example="## 変更履歴\n\n| 版 | 日付 | 変更内容 | 変更者 |\n|---|---|---|---|\n"
        f"| {version} | {day} | 初版作成 | 作成者名 |",
    )
