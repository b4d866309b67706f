"""Requirements as records: kept together in the chapter that is theirs, each with the fields that the others have."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from hub.core.texts import Text
from knowledge.text.identifier_shapes import Family, Mention, Role
from knowledge.text.identifiers import read_families
from knowledge.text.outline import bare_title
from knowledge.text.structure import section_at
from knowledge.text.tables import read_tables
from knowledge.types.documents import Section
from review.rules.registry import rule
from review.rules.structure.headings import heading_span
from review.rules.traceability.identifier_places import listed, mention_spans
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span, SuggestionDraft

_FIELD = re.compile(r"^[ \t]*[-*+][ \t]+\**(?P<label>[^\s:：*][^:：*\n]{0,15})\**[ \t]*[:：]", re.MULTILINE)
# Columns in which an empty cell is something left out; an empty 備考 is not.
_COLUMN = re.compile(r"受入|受け入れ|優先度|目標|指標|期待|完了条件|判定")
_USUAL = 0.75
_FEWEST_RECORDS = 4
_THEIRS = re.compile(r"機能要件|要件一覧|要求一覧|非機能|機能一覧|functional requirements", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Where requirements are written with fields: their identifiers, and the labels of the fields that are there."""

    names: tuple[str, ...]
    title: str
    span: Span
    labels: frozenset[str]


@rule(
    id="structure.scattered_requirements",
    title=Text(ja="章をまたいで散らばる要件", en="Requirements scattered over chapters"),
    looks_at=Text(
        ja="「機能要件」など要件の章があるのに、同じ系列の要件の一部が別の章で定義されている箇所",
        en="requirements of one series that are defined outside the chapter that is theirs",
    ),
    tags=("structure", "traceability"),
)
def scattered_requirements(target: RuleInput) -> RuleOutcome:
    """Report, per family, the requirements defined outside the chapter that is named for them."""
    families = [
        family
        for family in read_families(target.text, target.sections, target.blocks)
        if family.role is Role.DOWNSTREAM and family.definitions
    ]
    homes_of = {family: _by_chapter(family, target) for family in families}
    if target.document_type != "requirements":
        # Only where a chapter of requirements holds a series does another kind of document define it.
        homes_of = {family: homes for family, homes in homes_of.items() if _theirs(homes)}
    if not homes_of:
        return RuleOutcome(skip_reason=Text(ja="要件を定義した章がありません。", en="No chapter defines requirements."))
    findings = []
    for family, homes in homes_of.items():
        theirs = _theirs(homes)
        if len(theirs) == 1 and len(homes) > 1:
            strays = [m for chapter, mentions in homes.items() if chapter is not theirs[0] for m in mentions]
            findings.append(_scattered_finding(family, theirs[0], list(homes), strays))
    return RuleOutcome(findings=tuple(findings), examined=sum(len(family.defined) for family in homes_of))


def _theirs(homes: dict[Section, list[Mention]]) -> list[Section]:
    return [chapter for chapter in homes if _THEIRS.search(bare_title(chapter.title))]


def _by_chapter(family: Family, target: RuleInput) -> dict[Section, list[Mention]]:
    found: dict[Section, list[Mention]] = defaultdict(list)
    for places in family.defined.values():
        if chapter := _chapter(target, places[0].start):
            found[chapter].append(places[0])
    return found


def _chapter(target: RuleInput, offset: int) -> Section | None:
    """Return the topmost numbered section around an offset."""
    section = section_at(target.sections, offset)
    by_id = {each.id: each for each in target.sections}
    topmost = None
    while section:
        topmost = section if section.number else topmost
        section = by_id.get(section.parent_id or "")
    return topmost


def _scattered_finding(family: Family, theirs: Section, homes: list[Section], strays: list[Mention]) -> FindingDraft:
    names = [mention.id for mention in strays]
    others = [chapter.title.strip() for chapter in homes if chapter is not theirs]
    total = len(family.defined)
    return FindingDraft(
        rule_id="structure.scattered_requirements",
        severity=Severity.MINOR,
        message=Text(
            ja=f"{listed(names)} が「{theirs.title.strip()}」ではなく「{'」「'.join(others)}」で定義されています。",
            en=f"{listed(names)} are defined in “{'”, “'.join(others)}”, not in “{theirs.title.strip()}”.",
        ),
        key=f"{family.prefix}:{','.join(names)}",
        evidence=mention_spans(strays),
        data={"family": family.prefix, "identifiers": names},
        confidence=round(1 - len(strays) / total, 3),
        confidence_basis=Text(
            ja=f"{family.prefix} の定義 {total} 件のうち「{theirs.title.strip()}」にある割合",
            en=f"share of the {total} {family.prefix} definitions that stand in the chapter named for them",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"{listed(names)} を「{theirs.title.strip()}」に移すか、そこに一覧を置いて定義の節を示します。",
                en=f"Move {listed(names)} to “{theirs.title.strip()}”, or list them there with the section of each.",
            ),
            rationale=Text(
                ja="要件が複数の章に分かれていると、一覧で確認したときに漏れます。",
                en="Whoever goes through the chapter of requirements misses those that stand elsewhere.",
            ),
            example=f"| {names[0]} | （要件名） | {others[0]} |",
        ),
    )


