"""Headings that an unbalanced code fence hides."""

from __future__ import annotations

from review.rules.findings import finding, quoted, skipped
from review.rules.registry import rule
from review.rules.structure.headings import (
    NumberedHeading,
    heading_spans,
    hidden_headings,
    numbered_headings,
    runs_of,
    with_hidden,
)
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity


@rule("structure.swallowed_heading", tags=("structure",))
def swallowed_heading(target: RuleInput) -> RuleOutcome:
    """Report the numbered headings that an unbalanced code fence hides, all in one finding."""
    headings = numbered_headings(target.text, target.sections)
    if not headings:
        return skipped("no_numbered_headings")
    hidden = hidden_headings(target.text, target.blocks)
    swallowed: dict[int, NumberedHeading] = {}
    for run in runs_of(headings):
        swallowed |= {heading.start: heading for heading in with_hidden(run, hidden) if heading.hidden}
    found = [swallowed[start] for start in sorted(swallowed)]
    return RuleOutcome(findings=(_swallowed_finding(found),) if found else (), examined=len(headings))


def _swallowed_finding(found: list[NumberedHeading]) -> FindingDraft:
    titles = [heading.title for heading in found]
    return finding(
        "structure.swallowed_heading",
        severity=Severity.MINOR,
        key="|".join(titles),
        evidence=heading_spans(found),
        data={"numbers": [heading.label for heading in found], "titles": titles},
        words={"count": len(found), "titles": quoted(titles), "title": titles[0]},
    )
