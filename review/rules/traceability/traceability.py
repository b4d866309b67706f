"""Identifiers: undefined ones, unreferenced ones, one for two things, and skipped numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from knowledge.text.identifier_shapes import Family, Mention, Role, number_of, prefix_of, renumbered
from knowledge.text.identifiers import read_families
from knowledge.text.outline import place
from knowledge.text.structure import line_span, section_at
from knowledge.text.tables import Cell, Table, read_tables
from review.rules.base import finding, listed, rule, skipped, spans_of
from review.rules.consistency.apart import are_apart
from review.rules.traceability.across import (
    defined_elsewhere,
    families_in,
    has_downstream,
    home,
    is_requirement,
    kind_name,
    mentioned_elsewhere,
    name_of,
    related_spans,
    same_thing,
    unanswered,
    upstream,
)
from review.rules.traceability.repeated_numbers import repeated_numbers, without_grouped_rows
from review.types import FindingDraft, RelatedDocument, RuleInput, RuleOutcome, Severity, Span

_UPSTREAM_NAMED = re.compile(r"(?:要件定義書|要求仕様書|設計書|仕様書)")
_FEWEST_FOR_A_SERIES = 3
# 3.2 検索（FR-012 対応）: a section's title that answers to what is defined elsewhere.
_ANSWERED = re.compile(r"対応|関連|参照|準拠|充足|related|see", re.IGNORECASE)
_FIRST_CELL = re.compile(
    r"\|[ \t]*[A-Za-z]{1,8}[A-Za-z\-_]{0,12}[0-9]{1,4}(?:[ \t]?[/／・,、〜～~][ \t]?[0-9]{1,4}){1,8}[ \t]*(?=\|)"
)


@rule("traceability.undefined_reference", tags=("traceability",), reads_related=True)
def undefined_reference(target: RuleInput) -> RuleOutcome:
    """Report, per family, the identifiers that are referred to and defined neither here nor in a related document."""
    families = read_families(target.text, target.sections, target.blocks)
    if not families:
        return skipped("no_identifiers")
    if _answers_to_absent(target):
        families = tuple(family for family in families if family.definitions)
    referred = {name for family in families for name in _text_references(family)}
    elsewhere = defined_elsewhere(target)
    defined = {name for family in families for name in family.defined} | elsewhere
    defined |= {name for family in families for name in _text_references(family) if _is_titled(name, family, target)}
    share = len(referred & defined) / len(referred) if referred else 1.0
    findings = tuple(
        _undefined_finding(target, family, undefined, share, len(referred))
        for family in families
        if (undefined := {k: v for k, v in _text_references(family).items() if k not in defined})
    )
    return RuleOutcome(findings=findings, examined=len(referred), links=tuple(sorted(referred & elsewhere)))


def _answers_to_absent(target: RuleInput) -> bool:
    """A test plan refers to requirements and functions of documents that it names and that are not at hand."""
    return target.document_type == "test_plan" and not target.related and bool(_UPSTREAM_NAMED.search(target.text))


def _text_references(family: Family) -> dict[str, list[Mention]]:
    """Code shows ids as sample data, so it neither defines nor obliges."""
    found = {name: [m for m in places if not m.in_code] for name, places in family.references.items()}
    return {name: places for name, places in found.items() if places}


def _is_titled(name: str, family: Family, target: RuleInput) -> bool:
    """Tell whether a section is on it by its title, or a row begins with it and those that follow: FR-01/02."""
    for mention in family.references[name]:
        section = section_at(target.sections, mention.start)
        if section and section.start <= mention.start < section.body_start:
            return not _ANSWERED.search(target.text, mention.end, section.body_start)
        line = line_span(target.text, mention.start, mention.end)
        first = _FIRST_CELL.match(target.text, *line)
        if first and first.end() > mention.start:
            return True
    return False


def _undefined_finding(
    target: RuleInput, family: Family, undefined: dict[str, list[Mention]], share: float, referred: int
) -> FindingDraft:
    names = sorted(undefined)
    mentions = [mention for places in undefined.values() for mention in places]
    prefixes = {prefix_of(name) for name in defined_elsewhere(target)}
    elsewhere = not family.definitions and family.prefix not in prefixes
    texts = "not_in_related" if target.related else "no_family" if elsewhere else "finding"
    return finding(
        "traceability.undefined_reference",
        severity=Severity.MINOR if elsewhere else Severity.MAJOR,
        texts=texts,
        key=f"{family.prefix}:{','.join(names)}",
        evidence=spans_of(mentions),
        data={"family": family.prefix, "identifiers": names},
        confidence=share,
        words={
            "names": listed(names),
            "prefix": family.prefix,
            "where": place(target.sections, min(mention.start for mention in mentions)),
            "referred": referred,
        },
        example=_example_row(target, names[0], family),
    )


@rule("traceability.unreferenced_definition", tags=("traceability",), reads_related=True)
def unreferenced_definition(target: RuleInput) -> RuleOutcome:
    """Report, per family, the identifiers without a reference to or from anything here or in related documents."""
    families = read_families(target.text, target.sections, target.blocks)
    defining = [family for family in families if family.definitions]
    judged = [family for family in defining if _needs_references(family, target)]
    above = upstream(target)
    if not judged and not above:
        return skipped("none_to_refer_to" if defining else "no_definitions")
    alone = [(family, orphans) for family in judged if (orphans := _orphans(family, families, target))]
    findings = [_unreferenced_finding(target, same, families) for same in _by_list(alone, target)]
    findings += [
        _unanswered_finding(target, related, family, lost)
        for related in above
        for family, lost in unanswered(target, families, related)
    ]
    examined = [*judged, *(family for related in above for family in families_in(related))]
    return RuleOutcome(
        findings=tuple(findings),
        examined=sum(len(family.defined) for family in examined),
        links=tuple(sorted({mention.id for family in families for mention in family.mentions} & _elsewhere(target))),
    )


def _elsewhere(target: RuleInput) -> frozenset[str]:
    return mentioned_elsewhere(target) | defined_elsewhere(target) if target.related else frozenset()


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
        and not _is_described(places, target)
        and (only_there or (name not in family.references and not _is_linked(places[0], family, families, target)))
    ]


def _is_described(places: list[Mention], target: RuleInput) -> bool:
    """Tell whether a list names it and a section or a table elsewhere says what it is."""
    return len({section.id if (section := section_at(target.sections, each.start)) else "" for each in places}) > 1


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
    return line_span(target.text, definition.start, definition.end)


def _common_place(target: RuleInput, mentions: list[Mention]) -> str:
    """Return the title of the innermost section that holds all the mentions."""
    paths = [s.path for mention in mentions if (s := section_at(target.sections, mention.start))]
    shared = [level[0] for level in zip(*paths, strict=False) if len(set(level)) == 1]
    return shared[-1] if shared else place(target.sections, mentions[0].start)


Orphans = tuple[Family, list[Mention]]


def _by_list(alone: list[Orphans], target: RuleInput) -> Iterator[list[Orphans]]:
    """Bring families together of which one table defines all and nothing names any: the list as a whole is unused."""
    tables = read_tables(target.text, target.blocks)
    by_table: dict[Table, list[Orphans]] = {}
    for family, orphans in alone:
        homes = {home(mention, tables)[0] for mention in orphans}
        table = homes.pop() if len(homes) == 1 and len(orphans) == len(family.defined) else None
        if table is None:
            yield [(family, orphans)]
        else:
            by_table.setdefault(table, []).append((family, orphans))
    yield from by_table.values()


def _unreferenced_finding(target: RuleInput, same: list[Orphans], families: tuple[Family, ...]) -> FindingDraft:
    orphans = [mention for _, mentions in same for mention in mentions]
    names = [mention.id for mention in orphans]
    prefixes = [family.prefix for family, _ in same]
    total = sum(len(family.defined) for family, _ in same)
    others = [other.prefix for other in families if other.prefix not in prefixes and other.definitions]
    return finding(
        "traceability.unreferenced_definition",
        severity=Severity.MINOR,
        key=f"{'|'.join(prefixes)}:{','.join(sorted(names))}",
        evidence=spans_of(orphans),
        data={"family": prefixes[0], "identifiers": sorted(names)},
        confidence=len(orphans) / total,
        words={
            "names": listed(names),
            "where": _common_place(target, orphans),
            "prefix": "、".join(prefixes),
            "total": total,
        },
        example=f"{names[0]} → {others[0]}-001" if others else f"{names[0]} → 対応する設計項目",
    )


def _unanswered_finding(
    target: RuleInput, related: RelatedDocument, family: Family, lost: list[Mention]
) -> FindingDraft:
    names = sorted(mention.id for mention in lost)
    total = len(family.defined)
    return finding(
        "traceability.unreferenced_definition",
        severity=Severity.MAJOR if is_requirement(family) else Severity.MINOR,
        key=f"upstream:{family.prefix}:{','.join(names)}",
        texts="unanswered",
        evidence=related_spans(related, lost),
        searched=tuple(section.title for section in target.sections),
        data={"family": family.prefix, "identifiers": names, "upstream": True, "document_id": related.document_id},
        rests_on=(related.document_id,),
        confidence=1 - len(names) / total,
        words={
            "kind": kind_name(related),
            "names": listed(names),
            "prefix": family.prefix,
            "total": total,
            "count": len(names),
        },
        example=f"| {names[0]} | （この文書の対応箇所） |",
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


@rule("traceability.duplicate_definition", tags=("traceability",))
def duplicate_definition(target: RuleInput) -> RuleOutcome:
    """Report, per family, identifiers defined twice in one table or for two different things."""
    families = [f for f in read_families(target.text, target.sections, target.blocks) if f.definitions]
    tables = read_tables(target.text, target.blocks)
    numbers = list(repeated_numbers(tables))
    if not families and not numbers:
        return skipped("no_definitions")
    findings = [_repeated_finding(target, head, doubled) for head, doubled in numbers if doubled]
    told = {name for _, doubled in numbers for name in doubled}
    for family in families:
        clashes = {
            name: places
            for name, places in without_grouped_rows(family, tables).items()
            if name not in told
            and _clash(places, tables, target)
            and not are_apart(target.text, target.sections, [each.start for each in places])
        }
        if clashes:
            findings.append(_duplicate_finding(target, family, clashes))
    examined = sum(len(family.defined) for family in families) + len(numbers)
    return RuleOutcome(findings=tuple(findings), examined=examined)


def _repeated_finding(target: RuleInput, head: str, doubled: dict[str, list[Cell]]) -> FindingDraft:
    names = [f"{head} {number}" if number.isdigit() else number for number in doubled]
    cells = [cell for those in doubled.values() for cell in those]
    return finding(
        "traceability.duplicate_definition",
        severity=Severity.MAJOR,
        key=f"{head}:{','.join(doubled)}",
        evidence=tuple(Span(start=cell.start, end=cell.end) for cell in sorted(cells, key=lambda cell: cell.start)),
        data={"family": head, "identifiers": names},
        words={
            "names": listed(names),
            "first_name": names[0],
            "where": f"「{place(target.sections, cells[0].start)}」",
        },
    )


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
        evidence=spans_of(mention for mentions in clashes.values() for mention in mentions),
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
    line = text[slice(*line_span(text, position, position))]
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
        evidence=spans_of((family.defined[before][0], family.defined[after][0])),
        data={"family": family.prefix, "identifiers": gap},
        confidence=len(numbers) / span,
        words={"prefix": family.prefix, "gap": listed(gap), "before": before, "after": after, "span": span},
        example=f"{gap[0]}: 欠番（第 1.1 版で削除）",
    )
