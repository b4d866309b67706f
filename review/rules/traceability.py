"""Requirement identifiers within one document: undefined, unreferenced, defined twice, skipped."""

from __future__ import annotations

from collections import Counter

from knowledge.structure import section_at
from review.rules.identifier_places import home, listed, mention_spans
from review.rules.identifiers import Family, Mention, Role, read_families
from review.rules.outline import place
from review.rules.registry import rule
from review.rules.tables import read_tables
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, SuggestionDraft, Text

NO_IDENTIFIERS = Text(
    ja="要件 ID などの識別子がありません。", en="The document has no identifiers such as requirement ids."
)
NO_DEFINITIONS = Text(ja="この文書で定義された識別子がありません。", en="The document defines no identifiers.")
NONE_TO_REFER_TO = Text(
    ja="参照されるべき識別子がありません（テスト項目・前提・制約・リスクや、要件定義書の要件だけです）。",
    en="No identifier here needs a reference (only test items, registers, or a requirement document's requirements).",
)


@rule(
    id="traceability.undefined_reference",
    title=Text(ja="未定義の識別子の参照", en="Reference to an undefined identifier"),
    looks_at=Text(
        ja="本文・表で参照されるが、この文書のどこにも定義（表の先頭列・見出し・項目の先頭・「要件ID:」）がない識別子",
        en="identifiers referred to in text and tables that are defined nowhere in the document",
    ),
    tags=("traceability",),
)
def undefined_reference(target: RuleInput) -> RuleOutcome:
    """Report, per family, the identifiers that are referred to and not defined in this document."""
    families = read_families(target.text, target.sections, target.blocks)
    if not families:
        return RuleOutcome(skip_reason=NO_IDENTIFIERS)
    referred = {name for family in families for name in _text_references(family)}
    defined = {name for family in families for name in family.defined}
    share = len(referred & defined) / len(referred) if referred else 1.0
    findings = tuple(
        _undefined_finding(target, family, undefined, share, len(referred))
        for family in families
        if (undefined := {k: v for k, v in _text_references(family).items() if k not in family.defined})
    )
    return RuleOutcome(findings=findings, examined=len(referred))


def _text_references(family: Family) -> dict[str, list[Mention]]:
    """Code shows ids as sample data, so it neither defines nor obliges."""
    found = {name: [m for m in places if not m.in_code] for name, places in family.references.items()}
    return {name: places for name, places in found.items() if places}


def _undefined_finding(
    target: RuleInput, family: Family, undefined: dict[str, list[Mention]], share: float, referred: int
) -> FindingDraft:
    names = sorted(undefined)
    where = place(target.sections, min(mention.start for places in undefined.values() for mention in places))
    elsewhere = not family.definitions
    state_ja = (
        f"この文書には {family.prefix} の定義が 1 件もありません" if elsewhere else "この文書内に定義がありません"
    )
    hint_en = f" This document defines no {family.prefix} identifier." if elsewhere else ""
    return FindingDraft(
        rule_id="traceability.undefined_reference",
        severity=Severity.MINOR if elsewhere else Severity.MAJOR,
        message=Text(
            ja=f"{listed(names)} が参照されていますが、{state_ja}（最初の参照:「{where}」）。",
            en=f"{listed(names)} referred to but not defined in this document (first in “{where}”).{hint_en}",
        ),
        key=f"{family.prefix}:{','.join(names)}",
        evidence=mention_spans(mention for places in undefined.values() for mention in places),
        data={"family": family.prefix, "identifiers": names},
        confidence=round(share, 3),
        confidence_basis=Text(
            ja=f"この文書が参照する識別子 {referred} 種のうち、この文書内で定義されている割合",
            en=f"share of the {referred} identifiers referred to that this document defines itself",
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


@rule(
    id="traceability.unreferenced_definition",
    title=Text(ja="参照されない識別子", en="Identifier that nothing refers to"),
    looks_at=Text(
        ja="定義されているが、どこからも参照されず、定義の行・節にも他の識別子との対応がない識別子"
        "（テスト項目・前提・制約・リスクの台帳と、要件定義書の要件そのものは対象外）",
        en="identifiers defined but referred to nowhere and linked to no other identifier where they are defined "
        "(not test items, registers of assumptions, constraints or risks, nor a requirement document's requirements)",
    ),
    tags=("traceability",),
)
def unreferenced_definition(target: RuleInput) -> RuleOutcome:
    """Report, per family, the identifiers without a reference to or from anything in this document."""
    families = read_families(target.text, target.sections, target.blocks)
    defining = [family for family in families if family.definitions]
    judged = [family for family in defining if _needs_references(family, target)]
    if not judged:
        return RuleOutcome(skip_reason=NONE_TO_REFER_TO if defining else NO_DEFINITIONS)
    findings = []
    for family in judged:
        orphans = [
            places[0]
            for name, places in family.defined.items()
            if name not in family.references and not _is_linked(places[0], family, families, target)
        ]
        if orphans:
            findings.append(_unreferenced_finding(target, family, orphans, families))
    return RuleOutcome(findings=tuple(findings), examined=sum(len(family.defined) for family in judged))


def _needs_references(family: Family, target: RuleInput) -> bool:
    if family.role in (Role.TEST, Role.REGISTER):
        return False
    return not (family.role is Role.DOWNSTREAM and target.document_type == "requirements")


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
