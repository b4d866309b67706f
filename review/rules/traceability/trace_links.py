"""Links between identifiers and requirements: none at all, or two tables that contradict each other."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from hub.core.texts import Text
from knowledge.text.identifier_shapes import Family, Mention, Role, prefix_of, rows_with
from knowledge.text.identifiers import read_families
from knowledge.text.outline import apparatus, inside, place
from knowledge.text.tables import Row, Table, read_tables
from review.rules.prose import read_prose
from review.rules.registry import rule
from review.rules.traceability.across import is_requirement
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity, Span, SuggestionDraft

NO_UPSTREAM = "traceability.no_upstream_reference"
INCONSISTENT = "traceability.inconsistent_mapping"
_UPSTREAM_DOCUMENT = re.compile(
    r"要件定義書|要求定義書|要求仕様書|業務要件書|調達仕様書|要件定義資料|requirements? (?:specification|document)",
    re.IGNORECASE,
)
_DESIGN_DOCUMENT = re.compile(
    r"(?:基本|詳細|外部|内部|概要|機能)?設計書|仕様書|design (?:document|specification)", re.IGNORECASE
)
_UPSTREAM_COLUMN = re.compile(
    r"^(?:対応|関連|根拠|上位|元)?(?:する)?(?:要件|要求|根拠)(?:ID|番号|No\.?|項目)?$", re.IGNORECASE
)
_ID_LIKE = re.compile(r"[^\W\d_]{1,8}[-_.]?\d")
_HAS_UPSTREAM = {"basic_design", "detailed_design", "test_plan"}
_SHOWN = 8


@rule(
    id=NO_UPSTREAM,
    title=Text(ja="要件への対応付けがない", en="No link to requirements"),
    looks_at=Text(
        ja="設計書・テスト計画書が要件 ID または要件定義書を参照しているか、テスト項目が要件 ID に対応付けられているか",
        en="whether a design or test plan refers to requirement ids or the requirements document, "
        "and test items to ids",
    ),
    tags=("traceability",),
)
def no_upstream_reference(target: RuleInput) -> RuleOutcome:
    """Report a document without any link to requirements, or test items none of which names a requirement."""
    if target.document_type not in _HAS_UPSTREAM:
        return RuleOutcome(
            skip_reason=Text(
                ja="要件に対応付けるべき文書種別（設計書・テスト計画書）ではありません。",
                en="This document type need not be linked to requirements.",
            )
        )
    families = read_families(target.text, target.sections, target.blocks)
    tests = [family for family in families if family.role is Role.TEST and family.definitions]
    by_column = _has_upstream_column(target)
    linked = by_column or _links_upstream(target, families)
    if linked and (not tests or by_column or _tests_name_requirements(target, families)):
        return RuleOutcome(examined=1 + sum(len(family.defined) for family in tests))
    finding = _no_upstream_finding(target, tests, linked=linked)
    return RuleOutcome(findings=(finding,), examined=1 + sum(len(family.defined) for family in tests))


def _links_upstream(target: RuleInput, families: tuple[Family, ...]) -> bool:
    if any(is_requirement(family) and _has_text_mention(family) for family in families):
        return True
    prose = read_prose(target.text, target.blocks)
    skipped = apparatus(target.text, target.sections)
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


def _has_text_mention(family: Family) -> bool:
    return any(not mention.in_code for mention in family.mentions)


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
    items_ja = f"テスト項目 {len(names)} 件（{'、'.join(names[:_SHOWN])}{' ほか' if len(names) > _SHOWN else ''}）"
    items_en = f"{len(names)} test items ({', '.join(names[:_SHOWN])}{', …' if len(names) > _SHOWN else ''})"
    if linked:
        message = Text(
            ja=f"{items_ja}のどれにも要件 ID への対応付けがありません。",
            en=f"None of {items_en} names a requirement id.",
        )
    elif names:
        message = Text(
            ja=f"要件定義書・要件 ID への参照が文書のどこにもなく、{items_ja}も要件に対応付けられていません。",
            en=f"The document refers to no requirement or requirements document, nor do {items_en}.",
        )
    else:
        message = Text(
            ja="要件定義書・要件 ID への参照が文書のどこにもありません。",
            en="The document refers to no requirement id and no requirements document.",
        )
    return FindingDraft(
        rule_id=NO_UPSTREAM,
        severity=Severity.MINOR if linked else Severity.MAJOR,
        message=message,
        key="tests" if linked else "document",
        evidence=tuple(Span(start=mention.start, end=mention.end) for mention in sorted(firsts, key=_by_start)),
        searched=tuple(section.title for section in target.sections),
        data={"identifiers": names, "document_linked": linked},
        suggestion=_upstream_suggestion(target, firsts),
    )


def _upstream_suggestion(target: RuleInput, firsts: list[Mention]) -> SuggestionDraft:
    rationale = Text(
        ja="要件に対応付かない設計・試験では、要件の漏れも過剰な作り込みも見付けられません。",
        en="Without links to requirements neither a lost requirement nor superfluous work can be found.",
    )
    if firsts:
        where = place(target.sections, firsts[0].start)
        return SuggestionDraft(
            content=Text(
                ja=f"「{where}」などのテスト項目の表に「要件ID」の列を加え、各項目が確かめる要件を書きます。",
                en=f"Add a column “requirement id” to the tables of test items, beginning with “{where}”.",
            ),
            rationale=rationale,
            example=f"| {firsts[0].id} | （テスト項目） | FR-001 |",
        )
    first = target.sections[0].title if target.sections else target.title
    example = "| 設計項目 | 対応要件 |\n|---|---|\n| 3章 機能設計 | FR-001〜FR-010 |"
    if target.document_type == "test_plan":
        example = "| テストケース | 対応要件 |\n|---|---|\n| TC-001 | FR-001 |"
    return SuggestionDraft(
        content=Text(
            ja=f"「{first}」に関連文書として要件定義書の名称と版を書き、各項目と要件 ID の対応表を加えます。",
            en=f"Name the requirements document and version in “{first}” "
            "and add a table from items to requirement ids.",
        ),
        rationale=rationale,
        example=example,
    )


@rule(
    id=INCONSISTENT,
    title=Text(ja="対応表どうしの食い違い", en="Contradicting traceability tables"),
    looks_at=Text(
        ja="要件→コンポーネントとコンポーネント→要件のように、両方向の対応表で片方にだけある対応",
        en="pairs that only one of two tables lists, where one maps requirements to components and one the other way",
    ),
    tags=("traceability",),
)
def inconsistent_mapping(target: RuleInput) -> RuleOutcome:
    """Report, per two opposite tables, the pairs of identifiers that one lists and the other leaves out."""
    families = read_families(target.text, target.sections, target.blocks)
    maps = list(_maps(families, read_tables(target.text, target.blocks)))
    compared = [(one, other) for i, one in enumerate(maps) for other in maps[i + 1 :] if one.is_opposite(other)]
    if not compared:
        return RuleOutcome(
            skip_reason=Text(
                ja="両方向の対応表の組がありません。", en="There are no two tables that map in opposite directions."
            )
        )
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
    return FindingDraft(
        rule_id=INCONSISTENT,
        severity=Severity.MAJOR,
        message=Text(
            ja=f"対応表が食い違っています: {shown} は「{where}」にありますが、"
            f"「{there}」の {silent.id} などの行にありません。",
            en=f"Traceability tables disagree: {shown} stand in “{where}” but not in “{there}” (row {silent.id}).",
        ),
        key=",".join(f"{first}>{second}" for first, second in sorted(pairs)),
        evidence=tuple(Span(start=start, end=end) for start, end in sorted(spans)),
        data={
            "identifiers": sorted({first for first, _ in pairs} | {second for _, second in pairs}),
            "pairs": [list(pair) for pair in pairs],
        },
        confidence=round(1 - len(lost) / total, 3) if total >= len(lost) else None,
        confidence_basis=Text(
            ja=f"対応 {total} 組のうち両方の表で一致している割合",
            en=f"share of the {total} pairs on which both tables agree",
        ),
        suggestion=SuggestionDraft(
            content=Text(
                ja=f"「{there}」の {silent.id} の行に {listed.id} を加えるか、"
                f"「{where}」の {listed.id} から {silent.id} を外します。",
                en=f"Add {listed.id} to row {silent.id} in “{there}”, "
                f"or drop {silent.id} from {listed.id} in “{where}”.",
            ),
            rationale=Text(
                ja="両方向の表が一致しないと、影響範囲を表から判断できません。",
                en="If both directions disagree, the impact of a change cannot be read from either.",
            ),
            example=_completed_row(target, other if silent.id in other.rows else one, silent.id, listed.id),
        ),
    )


def _completed_row(target: RuleInput, table: _Map, row_id: str, missing: str) -> str:
    _, row, names = table.rows[row_id]
    source = target.text[row.start : row.end]
    last = max(names, key=source.rfind)
    return source.replace(last, f"{last}, {missing}", 1)


def _prefix(mention: Mention) -> str:
    return prefix_of(mention.id)


def _by_start(mention: Mention) -> int:
    return mention.start
