"""Requirements as records: kept together in the chapter that is theirs, each with the fields that the others have."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from hub.core.texts import Text
from knowledge.text.identifier_shapes import Family, Mention, Role
from knowledge.text.identifiers import read_families
from knowledge.text.outline import unnumbered_title
from knowledge.text.structure import section_at
from knowledge.text.tables import read_tables
from knowledge.types.documents import Section
from review.rules.base import finding, listed, rule, skipped, spans_of
from review.rules.structure.headings import heading_span
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

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


@rule("structure.scattered_requirements", tags=("structure", "traceability"))
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
        return skipped("no_requirements_chapter")
    findings = []
    for family, homes in homes_of.items():
        theirs = _theirs(homes)
        if len(theirs) == 1 and len(homes) > 1:
            strays = [m for chapter, mentions in homes.items() if chapter is not theirs[0] for m in mentions]
            findings.append(_scattered_finding(family, theirs[0], list(homes), strays))
    return RuleOutcome(findings=tuple(findings), examined=sum(len(family.defined) for family in homes_of))


def _theirs(homes: dict[Section, list[Mention]]) -> list[Section]:
    return [chapter for chapter in homes if _THEIRS.search(unnumbered_title(chapter.title))]


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
    return finding(
        "structure.scattered_requirements",
        severity=Severity.MINOR,
        key=f"{family.prefix}:{','.join(names)}",
        evidence=spans_of(strays),
        data={"family": family.prefix, "identifiers": names},
        confidence=1 - len(strays) / total,
        words={
            "names": listed(names),
            "chapter": theirs.title.strip(),
            "others": Text(ja="」「".join(others), en="”, “".join(others)),
            "prefix": family.prefix,
            "total": total,
        },
        example=f"| {names[0]} | （要件名） | {others[0]} |",
    )


@rule("consistency.missing_field", tags=("consistency", "coverage"))
def missing_field(target: RuleInput) -> RuleOutcome:
    """Report, per field, the requirements without it although most of their family have it."""
    findings, examined = [], 0
    for family in read_families(target.text, target.sections, target.blocks):
        # Under headings, else in the rows of tables.
        records = [*_sections(family, target)] or [*_rows(family, target)]
        if len(records) < _FEWEST_RECORDS:
            continue
        examined += len(records)
        counts = Counter(label for record in records for label in record.labels)
        for label, count in counts.items():
            if _USUAL * len(records) <= count < len(records):
                lacking = [record for record in records if label not in record.labels]
                findings.append(_field_finding(family, label, lacking, len(records)))
    if not examined:
        return skipped("no_records")
    return RuleOutcome(findings=tuple(findings), examined=examined)


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
    return finding(
        "consistency.missing_field",
        severity=Severity.MINOR,
        key=f"{family.prefix}:{label}:{','.join(names)}",
        evidence=tuple(record.span for record in lacking),
        searched=tuple(titles),
        data={"family": family.prefix, "field": label, "identifiers": names},
        confidence=1 - len(lacking) / total,
        words={
            "names": listed(names),
            "label": label,
            "total": total,
            "with_it": total - len(lacking),
            "prefix": family.prefix,
            "first_title": titles[0],
        },
        example=f"- **{label}**: （内容）",
    )
