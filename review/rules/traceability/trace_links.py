"""Links between identifiers and requirements: none at all, or two tables that contradict each other."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from hub.core.texts import Text
from knowledge.text.folding import narrow
from knowledge.text.identifier_shapes import Family, Mention, Role, prefix_of, rows_with
from knowledge.text.identifiers import read_families
from knowledge.text.outline import apparatus, inside, place
from knowledge.text.tables import Row, Table, read_tables
from knowledge.types.documents import BlockKind, Section
from review.rules.base import finding, listed, rule, skipped, spans_of
from review.rules.content.due import kind_of_paper
from review.rules.prose import read_prose
from review.rules.structure.headings import hidden_headings
from review.rules.traceability.across import is_requirement
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span

NO_UPSTREAM = "traceability.no_upstream_reference"
INCONSISTENT = "traceability.inconsistent_mapping"
_UPSTREAM_DOCUMENT = re.compile(
    r"要件定義書|要求定義書|要求仕様書|業務要件書|調達仕様書|要件定義資料|requirements? (?:specification|document)",
    re.IGNORECASE,
)
_DESIGN_DOCUMENT = re.compile(
    r"(?<!テスト)(?<!試験)(?:(?:基本|詳細|外部|内部|概要|機能)?設計書|仕様書)"
    r"|design (?:document|specification)",
    re.IGNORECASE,
)
# A link to a paper of requirements, its file's name, an identifier that is called one; requirements/base.txt is a list
# of packages.
_UPSTREAM_LINK = re.compile(
    r"\[[^\[\]\n]{0,60}(?:要件|要求)[^\[\]\n]{0,60}\]\([^()\n]{1,200}\)|(?<![A-Za-z])requirements?/[\w./\-]{0,80}\.(?:md|docx?|xlsx?|pdf)\b"
    r"|[\w\-]{0,40}(?:要件|要求)[\w\-]{0,40}\.(?:md|docx?|xlsx?|pdf)"
    r"|(?:要件|要求)[^。\n|]{0,20}[(（][A-Z]{1,4}-[A-Z]{0,4}-?[0-9]{1,4}|(?<![\w\-])N?FR(?:-[A-Z]{1,4})?-[0-9]{1,4}(?![\w\-])",
    re.IGNORECASE,
)
_UPSTREAM_COLUMN = re.compile(
    r"^(?:対応|関連|根拠|上位|元)?(?:する)?(?:要件|要求|根拠)(?:ID|番号|No\.?|項目)?$", re.IGNORECASE
)
_ID_LIKE = re.compile(r"[^\W\d_]{1,8}[-_.]?\d")
_HAS_UPSTREAM = {"basic_design", "detailed_design", "test_plan"}
# Papers by their title that say how something is done, or record a meeting.
_OWES_NO_LINK = frozenset({"instructions", "minutes"})
_SHOWN = 8
_CHAPTER = re.compile(r"^[\s*第]*(?P<number>[0-9]{1,2}(?:\.[0-9]{1,2})*)\s*(?:章|節|[.．\s])")


@rule(NO_UPSTREAM, tags=("traceability",))
def no_upstream_reference(target: RuleInput) -> RuleOutcome:
    """Report a document without any link to requirements, or test items none of which names a requirement."""
    if target.document_type not in _HAS_UPSTREAM or kind_of_paper(target) in _OWES_NO_LINK:
        return skipped("needs_no_requirements")
    families = read_families(target.text, target.sections, target.blocks)
    tests = [family for family in families if family.role is Role.TEST and family.definitions]
    by_column = _has_upstream_column(target)
    linked = by_column or _links_upstream(target, families)
    if linked and (not tests or by_column or _tests_name_requirements(target, families)):
        return RuleOutcome(examined=1 + sum(len(family.defined) for family in tests))
    finding = _no_upstream_finding(target, tests, linked=linked)
    return RuleOutcome(findings=(finding,), examined=1 + sum(len(family.defined) for family in tests))


def _links_upstream(target: RuleInput, families: tuple[Family, ...]) -> bool:
    if any(is_requirement(family) and any(not mention.in_code for mention in family.mentions) for family in families):
        return True
    prose = read_prose(target.text, target.blocks)
    skipped = apparatus(target.text, target.sections)
    code = (edge for block in target.blocks if block.kind is BlockKind.CODE for edge in (block.start, block.end))
    between = list(pairwise([0, *code, len(target.text)]))[::2]
    links = (match for stretch in between for match in _UPSTREAM_LINK.finditer(target.text, *stretch))
    if any(not inside(skipped, match.start()) for match in links):
        return True
    patterns = [_UPSTREAM_DOCUMENT]
    if target.document_type != "basic_design":
        patterns.append(_DESIGN_DOCUMENT)
    return any(not inside(skipped, match.start()) for pattern in patterns for match in pattern.finditer(prose.masked))


def _has_upstream_column(target: RuleInput) -> bool:
    """Tell whether some table names the requirement that each row answers to, in whatever scheme."""
    for table in read_tables(target.text, target.blocks):
        column = table.column(_UPSTREAM_COLUMN)
        if column and any(column < len(row.cells) and _ID_LIKE.search(row.cells[column].text) for row in table.rows):
            return True
    return False


def _tests_name_requirements(target: RuleInput, families: tuple[Family, ...]) -> bool:
    upstream = {family.prefix for family in families if is_requirement(family)}
    tests = {family.prefix for family in families if family.role is Role.TEST}
    for _, _, mentions in rows_with(families, read_tables(target.text, target.blocks)):
        prefixes = {_prefix(mention) for mention in mentions}
        if prefixes & tests and prefixes & upstream:
            return True
    return False


def _no_upstream_finding(target: RuleInput, tests: list[Family], *, linked: bool) -> FindingDraft:
    firsts = [family.definitions[0] for family in tests]
    names = [name for family in tests for name in family.defined]
    more = len(names) > _SHOWN
    if firsts:
        where = place(target.sections, firsts[0].start)
        example = f"| {firsts[0].id} | （テスト項目） | FR-001 |"
    else:
        where = target.sections[0].title if target.sections else target.title
        example = "| 設計項目 | 対応要件 |\n|---|---|\n| 3章 機能設計 | FR-001〜FR-010 |"
        if target.document_type == "test_plan":
            example = "| テストケース | 対応要件 |\n|---|---|\n| TC-001 | FR-001 |"
    return finding(
        NO_UPSTREAM,
        severity=Severity.MINOR if linked else Severity.MAJOR,
        key="tests" if linked else "document",
        texts="tests_only" if linked else "tests_too" if names else "finding",
        words={
            "items": Text(
                ja=f"テスト項目 {len(names)} 件（{'、'.join(names[:_SHOWN])}{' ほか' if more else ''}）",
                en=f"{len(names)} test items ({', '.join(names[:_SHOWN])}{', …' if more else ''})",
            ),
            "where": where,
        },
        evidence=spans_of(firsts),
        searched=tuple(section.title for section in target.sections),
        data={"identifiers": names, "document_linked": linked},
        example=example,
    )


@rule(INCONSISTENT, tags=("traceability",))
def inconsistent_mapping(target: RuleInput) -> RuleOutcome:
    """Report, per two opposite tables, the pairs of identifiers that one lists and the other leaves out."""
    families = read_families(target.text, target.sections, target.blocks)
    maps = list(_maps(families, read_tables(target.text, target.blocks)))
    compared = [(one, other) for i, one in enumerate(maps) for other in maps[i + 1 :] if one.is_opposite(other)]
    if not compared:
        return skipped("no_opposite_tables")
    findings = tuple(
        _inconsistent_finding(target, one, other, lost)
        for one, other in compared
        if (lost := [*_lost(one, other), *_lost(other, one)])
    )
    return RuleOutcome(findings=findings, examined=sum(len(one.rows) + len(other.rows) for one, other in compared))


class _Map:
    """One table that maps the identifiers in its first cells to identifiers of another family."""

    def __init__(self, source: str, goal: str) -> None:
        self.source = source
        self.goal = goal
        self.rows: dict[str, tuple[Mention, Row, set[str]]] = {}

    def is_opposite(self, other: _Map) -> bool:
        return self.source == other.goal and self.goal == other.source


def _maps(families: tuple[Family, ...], tables: tuple[Table, ...]) -> Iterator[_Map]:
    found: dict[tuple[int, str, str], _Map] = {}
    for table, row, mentions in rows_with(families, tables):
        heads = [mention for mention in mentions if mention.defines]
        if len(heads) != 1:
            continue
        head = heads[0]
        goals: dict[str, set[str]] = defaultdict(set)
        for mention in mentions:
            if _prefix(mention) != _prefix(head):
                goals[_prefix(mention)].add(mention.id)
        for goal, names in goals.items():
            key = (table.header.start, _prefix(head), goal)
            found.setdefault(key, _Map(_prefix(head), goal)).rows[head.id] = (head, row, names)
    yield from found.values()


def _lost(one: _Map, other: _Map) -> list[tuple[Mention, Mention]]:
    """Return (head in ``one``, head in ``other``) for the pairs ``one`` lists and ``other`` does not."""
    return [
        (head, other.rows[name][0])
        for head, _, names in one.rows.values()
        for name in sorted(names)
        if name in other.rows and head.id not in other.rows[name][2]
    ]


def _inconsistent_finding(
    target: RuleInput, one: _Map, other: _Map, lost: list[tuple[Mention, Mention]]
) -> FindingDraft:
    pairs = [(listed.id, silent.id) for listed, silent in lost]
    listed, silent = lost[0]
    where, there = place(target.sections, listed.start), place(target.sections, silent.start)
    shown = "、".join(f"{first}→{second}" for first, second in pairs[:_SHOWN])
    total = sum(len(names) for _, _, names in one.rows.values())
    spans = {(m.start, m.end) for pair in lost for m in pair}
    return finding(
        INCONSISTENT,
        severity=Severity.MAJOR,
        key=",".join(f"{first}>{second}" for first, second in sorted(pairs)),
        evidence=tuple(Span(start=start, end=end) for start, end in sorted(spans)),
        data={
            "identifiers": sorted({first for first, _ in pairs} | {second for _, second in pairs}),
            "pairs": [list(pair) for pair in pairs],
        },
        confidence=round(1 - len(lost) / total, 3) if total >= len(lost) else None,
        words={
            "shown": shown,
            "where": where,
            "there": there,
            "silent": silent.id,
            "total": total,
            "listed": listed.id,
        },
        example=_completed_row(target, other if silent.id in other.rows else one, silent.id, listed.id),
    )


def _completed_row(target: RuleInput, table: _Map, row_id: str, missing: str) -> str:
    _, row, names = table.rows[row_id]
    source = target.text[row.start : row.end]
    last = max(names, key=source.rfind)
    return source.replace(last, f"{last}, {missing}", 1)


def _prefix(mention: Mention) -> str:
    return prefix_of(mention.id)


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
        evidence=spans_of(link.mention for link in bare),
        data={"identifiers": names},
        confidence=1 - len(names) / total,
        words={"names": listed(names), "title": title, "total": total, "id": first.mention.id},
        example=f"### （節名）（{first.mention.id} 対応）",
    )