@rule(
    id="consistency.missing_field",
    title=Text(ja="他の要件にある項目の書き漏らし", en="Requirement without a field that the others have"),
    looks_at=Text(
        ja="見出しまたは表の行で定義された要件のうち、大半（4 分の 3 以上）が持つ項目（受入基準、優先度など）を"
        "持たないもの",
        en="requirements defined under headings or in table rows that lack a field (acceptance criteria, priority) "
        "which at least three quarters of them have",
    ),
    tags=("consistency", "coverage"),
)
def missing_field(target: RuleInput) -> RuleOutcome:
    """Report, per field, the requirements without it although most of their family have it."""
    findings, examined = [], 0
    for family in read_families(target.text, target.sections, target.blocks):
        records = _records(family, target)
        if len(records) < _FEWEST_RECORDS:
            continue
        examined += len(records)
        counts = Counter(label for record in records for label in record.labels)
        for label, count in counts.items():
            if _USUAL * len(records) <= count < len(records):
                lacking = [record for record in records if label not in record.labels]
                findings.append(_field_finding(family, label, lacking, len(records)))
    if not examined:
        return RuleOutcome(
            skip_reason=Text(
                ja="同じ項目を並べて書いた要件がありません。",
                en="There are no requirements written as records with fields.",
            )
        )
    return RuleOutcome(findings=tuple(findings), examined=examined)


def _records(family: Family, target: RuleInput) -> list[Record]:
    """Return the records that define a family's identifiers: under headings, else in the rows of tables."""
    return [*_sections(family, target)] or [*_rows(family, target)]


def _sections(family: Family, target: RuleInput) -> Iterator[Record]:
    for section in target.sections:
        names = _defined_within(family, section.start, section.body_start)
        body = target.text[section.body_start : section.end]
        labels = frozenset(match["label"].strip() for match in _FIELD.finditer(body))
        if names and labels:
            span = heading_span(target.text, section)
            yield Record(names=names, title=section.title.strip(), span=span, labels=labels)


def _rows(family: Family, target: RuleInput) -> Iterator[Record]:
    for table in read_tables(target.text, target.blocks):
        if not any(_COLUMN.search(cell.text) for cell in table.header.cells):
            continue
        for row in table.rows:
            if names := _defined_within(family, row.start, row.end):
                cells = zip(table.header.cells, row.cells, strict=False)
                labels = frozenset(head.text for head, cell in cells if _COLUMN.search(head.text) and cell.text)
                yield Record(names=names, title=names[0], span=Span(start=row.start, end=row.end), labels=labels)


def _defined_within(family: Family, start: int, end: int) -> tuple[str, ...]:
    return tuple(mention.id for mention in family.definitions if start <= mention.start < end)


def _field_finding(family: Family, label: str, lacking: list[Record], total: int) -> FindingDraft:
    titles = [record.title for record in lacking]
    names = [name for record in lacking for name in record.names]
    return FindingDraft(
        rule_id="consistency.missing_field",
        severity=Severity.MINOR,
        message=Text(
            ja=f"{listed(names)} に「{label}」がありません（同じ系列の "
            f"{total} 件中 {total - len(lacking)} 件にあります）。",
            en=f"{listed(names)}: no “{label}”, which {total - len(lacking)} of the {total} of this series have.",
        ),
        key=f"{family.prefix}:{label}:{','.join(names)}",
        evidence=tuple(record.span for record in lacking),
        searched=tuple(titles),
        data={"family": family.prefix, "field": label, "identifiers": names},
        confidence=round(1 - len(lacking) / total, 3),
        confidence_basis=Text(
            ja=f"{family.prefix} {total} 件のうち「{label}」がある割合",
            en=f"share of the {total} {family.prefix} that have “{label}”",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{titles[0]}」に「{label}」を書くか、不要ならその旨を書きます。",
                en=f"Add “{label}” to “{titles[0]}”, or say that it does not apply.",
            ),
            rationale=Text(
                ja="同じ系列の要件で項目がそろっていないと、検討漏れかどうかを判断できません。",
                en="A reader cannot tell whether it was forgotten.",
            ),
            example=f"- **{label}**: （内容）",
        ),
    )
