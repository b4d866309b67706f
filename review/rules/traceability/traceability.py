"""Identifiers without their other half, here or in related documents: undefined references, unreferenced ones."""

from __future__ import annotations

import re
from collections import Counter

from hub.core.texts import Text
from knowledge.text.identifier_shapes import Family, Mention, Role, prefix_of
from knowledge.text.identifiers import read_families
from knowledge.text.outline import place
from knowledge.text.structure import section_at
from knowledge.text.tables import read_tables
from review.rules.registry import rule
from review.rules.traceability.across import (
    defined_elsewhere,
    families_in,
    has_downstream,
    is_requirement,
    kind_name,
    mentioned_elsewhere,
    related_spans,
    unanswered,
    upstream,
)
from review.rules.traceability.identifier_places import home, listed, mention_spans
from review.types import FindingDraft, RelatedDocument, RuleInput, RuleOutcome, Severity, SuggestionDraft

NO_IDENTIFIERS = Text(
    ja="要件 ID などの識別子がありません。", en="The document has no identifiers such as requirement ids."
)
NO_DEFINITIONS = Text(ja="この文書で定義された識別子がありません。", en="The document defines no identifiers.")
NONE_TO_REFER_TO = Text(
    ja="参照されるべき識別子がありません（テスト項目・前提・制約・リスクや、要件定義書の要件だけです）。",
    en="No identifier here needs a reference (only test items, registers, or a requirement document's requirements).",
)
_UPSTREAM_NAMED = re.compile(r"(?:要件定義書|要求仕様書|設計書|仕様書)")


@rule(
    id="traceability.undefined_reference",
    title=Text(ja="未定義の識別子の参照", en="Reference to an undefined identifier"),
    looks_at=Text(
        ja="本文・表で参照されるが、この文書にも関連文書にも定義（表の先頭列・見出し・項目の先頭・「要件ID:」）がない識別子",
        en="identifiers referred to in text and tables that neither the document nor a related one defines",
    ),
    tags=("traceability",),
    reads_related=True,
)
def undefined_reference(target: RuleInput) -> RuleOutcome:
    """Report, per family, the identifiers that are referred to and defined neither here nor in a related document."""
    families = read_families(target.text, target.sections, target.blocks)
    if not families:
        return RuleOutcome(skip_reason=NO_IDENTIFIERS)
    if _answers_to_absent(target):
        families = tuple(family for family in families if family.definitions)
    referred = {name for family in families for name in _text_references(family)}
    elsewhere = defined_elsewhere(target)
    defined = {name for family in families for name in family.defined} | elsewhere
    share = len(referred & defined) / len(referred) if referred else 1.0
    findings = tuple(
        _undefined_finding(target, family, undefined, share, len(referred))
        for family in families
        if (undefined := {k: v for k, v in _text_references(family).items() if k not in defined})
    )
    return RuleOutcome(findings=findings, examined=len(referred))


def _answers_to_absent(target: RuleInput) -> bool:
    """A test plan refers to requirements and functions of documents that it names and that are not at hand."""
    return target.document_type == "test_plan" and not target.related and bool(_UPSTREAM_NAMED.search(target.text))


def _text_references(family: Family) -> dict[str, list[Mention]]:
    """Code shows ids as sample data, so it neither defines nor obliges."""
    found = {name: [m for m in places if not m.in_code] for name, places in family.references.items()}
    return {name: places for name, places in found.items() if places}


def _undefined_finding(
    target: RuleInput, family: Family, undefined: dict[str, list[Mention]], share: float, referred: int
) -> FindingDraft:
    names = sorted(undefined)
    where = place(target.sections, min(mention.start for places in undefined.values() for mention in places))
    prefixes = {prefix_of(name) for name in defined_elsewhere(target)}
    elsewhere = not family.definitions and family.prefix not in prefixes
    state = _undefined_state(target, family, elsewhere=elsewhere)
    return FindingDraft(
        rule_id="traceability.undefined_reference",
        severity=Severity.MINOR if elsewhere else Severity.MAJOR,
        message=Text(
            ja=f"{listed(names)} が参照されていますが、{state.ja}（最初の参照:「{where}」）。",
            en=f"{listed(names)} referred to, but {state.en} (first in “{where}”).",
        ),
        key=f"{family.prefix}:{','.join(names)}",
        evidence=mention_spans(mention for places in undefined.values() for mention in places),
        data={"family": family.prefix, "identifiers": names},
        confidence=round(share, 3),
        confidence_basis=Text(
            ja=f"この文書が参照する識別子 {referred} 種のうち、定義されている割合",
            en=f"share of the {referred} identifiers referred to that are defined",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"{listed(names)} を定義の表に加えるか、定義している文書の名称と版を関連文書に示すか、"
                "番号の誤りを直します。",
                en=f"Define {listed(names)}, name the document and version that does, or correct the number.",
            ),
            rationale=Text(
                ja="定義のない識別子は、何に対応する設計・試験なのかを確かめられません。",
                en="Without a definition nobody can check what the design or test answers to.",
            ),
            example=_example_row(target, names[0], family),
        ),
    )


