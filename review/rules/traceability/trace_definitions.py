"""Definitions of identifiers: one identifier for two things, and numbers that were skipped."""

from __future__ import annotations

import math
from itertools import pairwise

from knowledge.text.identifier_families import Family, Mention
from knowledge.text.identifier_shapes import number_of, renumbered
from knowledge.text.identifiers import read_families
from knowledge.text.outline import place
from knowledge.text.tables import Table, read_tables
from review.rules.findings import finding, listed, skipped
from review.rules.registry import rule
from review.rules.traceability.identifier_places import home, mention_spans, name_of, same_thing
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity

_FEWEST_FOR_A_SERIES = 3


@rule("traceability.duplicate_definition", tags=("traceability",))
def duplicate_definition(target: RuleInput) -> RuleOutcome:
    """Report, per family, identifiers defined twice in one table or for two different things."""
    families = [f for f in read_families(target.text, target.sections, target.blocks) if f.definitions]
    if not families:
        return skipped("no_definitions")
    tables = read_tables(target.text, target.blocks)
    findings = []
    for family in families:
        clashes = {name: places for name, places in family.defined.items() if _clash(places, tables, target)}
        if clashes:
            findings.append(_duplicate_finding(target, family, clashes))
    return RuleOutcome(findings=tuple(findings), examined=sum(len(family.defined) for family in families))


def _clash(places: list[Mention], tables: tuple[Table, ...], target: RuleInput) -> bool:
    homes = [home(mention, tables) for mention in places]
    return any(
        (first_table is not None and first_table is second_table)
        or not same_thing(name_of(first, first_row, target), name_of(second, second_row, target))
        for (first, (first_table, first_row)), (second, (second_table, second_row)) in pairwise(
            zip(places, homes, strict=True)
        )
    )


def _duplicate_finding(target: RuleInput, family: Family, clashes: dict[str, list[Mention]]) -> FindingDraft:
    names = sorted(clashes)
    places = clashes[names[0]]
    highest = max(number_of(name) for name in family.defined)
    where = "、".join(f"「{place(target.sections, mention.start)}」" for mention in places)
    return finding(
        "traceability.duplicate_definition",
        severity=Severity.MAJOR,
        key=f"{family.prefix}:{','.join(names)}",
        evidence=mention_spans(mention for mentions in clashes.values() for mention in mentions),
        data={"family": family.prefix, "identifiers": names},
        words={"names": listed(names), "first_name": names[0], "where": where},
        example=renumbered(names[0], highest + 1),
    )


@rule("traceability.numbering_gap", tags=("traceability",))
def numbering_gap(target: RuleInput) -> RuleOutcome:
    """Report, per family, the numbers skipped between its lowest and highest definition."""
    families = read_families(target.text, target.sections, target.blocks)
    series = [family for family in families if len(family.defined) >= _FEWEST_FOR_A_SERIES]
    if not series:
        return skipped("no_definitions")
    findings = tuple(_gap_finding(target, family, gap) for family in series if (gap := _gap(family, target.text)))
    return RuleOutcome(findings=findings, examined=sum(len(family.defined) for family in series))


def _gap(family: Family, text: str) -> list[str]:
    """Return the missing identifiers; one that is referred to is undefined, which is another rule's finding."""
    numbers = sorted({number_of(name) for name in family.defined})
    shortest = min(family.defined, key=lambda name: (len(name), number_of(name)))
    step = math.gcd(*(second - first for first, second in pairwise(numbers)))
    jumps = [(first, second) for first, second in pairwise(numbers) if second - first > step]
    if _are_blocks(jumps):
        return []
    names = [renumbered(shortest, number) for first, second in jumps for number in range(first + step, second, step)]
    return [name for name in names if name not in family.references and not _is_declared_void(name, text)]


def _are_blocks(jumps: list[tuple[int, int]]) -> bool:
    """Numbers given in blocks jump to the start of the next ten or hundred every time: 104 → 201 → 301."""
    hundreds = all(second % 100 in (0, 1) for _, second in jumps)
    tens = all(second % 10 in (0, 1) for _, second in jumps)
    return bool(jumps) and (hundreds or (tens and len(jumps) > 1))


def _is_declared_void(name: str, text: str) -> bool:
    position = text.find(name)
    if position < 0:
        return False
    line = text[text.rfind("\n", 0, position) + 1 : (text.find("\n", position) + 1 or len(text) + 1) - 1]
    return any(word in line for word in ("欠番", "廃止", "削除", "取消", "取り消し"))


def _gap_finding(target: RuleInput, family: Family, gap: list[str]) -> FindingDraft:
    numbers = sorted({number_of(name) for name in family.defined})
    before = max((name for name in family.defined if number_of(name) < number_of(gap[0])), key=number_of)
    after = min((name for name in family.defined if number_of(name) > number_of(gap[0])), key=number_of)
    span = numbers[-1] - numbers[0] + 1
    return finding(
        "traceability.numbering_gap",
        severity=Severity.MINOR,
        key=f"{family.prefix}:{','.join(gap)}",
        evidence=mention_spans((family.defined[before][0], family.defined[after][0])),
        data={"family": family.prefix, "identifiers": gap},
        confidence=len(numbers) / span,
        words={"prefix": family.prefix, "gap": listed(gap), "before": before, "after": after, "span": span},
        example=f"{gap[0]}: 欠番（第 1.1 版で削除）",
    )
