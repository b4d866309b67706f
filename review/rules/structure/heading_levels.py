"""Heading levels: levels that were jumped over."""

from __future__ import annotations

from itertools import pairwise

from hub.core.texts import Text
from knowledge.types.documents import Section
from review.rules.registry import rule
from review.rules.structure.headings import heading_span
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, SuggestionDraft

NO_HEADINGS = Text(ja="見出しがありません。", en="The document has no headings.")


@rule(
    id="structure.skipped_level",
    title=Text(ja="見出しレベルの飛び", en="Skipped heading level"),
    looks_at=Text(
        ja="上位の見出しから 2 段以上深くなる見出し（## の次が #### など）",
        en="headings two or more levels below the heading above them (## followed by ####)",
    ),
    tags=("structure",),
)
def skipped_level(target: RuleInput) -> RuleOutcome:
    """Report all headings that jump over a level in one finding: such jumps are a habit of the whole document."""
    if not target.sections:
        return RuleOutcome(skip_reason=NO_HEADINGS)
    jumps = [(before, after) for before, after in pairwise(target.sections) if after.level > before.level + 1]
    findings = (_level_finding(target, jumps),) if jumps else ()
    return RuleOutcome(findings=findings, examined=len(target.sections))


def _level_finding(target: RuleInput, jumps: list[tuple[Section, Section]]) -> FindingDraft:
    before, after = jumps[0]
    deeper = sum(1 for first, second in pairwise(target.sections) if second.level > first.level)
    return FindingDraft(
        rule_id="structure.skipped_level",
        severity=Severity.MINOR,
        message=Text(
            ja=f"見出しレベルが飛んでいる箇所が {len(jumps)} か所あります"
            f"（最初は「{before.title.strip()}」レベル {before.level} の次の"
            f"「{after.title.strip()}」レベル {after.level}）。",
            en=f"{len(jumps)} headings skip a level (first: “{before.title.strip()}”, level {before.level}, "
            f"is followed by “{after.title.strip()}”, level {after.level}).",
        ),
        key="|".join(after.title.strip() for _, after in jumps),
        evidence=tuple(heading_span(target.text, after) for _, after in jumps),
        data={"jumps": [{"title": after.title, "from": above.level, "to": after.level} for above, after in jumps]},
        confidence=round(1 - len(jumps) / deeper, 3),
        confidence_basis=Text(
            ja=f"下位へ移る見出し {deeper} か所のうち 1 段ずつ下がっている割合",
            en=f"share of the {deeper} steps down that go down by one level",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{after.title.strip()}」をレベル {before.level + 1} の見出しにするか、間の見出しを補います。",
                en=f"Make “{after.title.strip()}” a level {before.level + 1} heading or add the one between.",
            ),
            rationale=Text(
                ja="レベルが飛ぶと、目次と節の包含関係が正しく作られません。",
                en="A skipped level breaks the table of contents and the nesting of sections.",
            ),
            example=f"{'#' * (before.level + 1)} {after.title.strip()}",
        ),
    )
