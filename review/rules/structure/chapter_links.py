"""Tables that map chapters of this document to requirements, against what the chapters say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hub.core.texts import Text
from knowledge.text.folding import narrow
from knowledge.text.identifier_shapes import Mention, rows_with
from knowledge.text.identifiers import read_families
from knowledge.text.tables import read_tables
from knowledge.types.documents import Section
from review.rules.registry import rule
from review.rules.structure.headings import hidden_headings
from review.rules.traceability.identifier_places import listed, mention_spans
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, SuggestionDraft

_CHAPTER = re.compile(r"^[\s*第]*(?P<number>[0-9]{1,2}(?:\.[0-9]{1,2})*)\s*(?:章|節|[.．\s])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An identifier that a mapping table assigns to a section of this document."""

    mention: Mention
    section: Section


@rule(
    id="traceability.unsubstantiated_link",
    title=Text(ja="対応表だけの要件", en="Requirement in a mapping table only"),
    looks_at=Text(
        ja="「5章 ↔ NFR-006」のような章と要件の対応表で、要件 ID が対応表のほかのどこにも現れないもの",
        en="tables that map chapters of this document to requirements whose identifiers appear nowhere else in it",
    ),
    tags=("traceability",),
)
def unsubstantiated_link(target: RuleInput) -> RuleOutcome:
    """Report all requirements that a table assigns to a chapter while nothing else in the document names them."""
    links = list(_links(target))
    if not links:
        return RuleOutcome(
            skip_reason=Text(
                ja="この文書の章と要件の対応表がありません。",
                en="No table maps chapters of this document to requirements.",
            )
        )
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
    return FindingDraft(
        rule_id="traceability.unsubstantiated_link",
        severity=Severity.MINOR,
        message=Text(
            ja=f"{listed(names)} は対応表にあるだけで、対応先の「{title}」などの本文のどこにも現れません。",
            en=f"{listed(names)} stand in the mapping table only; nothing in “{title}” or elsewhere names them.",
        ),
        key=",".join(sorted(names)),
        evidence=mention_spans(link.mention for link in bare),
        data={"identifiers": names},
        confidence=round(1 - len(names) / total, 3),
        confidence_basis=Text(
            ja=f"章に対応付けた要件 {total} 種のうち、対応表のほかにも現れる割合",
            en=f"share of the {total} mapped requirements that appear outside the table too",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{title}」の該当する節に {first.mention.id} "
                "を書いて、どう満たすかを示すか、対応表の行を直します。",
                en=f"Name {first.mention.id} where “{title}” meets it and say how, or correct the row.",
            ),
            rationale=Text(
                ja="対応表だけでは、要件が設計に反映されたかを確かめられません。",
                en="From the table alone nobody can check that the requirement is met.",
            ),
            example=f"### （節名）（{first.mention.id} 対応）",
        ),
    )
