"""Headings that an unbalanced code fence hides."""

from __future__ import annotations

from hub.core.texts import Text
from review.rules.registry import rule
from review.rules.structure.headings import (
    NumberedHeading,
    heading_spans,
    hidden_headings,
    numbered_headings,
    runs_of,
    with_hidden,
)
from review.rules.structure.numbering import NO_NUMBERS
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, SuggestionDraft


@rule(
    id="structure.swallowed_heading",
    title=Text(ja="コードブロックに取り込まれた見出し", en="Heading inside a code block"),
    looks_at=Text(
        ja="章番号の続きに当たる見出し行が、閉じ忘れ・余分な ``` によりコードブロックの中にある箇所",
        en="heading lines that continue the numbering but stand in a code block, through an unbalanced fence",
    ),
    tags=("structure",),
)
def swallowed_heading(target: RuleInput) -> RuleOutcome:
    """Report the numbered headings that an unbalanced code fence hides, all in one finding."""
    headings = numbered_headings(target.text, target.sections)
    if not headings:
        return RuleOutcome(skip_reason=NO_NUMBERS)
    hidden = hidden_headings(target.text, target.blocks)
    swallowed: dict[int, NumberedHeading] = {}
    for run in runs_of(headings):
        swallowed |= {heading.start: heading for heading in with_hidden(run, hidden) if heading.hidden}
    found = [swallowed[start] for start in sorted(swallowed)]
    return RuleOutcome(findings=(_swallowed_finding(found),) if found else (), examined=len(headings))


def _swallowed_finding(found: list[NumberedHeading]) -> FindingDraft:
    titles_ja = "、".join(f"「{heading.title}」" for heading in found)
    titles_en = ", ".join(f"“{heading.title}”" for heading in found)
    first = found[0]
    return FindingDraft(
        rule_id="structure.swallowed_heading",
        severity=Severity.MINOR,
        message=Text(
            ja=f"見出し {len(found)} 件がコードブロックの中にあり、見出しとして扱われません: {titles_ja}。",
            en=f"{len(found)} headings stand inside a code block and are no headings there: {titles_en}.",
        ),
        key="|".join(heading.title for heading in found),
        evidence=heading_spans(found),
        data={"numbers": [heading.label for heading in found], "titles": [heading.title for heading in found]},
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{first.title}」より前で対になっていない ``` の行を探し、余分な行を消すか閉じの行を補います。",
                en=f"Find the ``` line before “{first.title}” that has no partner; remove it or close the block.",
            ),
            rationale=Text(
                ja="節が目次・検索・参照から漏れ、図のつもりの箇所が本文として表示されます。",
                en="The sections are lost to the table of contents and to search, and drawings show as text.",
            ),
        ),
    )
