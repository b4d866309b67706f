"""Tables that map chapters of this document to requirements, against what the chapters say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.text.folding import narrow
from knowledge.text.identifier_shapes import Mention, rows_with
from knowledge.text.identifiers import read_families
from knowledge.text.tables import read_tables
from knowledge.types.documents import Section
from review.rules.findings import finding, listed, skipped
from review.rules.registry import rule
from review.rules.structure.headings import hidden_headings
from review.rules.traceability.identifier_places import mention_spans
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity

_CHAPTER = re.compile(r"^[\s*第]*(?P<number>[0-9]{1,2}(?:\.[0-9]{1,2})*)\s*(?:章|節|[.．\s])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An identifier that a mapping table assigns to a section of this document."""

    mention: Mention
    section: Section


@rule("traceability.unsubstantiated_link", tags=("traceability",))
def unsubstantiated_link(target: RuleInput) -> RuleOutcome:
    """Report all requirements that a table assigns to a chapter while nothing else in the document names them."""
    links = list(_links(target))
    if not links:
        return skipped("no_chapter_table")
    linked = {(link.mention.start, link.mention.end) for link in links}
    named = {
        mention.id
        for family in read_families(target.text, target.sections, target.blocks)
        for mention in family.mentions
        if (mention.start, mention.end) not in linked
    }
    bare = [link for link in links if link.mention.id not in named]
    findings = (_finding(bare, len({link.mention.id for link in links})),) if bare else ()
    return RuleOutcome(findings=findings, examined=len(links))


def _links(target: RuleInput) -> Iterator[Link]:
    by_number = {section.number: section for section in target.sections if section.number}
    hidden = {heading.label for heading in hidden_headings(target.text, target.blocks)}
    families = read_families(target.text, target.sections, target.blocks)
    for _, row, mentions in rows_with(families, read_tables(target.text, target.blocks)):
        chapter = _CHAPTER.match(narrow(row.cells[0].text)) if row.cells else None
        section = by_number.get(chapter["number"]) if chapter and chapter["number"] not in hidden else None
        if section:
            yield from (Link(mention=m, section=section) for m in mentions if m.start >= row.cells[0].end)


def _finding(bare: list[Link], total: int) -> FindingDraft:
    names = list(dict.fromkeys(link.mention.id for link in bare))
    first = bare[0]
    title = first.section.title.strip()
    return finding(
        "traceability.unsubstantiated_link",
        severity=Severity.MINOR,
        key=",".join(sorted(names)),
        evidence=mention_spans(link.mention for link in bare),
        data={"identifiers": names},
        confidence=1 - len(names) / total,
        words={"names": listed(names), "title": title, "total": total, "id": first.mention.id},
        example=f"### （節名）（{first.mention.id} 対応）",
    )
