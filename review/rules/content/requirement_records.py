"""Requirements as records: kept together in the chapter that is theirs, each with the fields that the others have."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from hub.core.texts import Text
from knowledge.text.identifier_shapes import Family, Mention
from knowledge.text.identifiers import read_families
from knowledge.text.outline import unnumbered_title
from knowledge.text.structure import section_at
from knowledge.text.tables import Table, read_tables
from knowledge.types.documents import Section
from review.rules.base import finding, listed, rule, skipped, spans_of
from review.rules.structure.headings import heading_span
from review.rules.traceability.across import is_requirement
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

_FIELD = re.compile(r"^[ \t]*[-*+][ \t]+\**(?P<label>[^\s:：*][^:：*\n]{0,15})\**[ \t]*[:：]", re.MULTILINE)
# Columns in which an empty cell is something left out; an empty 備考 is not.
_COLUMN = re.compile(r"受入|受け入れ|優先度|目標|指標|期待|完了条件|判定")
# A rank that is given to each requirement of a list, or to none.
_RANK = re.compile(r"優先度|優先順位|重要度|必須/任意|受入基準|受入条件")
_THING_HEAD = re.compile(r"^(?:(?:業務|機能|非機能|システム)?(?:要件|要求)|機能)(?:名称?|内容|概要|詳細|定義)?$")
_WORDS = re.compile(r"[ぁ-んァ-ヴ一-龯]{2}|[A-Za-z]{3}")
_USUAL = 0.75
_FEWEST_RECORDS, _PAIR = 4, 2
_MOST_LISTS = 100  # more of them are forms of one kind
_THEIRS = re.compile(
    r"機能要件|要件一覧|要求一覧|非機能|機能一覧|functional requirements"
    r"|^(?:業務|システム)?(?:要件|要求)(?:事項|定義|仕様)?$|^requirements$",
    re.IGNORECASE,
)


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
        if is_requirement(family) and family.definitions
    ]
    if not families:
        return skipped("no_requirements")
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
    return [chapter for chapter in homes if _THEIRS.search(unnumbered_title(chapter.title).strip())]


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
    """Report, per field, the requirements without it although most of their family or table have it.

    A table that lacks a column which another table of the same kind fills in lacks it for all its rows.
    """
    findings, examined = [], 0
    for series, records in _series(target):
        examined += len(records)
        counts = Counter(label for record in records for label in record.labels)
        for label, count in counts.items():
            if _USUAL * len(records) <= count < len(records):
                lacking = [record for record in records if label not in record.labels]
                findings.append(_field_finding(series, label, lacking, len(records)))
    for title, label, lacking, total in _columns_of_others(target):
        examined += total
        findings.append(_field_finding(title, label, lacking, total))
    if not examined:
        return skipped("no_records")
    return RuleOutcome(findings=tuple(findings), examined=examined)


def _series(target: RuleInput) -> Iterator[tuple[str, list[Record]]]:
    """Yield requirements that belong together: by family of identifiers, else by the table that lists them."""
    families = read_families(target.text, target.sections, target.blocks)
    for family in families:
        # Under headings, else in the rows of tables.
        records = [*_sections(family, target)] or [*_rows(family, target)]
        if len(records) >= _FEWEST_RECORDS:
            yield family.prefix, records
    defined = sorted(mention.start for family in families for mention in family.definitions)
    for table in read_tables(target.text, target.blocks):
        first = bisect_left(defined, table.header.start)
        is_named = first < len(defined) and defined[first] < table.rows[-1].end if table.rows else True
        records = [] if is_named or not _lists_requirements(table, target) else [*_records_of(table)]
        if len(records) >= _FEWEST_RECORDS:
            yield _title_at(table.header.start, target), records


def _lists_requirements(table: Table, target: RuleInput) -> bool:
    heads = [head.text.strip() for head in table.header.cells]
    return any(map(_COLUMN.search, heads)) and (
        any(map(_THING_HEAD.search, heads)) or bool(_THEIRS.search(_title_at(table.header.start, target)))
    )


def _records_of(table: Table) -> Iterator[Record]:
    """Yield the rows that say something, each by the name of its requirement, or its first cell with words."""
    at = table.column(_THING_HEAD) or 0
    for row in table.rows:
        said = [cell.text.strip() for cell in row.cells if cell.text.strip()]
        named = [cell.text.strip() for cell in row.cells[at:]]
        name = next((text for text in named if _WORDS.search(text)), "")
        if name and len(said) >= _PAIR:
            cells = zip(table.header.cells, row.cells, strict=False)
            labels = frozenset(head.text for head, cell in cells if _COLUMN.search(head.text) and cell.text)
            yield Record(names=(name,), title=name, span=Span(start=row.start, end=row.end), labels=labels)


def _columns_of_others(target: RuleInput) -> Iterator[tuple[str, str, list[Record], int]]:
    """Yield each list of requirements that lacks a column which another list with the same columns fills in."""
    lists = [
        (table, frozenset(head.text.strip() for head in table.header.cells if head.text.strip()), [*_records_of(table)])
        for table in read_tables(target.text, target.blocks)
        if any(_THING_HEAD.search(head.text) for head in table.header.cells)
    ][:_MOST_LISTS]
    for table, heads, records in lists:
        others = [other for _, other, rows in lists if len(rows) > _PAIR and len(other & heads) >= _PAIR]
        lacking = {
            label for other in others for label in other if _RANK.fullmatch(label) and not any(map(_RANK.search, heads))
        }
        for label in sorted(lacking):
            filled = [rows for _, other, rows in lists if label in other and len(other & heads) >= _PAIR]
            told = [row for rows in filled for row in rows]
            is_usual = sum(label in row.labels for row in told) >= _USUAL * len(told) and len(told) > _PAIR
            if is_usual and len(records) >= _FEWEST_RECORDS:
                yield _title_at(table.header.start, target), label, records, len(records) + len(told)


def _title_at(offset: int, target: RuleInput) -> str:
    section = section_at(target.sections, offset)
    return unnumbered_title(section.title).strip() if section else ""


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


def _field_finding(series: str, label: str, lacking: list[Record], total: int) -> FindingDraft:
    titles = [record.title for record in lacking]
    names = [name for record in lacking for name in record.names]
    return finding(
        "consistency.missing_field",
        severity=Severity.MINOR,
        key=f"{series}:{label}:{','.join(names)}",
        evidence=tuple(record.span for record in lacking),
        searched=tuple(titles),
        data={"family": series, "field": label, "identifiers": names},
        confidence=1 - len(lacking) / total,
        words={
            "names": listed(names),
            "label": label,
            "total": total,
            "with_it": total - len(lacking),
            "prefix": series,
            "first_title": titles[0],
        },
        example=f"- **{label}**: （内容）",
    )
