"""Headings: numbers used twice or out of order, levels that were jumped over, headings in an unbalanced code fence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby, pairwise

from knowledge.types.documents import Section
from review.rules.findings import finding, joined, quoted, skipped
from review.rules.registry import rule
from review.rules.structure.headings import (
    Number,
    NumberedHeading,
    follows,
    heading_span,
    heading_spans,
    hidden_headings,
    numbered_headings,
    runs_of,
    with_hidden,
)
from review.types import FindingDraft, RuleInput, RuleOutcome, Severity


@rule("structure.duplicate_number", tags=("structure",))
def duplicate_number(target: RuleInput) -> RuleOutcome:
    """Report numbers that several headings carry; a repeated subsection is folded into its repeated chapter."""
    headings = numbered_headings(target.text, target.sections)
    if not headings:
        return skipped("no_numbered_headings")
    by_number: dict[tuple[str, Number], list[NumberedHeading]] = defaultdict(list)
    for heading in headings:
        by_number[heading.scope, heading.number].append(heading)
    repeated = {key: group for key, group in by_number.items() if len(group) > 1}
    findings = tuple(
        _duplicate_finding(group, _repeated_below(key, repeated))
        for key, group in repeated.items()
        if not _is_below_repeated(key, repeated)
    )
    return RuleOutcome(findings=findings, examined=len(headings))


def _is_below_repeated(key: tuple[str, Number], repeated: dict[tuple[str, Number], list[NumberedHeading]]) -> bool:
    scope, number = key
    return any((scope, number[:depth]) in repeated for depth in range(1, len(number)))


def _repeated_below(
    key: tuple[str, Number], repeated: dict[tuple[str, Number], list[NumberedHeading]]
) -> list[NumberedHeading]:
    scope, number = key
    return [
        heading
        for (other_scope, other), group in repeated.items()
        if other_scope == scope and len(other) > len(number) and other[: len(number)] == number
        for heading in group
    ]


def _duplicate_finding(group: list[NumberedHeading], below: list[NumberedHeading]) -> FindingDraft:
    label = group[0].label
    numbers = [label, *dict.fromkeys(heading.label for heading in below)]
    titles = [heading.title for heading in group]
    return finding(
        "structure.duplicate_number",
        severity=Severity.MINOR,
        key=f"{group[0].scope}:{label}",
        texts="with_below" if below else "finding",
        evidence=heading_spans([*group, *below]),
        data={"numbers": numbers, "titles": titles},
        words={
            "label": label,
            "count": len(group),
            "titles": quoted(titles),
            "below": joined(numbers[1:]),
            "title": titles[-1],
        },
    )


@rule("structure.number_order", tags=("structure",))
def number_order(target: RuleInput) -> RuleOutcome:
    """Report where a heading number does not continue the one before, one finding for a run of neighbouring breaks."""
    headings = numbered_headings(target.text, target.sections)
    if not headings:
        return skipped("no_numbered_headings")
    hidden = hidden_headings(target.text, target.blocks)
    findings: list[FindingDraft] = []
    for run in runs_of(headings):
        findings += (_order_finding(run, breaks) for breaks in _break_runs(with_hidden(run, hidden)))
    findings.sort(key=lambda finding: finding.evidence[0].start)
    return RuleOutcome(findings=tuple(findings), examined=len(headings))


Break = tuple[NumberedHeading, NumberedHeading]


def _break_runs(run: list[NumberedHeading]) -> Iterable[list[Break]]:
    """Group breaks that follow directly upon each other: 5.2, 5.4, 5.3 is one slip, not two."""
    breaks = [
        (index, (before, after))
        for index, (before, after) in enumerate(pairwise(run))
        # A jump over a level is structure.skipped_level's finding.
        if not follows(before.number, after.number) and after.level <= before.level + 1
    ]
    for _, members in groupby(enumerate(breaks), key=lambda entry: entry[1][0] - entry[0]):
        yield [pair for _, (_, pair) in members]


def _order_finding(run: list[NumberedHeading], breaks: list[Break]) -> FindingDraft:
    present = {heading.number for heading in run}
    involved = list(dict.fromkeys(heading for pair in breaks for heading in pair))
    sequence = " → ".join(heading.label for heading in involved)
    missing = _missing_between(breaks, present)
    before, after = breaks[0]
    return finding(
        "structure.number_order",
        severity=Severity.MINOR,
        key=f"{before.scope}:{sequence}",
        texts=_what_breaks(breaks, missing),
        evidence=heading_spans(heading for heading in involved if not heading.hidden),
        data={
            "numbers": [heading.label for heading in involved],
            "missing": missing,
            "expected": _successor(before, after),
        },
        confidence=1 - len(breaks) / (len(run) - 1),
        words={
            "sequence": sequence,
            "missing": joined(missing),
            "parent": ".".join(map(str, after.number[:-1])),
            "before": before.title,
            "pairs": len(run) - 1,
            "title": after.title,
            "successor": _successor(before, after),
        },
    )


def _what_breaks(breaks: list[Break], missing: list[str]) -> str:
    """Return the name of the texts that say what is wrong with the first break."""
    before, after = breaks[0]
    if missing:
        return "missing"
    if len(after.number) > 1 and after.number[:-1] not in _prefixes(before.number):
        return "other_parent"
    return "goes_back" if after.number <= before.number else "skips"


def _missing_between(breaks: list[Break], present: set[Number]) -> list[str]:
    missing: list[str] = []
    for before, after in breaks:
        depth = len(after.number) - 1
        same_parent = depth < len(before.number) and before.number[:depth] == after.number[:depth]
        first = before.number[depth] + 1 if same_parent else 1
        if same_parent or before.number == after.number[:depth]:
            numbers = ((*after.number[:depth], last) for last in range(first, after.number[depth]))
            missing += (".".join(map(str, number)) for number in numbers if number not in present)
    return missing


def _successor(before: NumberedHeading, after: NumberedHeading) -> str:
    depth = len(after.number)
    if depth > len(before.number):
        return f"{before.label}.1"
    return ".".join(map(str, (*before.number[: depth - 1], before.number[depth - 1] + 1)))


def _prefixes(number: Number) -> set[Number]:
    return {number[:depth] for depth in range(len(number) + 1)}


@rule("structure.skipped_level", tags=("structure",))
def skipped_level(target: RuleInput) -> RuleOutcome:
    """Report all headings that jump over a level in one finding: such jumps are a habit of the whole document."""
    if not target.sections:
        return skipped("no_headings")
    jumps = [(before, after) for before, after in pairwise(target.sections) if after.level > before.level + 1]
    findings = (_level_finding(target, jumps),) if jumps else ()
    return RuleOutcome(findings=findings, examined=len(target.sections))


def _level_finding(target: RuleInput, jumps: list[tuple[Section, Section]]) -> FindingDraft:
    before, after = jumps[0]
    deeper = sum(1 for first, second in pairwise(target.sections) if second.level > first.level)
    return finding(
        "structure.skipped_level",
        severity=Severity.MINOR,
        key="|".join(after.title.strip() for _, after in jumps),
        evidence=tuple(heading_span(target.text, after) for _, after in jumps),
        data={"jumps": [{"title": after.title, "from": above.level, "to": after.level} for above, after in jumps]},
        confidence=1 - len(jumps) / deeper,
        words={
            "count": len(jumps),
            "above": before.title.strip(),
            "above_level": before.level,
            "title": after.title.strip(),
            "level": after.level,
            "deeper": deeper,
            "right_level": before.level + 1,
        },
        example=f"{'#' * (before.level + 1)} {after.title.strip()}",
    )


@rule("structure.swallowed_heading", tags=("structure",))
def swallowed_heading(target: RuleInput) -> RuleOutcome:
    """Report the numbered headings that an unbalanced code fence hides, all in one finding."""
    headings = numbered_headings(target.text, target.sections)
    if not headings:
        return skipped("no_numbered_headings")
    hidden = hidden_headings(target.text, target.blocks)
    swallowed: dict[int, NumberedHeading] = {}
    for run in runs_of(headings):
        swallowed |= {heading.start: heading for heading in with_hidden(run, hidden) if heading.hidden}
    found = [swallowed[start] for start in sorted(swallowed)]
    return RuleOutcome(findings=(_swallowed_finding(found),) if found else (), examined=len(headings))


def _swallowed_finding(found: list[NumberedHeading]) -> FindingDraft:
    titles = [heading.title for heading in found]
    return finding(
        "structure.swallowed_heading",
        severity=Severity.MINOR,
        key="|".join(titles),
        evidence=heading_spans(found),
        data={"numbers": [heading.label for heading in found], "titles": titles},
        words={"count": len(found), "titles": quoted(titles), "title": titles[0]},
    )
