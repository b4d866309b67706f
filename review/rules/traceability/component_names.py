"""Names given beside an identifier against the name it is defined with: C-011（画面制御部）."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from knowledge.text.folding import fold_compact
from knowledge.text.identifier_shapes import Mention
from knowledge.text.identifiers import read_families
from knowledge.text.outline import place
from knowledge.text.tables import read_tables
from review.rules.base import finding, listed, rule, skipped
from review.rules.traceability.across import families_in, home, name_of, related_spans, same_thing
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

_BESIDE = re.compile(r"\s*+(?:[（(]\s*+(?P<name>[^()（）\n|、,]{2,40}?)\s*+[)）]|「(?P<quoted>[^「」\n]{2,40})」)")
# A remark beside an id is no name.
_REMARK = re.compile(
    r"参照|新規|変更|追加|削除|廃止|欠番|必須|任意|優先|対応|予定|済|未定|一部|のみ|以下|以上|再掲|版|^high$|^medium$|^low$|^p\d$|^\d",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What an identifier is called where it is defined, and the place."""

    name: str
    span: Span


@rule("consistency.name_mismatch", tags=("consistency", "traceability"), reads_related=True)
def name_mismatch(target: RuleInput) -> RuleOutcome:
    """Report all identifiers that stand beside a name other than that of their definition, in one finding."""
    definitions = _definitions(target)
    named = list(_named(target, definitions))
    if not named:
        return skipped("no_named_identifiers")
    wrong = [
        (mention, span, definition)
        for mention, name, span, definition in named
        if not same_thing(name, definition.name) and name.isascii() == definition.name.isascii()
    ]
    links = {mention.id for mention, _name, _span, definition in named if definition.span.document}
    findings = (_finding(target, wrong, len(named)),) if wrong else ()
    return RuleOutcome(findings=findings, examined=len(named), links=tuple(sorted(links)))


def _definitions(target: RuleInput) -> dict[str, Definition]:
    """Return the first definition of each identifier; the document's own come before related ones."""
    found: dict[str, Definition] = {}
    tables = read_tables(target.text, target.blocks)
    for family in read_families(target.text, target.sections, target.blocks):
        for mention in family.definitions:
            _, row = home(mention, tables)
            name = name_of(mention, row, target)
            found.setdefault(mention.id, Definition(name=name, span=Span(start=mention.start, end=mention.end)))
    for related in target.related:
        other = related.as_input()
        tables = read_tables(other.text, other.blocks)
        for family in families_in(related):
            for mention in family.definitions:
                name = name_of(mention, home(mention, tables)[1], other)
                (span,) = related_spans(related, [mention])
                found.setdefault(mention.id, Definition(name=name, span=span))
    return {name: definition for name, definition in found.items() if definition.name}


def _named(target: RuleInput, definitions: dict[str, Definition]) -> Iterator[tuple[Mention, str, Span, Definition]]:
    for family in read_families(target.text, target.sections, target.blocks):
        for mention in family.mentions:
            beside = _BESIDE.match(target.text, mention.end)
            if mention.defines or mention.in_code or not beside or mention.id not in definitions:
                continue
            name = fold_compact(beside["name"] or beside["quoted"])
            if not _REMARK.search(name):
                yield mention, name, Span(start=mention.start, end=beside.end()), definitions[mention.id]


def _finding(target: RuleInput, wrong: list[tuple[Mention, Span, Definition]], total: int) -> FindingDraft:
    wrong = sorted(wrong, key=lambda each: each[1].start)
    names = list(dict.fromkeys(mention.id for mention, _, _ in wrong))
    mention, span, definition = wrong[0]
    own = [each for _, each, _ in wrong] + [each.span for _, _, each in wrong if not each.span.document]
    spans = sorted({(each.start, each.end) for each in own})
    elsewhere = tuple(dict.fromkeys(each.span for _, _, each in wrong if each.span.document))
    return finding(
        "consistency.name_mismatch",
        severity=Severity.MINOR,
        key=",".join(names),
        texts="in_related" if definition.span.document else "finding",
        evidence=(*(Span(start=start, end=end) for start, end in spans), *elsewhere),
        data={"identifiers": names},
        rests_on=(),
        confidence=1 - len(wrong) / total,
        words={
            "names": listed(names),
            "where": place(target.sections, span.start),
            "written": target.text[span.start : span.end],
            "name": definition.name,
            "total": total,
            "id": mention.id,
        },
        example=None if definition.span.document else f"{mention.id}（{definition.name}）",
    )
