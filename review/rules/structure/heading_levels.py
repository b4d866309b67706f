"""Heading levels: levels that were jumped over."""

from __future__ import annotations

from itertools import pairwise

from knowledge.types.documents import Section
from review.rules.findings import finding, skipped
from review.rules.registry import rule
from review.rules.structure.headings import heading_span
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity


@rule("structure.skipped_level", tags=("structure",))
def skipped_level(target: RuleInput) -> RuleOutcome:
    """Report all headings that jump over a level in one finding: such jumps are a habit of the whole document."""
    if not target.sections:
        return skipped("no_headings")
    jumps = [(before, after) for before, after in pairwise(target.sections) if after.level > before.level + 1]
    findings = (_level_finding(target, jumps),) if jumps else ()
    return RuleOutcome(findings=findings, examined=len(target.sections))


def _level_finding(target: RuleInput, jumps: list[tuple[Section, Section]]) -> FindingDraft:
    before, after = jumps[0]
    deeper = sum(1 for first, second in pairwise(target.sections) if second.level > first.level)
    return finding(
        "structure.skipped_level",
        severity=Severity.MINOR,
        key="|".join(after.title.strip() for _, after in jumps),
        evidence=tuple(heading_span(target.text, after) for _, after in jumps),
        data={"jumps": [{"title": after.title, "from": above.level, "to": after.level} for above, after in jumps]},
        confidence=1 - len(jumps) / deeper,
        words={
            "count": len(jumps),
            "above": before.title.strip(),
            "above_level": before.level,
            "title": after.title.strip(),
            "level": after.level,
            "deeper": deeper,
            "right_level": before.level + 1,
        },
        example=f"{'#' * (before.level + 1)} {after.title.strip()}",
    )