def _undefined_state(target: RuleInput, family: Family, *, elsewhere: bool) -> Text:
    if target.related:
        return Text(
            ja="この文書にも関連文書にも定義がありません", en="neither this document nor a related one defines them"
        )
    if elsewhere:
        return Text(
            ja=f"この文書には {family.prefix} の定義が 1 件もありません",
            en=f"this document defines no {family.prefix} identifier",
        )
    return Text(ja="この文書内に定義がありません", en="not defined in this document")


@rule(
    id="traceability.unreferenced_definition",
    title=Text(ja="参照されない識別子", en="Identifier that nothing refers to"),
    looks_at=Text(
        ja="定義されているが、どこからも参照されず、定義の行・節にも他の識別子との対応がない識別子"
        "（テスト項目・前提・制約・リスクの台帳と、要件定義書の要件そのものは対象外）。"
        "関連文書があれば、上位文書の要件でこの文書に現れないものと、下位文書に現れないこの文書の要件",
        en="identifiers defined but referred to nowhere and linked to no other identifier where they are defined "
        "(not test items, registers of assumptions, constraints or risks, nor a requirement document's requirements). "
        "With related documents: requirements upstream that this document never names, and its own that none "
        "downstream names",
    ),
    tags=("traceability",),
    reads_related=True,
)
def unreferenced_definition(target: RuleInput) -> RuleOutcome:
    """Report, per family, the identifiers without a reference to or from anything here or in related documents."""
    families = read_families(target.text, target.sections, target.blocks)
    defining = [family for family in families if family.definitions]
    judged = [family for family in defining if _needs_references(family, target)]
    above = upstream(target)
    if not judged and not above:
        return RuleOutcome(skip_reason=NONE_TO_REFER_TO if defining else NO_DEFINITIONS)
    findings = [
        _unreferenced_finding(target, family, orphans, families)
        for family in judged
        if (orphans := _orphans(family, families, target))
    ]
    findings += [
        _unanswered_finding(target, related, family, lost)
        for related in above
        for family, lost in unanswered(target, families, related)
    ]
    examined = [*judged, *(family for related in above for family in families_in(related))]
    return RuleOutcome(findings=tuple(findings), examined=sum(len(family.defined) for family in examined))


def _needs_references(family: Family, target: RuleInput) -> bool:
    if family.role in (Role.TEST, Role.REGISTER):
        return False
    if family.role is Role.DOWNSTREAM and target.document_type == "requirements":
        return has_downstream(target)
    return True


def _orphans(family: Family, families: tuple[Family, ...], target: RuleInput) -> list[Mention]:
    elsewhere = mentioned_elsewhere(target)
    # What a document downstream exists for is answered there, not by a link in the reviewed document itself.
    only_there = family.role is Role.DOWNSTREAM and has_downstream(target)
    return [
        places[0]
        for name, places in family.defined.items()
        if name not in elsewhere
        and (only_there or (name not in family.references and not _is_linked(places[0], family, families, target)))
    ]


def _is_linked(definition: Mention, family: Family, families: tuple[Family, ...], target: RuleInput) -> bool:
    """Tell whether the row or section that defines the identifier names one of another family."""
    start, end = _extent(definition, target)
    return any(
        start <= mention.start < end
        for other in families
        if other.prefix != family.prefix
        for mention in other.mentions
    )


def _extent(definition: Mention, target: RuleInput) -> tuple[int, int]:
    section = section_at(target.sections, definition.start)
    if section and section.start <= definition.start < section.body_start:
        return section.start, section.end
    line_start = target.text.rfind("\n", 0, definition.start) + 1
    line_end = target.text.find("\n", definition.end)
    return line_start, len(target.text) if line_end < 0 else line_end


def _common_place(target: RuleInput, mentions: list[Mention]) -> str:
    """Return the title of the innermost section that holds all the mentions."""
    paths = [s.path for mention in mentions if (s := section_at(target.sections, mention.start))]
    shared = [level[0] for level in zip(*paths, strict=False) if len(set(level)) == 1]
    return shared[-1] if shared else place(target.sections, mentions[0].start)


def _unreferenced_finding(
    target: RuleInput, family: Family, orphans: list[Mention], families: tuple[Family, ...]
) -> FindingDraft:
    names = [mention.id for mention in orphans]
    where = _common_place(target, orphans)
    others = [other.prefix for other in families if other.prefix != family.prefix and other.definitions]
    example = f"{names[0]} → {others[0]}-001" if others else f"{names[0]} → 対応する設計項目"
    return FindingDraft(
        rule_id="traceability.unreferenced_definition",
        severity=Severity.MINOR,
        message=Text(
            ja=f"{listed(names)} は「{where}」で定義されていますが、どこからも参照されず、"
            "他の要件・設計との対応も書かれていません。",
            en=f"{listed(names)} defined in “{where}” but referred to nowhere and linked to nothing else.",
        ),
        key=f"{family.prefix}:{','.join(sorted(names))}",
        evidence=mention_spans(orphans),
        data={"family": family.prefix, "identifiers": sorted(names)},
        confidence=round(len(orphans) / len(family.defined), 3),
        confidence_basis=Text(
            ja=f"{family.prefix} の定義 {len(family.defined)} 件のうち参照も対応付けもない割合"
            "（高いほど対応付けの仕組み自体がない）",
            en=f"share of the {len(family.defined)} {family.prefix} definitions without any link",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{where}」の表・項目に対応先の列を設け、{listed(names)} が"
                "どの要件・設計・試験で満たされるかを ID で書きます。",
                en=f"Give “{where}” a column that says by id which requirement, design or test meets {listed(names)}.",
            ),
            rationale=Text(
                ja="対応先のない要件は、設計・試験から漏れても気付けません。",
                en="A requirement that leads nowhere can be lost in design and test without notice.",
            ),
            example=example,
        ),
    )


def _unanswered_finding(
    target: RuleInput, related: RelatedDocument, family: Family, lost: list[Mention]
) -> FindingDraft:
    names = sorted(mention.id for mention in lost)
    kind = kind_name(related)
    total = len(family.defined)
    return FindingDraft(
        rule_id="traceability.unreferenced_definition",
        severity=Severity.MAJOR if is_requirement(family) else Severity.MINOR,
        message=Text(
            ja=f"{kind.ja}で定義された {listed(names)} が、この文書のどこにも現れません"
            f"（{family.prefix} {total} 件のうち {len(names)} 件）。",
            en=f"{listed(names)}, defined in the {kind.en}, are never named here "
            f"({len(names)} of {total} {family.prefix}).",
        ),
        key=f"upstream:{family.prefix}:{','.join(names)}",
        evidence=related_spans(related, lost),
        searched=tuple(section.title for section in target.sections),
        data={"family": family.prefix, "identifiers": names, "upstream": True, "document_id": related.document_id},
        rests_on=(related.document_id,),
        confidence=round(1 - len(names) / total, 3),
        confidence_basis=Text(
            ja=f"{kind.ja}の {family.prefix} {total} 件のうち、この文書に現れる割合（高いほど残りは漏れらしい）",
            en=f"share of the {total} {family.prefix} of the {kind.en} that this document names",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"{listed(names)} を扱う節に ID を書いて対応を示すか、対象外ならその旨と理由を対応表に書きます。",
                en=f"Name {listed(names)} where they are treated, or list them as out of scope with the reason.",
            ),
            rationale=Text(
                ja="上位文書の要件がどこで満たされるかを示さないと、設計・試験からの漏れに気付けません。",
                en="Unless each requirement upstream leads somewhere, one that was forgotten goes unnoticed.",
            ),
            example=f"| {names[0]} | （この文書の対応箇所） |",
        ),
    )


def _example_row(target: RuleInput, name: str, family: Family) -> str:
    """Write a definition the way this document writes its own: a row of the table most of its ids are defined in."""
    tables = read_tables(target.text, target.blocks)
    families = read_families(target.text, target.sections, target.blocks)
    definitions = family.definitions or tuple(m for other in families for m in other.definitions)
    homes = Counter(table.header for mention in definitions if (table := home(mention, tables)[0]) is not None)
    if not homes:
        return f"{name}: （要件名と内容）"
    header = homes.most_common(1)[0][0]
    return f"| {name} | " + " | ".join(f"（{cell.text}）" for cell in header.cells[1:]) + " |"
